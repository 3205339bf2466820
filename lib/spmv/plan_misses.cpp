#include "spmv/plan_misses.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace spmv {

namespace {

/// A cache of `x` without ways, half as large as the real one, through whose other half the matrix
/// streams.
class VectorCache
{
public:
    explicit VectorCache(std::size_t cache_bytes)
        : lines_(std::max<std::size_t>(64, cache_bytes / 2 / 64), -1)
    {
    }

    /// Whether line `line` is neither there nor next to one that is, which hardware would have
    /// fetched ahead.
    bool misses(std::int32_t line)
    {
        bool const expected = holds(line) || holds(line - 1);
        lines_[slot(line)] = line;
        return !expected;
    }

private:
    std::size_t slot(std::int32_t line) const
    {
        return static_cast<std::uint32_t>(line) % static_cast<std::uint32_t>(lines_.size());
    }
    bool holds(std::int32_t line) const { return line >= 0 && lines_[slot(line)] == line; }

    std::vector<std::int32_t> lines_;
};

/// Counts the misses of elements of `x` that are asked for one after the other.
template <class T>
class MissCounter
{
public:
    MissCounter(Caches const& caches, double at_a_time)
        : first_{caches.first}, core_{caches.core}, at_a_time_{at_a_time}
    {
    }

    /// Asks for the element of a column.
    void ask(std::int32_t column)
    {
        constexpr std::int32_t line_elements = 64 / sizeof(T);
        std::int32_t const line = column / line_elements;
        found_.first += first_.misses(line) ? 1 : 0;
        under_way_ += core_.misses(line) ? 1 : 0;
        if (++asked_ % in_flight == 0) {
            wait();
        }
    }

    /// The shares of what was asked for since the last call.
    Misses take()
    {
        wait();
        double const asked = static_cast<double>(std::max<std::int64_t>(1, asked_));
        Misses const shares{found_.first / asked, found_.core / asked, found_.waits / asked};
        found_ = {};
        asked_ = 0;
        return shares;
    }

private:
    static constexpr std::int64_t in_flight = 100; ///< nonzeros that a core works on at a time

    void wait()
    {
        found_.core += under_way_;
        found_.waits += under_way_ > 0 ? std::max(1.0, under_way_ / at_a_time_) : 0;
        under_way_ = 0;
    }

    VectorCache first_;
    VectorCache core_;
    double at_a_time_;
    double under_way_ = 0;
    std::int64_t asked_ = 0;
    Misses found_; ///< numbers, not yet shares
};

/// Calls `visit(column)` for the nonzeros of rows `begin` to `end - 1`, `height` rows side by side.
template <class T, class Visit>
void visit_columns(sparse::Csr<T> const& a, std::int32_t begin, std::int32_t end,
                   std::int32_t height, Visit const& visit)
{
    std::int32_t const* const row_ptr = a.row_ptr.data();
    if (height == 1) {
        std::for_each(a.col.begin() + row_ptr[begin], a.col.begin() + row_ptr[end], visit);
        return;
    }
    for (std::int32_t row = begin; row < end; row += height) {
        std::int32_t const behind = std::min(end, row + height);
        bool more = true;
        for (std::int32_t k = 0; more; ++k) {
            more = false;
            for (std::int32_t i = row; i < behind; ++i) {
                if (row_ptr[i] + k < row_ptr[i + 1]) {
                    visit(a.col[static_cast<std::size_t>(row_ptr[i] + k)]);
                    more = true;
                }
            }
        }
    }
}

} // namespace

template <class T>
Misses count_misses(Sample<T> const& sample, std::int32_t height, Caches const& caches,
                    double at_a_time)
{
    MissCounter<T> counter{caches, at_a_time};
    double const blocks = static_cast<double>(sample.ends.size());
    Misses mean;
    std::int32_t begin = 0;
    for (std::int32_t const end : sample.ends) {
        visit_columns(sample.a, begin, end, height,
                      [&](std::int32_t column) { counter.ask(column); });
        begin = end;
        Misses const shares = counter.take();
        mean.first += shares.first / blocks;
        mean.core += shares.core / blocks;
        mean.waits += shares.waits / blocks;
    }
    return mean;
}

template Misses count_misses(Sample<float> const&, std::int32_t, Caches const&, double);
template Misses count_misses(Sample<double> const&, std::int32_t, Caches const&, double);

VectorWaits vector_waits(Misses const& misses, VectorUse const& use, Caches const& caches)
{
    double const near = use.nonzeros * std::max(0.0, misses.first - misses.core);
    VectorWaits second_level{use.streamed ? 0 : near, use.streamed ? near : 0, 0, 0};
    if (use.bytes < static_cast<double>(caches.core) / 2 || misses.core == 0) {
        return second_level; // the rest is soon in a core's cache, also where that is empty at
                             // first
    }
    bool const in_shared_cache = use.bytes < static_cast<double>(caches.shared) / 3;
    double const far = use.nonzeros * misses.core;
    double const firsts = use.cold ? std::min(far, use.bytes / 64) : 0;
    double const of_memory = in_shared_cache ? firsts / far : 1;
    double const waits = use.nonzeros * misses.waits;
    second_level.shared = waits * (1 - of_memory);
    second_level.memory = waits * of_memory;
    return second_level;
}

} // namespace spmv
