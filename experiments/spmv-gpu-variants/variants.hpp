#pragma once

#include "experiments/spmv.hpp"

#include "cuda/gpu.hpp"
#include "peers/cusparse.hpp"

#include "spmv/gpu/csr.hpp"
#include "spmv/gpu/formats/rows/rows.hpp"
#include "spmv/gpu/plan.hpp"
#include "spmv/gpu/steps/dynamic_rows.hpp"
#include "spmv/gpu/steps/lane_tables.hpp"
#include "spmv/gpu/steps/padded.hpp"
#include "spmv/gpu/steps/roof.hpp"
#include "spmv/gpu/tried/tried.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace spmv_gpu_variants {

namespace gpu = spmv::gpu;

/// The operands of a problem on the GPU, and how variants use them.
template <class T>
struct OnGpu
{
    OnGpu(Problem<T>& problem, ::cuda::Gpu& gpu)
        : stream{gpu.stream().get()}, host{problem.a}, device{host.view()}, a{device.view()},
          x{problem.x.on(gpu).data()}, y{problem.y.on(gpu).data()}
    {
    }
    OnGpu(OnGpu const&) = delete;
    OnGpu& operator=(OnGpu const&) = delete;

    /// A variant that multiplies by the matrix as it is: `kernel(a, x, y, stream)`.
    template <class Kernel>
    auto on_csr(Kernel kernel)
    {
        return [this, kernel](bench::Variant& variant) {
            variant.reads(device);
            return [this, kernel] { kernel(a, x, y, stream); };
        };
    }

    /// The same with a number of lanes: `kernel(lanes, a, x, y, stream)`.
    template <class Kernel>
    auto on_csr(Kernel kernel, int lanes)
    {
        return on_csr([=](auto const&... operands) { kernel(lanes, operands...); });
    }

    /// A variant that multiplies by a plan, in one of its formats or in that of its choice if none
    /// is named. It is not applicable if the format cannot hold the matrix.
    auto planned(std::string format)
    {
        return [this, format](bench::Variant& variant) {
            try {
                auto const plan = variant.keep(gpu::Plan<T>{a, stream, {.format = format}});
                if (plan->borrows()) {
                    variant.reads(device);
                }
                if (format.empty()) {
                    variant.note(plan->explain());
                }
                return [this, plan] { (*plan)(x, y, stream); };
            } catch (std::length_error const& refusal) {
                variant.not_applicable(refusal.what());
            }
        };
    }

    /// A variant that multiplies by the matrix as it is with what `make()` prepared for it:
    /// `kernel(prepared, a, x, y, stream)`.
    template <class Make, class Kernel>
    auto prepared(Make make, Kernel kernel)
    {
        return [this, make, kernel](bench::Variant& variant) {
            variant.reads(device);
            return [this, kernel, kept = variant.keep(make())] { kernel(*kept, a, x, y, stream); };
        };
    }

    cudaStream_t stream;
    sparse::Csr<T> const& host;
    gpu::Csr<T> device;
    gpu::CsrView<T> a;
    T const* x;
    T* y;
};

/// A dynamic kernel with a number of lanes; the counter of rows is set back in each multiply.
template <class T>
auto dynamic(OnGpu<T>& problem, gpu::Fetch fetch, int lanes)
{
    return problem.prepared(
        [] { return gpu::DynamicRows{}; },
        [fetch, lanes](gpu::DynamicRows const& rows, auto const& a, T const* x, T* y,
                       cudaStream_t stream) { rows(fetch, lanes, a, x, y, stream); });
}

