#pragma once

#include "bench/all_processors.hpp"
#include "bench/experiment.hpp"
#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "cuda/gpu.hpp"
#include "dense/gpu/reference.hpp"
#include "dense/gpu/softmax.hpp"
#include "peers/cudnn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Matrices, what softmax makes of them, and who computes it.
namespace softmax_block {

using dense::gpu::Softmax;

/// What all trials need.
struct Contenders
{
    cuda::Gpu& gpu;
    std::shared_ptr<std::optional<peers::CuDnn>> cudnn =
        std::make_shared<std::optional<peers::CuDnn>>();

    explicit Contenders(cuda::Gpu& target) : gpu{target} {}

    /// cuDNN, loaded when it is first asked for: not before the device is needed.
    peers::CuDnn const& library() const
    {
        if (!*cudnn) {
            cudnn->emplace();
        }
        return **cudnn;
    }
};

/// Sizes of a matrix: beyond the cache of any GPU, but in tests.
inline bench::AxisValues mebibytes()
{
    bench::AxisValues values;
    values.tiny = {std::int64_t{1}};
    values.quick = {std::int64_t{64}};
    values.full = {std::int64_t{256}};
    return values;
}

/// What rounding to the type may cost, twice: cuDNN rounds on its way too.
template <class T>
constexpr double storage_unit = std::is_same_v<T, double>        ? 0
                                : std::is_same_v<T, float>       ? 0
                                : std::is_same_v<T, bench::fp16> ? 0x1p-10
                                                                 : 0x1p-7;

/// What rounding to nothing may cost: half of the least positive number of fp16; of others, float
/// keeps nothing below 2^-126.
template <class T>
constexpr double storage_least = std::is_same_v<T, double>        ? 0
                                 : std::is_same_v<T, bench::fp16> ? 0x1p-25
                                                                  : 0x1p-126;

/// A matrix, its result, and what the result must be.
template <class T>
struct SoftmaxOperands
{
    std::int64_t rows;
    std::int64_t columns;
    bench::Input<T> x;
    bench::Output<T> y;

    SoftmaxOperands(bench::Trial& trial, Softmax what, cuda::Gpu& gpu)
        : rows{std::max<std::int64_t>(1, (trial.integer("mebibytes") << 20) /
                                             static_cast<std::int64_t>(sizeof(T)) /
                                             trial.integer("columns"))},
          columns{trial.integer("columns")}, x{trial.input<T>(
                                                 static_cast<std::size_t>(rows * columns))},
          y{trial.output<T>(static_cast<std::size_t>(rows * columns))}
    {
        double const moved = 2.0 * static_cast<double>(rows * columns) * sizeof(T);
        trial.work({.flops = 4.0 * static_cast<double>(rows * columns), .bytes = moved});
        trial.inexact("an exponential is no number that a computer can hold");
        // As a whole, so that it is computed once for all ways and not once for each.
        y.expect([x = x, width = columns, what, &gpu] {
            bench::Expected expected{std::vector<double>(x.size()), std::vector<double>(x.size())};
            dense::gpu::reference_softmax(what == Softmax::logarithms, x.on(gpu).data(), width, 0,
                                          expected.value, expected.bound, gpu.stream());
            bounds(what, width, expected.value, expected.bound);
            return expected;
        });
    }

private:
    /// From the distance of each element to the largest of its row: sums of n / 64 numbers by one
    /// thread and a tree of sums above it, an exponential that is wrong by some units and by what
    /// the subtraction in its argument rounds off, and the rounding to `T`.
    static void bounds(Softmax what, std::int64_t columns, std::span<double const> value,
                       std::span<double> bound)
    {
        double const unit = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;
        double const steps = 32 + static_cast<double>(columns) / 64;
        bench::on_all_processors(value.size(), [=](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                double const size = std::abs(value[i]);
                double const scale = what == Softmax::probabilities ? size : 1;
                bound[i] = scale * unit * (steps + 4 * std::abs(bound[i]) + 4 * size) +
                           size * storage_unit<T> + storage_least<T>;
            }
        });
    }
};

template <class T>
void add(bench::Trial& trial, SoftmaxOperands<T> const& p, Softmax what, cuda::Gpu& gpu,
         dense::gpu::SoftmaxStep<T> const& step, std::string const& excerpt)
{
    auto const name = std::string{step.name};
    trial
        .add(name,
             [&gpu, p, what, step](bench::Variant& variant) {
                 if (!step.takes(p.columns)) {
                     variant.not_applicable("not made for rows of " + std::to_string(p.columns));
                 }
                 return [&gpu, p, what, step, x = p.x.on(gpu).data(), y = p.y.on(gpu).data()] {
                     step.call(what, x, y, p.rows, p.columns, gpu.stream());
                 };
             })
        .excerpt(excerpt);
}

/// Name of the marked text of a step.
inline std::string text_of(std::string const& step)
{
    return step.starts_with("block_shared") ? "block_shared" : step;
}

template <class T>
void add_library(bench::Trial& trial, SoftmaxOperands<T> const& p, Softmax what,
                 Contenders const& contenders)
{
    auto& gpu = contenders.gpu;
    trial
        .add("softmax",
             [&gpu, p, what](bench::Variant&) {
                 return [&gpu, p, what, x = p.x.on(gpu).data(), y = p.y.on(gpu).data()] {
                     dense::gpu::softmax(what, x, y, p.rows, p.columns, gpu.stream());
                 };
             })
        .group("library")
        .excerpt("registers");
    auto const& cudnn = contenders.library();
    if (!cudnn.missing.empty()) {
        trial.skip("cudnn", cudnn.missing).group("peer");
        return;
    }
    trial
        .add("cudnn",
             [&gpu, p, what, &cudnn](bench::Variant&) {
                 return [&gpu, p, what, &cudnn, x = p.x.on(gpu).data(), y = p.y.on(gpu).data()] {
                     cudnn.softmax(what, x, y, p.rows, p.columns, gpu.stream());
                 };
             })
        .group("peer");
}

} // namespace softmax_block
