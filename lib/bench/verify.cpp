#include "bench/verify.hpp"

#include "bench/all_processors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>
#include <stdexcept>

namespace bench {

namespace {

constexpr std::size_t block_elements = 1 << 20;

/// Elements from `first` on: what came out, what should have, and how far it may be away.
struct Block
{
    Check check;
    std::size_t first;
    std::span<double const> actual;
    std::span<double const> value;
    std::span<double const> bound; ///< empty in the exact check
};

/// Error in units of its bound; a zero bound allows no error.
double relative_error(double error, double bound)
{
    return error == 0 ? 0 : error / bound;
}

bool is_wrong(Block const& block, std::size_t i)
{
    if (block.check == Check::exact) {
        return !(block.actual[i] == block.value[i]);
    }
    return !(std::abs(block.actual[i] - block.value[i]) <= block.bound[i]);
}

std::string describe(Block const& block, std::size_t i)
{
    auto const at = block.first + i;
    if (std::isnan(block.actual[i])) {
        return fmt::format("element {} was not written or is NaN, expected {:.9g}", at,
                           block.value[i]);
    }
    auto const line =
        fmt::format("element {} is {:.9g}, expected {:.9g}", at, block.actual[i], block.value[i]);
    return block.check == Check::exact ? line + " exactly"
                                       : line + fmt::format(" within {:.3g}", block.bound[i]);
}

void require_finite(std::span<double const> value)
{
    std::atomic<bool> finite = true;
    on_all_processors(value.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (!std::isfinite(value[i])) {
                finite = false;
            }
        }
    });
    if (!finite) {
        throw std::logic_error{"the expected result is not finite"};
    }
}

void require_usable(Check check, Expected const& expected, std::size_t count)
{
    if (expected.value.size() != count) {
        throw std::logic_error{fmt::format("the expected result has {} elements, the output {}",
                                           expected.value.size(), count)};
    }
    if (check == Check::bounded && expected.bound.size() != count) {
        throw std::logic_error{"the expected result has not one bound for each value"};
    }
}

/// How an output differs from what was expected.
struct Difference
{
    std::size_t wrong = 0;  ///< elements
    std::string first = {}; ///< of them, in words
    double error = 0;       ///< the largest of the others, in units of its bound

    void add(Block const& block)
    {
        require_finite(block.value);
        std::size_t first_wrong = block.actual.size();
        std::size_t found = 0;
        std::mutex mutex;
        auto const examine = [&](std::size_t begin, std::size_t end) {
            std::size_t part_wrong = 0;
            std::size_t part_first = end;
            double part_error = 0;
            for (std::size_t i = begin; i < end; ++i) {
                if (is_wrong(block, i)) {
                    part_first = part_wrong++ == 0 ? i : part_first;
                } else if (block.check == Check::bounded) {
                    auto const distance = std::abs(block.actual[i] - block.value[i]);
                    part_error = std::max(part_error, relative_error(distance, block.bound[i]));
                }
            }
            std::lock_guard const lock{mutex};
            found += part_wrong;
            first_wrong = part_wrong > 0 ? std::min(first_wrong, part_first) : first_wrong;
            error = std::max(error, part_error);
        };
        on_all_processors(block.actual.size(), examine);
        if (wrong == 0 && found > 0) {
            first = describe(block, first_wrong);
        }
        wrong += found;
    }
};

/// Brings elements of an output to the host, a block at a time, whose memory is used again.
class Reader
{
public:
    Reader(Operand& output, Target& where) : output_{output}, where_{where.memory()} {}

    std::span<double const> read(std::size_t first, std::size_t count)
    {
        auto const size = output_.type().bytes;
        ConstBytes part = output_.bytes(where_).subspan(first * size, count * size);
        if (&where_ != &host()) {
            raw_.resize(part.size());
            where_.fetch(raw_, part);
            where_.finish();
            part = raw_;
        }
        values_.resize(count);
        output_.type().to_double(part.data(), values_);
        return values_;
    }

private:
    Operand& output_;
    Target& where_;
    std::vector<std::byte> raw_;
    std::vector<double> values_;
};

/// What an output should hold, a block at a time.
class Wanted
{
public:
    Wanted(Operand const& output, Expected const* whole) : by_{output.expectation}, whole_{whole}
    {
        if (whole_ == nullptr && by_.whole) {
            computed_ = by_.whole();
            whole_ = &*computed_;
        }
    }

    /// Elements of a block, the last excepted.
    std::size_t block() const
    {
        if (by_.granule == 0) {
            throw std::logic_error{"blocks of an expected result begin at multiples of 0"};
        }
        return std::max<std::size_t>(1, block_elements / by_.granule) * by_.granule;
    }

    Expected const* whole() const { return whole_; }

    Block at(Check check, std::size_t first, std::span<double const> actual)
    {
        auto const count = actual.size();
        if (whole_ != nullptr) {
            auto const bound = whole_->bound.empty()
                                   ? std::span<double const>{}
                                   : std::span{whole_->bound}.subspan(first, count);
            return {check, first, actual, std::span{whole_->value}.subspan(first, count), bound};
        }
        value_.assign(count, 0);
        bound_.assign(count, 0);
        by_.block(first, value_, bound_);
        return {check, first, actual, value_, bound_};
    }

private:
    Expectation const& by_;
    Expected const* whole_;
    std::optional<Expected> computed_;
    std::vector<double> value_;
    std::vector<double> bound_;
};

} // namespace

void compare(Check check, Operand& output, Target& where, Expected const* whole,
             std::string const& occasion, Verdict& verdict)
{
    Wanted wanted{output, whole};
    if (wanted.whole() != nullptr) {
        require_usable(check, *wanted.whole(), output.size());
    }
    Reader reader{output, where};
    Difference difference{.error = verdict.error};
    for (std::size_t first = 0; first < output.size(); first += wanted.block()) {
        auto const count = std::min(wanted.block(), output.size() - first);
        difference.add(wanted.at(check, first, reader.read(first, count)));
    }
    verdict.error = difference.error;
    if (difference.wrong > 0) {
        verdict.fail(fmt::format("{}: {} of {} elements are wrong; {}", occasion, difference.wrong,
                                 output.size(), difference.first));
    }
}

} // namespace bench
