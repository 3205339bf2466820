#include "kit/problem_dense.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace kit {
namespace {

constexpr int vectors = 2; // that a product is checked with

template <class T>
std::vector<T> elements_of(Result const& result)
{
    std::vector<T> elements(result.bytes.size() / sizeof(T));
    std::memcpy(elements.data(), result.bytes.data(), elements.size() * sizeof(T));
    return elements;
}

/// C = A B in double, four rows and a block of columns at a time so that it takes seconds for what
/// a GPU multiplies.
template <class T>
std::vector<double> multiplied(std::vector<T> const& a, std::vector<T> const& b, std::size_t m,
                               std::size_t n, std::size_t k)
{
    constexpr std::size_t rows = 4;
    constexpr std::size_t columns = 512;
    std::vector<double> c(m * n);
    std::vector<double> sums(rows * columns);
    for (std::size_t i = 0; i < m; i += rows) {
        auto const height = std::min(rows, m - i);
        for (std::size_t j = 0; j < n; j += columns) {
            auto const width = std::min(columns, n - j);
            std::ranges::fill(sums, 0.0);
            for (std::size_t p = 0; p < k; ++p) {
                for (std::size_t r = 0; r < height; ++r) {
                    double const factor = a[(i + r) * k + p];
                    auto* const sum = sums.data() + r * columns;
                    auto const* const row = b.data() + p * n + j;
                    for (std::size_t q = 0; q < width; ++q) {
                        sum[q] += factor * row[q];
                    }
                }
            }
            for (std::size_t r = 0; r < height; ++r) {
                std::copy_n(sums.data() + r * columns, width, c.data() + (i + r) * n + j);
            }
        }
    }
    return c;
}

std::int32_t size_of(Arguments const& of, std::string const& name)
{
    auto const size = of(name);
    if (size < 1 || size > 65536) {
        throw std::invalid_argument("a dense product: found " + name + "=" + std::to_string(size) +
                                    ", expected 1 to 65536");
    }
    return static_cast<std::int32_t>(size);
}

template <class T>
Generator generator()
{
    return [](Arguments const& of, Random& random) {
        return std::make_unique<DenseProduct<T>>(size_of(of, "m"), size_of(of, "n"),
                                                 size_of(of, "k"), random);
    };
}

} // namespace

template <class T>
DenseProduct<T>::DenseProduct(std::int32_t m, std::int32_t n, std::int32_t k, Random& random)
    : m_{m}, n_{n}, k_{k}, a_(static_cast<std::size_t>(m) * k), b_(static_cast<std::size_t>(k) * n),
      rows_(static_cast<std::size_t>(m)), columns_(static_cast<std::size_t>(n)), random_{0}
{
    std::ranges::generate(a_, [&] { return static_cast<T>(real(random.next())); });
    std::ranges::generate(b_, [&] { return static_cast<T>(real(random.next())); });
    random_ = Random{random.next()};
    for (std::size_t p = 0; p < a_.size(); ++p) {
        rows_[p / static_cast<std::size_t>(k)] += static_cast<double>(a_[p]) * a_[p];
    }
    for (std::size_t p = 0; p < b_.size(); ++p) {
        columns_[p % static_cast<std::size_t>(n)] += static_cast<double>(b_[p]) * b_[p];
    }
    std::ranges::for_each(rows_, [](double& norm) { norm = std::sqrt(norm); });
    std::ranges::for_each(columns_, [](double& norm) { norm = std::sqrt(norm); });
}

template <class T>
double DenseProduct<T>::work() const
{
    return 2.0 * m_ * n_ * k_;
}

template <class T>
std::vector<Image> DenseProduct<T>::images(int ranks, std::uint64_t seed) const
{
    if (ranks != 1) {
        throw std::invalid_argument("a dense product is of one rank, found " +
                                    std::to_string(ranks));
    }
    Random random{seed};
    auto const c = poison<T>(static_cast<std::size_t>(m_) * static_cast<std::size_t>(n_), random);
    return {image({.function = "multiply",
                   .numbers = {m_, n_, k_},
                   .arrays = {bytes_of(a_), bytes_of(b_), bytes_of(c)},
                   .output = 2,
                   .first = 0,
                   .grid = 2},
                  random)};
}

template <class T>
void DenseProduct<T>::expect(bool whole)
{
    whole_ = whole ? multiplied(a_, b_, static_cast<std::size_t>(m_), static_cast<std::size_t>(n_),
                                static_cast<std::size_t>(k_))
                   : std::vector<double>{};
}

template <class T>
double DenseProduct<T>::slack() const
{
    return std::numeric_limits<T>::epsilon() / 2 * (sizeof(T) == 8 ? 2.0 * (k_ + 1) : 64.0);
}

