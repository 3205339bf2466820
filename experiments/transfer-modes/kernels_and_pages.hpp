#pragma once

#include "copies.hpp"

#include "bench/all_processors.hpp"
#include "machine/limits.hpp"
#include "transfer/today.hpp"

#include <cmath>

/// Kernels that read the host's pages themselves, or pages that move, and rows with pitches.
namespace transfer_modes {

constexpr std::size_t columns = 4096; ///< of the arrays that kernels sum by rows

/// What a kernel does with the array.
struct Use
{
    std::size_t every = 1; ///< it reads one row in so many
    int times = 1;         ///< so often
    int steps = 0;         ///< keeping busy so long behind each group of four elements
};

inline Use use_of(std::string const& name)
{
    return name == "once"          ? Use{}
           : name == "sparsely"    ? Use{.every = 64}
           : name == "many_times"  ? Use{.times = 16}
           : name == "overlapping" ? Use{.steps = 8192}
                                   : throw std::invalid_argument{"--use: no use " + name};
}

inline bench::AxisValues uses()
{
    bench::AxisValues values{"once", "sparsely", "many_times", "overlapping"};
    values.require = [](bench::Parameter const& value) { use_of(std::get<std::string>(value)); };
    return values;
}

inline bench::AxisValues mebibytes(std::int64_t tiny, std::int64_t quick, std::int64_t full)
{
    bench::AxisValues values;
    values.tiny = {tiny};
    values.quick = {quick};
    values.full = {full};
    return values;
}

/// Sums of rows of so many elements, one in `every`; of x, or of x times b where there is one.
inline bench::Expected sums_of_rows(std::span<float const> x, std::size_t width, std::size_t every,
                                    std::span<float const> b = {})
{
    auto const rows = (x.size() / width + every - 1) / every;
    bench::Expected expected{std::vector<double>(rows), std::vector<double>(rows)};
    bench::on_all_processors(rows * width, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = (begin + width - 1) / width; r * width < end; ++r) {
            double size = 0;
            for (std::size_t i = r * every * width; i < (r * every + 1) * width; ++i) {
                auto const term =
                    static_cast<double>(x[i]) * (b.empty() ? 1 : static_cast<double>(b[i]));
                expected.value[r] += term;
                size += std::abs(term);
            }
            expected.bound[r] = size * static_cast<double>(width) * 0x1p-53;
        }
    });
    return expected;
}

//! [zero_copy]
/// The kernel reads the host's pages.
inline auto zero_copy(Problem const& p, Use const& use, bench::Output<double> const& sums)
{
    return [p, use, sums](Variant& variant) {
        variant.clock(p.gpu.wall());
        auto const x = p.filled(variant, host_alloc(p.count, cudaHostAllocMapped));
        return [x, use, &gpu = p.gpu, sums = sums.on(p.gpu)] {
            for (int time = 0; time < use.times; ++time) {
                transfer::row_sums(x.span.data(), columns, use.every, use.steps, sums,
                                   gpu.stream().get());
            }
            gpu.finish();
        };
    };
}
//! [zero_copy]

//! [copy_then_kernel]
/// A copy first, of everything.
inline auto copy_then_kernel(Problem const& p, Use const& use, bench::Output<double> const& sums)
{
    return [p, use, sums](Variant& variant) {
        variant.clock(p.gpu.wall());
        auto const x = p.filled(variant, malloc_host(p.count));
        auto const device = std::make_shared<cuda::Buffer<float>>(p.count);
        return [x, device, use, &gpu = p.gpu, sums = sums.on(p.gpu)] {
            auto const stream = gpu.stream().get();
            cuda::check(cudaMemcpyAsync(device->data(), x.span.data(), device->bytes(),
                                        cudaMemcpyHostToDevice, stream));
            for (int time = 0; time < use.times; ++time) {
                transfer::row_sums(device->data(), columns, use.every, use.steps, sums, stream);
            }
            gpu.finish();
        };
    };
}
//! [copy_then_kernel]

//! [copy_rows]
/// A copy first, of the rows that are needed.
inline auto copy_rows(Problem const& p, Use const& use, bench::Output<double> const& sums)
{
    return [p, use, sums](Variant& variant) {
        variant.clock(p.gpu.wall());
        auto const x = p.filled(variant, malloc_host(p.count));
        auto const device = std::make_shared<cuda::Buffer<float>>(sums.size() * columns);
        return [x, device, use, &gpu = p.gpu, sums = sums.on(p.gpu)] {
            constexpr std::size_t row = columns * sizeof(float);
            auto const stream = gpu.stream().get();
            cuda::check(cudaMemcpy2DAsync(device->data(), row, x.span.data(), use.every * row, row,
                                          sums.size(), cudaMemcpyHostToDevice, stream));
            for (int time = 0; time < use.times; ++time) {
                transfer::row_sums(device->data(), columns, 1, use.steps, sums, stream);
            }
            gpu.finish();
        };
    };
}
//! [copy_rows]

