#pragma once

#include "experiments/spmv.hpp"

#include "cuda/gpu.hpp"
#include "peers/cusparse.hpp"

#include "spmv/device/csr.hpp"
#include "spmv/formats/rows/gpu.hpp"
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

/// The operands of a problem on the GPU, and the variants of this experiment on them.
template <class T>
struct Variants
{
    Variants(bench::Trial& to, Problem<T>& operands, ::cuda::Gpu& on)
        : trial{to}, problem{operands}, where{on}, stream{on.stream().get()},
          device{operands.a.view()}, a{device.view()}, x{operands.x.on(on).data()},
          y{operands.y.on(on).data()}
    {
    }
    Variants(Variants const&) = delete;
    Variants& operator=(Variants const&) = delete;

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

    /// A dynamic kernel with a number of lanes; the counter of rows is set back in each multiply.
    auto dynamic(gpu::Fetch fetch, int lanes)
    {
        return prepared([] { return gpu::DynamicRows{}; },
                        [=](gpu::DynamicRows const& rows, auto const&... operands) {
                            rows(fetch, lanes, operands...);
                        });
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

    /// Adds a variant that shows the marked text of its name without the lanes.
    template <class Variant>
    void add(std::string const& name, int lanes, char const* group, Variant variant)
    {
        trial.add(name + std::to_string(lanes), variant).excerpt(name).group(group);
    }

    /// The kernels that a reader would try first: a thread for each row, or 2 to 32 lanes, which
    /// get their rows by number or from a counter.
    void add_single_kernels()
    {
        trial.add("thread_per_row", on_csr(gpu::thread_per_row<T>)).group("single");
        for (int const lanes : {2, 4, 8, 16, 32}) {
            add("vector_shuffle", lanes, "vector", on_csr(gpu::vector_shuffle<T>, lanes));
            add("vector_early", lanes, "early", on_csr(gpu::vector_early<T>, lanes));
            add("vector_shared", lanes, "shared", on_csr(gpu::vector_shared<T>, lanes));
            add("dynamic_warp", lanes, "single", dynamic(gpu::Fetch::warp, lanes));
        }
    }

    /// The three tables of the articles, which choose lanes by the mean row, and two ways to fetch
    /// rows with the lanes of the first.
    void add_tables()
    {
        double const mean = gpu::mean_row(a);
        int const light = gpu::light_lanes(mean);
        trial.add("table_light", dynamic(gpu::Fetch::warp, light)).group("table");
        if (int const mixed = gpu::mixed_lanes(mean); mixed == 1) {
            trial.add("table_mixed", on_csr(gpu::thread_per_row<T>)).group("table");
        } else {
            trial.add("table_mixed", dynamic(gpu::Fetch::warp, mixed)).group("table");
        }
        int const nearest = gpu::nearest_lanes(mean);
        trial.add("table_nearest", on_csr(gpu::vector_shuffle<T>, nearest)).group("table");
        trial.add("dynamic_vector", dynamic(gpu::Fetch::vector, light)).group("dynamic");
        trial.add("dynamic_chunked", dynamic(gpu::Fetch::chunked, light)).group("dynamic");
    }

    /// One atomic addition for each vector, beside one for each warp, at the same lanes; then lanes
    /// that load four columns and values at once.
    void add_atomics_and_wide_loads()
    {
        for (int const lanes : {4, 8}) {
            add("dynamic_vector", lanes, "dynamic", dynamic(gpu::Fetch::vector, lanes));
        }
        for (int const lanes : {2, 4, 8}) {
            add("vector_wide", lanes, "wide", on_csr(gpu::vector_wide<T>, lanes));
        }
    }

    /// The vector kernel, where elements of `x` come from anywhere or from a few cache lines.
    void add_gathers()
    {
        for (int const lanes : {4, 8, 16}) {
            trial.add("x_shuffle" + std::to_string(lanes), on_csr(gpu::vector_shuffle<T>, lanes))
                .excerpt("vector_shuffle")
                .group("gather");
        }
    }

    /// What a plan knows of a group, each by itself.
    void add_formats(std::string const& group)
    {
        for (auto const& format : gpu::plan_formats()) {
            if (format.group == group) {
                std::string const name{format.name};
                trial.add(name, planned(name)).excerpt(std::string{format.excerpt}).group(group);
            }
        }
    }

    /// Rows that begin where memory's pieces do, which is no format of plans.
    void add_padded()
    {
        auto const padded = [this] { return gpu::with_padded_rows(a, stream); };
        auto const on_padded = [lanes = gpu::nearest_lanes(gpu::mean_row(a))](
                                   gpu::Csr<T> const& rows, auto const&, auto const&... operands) {
            gpu::vector_shuffle<T>(lanes, rows.view(), operands...);
        };
        trial.add("padded_rows", prepared(padded, on_padded)).group("format");
    }

    /// The floor under all kernels on plain CSR, which is no multiply and writes something else.
    void add_roof()
    {
        auto const roof = [this](bench::Variant& variant) {
            variant.reads(device);
            auto const sums = variant.output<T>(problem.y.size());
            sums.expect([this] { return roof_result<T>(problem.a, problem.x); });
            return [this, out = sums.on(where).data()] { gpu::csr_roof<T>(a, x, out, stream); };
        };
        trial.add("csr_roof", roof).group("roof");
    }

    /// Our own choice among all of them.
    void add_plan() { trial.add("auto", planned("")).excerpt("gpu_plan").group("plan"); }

    /// Somebody's own kernel from a shared object of `just try`, if one is named; it is in double
    /// precision.
    void add_tried(std::string const& file)
    {
        if constexpr (std::is_same_v<T, double>) {
            if (!file.empty()) {
                trial.add("yours", on_csr(gpu::Tried{file})).excerpt("yours_on_gpu").group("yours");
            }
        }
    }

    /// Adds cuSPARSE, in group "peer", and records its version.
    void add_cusparse(bench::Experiment& experiment)
    {
        for (auto const& peer : peers::cusparse<T>()) {
            auto const convert = [peer, this](bench::Variant& variant) {
                peers::GpuMatrix<T> const matrix{problem.a, a};
                return [this, held = variant.keep(peer.make(matrix, stream))] { (*held)(x, y); };
            };
            trial.add(peer, convert).excerpt(peer.excerpt).group("peer");
            experiment.library("cusparse", peer.version);
        }
    }

    bench::Trial& trial;
    Problem<T>& problem;
    ::cuda::Gpu& where;
    cudaStream_t stream;
    gpu::Csr<T> device;
    gpu::CsrView<T> a;
    T const* x;
    T* y;
};

} // namespace spmv_gpu_variants
