#pragma once

#include "spmv/formats/kernels.hpp"
#include "spmv/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

/// \file
/// Any bytes as a matrix, a vector and options, and what a plan has to make of them. For tests
/// only.

namespace spmv::testing {

/// Bytes as choices; zeros when they are used up.
class Choices
{
public:
    explicit Choices(std::span<std::uint8_t const> bytes) : bytes_{bytes} {}

    /// One of 0 .. `count` - 1, at most 256.
    int of(int count)
    {
        if (bytes_.empty()) {
            return 0;
        }
        int const byte = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return byte % count;
    }

private:
    std::span<std::uint8_t const> bytes_;
};

/// A matrix whose arrays may be none.
template <class T>
struct AnyCsr
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    std::vector<std::int32_t> row_ptr;
    std::vector<std::int32_t> col;
    std::vector<T> values;

    sparse::CsrView<T> view() const { return {rows, columns, row_ptr, col, values}; }
};

/// Small numbers, whose sums are exact, zeros of both signs, and where `special` infinities and
/// NaN.
template <class T>
T any_value(Choices& choose, bool special)
{
    constexpr T infinity = std::numeric_limits<T>::infinity();
    constexpr T values[] = {1, -2, 3, -1, 2, 0, T(-0.0), 1, infinity, -infinity};
    int const which = choose.of(special ? 11 : 8);
    return which == 10 ? std::numeric_limits<T>::quiet_NaN() : values[which];
}

/// A matrix with rows in some order, short and long, in runs or far apart.
template <class T>
AnyCsr<T> any_matrix(Choices& choose)
{
    AnyCsr<T> a;
    a.rows = choose.of(40);
    a.columns = choose.of(50) * (choose.of(6) == 0 ? 2000 : 1);
    int const order = choose.of(4); // 0 and 1: sorted; 2: any; 3: any, often twice
    int const step = choose.of(3) == 0 ? std::max(1, a.columns / 16) : 1 + choose.of(3);
    bool const special = choose.of(4) == 0;
    a.row_ptr.push_back(0);
    for (std::int32_t i = 0; i < a.rows && a.columns > 0; ++i) {
        int const length = choose.of(12) * (choose.of(24) == 0 ? 50 : 1);
        std::int32_t column = choose.of(std::min(a.columns, 256)) - 1;
        for (int k = 0; k < length; ++k) {
            if (order < 2) {
                column += 1 + choose.of(step < 256 ? step : 256);
            } else {
                column = choose.of(256) * step % (order == 2 ? a.columns : 1 + a.columns / 8);
            }
            if (column < a.columns) {
                a.col.push_back(column);
                a.values.push_back(any_value<T>(choose, special));
            }
        }
        a.row_ptr.push_back(static_cast<std::int32_t>(a.col.size()));
    }
    a.row_ptr.resize(static_cast<std::size_t>(a.rows) + 1, 0);
    return a;
}