//! [managed_touch]
/// Pages move when the kernel touches them, or all at once before.
inline auto managed(Problem const& p, Use const& use, bench::Output<double> const& sums,
                    bool prefetch)
{
    return [p, use, sums, prefetch](Variant& variant) {
        if (auto const why = transfer::missing_managed(); !why.empty()) {
            variant.not_applicable(why);
        }
        variant.clock(p.gpu.wall());
        auto const memory = std::make_shared<transfer::Managed>(p.count);
        auto const x = p.filled(variant, {memory, memory->span()});
        variant.on_reset([memory, &gpu = p.gpu] { // all pages are the host's
            memory->bring_to_host(gpu.stream());
            gpu.finish();
        });
        return [x, memory, use, prefetch, &gpu = p.gpu, sums = sums.on(p.gpu)] {
            if (prefetch) {
                memory->bring_to_device(gpu.stream());
            }
            for (int time = 0; time < use.times; ++time) {
                transfer::row_sums(x.span.data(), columns, use.every, use.steps, sums,
                                   gpu.stream().get());
            }
            gpu.finish();
        };
    };
}
//! [managed_touch]

/// A kernel reads an array on the host: by itself, after a copy, or in pages that move.
inline void add_zero_copy(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("zero_copy").on(gpu);
    study.axis("mebibytes", mebibytes(1, 64, 128)).axis("use", uses());
    study.untyped([&gpu](Trial& trial) {
        auto const use = use_of(trial.text("use"));
        Problem const p{trial, gpu, static_cast<std::size_t>(trial.integer("mebibytes")) << 20};
        auto const rows = p.count / columns;
        auto const sums = trial.output<double>((rows + use.every - 1) / use.every);
        sums.expect([x = p.x, use] { return sums_of_rows(x.on(), columns, use.every); });
        trial.work({.bytes = static_cast<double>(sums.size() * columns * sizeof(float))});
        trial.add("zero_copy", zero_copy(p, use, sums));
        trial.add("copy_then_kernel", copy_then_kernel(p, use, sums));
        trial.add("copy_rows", copy_rows(p, use, sums));
        trial.add("managed_touch", managed(p, use, sums, false));
        trial.add("managed_prefetch", managed(p, use, sums, true)).excerpt("managed_touch");
        trial.run();
    });
}

//! [dot]
/// The article's product of two vectors, from write-combined pages, with partial sums in mapped
/// pages; or with copies.
inline auto dot(Problem const& p, bench::Input<float> const& b, bool copied)
{
    return [p, b, copied](Variant& variant) {
        variant.clock(p.gpu.wall());
        constexpr unsigned inputs = cudaHostAllocWriteCombined | cudaHostAllocMapped;
        auto const x = host_alloc(p.count, inputs);
        auto const y = host_alloc(p.count, inputs);
        auto const fill = [p, b, x, y] {
            std::ranges::copy(p.x.on(), x.span.begin());
            std::ranges::copy(b.on(), y.span.begin());
        };
        fill();
        variant.on_refill(fill);
        auto const sums =
            std::make_shared<cuda::Pinned<double>>(p.count / columns, cudaHostAllocMapped);
        variant.output<double>(sums->span()).expect([p, b] {
            return sums_of_rows(p.x.on(), columns, 1, b.on());
        });
        auto const device = std::make_shared<cuda::Buffer<float>>(copied ? 2 * p.count : 1);
        auto const there = std::make_shared<cuda::Buffer<double>>(sums->span().size());
        return [=, &gpu = p.gpu] {
            auto const stream = gpu.stream().get();
            auto const bytes = x.span.size_bytes();
            if (!copied) {
                transfer::row_products(x.span.data(), y.span.data(), columns, sums->span(), stream);
                gpu.finish();
                return;
            }
            auto* const second = device->data() + x.span.size();
            cuda::check(cudaMemcpyAsync(device->data(), x.span.data(), bytes,
                                        cudaMemcpyHostToDevice, stream));
            cuda::check(
                cudaMemcpyAsync(second, y.span.data(), bytes, cudaMemcpyHostToDevice, stream));
            transfer::row_products(device->data(), second, columns, there->span(), stream);
            cuda::check(cudaMemcpyAsync(sums->span().data(), there->data(), there->bytes(),
                                        cudaMemcpyDeviceToHost, stream));
            gpu.finish();
        };
    };
}
//! [dot]

