#pragma once

#include "experiments/spmv.hpp"

#include "cuda/gpu.hpp"
#include "spmv/gpu/plan.hpp"
#include "spmv/plan.hpp"

#include <memory>
#include <span>
#include <vector>

/// The contenders: a node, and a GPU that has more and more at hand.
namespace cpu_vs_gpu {

/// The plan for the processors, with all threads of this process.
template <class T>
auto on_host(Problem<T>& p, bench::Trial const& trial)
{
    return [&](bench::Variant& variant) {
        spmv::PlanOptions const options{.threads = trial.threads(),
                                        .cold = trial.is_cold(bench::host())};
        auto const plan = variant.keep(spmv::Plan<T>{p.a, options});
        variant.note(plan->explain());
        return [plan, x = p.x.on(), y = p.y.on()] { (*plan)(x, y); };
    };
}

/// A matrix on the GPU, and the plan for it, made in a setup: choosing, converting, and bringing
/// the matrix there.
template <class T>
struct OnGpu
{
    cudaStream_t stream;
    T const* x;
    T* y;
    std::shared_ptr<spmv::gpu::Csr<T>> a; ///< the plan reads it
    std::shared_ptr<spmv::gpu::Plan<T> const> plan;

    OnGpu(Problem<T>& p, cuda::Gpu& gpu, bench::Variant& variant,
          spmv::gpu::PlanOptions const& options = {})
        : stream{gpu.stream().get()}, x{p.x.on(gpu).data()}, y{p.y.on(gpu).data()},
          a{std::make_shared<spmv::gpu::Csr<T>>(p.a.view())}, plan{variant.keep(spmv::gpu::Plan<T>{
                                                                  a->view(), stream, options})}
    {
        variant.reads(*a);
        variant.note(plan->explain());
    }

    void multiply() const { (*plan)(x, y, stream); }
};

/// The GPU has the matrix and x, and keeps y.
template <class T>
auto resident(Problem<T>& p, cuda::Gpu& gpu)
{
    return [&](bench::Variant& variant) {
        return [on_gpu = OnGpu<T>{p, gpu, variant}] { on_gpu.multiply(); };
    };
}

/// Elements of the host in locked pages, which the bus can read without help of the processor, and
/// where they are on the GPU.
struct Array
{
    bench::ConstBytes host;
    bench::Bytes device;
    std::shared_ptr<void const> pages;

    template <class T>
    Array(std::span<T const> elements, T* there, cuda::Gpu& gpu)
        : host{std::as_bytes(elements)},
          device{reinterpret_cast<std::byte*>(there), elements.size_bytes()}, pages{gpu.pin(host)}
    {
    }
};

/// The GPU has the matrix. The host has x and wants y.
template <class T>
auto with_vectors(Problem<T>& p, cuda::Gpu& gpu)
{
    return [&](bench::Variant& variant) {
        OnGpu<T> const on_gpu{p, gpu, variant};
        variant.clock(gpu.wall()); // until the host has y
        std::vector const pages{gpu.pin(std::as_bytes(p.x.on())), gpu.pin(std::as_bytes(p.y.on()))};
        return [=, x = p.x, y = p.y, &gpu] {
            static_cast<void>(pages); // as long as this is called
            //! [gpu_plan_and_vectors]
            x.upload(gpu);
            on_gpu.multiply();
            y.download(gpu);
            gpu.finish();
            //! [gpu_plan_and_vectors]
        };
    };
}

/// The host has everything. No conversion would pay for a single multiply: this is plain CSR, whose
/// tiles of rows were cut beforehand.
template <class T>
auto with_matrix(Problem<T>& p, cuda::Gpu& gpu)
{
    return [&](bench::Variant& variant) {
        OnGpu<T> const on_gpu{p, gpu, variant, {.format = "row_tiles"}};
        variant.clock(gpu.wall());
        std::vector const pages{gpu.pin(std::as_bytes(p.x.on())), gpu.pin(std::as_bytes(p.y.on()))};
        std::vector<Array> const matrix{
            {std::span<std::int32_t const>{p.a.row_ptr}, on_gpu.a->row_ptr.data(), gpu},
            {std::span<std::int32_t const>{p.a.col}, on_gpu.a->col.data(), gpu},
            {std::span<T const>{p.a.values}, on_gpu.a->values.data(), gpu}};
        return [=, x = p.x, y = p.y, &gpu] {
            static_cast<void>(pages); // as long as this is called
            //! [gpu_csr_and_matrix]
            for (auto const& array : matrix) {
                gpu.upload(array.device, array.host);
            }
            x.upload(gpu);
            on_gpu.multiply();
            y.download(gpu);
            gpu.finish();
            //! [gpu_csr_and_matrix]
        };
    };
}

} // namespace cpu_vs_gpu
