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

/// From one column to more than any block holds; odd counts leave rows that begin anywhere.
inline bench::AxisValues widths()
{
    bench::AxisValues values;
    values.tiny = {std::int64_t{1}, std::int64_t{33}, std::int64_t{1000}, std::int64_t{70000}};
    for (std::int64_t const columns : {32, 1000, 1001, 4096, 32768, 65536, 131072, 262144}) {
        values.quick.emplace_back(columns);
    }
    for (std::int64_t const columns :
         {1,     2,     3,     17,    32,    33,    64,     128,    127,   256,
          512,   511,   1000,  1001,  1024,  2048,  2049,   4096,   8192,  8191,
          16384, 16383, 32768, 32767, 65536, 65535, 131072, 131071, 262144}) {
        values.full.emplace_back(columns);
    }
    values.require = [](bench::Parameter const& columns) {
        if (std::get<std::int64_t>(columns) < 1) {
            throw std::invalid_argument{"--columns: expected at least 1"};
        }
    };
    return values;
}

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

/// A copy of the same matrix: what no way can beat.
template <class T>
void add_copy(bench::Trial& trial, SoftmaxOperands<T> const& p, cuda::Gpu& gpu)
{
    trial
        .add("copy",
             [&gpu, p](bench::Variant& variant) {
                 auto const to = std::make_shared<cuda::Buffer<T>>(p.x.size());
                 variant.output<T>(to->span(), gpu).expect([x = p.x] {
                     return bench::Expected{{x.on().begin(), x.on().end()},
                                            std::vector<double>(x.size(), 0.0)};
                 });
                 return [&gpu, to, x = p.x.on(gpu)] {
                     //! [copy_of_matrix]
                     cuda::check(cudaMemcpyAsync(to->data(), x.data(), x.size_bytes(),
                                                 cudaMemcpyDeviceToDevice, gpu.stream().get()));
                     //! [copy_of_matrix]
                 };
             })
        .group("bound")
        .excerpt("copy_of_matrix");
}

/// Every way at one width.
template <class T>
void ways(bench::Trial& trial, Contenders const& contenders)
{
    SoftmaxOperands<T> const p{trial, Softmax::probabilities, contenders.gpu};
    add_copy(trial, p, contenders.gpu);
    for (auto const& step : dense::gpu::softmax_steps<T>()) {
        add(trial, p, Softmax::probabilities, contenders.gpu, step,
            text_of(std::string{step.name}));
    }
    add_library(trial, p, Softmax::probabilities, contenders);
    trial.run();
}

template <class T>
void logarithms(bench::Trial& trial, Contenders const& contenders)
{
    SoftmaxOperands<T> const p{trial, Softmax::logarithms, contenders.gpu};
    for (auto const& step : dense::gpu::softmax_steps<T>()) {
        add(trial, p, Softmax::logarithms, contenders.gpu, step, text_of(std::string{step.name}));
    }
    add_library(trial, p, Softmax::logarithms, contenders);
    trial.run();
}

/// The row in shared memory with blocks of every size, and what the article's rule chooses.
template <class T>
void block_sizes(bench::Trial& trial, Contenders const& contenders)
{
    SoftmaxOperands<T> const p{trial, Softmax::probabilities, contenders.gpu};
    auto& gpu = contenders.gpu;
    auto const of_size = [&](std::string const& name, int threads) {
        trial
            .add(name,
                 [&gpu, p, threads](bench::Variant& variant) {
                     variant.count("threads", threads);
                     return [&gpu, p, threads, x = p.x.on(gpu).data(), y = p.y.on(gpu).data()] {
                         dense::gpu::softmax_of_block_size(Softmax::probabilities, x, y, p.rows,
                                                           p.columns, threads, gpu.stream());
                     };
                 })
            .excerpt("block_shared");
    };
    for (int const threads : {128, 256, 512, 1024}) {
        of_size("threads" + std::to_string(threads), threads);
    }
    of_size("by_occupancy", dense::gpu::block_size_by_occupancy<T>(p.columns));
    trial.run();
}

/// Packs of two in shared memory: in columns, side by side, and side by side by single accesses.
template <class T>
void layouts(bench::Trial& trial, Contenders const& contenders)
{
    SoftmaxOperands<T> const p{trial, Softmax::probabilities, contenders.gpu};
    for (auto const& step : dense::gpu::softmax_layouts<T>()) {
        add(trial, p, Softmax::probabilities, contenders.gpu, step, "block_shared");
    }
    trial.run();
}

} // namespace softmax_block