inline void add_dot(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("dot").on(gpu).axis("mebibytes", mebibytes(1, 32, 128));
    study.untyped([&gpu](Trial& trial) {
        Problem const p{trial, gpu, static_cast<std::size_t>(trial.integer("mebibytes")) << 20};
        auto const b = trial.input<float>(p.count);
        trial.work({.bytes = 2.0 * static_cast<double>(p.count * sizeof(float))});
        trial.add("dot_zero_copy", dot(p, b, false)).on(gpu, bench::host()).excerpt("dot");
        trial.add("dot_copied", dot(p, b, true)).on(gpu, bench::host()).excerpt("dot");
        trial.run();
    });
}

/// Pages that were locked for one point and serve all bodies of it: locking takes seconds.
struct Large
{
    std::shared_ptr<cuda::Pinned<float>> pages;
    std::size_t row; ///< elements
};

constexpr std::size_t large_rows = 4096;

/// Ones, in 4096 rows; as much as was asked for, or more than the device has memory.
inline std::shared_ptr<Large> large(std::string const& data)
{
    std::size_t free = 0;
    std::size_t total = 0;
    cuda::check(cudaMemGetInfo(&free, &total));
    auto const wanted = data == "beyond" ? total + (total >> 6) : std::size_t{1} << 30;
    auto const available = machine::available_memory_bytes();
    if (wanted + (std::size_t{8} << 30) > available) {
        throw bench::NotApplicable{"the host has no " + std::to_string((wanted >> 30) + 8) +
                                   " GiB of free memory"};
    }
    auto const row = wanted / sizeof(float) / large_rows / 128 * 128;
    auto const pages = std::make_shared<cuda::Pinned<float>>(row * large_rows, cudaHostAllocMapped);
    auto const all = pages->span();
    bench::on_all_processors(all.size(), [&](std::size_t begin, std::size_t end) {
        std::ranges::fill(all.subspan(begin, end - begin), 1.0F);
    });
    return std::make_shared<Large>(Large{pages, row});
}

/// A kernel reads more of the host's memory than the device has: each row is ones and one value.
inline void capacity(Trial& trial, cuda::Gpu& gpu, std::shared_ptr<Large>& kept)
{
    auto const x = trial.input<float>(large_rows);
    auto const sums = trial.output<double>(large_rows);
    if (!trial.is_timed() || !kept) {
        kept.reset();
        kept = large(trial.text("data"));
    }
    auto const& array = *kept;
    auto const put = [x, array] {
        for (std::size_t r = 0; r < large_rows; ++r) {
            array.pages->span()[r * array.row] = x.on()[r];
        }
    };
    put();
    trial.on_refill(put);
    sums.expect([x, array] {
        bench::Expected expected;
        for (float const value : x.on()) {
            expected.value.push_back(static_cast<double>(array.row - 1) +
                                     static_cast<double>(value));
            expected.bound.push_back(1e-6);
        }
        return expected;
    });
    trial.work({.bytes = static_cast<double>(array.pages->span().size_bytes())});
    trial
        .add("zero_copy",
             [&gpu, array, sums](Variant& variant) {
                 variant.clock(gpu.wall());
                 variant.count("gibibytes",
                               static_cast<double>(array.pages->span().size_bytes()) / (1 << 30));
                 return [&gpu, array, sums = sums.on(gpu)] {
                     transfer::row_sums(array.pages->on_device(), array.row, 1, 0, sums,
                                        gpu.stream().get());
                     gpu.finish();
                 };
             })
        .excerpt("row_sums");
    trial.run();
    if (trial.is_timed()) {
        kept.reset();
    }
}

inline void add_capacity(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    bench::AxisValues data;
    data.tiny = {};
    data.quick = {};
    data.full = {"within"}; // "beyond" locks all of a large host's memory: who wants that, says so
    auto& study = experiment.study("capacity").on(gpu).axis("data", data);
    auto const kept = std::make_shared<std::shared_ptr<Large>>();
    study.untyped([&gpu, kept](Trial& trial) { capacity(trial, gpu, *kept); });
}

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
inline void pitched_copies(Trial& trial, cuda::Gpu& gpu)
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
inline void pitched_kernel(Trial& trial, cuda::Gpu& gpu)
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

inline void add_pitched(bench::Experiment& experiment, cuda::Gpu& gpu)
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
