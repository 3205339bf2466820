#include "bench/verdict.hpp"

#include "bench/all_processors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
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

/// How an output differs from what was expected.
struct Difference
{
    std::size_t wrong = 0;  ///< elements
    std::string first = {}; ///< of them, in words
    double error = 0;       ///< the largest of the others, in units of its bound

    void add(Block const& block)
    {
        std::atomic<bool> finite = true;
        std::size_t first_wrong = block.actual.size();
        std::size_t found = 0;
        std::mutex mutex;
        auto const examine = [&](std::size_t begin, std::size_t end) {
            std::size_t part_wrong = 0;
            std::size_t part_first = end;
            double part_error = 0;
            for (std::size_t i = begin; i < end; ++i) {
                if (!std::isfinite(block.value[i])) {
                    finite = false;
                } else if (is_wrong(block, i)) {
                    part_first = part_wrong++ == 0 ? i : part_first;
                } else if (block.check == Check::bounded) {
                    auto const distance = std::abs(block.actual[i] - block.value[i]);
                    part_error =
                        std::max(part_error, distance == 0 ? 0 : distance / block.bound[i]);
                }
            }
            std::lock_guard const lock{mutex};
            found += part_wrong;
            first_wrong = part_wrong > 0 ? std::min(first_wrong, part_first) : first_wrong;
            error = std::max(error, part_error);
        };
        on_all_processors(block.actual.size(), examine);
        if (!finite) {
            throw std::logic_error{"the expected result is not finite"};
        }
        if (wrong == 0 && found > 0) {
            first = describe(block, first_wrong);
        }
        wrong += found;
    }
};

} // namespace

void to_json(Json& json, Verdict const& verdict)
{
    json = {{"status", verdict.passed ? "passed" : "failed"},
            {"checks", verdict.checks},
            {"error", rounded(verdict.error)}};
    if (!verdict.reason.empty()) {
        json["reason"] = verdict.reason;
    }
}

void compare(Check check, Operand& output, Target& where, std::string const& occasion,
             Verdict& verdict)
{
    auto const& by = output.expectation;
    auto const now = by.whole && !output.wanted ? std::optional{by.whole()} : std::nullopt;
    auto const& whole = now ? now : output.wanted;
    if (whole && whole->value.size() != output.size()) {
        throw std::logic_error{fmt::format("the expected result has {} elements, the output {}",
                                           whole->value.size(), output.size())};
    }
    if (whole && check == Check::bounded && whole->bound.size() != output.size()) {
        throw std::logic_error{"the expected result has not one bound for each value"};
    }
    if (output.size() == 0) {
        return;
    }
    if (by.granule == 0) {
        throw std::logic_error{"blocks of an expected result begin at multiples of 0"};
    }
    auto const length = std::max<std::size_t>(1, block_elements / by.granule) * by.granule;
    auto const& type = output.type();
    auto& memory = where.memory();
    Difference difference{.error = verdict.error};
    std::vector<std::byte> raw; // memory of one block is used again for the next
    std::vector<double> actual;
    Expected part;
    for (std::size_t first = 0; first < output.size(); first += length) {
        auto const count = std::min(length, output.size() - first);
        ConstBytes bytes = output.bytes(memory).subspan(first * type.bytes, count * type.bytes);
        if (&memory != &host()) {
            raw.resize(bytes.size());
            memory.fetch(raw, bytes);
            memory.finish();
            bytes = raw;
        }
        actual.resize(count);
        type.to_double(bytes.data(), actual);
        if (!whole) {
            part.value.resize(count, std::numeric_limits<double>::quiet_NaN()); // until it is told
            part.bound.resize(count, 0);
            by.block(first, part.value, part.bound);
        }
        auto const& wanted = whole ? *whole : part;
        auto const at = whole ? first : 0;
        Block block{check, first, actual, std::span{wanted.value}.subspan(at, count), {}};
        if (check == Check::bounded) {
            block.bound = std::span{wanted.bound}.subspan(at, count);
        }
        difference.add(block);
    }
    verdict.error = difference.error;
    if (difference.wrong > 0) {
        verdict.fail(fmt::format("{}: {} of {} elements are wrong; {}", occasion, difference.wrong,
                                 output.size(), difference.first));
    }
}

} // namespace bench