/// Changes one thing, or none.
template <class T>
void spoil(AnyCsr<T>& a, Choices& choose)
{
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    auto const one_of = [&](std::vector<std::int32_t>& array) -> std::int32_t& {
        return array[static_cast<std::size_t>(choose.of(256)) % array.size()];
    };
    std::int32_t const values[] = {-1, most, -most - 1, a.columns, a.rows, 1};
    std::int32_t const value = values[choose.of(6)];
    switch (choose.of(24)) {
    case 0:
        a.rows = value;
        break;
    case 1:
        a.columns = std::min(value, 100'000); // an `x` of that size is made
        break;
    case 2:
        a.row_ptr.pop_back();
        break;
    case 3:
        a.row_ptr.push_back(a.row_ptr.back());
        break;
    case 4:
        one_of(a.row_ptr) = value;
        break;
    case 5:
        std::swap(one_of(a.row_ptr), a.row_ptr.back());
        break;
    case 6:
        if (!a.col.empty()) {
            one_of(a.col) = value;
        }
        break;
    case 7:
        a.values.push_back(1);
        break;
    case 8:
        a.col.push_back(0);
        break;
    case 9:
        if (!a.col.empty()) {
            a.values.pop_back();
            a.col.pop_back();
        }
        break;
    case 10:
        for (auto& offset : a.row_ptr) {
            ++offset;
        }
        break;
    case 11:
        a = {};
        break;
    default:
        break;
    }
}

/// Whether it is a matrix, told anew, entry by entry.
template <class T>
bool is_matrix(AnyCsr<T> const& a)
{
    if (a.rows < 0 || a.columns < 0 || a.row_ptr.size() != std::size_t{1} + a.rows ||
        a.col.size() != a.values.size() || a.row_ptr.front() != 0 ||
        a.row_ptr.back() != static_cast<std::int64_t>(a.col.size())) {
        return false;
    }
    return std::ranges::is_sorted(a.row_ptr) &&
           std::ranges::all_of(a.col, [&](std::int32_t j) { return 0 <= j && j < a.columns; });
}

/// `y = A x`, where entries of one place are added up first.
template <class T>
std::vector<T> product_of(AnyCsr<T> const& a, std::vector<T> const& x)
{
    std::vector<T> y;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        std::map<std::int32_t, T> row;
        for (auto p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) {
            row[a.col[p]] += a.values[p];
        }
        T sum = 0;
        for (auto const& [column, value] : row) {
            sum += value * x[column];
        }
        y.push_back(sum);
    }
    return y;
}

/// Whether numbers are equal, NaN among them.
template <class T>
bool same(T a, T b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

/// Options that make sense.
inline PlanOptions any_options(Choices& choose)
{
    auto const formats = plan_formats();
    auto const sets = format_kernels<double>();
    double const multiplies[] = {1e300, 0, 1, 25, 1e4};
    PlanOptions options{.threads = 1 + choose.of(4),
                        .multiplies = multiplies[choose.of(5)],
                        .timed = choose.of(4) == 0};
    if (int const which = choose.of(static_cast<int>(formats.size()) + 2);
        which < static_cast<int>(formats.size())) {
        options.format = formats[static_cast<std::size_t>(which)].name;
    }
    options.kernels = sets[static_cast<std::size_t>(choose.of(static_cast<int>(sets.size())))].name;
    return options;
}

/// Makes a matrix, a vector and options of the bytes and a plan of these; returns what is wrong
/// with it, empty if nothing: what is no matrix has to be refused with one line, all else to be
/// multiplied as it stands, to the sign of an infinity.
template <class T>
std::string wrong_with_plan(std::span<std::uint8_t const> bytes)
{
    Choices choose{bytes};
    auto options = any_options(choose);
    auto a = any_matrix<T>(choose);
    spoil(a, choose);
    bool const is_sound = is_matrix(a);
    bool const special = choose.of(2) == 0;
    std::vector<T> x(is_sound ? static_cast<std::size_t>(a.columns) : 0);
    for (T& element : x) {
        element = any_value<T>(choose, special);
    }
    std::optional<Plan<T>> plan;
    try {
        plan.emplace(a.view(), options);
    } catch (std::invalid_argument const& error) {
        std::string const line = error.what();
        bool const is_line = line.starts_with("CSR: found ") && line.find('\n') == line.npos;
        return !is_sound && is_line ? "" : "refused: " + line;
    } catch (std::length_error const& error) {
        return is_sound && !options.format.empty() ? "" : std::string{"too large: "} + error.what();
    }
    if (!is_sound) {
        return "not refused";
    }
    auto const expected = product_of(a, x);
    if (!plan->borrows()) {
        a = {};
    }
    std::vector<T> y(expected.size(), T(-77));
    (*plan)(x, y);
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (!same(y[i], expected[i])) {
            return std::string{plan->format()} + " with " + options.kernels + ": row " +
                   std::to_string(i) + " is " + std::to_string(y[i]) + ", expected " +
                   std::to_string(expected[i]);
        }
    }
    return "";
}

} // namespace spmv::testing
