#pragma once

#include "bench/experiment.hpp"
#include "cuda/cache_flush.hpp"
#include "cuda/clock.hpp"
#include "cuda/device.hpp"
#include "cuda/output.hpp"
#include "peers/cusparse.hpp"
#include "sparse/datasets.hpp"
#include "spmv/cuda/csr.hpp"
#include "spmv/reference.hpp"

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

/// The device that an experiment measures: where work is put, and how its caches are emptied.
struct Gpu
{
    cuda::Stream stream;
    cuda::CacheFlush flush{stream};
};

/// The operands of `y = A x` at one point of an experiment on the GPU, declared to its trial. What
/// does not fit in the last-level cache is measured cold and between events, the rest warm and in
/// graphs, as it would take less time than a launch.
template <class T>
struct GpuProblem
{
    GpuProblem(sparse::Datasets& datasets, bench::Point const& at, bench::Trial<T>& trial, Gpu& gpu)
        : stream{gpu.stream.get()}, host{datasets.load<T>(at.text("matrix"), trial.fill())},
          device{host.view()}, a{device.view()}, host_x{trial.input(host.columns)},
          x(host_x.size()), y(host.rows)
    {
        auto const& description = datasets.description(at.text("matrix"));
        trial.dataset(at.text("matrix"), description.sha256, description.features);
        auto const work = spmv::work<T>(host);
        trial.work(work);
        trial.on_refill([this] { x.upload(host_x); });
        trial.output(cuda::output(y, gpu.stream));
        trial.expect([this] { return spmv::expected<T>(host, host_x); });
        bool const is_cold = work.bytes > static_cast<double>(cuda::l2_bytes());
        trial.cache(is_cold ? bench::Cache::cold : bench::Cache::warm);
        trial.flush_with([&gpu] { gpu.flush(); });
        if (is_cold) {
            trial.clock(std::make_unique<cuda::EventClock>(gpu.stream));
        } else {
            trial.clock(std::make_unique<cuda::GraphClock>(gpu.stream));
        }
    }
    GpuProblem(GpuProblem const&) = delete;
    GpuProblem& operator=(GpuProblem const&) = delete;

    /// A variant that multiplies by the matrix as it is: `kernel(a, x, y, stream)`.
    template <class Kernel>
    auto on_csr(Kernel kernel)
    {
        return [this, kernel](bench::Setup& setup) {
            setup.reads(device);
            return [this, kernel] { kernel(a, x.data(), y.data(), stream); };
        };
    }

    /// A variant that multiplies by what `make()` returns, `format(x, y, stream)`; a format that
    /// cannot hold the matrix is not applicable.
    template <class Make>
    auto converted(Make make)
    {
        return [this, make](bench::Setup& setup) {
            try {
                auto const format = setup.keep(make());
                if constexpr (requires { format->explain(); }) {
                    setup.note(format->explain());
                }
                return [this, format] { (*format)(x.data(), y.data(), stream); };
            } catch (std::length_error const& refusal) {
                setup.not_applicable(refusal.what());
            }
        };
    }

    /// A variant that multiplies by the matrix as it is with what `make()` prepared for it:
    /// `kernel(prepared, a, x, y, stream)`.
    template <class Make, class Kernel>
    auto prepared(Make make, Kernel kernel)
    {
        return [this, make, kernel](bench::Setup& setup) {
            setup.reads(device);
            return [this, kernel, kept = setup.keep(make())] {
                kernel(*kept, a, x.data(), y.data(), stream);
            };
        };
    }

    cudaStream_t stream;
    sparse::Csr<T> host;
    spmv::gpu::Csr<T> device;
    spmv::gpu::CsrView<T> a;
    std::span<T const> host_x; ///< new before every check
    cuda::Buffer<T> x;         ///< its copy
    cuda::Buffer<T> y;
};

/// Adds cuSPARSE to the variants of `problem`, in group "peer", and records its version.
template <class T>
void add_cusparse(bench::Experiment& experiment, bench::Trial<T>& trial, GpuProblem<T>& problem)
{
    for (auto const& peer : peers::cusparse<T>()) {
        auto const convert = [peer, &problem](bench::Setup& setup) {
            try {
                peers::GpuMatrix<T> const matrix{problem.host, problem.a};
                return [&problem, held = setup.keep(peer.make(matrix, problem.stream))] {
                    (*held)(problem.x.data(), problem.y.data());
                };
            } catch (peers::NotApplicable const& reason) {
                setup.not_applicable(reason.what());
            }
        };
        trial.add(peer, convert).excerpt(peer.excerpt).group("peer");
        experiment.library("cusparse", peer.version);
    }
}
