#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spmv {

/// Units `begin <= u < end` of a format: rows, chunks or strips, each of which writes rows of `y`
/// that no other unit writes.
struct Range
{
    std::int32_t begin; ///< first unit
    std::int32_t end;   ///< one past the last
};

/// Computes the rows of `y = A x` of the units in `range`. `x` has as many elements as the matrix
/// has columns, `y` as many as it has rows; rows of other units are not touched. `View` is the
/// format's view.
template <class View, class T>
using RangeKernel = void(View const& a, T const* x, T* y, Range range);

/// What a format's `build` makes: a matrix whose `units` can be multiplied apart from each other.
/// `work_before` is as `balanced_parts` wants it, `bytes` are those of all arrays, and a kernel
/// takes the `view`.
template <class Matrix>
concept MatrixInFormat = requires(Matrix const& matrix, std::int32_t unit)
{
    std::int32_t{matrix.units()};
    matrix.work_before(unit);
    std::size_t{matrix.bytes()};
    matrix.view();
};

/// Cuts `units` units into `count` ranges, each as near as possible to an equal share of the work;
/// ranges may be empty. `work_before(u)` is the work of all units before `u`, never decreasing, for
/// 0 <= u <= `units`.
template <class WorkBefore>
std::vector<Range> balanced_parts(std::int32_t units, int count, WorkBefore const& work_before)
{
    double const total = static_cast<double>(work_before(units));
    std::vector<Range> parts;
    std::int32_t begin = 0;
    for (int part = 1; part <= count; ++part) {
        double const share = total * part / count;
        std::int32_t end = begin;
        for (std::int32_t step = units - begin; step > 0;) { // the last unit boundary <= share
            std::int32_t const half = step / 2;
            if (static_cast<double>(work_before(end + half + 1)) <= share) {
                end += half + 1;
                step -= half + 1;
            } else {
                step = half;
            }
        }
        bool const next_is_nearer =
            end < units && share - static_cast<double>(work_before(end)) >
                               static_cast<double>(work_before(end + 1)) - share;
        end = part == count ? units : end + (next_is_nearer ? 1 : 0);
        parts.push_back({begin, end});
        begin = end;
    }
    return parts;
}

/// The work of the part that has most of it over an equal share, 1 or more, where the units of a
/// format are dealt to `count` parts as `balanced_parts` deals them: few large units cannot be
/// dealt evenly.
template <class Format>
double imbalance(Format const& format, int count)
{
    auto const work_before = [&](std::int32_t unit) { return format.work_before(unit); };
    std::size_t most = 0;
    for (auto const& [begin, end] : balanced_parts(format.units(), count, work_before)) {
        most = std::max(most, work_before(end) - work_before(begin));
    }
    auto const all = std::max<std::size_t>(1, work_before(format.units()));
    return std::max(1.0, static_cast<double>(most) * count / static_cast<double>(all));
}

} // namespace spmv
