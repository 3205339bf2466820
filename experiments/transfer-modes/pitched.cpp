#include "problem.hpp"
#include "row_sums.hpp"
#include "studies.hpp"

#include "cuda/buffer.hpp"
#include "cuda/error.hpp"
#include "transfer/kernels.hpp"

#include <memory>
#include <stdexcept>
#include <variant>

namespace transfer_modes {

namespace {

/// Rows on the device that begin at multiples of the pitch that cudaMallocPitch chooses.
struct Pitched
{
    std::shared_ptr<void> memory;
    std::size_t pitch;

    Pitched(std::size_t width_bytes, std::size_t rows)
    {
        void* data = nullptr;
        cuda::check(cudaMallocPitch(&data, &pitch, width_bytes, rows));
        memory = {data, [](void* pointer) { static_cast<void>(cudaFree(pointer)); }};
    }

    float* data() const { return static_cast<float*>(memory.get()); }
};

/// Rows of `width` elements, 64 MiB of them, or 1 in tests.
struct Rows
{
    std::size_t width;
    std::size_t count;

    explicit Rows(Trial const& trial)
        : width{static_cast<std::size_t>(trial.integer("width"))},
          count{(static_cast<std::size_t>(trial.integer("mebibytes")) << 20) / sizeof(float) /
                width}
    {
    }

    std::size_t row_bytes() const { return width * sizeof(float); }
};

//! [memcpy2d]
inline void copy_2d(Pitched const& to, float const* from, Rows const& rows, cudaStream_t stream)
{
    cuda::check(cudaMemcpy2DAsync(to.data(), to.pitch, from, rows.row_bytes(), rows.row_bytes(),
                                  rows.count, cudaMemcpyHostToDevice, stream));
}
//! [memcpy2d]

//! [memcpy3d]
/// As two slices.
inline void copy_3d(Pitched const& to, float const* from, Rows const& rows, cudaStream_t stream)
{
    auto const height = rows.count / 2;
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {const_cast<float*>(from), rows.row_bytes(), rows.width, height};
    copy.dstPtr = {to.data(), to.pitch, rows.width, height};
    copy.extent = {rows.row_bytes(), height, 2};
    copy.kind = cudaMemcpyHostToDevice;
    cuda::check(cudaMemcpy3DAsync(&copy, stream));
}
//! [memcpy3d]

/// Copies to rows with a pitch, or without; a copy on the device, which costs little beside the
/// bus, brings what arrived to where it is checked.
void pitched_copies(Trial& trial, cuda::Gpu& gpu)
{
    Rows rows{trial};
    rows.count -= rows.count % 2;
    Problem const p{trial, gpu, rows.count * rows.row_bytes()};
    auto const y = trial.output<float>(p.count);
    p.expect(y);
    trial.work({.bytes = static_cast<double>(p.count * sizeof(float))});
    using Copy = void (*)(Pitched const&, float const*, Rows const&, cudaStream_t);
    auto const pitched = [p, rows, y](Copy copy) {
        return [p, rows, y, copy](Variant& variant) {
            variant.clock(p.gpu.wall());
            auto const x = p.filled(variant, malloc_host(p.count));
            Pitched const there{rows.row_bytes(), rows.count};
            variant.count("pitch_bytes", static_cast<double>(there.pitch));
            return [x, there, rows, copy, &gpu = p.gpu, y = y.on(p.gpu)] {
                auto const stream = gpu.stream().get();
                copy(there, x.span.data(), rows, stream);
                cuda::check(cudaMemcpy2DAsync(y.data(), rows.row_bytes(), there.data(), there.pitch,
                                              rows.row_bytes(), rows.count,
                                              cudaMemcpyDeviceToDevice, stream));
                gpu.finish();
            };
        };
    };
    trial
        .add("memcpy",
             [p, y](Variant& variant) {
                 variant.clock(p.gpu.wall());
                 auto const x = p.filled(variant, malloc_host(p.count));
                 auto const there = std::make_shared<cuda::Buffer<float>>(p.count);
                 return [x, there, &gpu = p.gpu, y = y.on(p.gpu)] {
                     auto const stream = gpu.stream().get();
                     cuda::check(cudaMemcpyAsync(there->data(), x.span.data(), there->bytes(),
                                                 cudaMemcpyHostToDevice, stream));
                     cuda::check(cudaMemcpyAsync(y.data(), there->data(), there->bytes(),
                                                 cudaMemcpyDeviceToDevice, stream));
                     gpu.finish();
                 };
             })
        .excerpt("copy");
    trial.add("memcpy2d", pitched(copy_2d));
    trial.add("memcpy3d", pitched(copy_3d));
    trial.run();
}

/// A kernel reads rows that lie one behind the other, or with a pitch.
void pitched_kernel(Trial& trial, cuda::Gpu& gpu)
{
    Rows const rows{trial};
    Problem const p{trial, gpu, rows.count * rows.row_bytes()};
    trial.work({.bytes = static_cast<double>(p.count * sizeof(float))});
    auto const sums = trial.output<double>(rows.count);
    sums.expect([x = p.x, rows] { return sums_of_rows(x.on(), rows.width, 1); });
    trial
        .add("packed_rows",
             [p, rows, sums](Variant&) {
                 return [rows, &gpu = p.gpu, x = p.x.on(p.gpu), sums = sums.on(p.gpu)] {
                     transfer::pitched_row_sums(x.data(), rows.row_bytes(), rows.width, sums,
                                                gpu.stream().get());
                 };
             })
        .excerpt("pitched_row_sums");
    trial
        .add("pitched_rows",
             [p, rows, sums](Variant& variant) {
                 Pitched const there{rows.row_bytes(), rows.count};
                 variant.count("pitch_bytes", static_cast<double>(there.pitch));
                 auto const fill = [there, rows, x = p.x] {
                     cuda::check(cudaMemcpy2D(there.data(), there.pitch, x.on().data(),
                                              rows.row_bytes(), rows.row_bytes(), rows.count,
                                              cudaMemcpyHostToDevice));
                 };
                 fill();
                 variant.on_refill(fill);
                 return [there, rows, &gpu = p.gpu, sums = sums.on(p.gpu)] {
                     transfer::pitched_row_sums(there.data(), there.pitch, rows.width, sums,
                                                gpu.stream().get());
                 };
             })
        .excerpt("pitched_row_sums");
    trial.run();
}

} // namespace

void add_pitched(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto const widths = [] {
        bench::AxisValues values;
        values.tiny = {std::int64_t{33}};
        values.quick = {std::int64_t{1001}, std::int64_t{1280}, std::int64_t{4097}};
        values.full = {std::int64_t{33}, std::int64_t{1001}, std::int64_t{1280},
                       std::int64_t{4097}};
        values.require = [](bench::Parameter const& width) {
            if (std::get<std::int64_t>(width) < 1) {
                throw std::invalid_argument{"--width: expected at least 1"};
            }
        };
        return values;
    };
    auto& copies = experiment.study("pitched_copies").on(gpu);
    copies.axis("mebibytes", mebibytes(1, 16, 64)).axis("width", widths());
    copies.untyped([&gpu](Trial& trial) { pitched_copies(trial, gpu); });
    auto& kernels = experiment.study("pitched_kernel").on(gpu);
    kernels.axis("mebibytes", mebibytes(1, 64, 128)).axis("width", widths());
    kernels.untyped([&gpu](Trial& trial) { pitched_kernel(trial, gpu); });
}

} // namespace transfer_modes
