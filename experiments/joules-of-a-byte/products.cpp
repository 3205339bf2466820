#include "studies.hpp"

#include "bench/all_processors.hpp"
#include "cuda/buffer.hpp"
#include "dense/gpu/gemm.hpp"
#include "dense/gpu/gemm_steps.hpp"
#include "dense/gpu/reference.hpp"
#include "dense/gpu/softmax.hpp"
#include "experiments/spmv.hpp"
#include "peers/cublas.hpp"
#include "peers/cusparse.hpp"
#include "spmv/device/csr.hpp"
#include "spmv/gpu/plan.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace joules {

namespace {

using dense::gpu::Precision;

/// Whether one of several names is this one.
bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names)
{
    return std::ranges::find(names, name) != names.end();
}

// --- matrices ---

/// A product of square matrices of floats, and what it must be.
struct Gemm
{
    std::int64_t side;
    cuda::Gpu& gpu;
    bench::Input<float> a;
    bench::Input<float> b;
    bench::Output<float> c;

    Gemm(bench::Trial& trial, cuda::Gpu& on)
        : side{trial.is_test() ? 256 : 4096}, gpu{on}, a{trial.input<float>(elements())},
          b{trial.input<float>(elements())}, c{trial.output<float>(elements())}
    {
        auto const n = static_cast<double>(side);
        trial.work({.flops = 2 * n * n * n, .bytes = 3 * n * n * sizeof(float)});
        expect(c, 0);
    }

    std::size_t elements() const { return static_cast<std::size_t>(side * side); }
    dense::Matrix<float const> left() const { return {a.on(gpu).data(), side, side}; }
    dense::Matrix<float const> right() const { return {b.on(gpu).data(), side, side}; }
    dense::Matrix<float> product(bench::Output<float> const& of) const
    {
        return {of.on(gpu).data(), side, side};
    }

    /// What a result must be whose operands may be rounded to such a part of themselves.
    void expect(bench::Output<float> const& of, double rounding) const
    {
        double const unit = 0x1p-23 * static_cast<double>(side + 2) + 2 * rounding;
        of.expect(
            1, [this, unit](std::size_t first, std::span<double> value, std::span<double> bound) {
                dense::gpu::reference_product(left(), right(), first, value, bound, gpu.stream());
                for (auto& one : bound) {
                    one *= unit;
                }
            });
    }
};

void add_gemm(bench::Trial& trial, Meter& meter, Gemm const& p, std::string const& name,
              Precision precision, double rounding, std::string const& excerpt)
{
    auto const setup = [=, &p](bench::Variant& variant) {
        auto out = p.c;
        if (rounding > 0) {
            out = variant.output<float>(p.elements());
            p.expect(out, rounding);
        }
        return [=, &p, a = p.left(), b = p.right(), c = p.product(out)] {
            dense::gpu::gemm<float>(a, b, c, p.gpu.stream(), {.precision = precision});
        };
    };
    meter(trial.add(name, setup)).group("gemm").excerpt(excerpt);
}

} // namespace

void gemm(bench::Trial& trial, Meter& meter)
{
    meter.begin(trial);
    trial.cache(bench::Cache::warm);
    Gemm const p{trial, meter.gpu()};
    for (auto const& step : dense::gpu::gemm_steps<float>()) {
        if (!is_one_of(step.name,
                       {"one_thread_1d", "tile_2d_any", "register_tiles", "warp_tiles"})) {
            continue;
        }
        std::string const name{step.name};
        if (auto const why = step.refuses(p.left(), p.right(), p.product(p.c)); !why.empty()) {
            trial.skip(name, std::string{why}).group("gemm");
            continue;
        }
        meter(trial.add(name, [&p, step, a = p.left(), b = p.right(), c = p.product(p.c)] {
            step.multiply(a, b, c, p.gpu.stream());
        })).group("gemm");
    }
    constexpr double tf32_rounding = 0x1p-10;
    add_gemm(trial, meter, p, "gemm", Precision::fp32, 0, "shaped_tiles");
    add_gemm(trial, meter, p, "gemm_tf32", Precision::tf32, tf32_rounding, "wgmma_tf32");
    add_idle(trial, meter);
    trial.run();
}