template <class T>
double DenseProduct<T>::product_of(std::size_t row, std::size_t column) const
{
    auto const n = static_cast<std::size_t>(n_);
    auto const k = static_cast<std::size_t>(k_);
    long double sum = 0;
    for (std::size_t p = 0; p < k; ++p) {
        sum += static_cast<long double>(a_[row * k + p]) * b_[p * n + column];
    }
    return static_cast<double>(sum);
}

template <class T>
double DenseProduct<T>::bound_of(std::size_t row, std::size_t column) const
{
    return slack() * rows_[row] * columns_[column];
}

/// What is wrong with a row of C.
template <class T>
std::string DenseProduct<T>::complaint_of_row(std::size_t row, T const* c) const
{
    auto const n = static_cast<std::size_t>(n_);
    for (std::size_t j = 0; j < n; ++j) {
        auto const expected = whole_.empty() ? product_of(row, j) : whole_[row * n + j];
        if (!(std::fabs(c[j] - expected) <= bound_of(row, j))) {
            return wrong_element("C[" + std::to_string(row) + "][" + std::to_string(j) + "]", c[j],
                                 expected, bound_of(row, j));
        }
    }
    return {};
}

/// Whether C x = A (B x) for vectors x of reals that nobody knows before; else the first row where
/// it is not. Errors of elements, which are at most their bounds, are taken as independent.
template <class T>
bool DenseProduct<T>::passes(std::vector<T> const& c, std::size_t& row)
{
    auto const n = static_cast<std::size_t>(n_);
    auto const k = static_cast<std::size_t>(k_);
    std::vector<double> x(n);
    std::vector<long double> bx(k);
    for (int vector = 0; vector < vectors; ++vector) {
        double spread = 0;
        for (std::size_t j = 0; j < n; ++j) {
            x[j] = real(random_.next());
            spread += x[j] * x[j] * columns_[j] * columns_[j];
        }
        for (std::size_t p = 0; p < k; ++p) {
            long double sum = 0;
            for (std::size_t j = 0; j < n; ++j) {
                sum += static_cast<long double>(b_[p * n + j]) * x[j];
            }
            bx[p] = sum;
        }
        for (row = 0; row < static_cast<std::size_t>(m_); ++row) {
            long double difference = 0;
            for (std::size_t p = 0; p < k; ++p) {
                difference += a_[row * k + p] * bx[p];
            }
            for (std::size_t j = 0; j < n; ++j) {
                difference -= static_cast<long double>(c[row * n + j]) * x[j];
            }
            auto const bound = slack() * rows_[row] * std::sqrt(spread);
            if (!(std::fabs(static_cast<double>(difference)) <= bound)) {
                return false;
            }
        }
    }
    return true;
}

template <class T>
std::string DenseProduct<T>::complaint(Result const& result)
{
    auto const c = elements_of<T>(result);
    auto const n = static_cast<std::size_t>(n_);
    if (!whole_.empty()) {
        for (std::size_t row = 0; row < static_cast<std::size_t>(m_); ++row) {
            if (auto const wrong = complaint_of_row(row, c.data() + row * n); !wrong.empty()) {
                return wrong;
            }
        }
        return {};
    }
    std::size_t row = 0;
    if (passes(c, row)) {
        return {};
    }
    auto const wrong = complaint_of_row(row, c.data() + row * n);
    return !wrong.empty()
               ? wrong
               : "row " + std::to_string(row) + " of C is less exact than sums of this type are";
}

template <class T>
std::string DenseProduct<T>::shown(Result const& result) const
{
    auto const c = elements_of<T>(result);
    auto const n = static_cast<std::size_t>(n_);
    auto const k = static_cast<std::size_t>(k_);
    std::ostringstream text;
    text.precision(4);
    for (std::size_t i = 0; i < c.size(); ++i) {
        text << "    C[" << i / n << "][" << i % n << "] =";
        for (std::size_t p = 0; p < k; ++p) {
            text << " + " << a_[i / n * k + p] << " * " << b_[p * n + i % n];
        }
        text << "   yours: " << c[i] << ", expected " << product_of(i / n, i % n) << "\n";
    }
    return text.str();
}

template class DenseProduct<double>;
template class DenseProduct<float>;

Generators dense(Arguments const& settings)
{
    auto const bits = settings("bits");
    if (bits != 32 && bits != 64) {
        throw std::invalid_argument("problem dense: found bits=" + std::to_string(bits) +
                                    ", expected 64 or 32");
    }
    return {{"product", bits == 64 ? generator<double>() : generator<float>()}};
}

} // namespace kit