/// The kernels that a reader would try first: a thread for each row, or 2 to 32 lanes, which get
/// their rows by number or from a counter.
template <class T>
void add_single_kernels(bench::Trial& trial, OnGpu<T>& problem)
{
    trial.add("thread_per_row", problem.on_csr(gpu::thread_per_row<T>)).group("single");
    for (int const lanes : {2, 4, 8, 16, 32}) {
        auto const number = std::to_string(lanes);
        trial.add("vector_shuffle" + number, problem.on_csr(gpu::vector_shuffle<T>, lanes))
            .excerpt("vector_shuffle")
            .group("vector");
        trial.add("vector_early" + number, problem.on_csr(gpu::vector_early<T>, lanes))
            .excerpt("vector_early")
            .group("early");
        trial.add("vector_shared" + number, problem.on_csr(gpu::vector_shared<T>, lanes))
            .excerpt("vector_shared")
            .group("shared");
        trial.add("dynamic_warp" + number, dynamic(problem, gpu::Fetch::warp, lanes))
            .excerpt("dynamic_warp")
            .group("single");
    }
}

/// The three tables of the articles, which choose lanes by the mean row, and two ways to fetch rows
/// with the lanes of the first.
template <class T>
void add_tables(bench::Trial& trial, OnGpu<T>& problem)
{
    double const mean = gpu::mean_row(problem.a);
    int const light = gpu::light_lanes(mean);
    trial.add("table_light", dynamic(problem, gpu::Fetch::warp, light)).group("table");
    if (int const mixed = gpu::mixed_lanes(mean); mixed == 1) {
        trial.add("table_mixed", problem.on_csr(gpu::thread_per_row<T>)).group("table");
    } else {
        trial.add("table_mixed", dynamic(problem, gpu::Fetch::warp, mixed)).group("table");
    }
    int const nearest = gpu::nearest_lanes(mean);
    trial.add("table_nearest", problem.on_csr(gpu::vector_shuffle<T>, nearest)).group("table");
    trial.add("dynamic_vector", dynamic(problem, gpu::Fetch::vector, light)).group("dynamic");
    trial.add("dynamic_chunked", dynamic(problem, gpu::Fetch::chunked, light)).group("dynamic");
}

/// One atomic addition for each vector, beside one for each warp, at the same lanes.
template <class T>
void add_atomics(bench::Trial& trial, OnGpu<T>& problem)
{
    for (int const lanes : {4, 8}) {
        trial
            .add("dynamic_vector" + std::to_string(lanes),
                 dynamic(problem, gpu::Fetch::vector, lanes))
            .excerpt("dynamic_vector")
            .group("dynamic");
    }
}

/// Lanes that load four columns and values at once.
template <class T>
void add_wide_loads(bench::Trial& trial, OnGpu<T>& problem)
{
    for (int const lanes : {2, 4, 8}) {
        trial.add("vector_wide" + std::to_string(lanes), problem.on_csr(gpu::vector_wide<T>, lanes))
            .excerpt("vector_wide")
            .group("wide");
    }
}

/// Folds all columns into 1,024 of them, for which the nearest cache has room. Rows keep their
/// lengths, and columns ascend within each, some more than once.
//! [fold_columns]
template <class T>
void fold_columns(sparse::Csr<T>& a)
{
    constexpr std::int32_t window = 1024;
    for (auto& column : a.col) {
        column %= window;
    }
    for (std::int32_t row = 0; row < a.rows; ++row) {
        std::sort(a.col.begin() + a.row_ptr[row], a.col.begin() + a.row_ptr[row + 1]);
    }
}
//! [fold_columns]

/// The vector kernel, where elements of `x` come from anywhere or from a few cache lines.
template <class T>
void add_gathers(bench::Trial& trial, OnGpu<T>& problem)
{
    for (int const lanes : {4, 8, 16}) {
        trial
            .add("x_shuffle" + std::to_string(lanes), problem.on_csr(gpu::vector_shuffle<T>, lanes))
            .excerpt("vector_shuffle")
            .group("gather");
    }
}

/// What a plan knows of a group, each by itself.
template <class T>
void add_formats(bench::Trial& trial, OnGpu<T>& problem, std::string_view group)
{
    for (auto const& format : gpu::plan_formats()) {
        if (format.group == group) {
            std::string const name{format.name};
            trial.add(name, problem.planned(name))
                .excerpt(std::string{format.excerpt})
                .group(std::string{group});
        }
    }
}