// --- softmax ---

void softmax(bench::Trial& trial, Meter& meter)
{
    meter.begin(trial);
    trial.cache(bench::Cache::warm);
    using dense::gpu::Softmax;
    auto& gpu = meter.gpu();
    constexpr std::int64_t columns = 4096;
    std::int64_t const rows = trial.is_test() ? 64 : 16384;
    auto const count = static_cast<std::size_t>(rows * columns);
    auto const x = trial.input<float>(count);
    auto const y = trial.output<float>(count);
    trial.work({.flops = 4.0 * static_cast<double>(count),
                .bytes = 2.0 * static_cast<double>(count * sizeof(float))});
    trial.inexact("an exponential is no number that a computer can hold");
    y.expect([&] {
        bench::Expected expected{std::vector<double>(count), std::vector<double>(count)};
        dense::gpu::reference_softmax(false, x.on(gpu).data(), columns, 0, expected.value,
                                      expected.bound, gpu.stream());
        constexpr double unit = 0x1p-24 * (32 + columns / 64.0);
        bench::on_all_processors(count, [&](std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i) {
                auto const below = std::abs(expected.bound[i]);
                expected.bound[i] =
                    std::abs(expected.value[i]) * (unit + 0x1p-22 * (1 + below)) + 0x1p-126;
            }
        });
        return expected;
    });
    for (auto const& step : dense::gpu::softmax_steps<float>()) {
        if (!is_one_of(step.name, {"block_shared", "block_online", "registers"}) ||
            !step.takes(columns)) {
            continue;
        }
        auto const call = [&gpu, step, rows, from = x.on(gpu).data(), to = y.on(gpu).data()] {
            step.call(Softmax::probabilities, from, to, rows, columns, gpu.stream());
        };
        meter(trial.add(std::string{step.name}, call)).group("softmax");
    }
    add_idle(trial, meter);
    trial.run();
}

// --- sparse matrices ---

void spmv(bench::Experiment& experiment, bench::Trial& trial, Meter& meter,
          sparse::Datasets& datasets)
{
    meter.begin(trial);
    auto& gpu = meter.gpu();
    auto const stream = gpu.stream().get();
    Problem<double> p{datasets, trial};
    trial.cache(bench::Cache::warm);
    spmv::gpu::Csr<double> const device{p.a.view()};
    auto const* const x = p.x.on(gpu).data();
    auto* const y = p.y.on(gpu).data();
    for (auto const& format : spmv::gpu::plan_formats()) {
        std::string const name{format.name};
        if (!is_one_of(name, {"row_tiles", "sell16", "diagonals"})) {
            continue;
        }
        auto const setup = [&, name](bench::Variant& variant) {
            auto const plan =
                variant.keep(spmv::gpu::Plan<double>{device.view(), stream, {.format = name}});
            if (plan->borrows()) {
                variant.reads(device);
            }
            return [=] { (*plan)(x, y, stream); };
        };
        meter(trial.add(name, setup)).group("spmv").excerpt(std::string{format.excerpt});
    }
    for (auto const& peer : peers::cusparse<double>()) {
        if (!is_one_of(peer.name, {"cusparse_csr1_preprocessed", "cusparse_sell"})) {
            continue;
        }
        auto const setup = [&, peer](bench::Variant& variant) {
            peers::GpuMatrix<double> const matrix{p.a, device.view()};
            return [=, held = variant.keep(peer.make(matrix, stream))] { (*held)(x, y); };
        };
        meter(trial.add(peer, setup)).group("spmv").excerpt(peer.excerpt);
        experiment.library("cusparse", peer.version);
    }
    add_idle(trial, meter);
    trial.run();
}

} // namespace joules