/// Rows that begin where memory's pieces do, which is no format of plans.
template <class T>
void add_padded(bench::Trial& trial, OnGpu<T>& problem)
{
    auto const padded = [&problem] { return gpu::with_padded_rows(problem.a, problem.stream); };
    auto const on_padded = [lanes = gpu::nearest_lanes(gpu::mean_row(problem.a))](
                               gpu::Csr<T> const& rows, auto const&, auto const&... operands) {
        gpu::vector_shuffle<T>(lanes, rows.view(), operands...);
    };
    trial.add("padded_rows", problem.prepared(padded, on_padded)).group("format");
}

/// What `gpu::csr_roof` makes of `x`: sums of its threads, and the number of entries of each row.
template <class T>
spmv::Expected roof_result(sparse::CsrView<T> const& a, std::span<T const> x)
{
    constexpr std::int64_t entries = gpu::roof_entries;
    constexpr int pack = 16 / sizeof(T);
    constexpr std::int64_t threads = gpu::roof_threads;
    auto const nonzeros = static_cast<std::int64_t>(a.nonzeros());
    std::int64_t const blocks = std::max((nonzeros + entries - 1) / entries, std::int64_t{1});
    spmv::Expected result;
    for (std::int64_t block = 0; block < blocks; ++block) {
        std::int64_t const first_row = block * a.rows / blocks;
        for (auto row = first_row; row < (block + 1) * a.rows / blocks; ++row) {
            std::int64_t const thread = (row - first_row) % threads;
            auto const length = a.row_ptr[row + 1] - a.row_ptr[row];
            double sum = length;
            double magnitude = length;
            for (std::int64_t i = 0; i < entries / threads; ++i) {
                auto const p = block * entries + (i / pack * threads + thread) * pack + i % pack;
                if (p < nonzeros) {
                    double const product = static_cast<double>(a.values[p]) * x[a.col[p]];
                    sum += product;
                    magnitude += std::abs(product);
                }
            }
            result.value.push_back(sum);
            result.bound.push_back(12 * magnitude * std::numeric_limits<T>::epsilon());
        }
    }
    return result;
}

/// The floor under all kernels on plain CSR, which is no multiply and writes something else.
template <class T>
void add_roof(bench::Trial& trial, OnGpu<T>& problem, Problem<T>& operands, ::cuda::Gpu& where)
{
    auto const roof = [&](bench::Variant& variant) {
        variant.reads(problem.device);
        auto const sums = variant.output<T>(operands.y.size());
        sums.expect([&] { return roof_result<T>(operands.a, operands.x); });
        return [&, out = sums.on(where).data()] {
            gpu::csr_roof<T>(problem.a, problem.x, out, problem.stream);
        };
    };
    trial.add("csr_roof", roof).group("roof");
}

/// Our own choice among all of them.
template <class T>
void add_plan(bench::Trial& trial, OnGpu<T>& problem)
{
    trial.add("auto", problem.planned("")).excerpt("gpu_plan").group("plan");
}

/// Adds cuSPARSE, in group "peer", and records its version.
/// Somebody's own kernel from a shared object of `just try`, if one is named; it is in double
/// precision.
template <class T>
void add_tried(bench::Trial& trial, OnGpu<T>& problem, std::string const& file)
{
    if constexpr (std::is_same_v<T, double>) {
        if (!file.empty()) {
            auto const product = gpu::Tried{file};
            trial
                .add("yours",
                     problem.on_csr([product](auto const&... operands) { product(operands...); }))
                .excerpt("yours_on_gpu")
                .group("yours");
        }
    }
}

template <class T>
void add_cusparse(bench::Experiment& experiment, bench::Trial& trial, OnGpu<T>& problem)
{
    for (auto const& peer : peers::cusparse<T>()) {
        auto const convert = [peer, &problem](bench::Variant& variant) {
            peers::GpuMatrix<T> const matrix{problem.host, problem.a};
            return [&problem, held = variant.keep(peer.make(matrix, problem.stream))] {
                (*held)(problem.x, problem.y);
            };
        };
        trial.add(peer, convert).excerpt(peer.excerpt).group("peer");
        experiment.library("cusparse", peer.version);
    }
}

} // namespace spmv_gpu_variants
