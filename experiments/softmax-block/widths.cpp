#include "studies.hpp"

#include "ceilings/device_kernels.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace softmax_block {

namespace {

/// From one column to more than any block holds; odd counts leave rows that begin anywhere.
bench::AxisValues widths()
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

/// A copy of the same matrix, which no way can beat: `copying(to, from)` is what copies it.
template <class T, class Copying>
void add_bound(bench::Trial& trial, SoftmaxOperands<T> const& p, cuda::Gpu& gpu,
               std::string const& name, std::string const& excerpt, Copying copying)
{
    trial
        .add(name,
             [&gpu, p, copying](bench::Variant& variant) {
                 auto const to = std::make_shared<cuda::Buffer<T>>(p.x.size());
                 variant.output<T>(to->span(), gpu).expect([x = p.x] {
                     return bench::Expected{{x.on().begin(), x.on().end()},
                                            std::vector<double>(x.size(), 0.0)};
                 });
                 return copying(to, p.x.on(gpu));
             })
        .group("bound")
        .excerpt(excerpt);
}

/// CUDA's own copy.
template <class T>
void add_copy(bench::Trial& trial, SoftmaxOperands<T> const& p, cuda::Gpu& gpu)
{
    add_bound(trial, p, gpu, "copy", "copy_of_matrix", [&gpu](auto const& to, auto const& x) {
        return [&gpu, to, x] {
            //! [copy_of_matrix]
            cuda::check(cudaMemcpyAsync(to->data(), x.data(), x.size_bytes(),
                                        cudaMemcpyDeviceToDevice, gpu.stream().get()));
            //! [copy_of_matrix]
        };
    });
}

/// A kernel's.
template <class T>
void add_copy_kernel(bench::Trial& trial, SoftmaxOperands<T> const& p, cuda::Gpu& gpu)
{
    using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, T>;
    add_bound(trial, p, gpu, "copy_kernel", "device_copy", [&gpu](auto const& to, auto const& x) {
        return [&gpu, to, x] {
            ceilings::device_copy(std::span{reinterpret_cast<Bits const*>(x.data()), x.size()},
                                  std::span{reinterpret_cast<Bits*>(to->data()), x.size()},
                                  gpu.stream());
        };
    });
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

} // namespace

void add_widths(bench::Experiment& experiment, Contenders const& contenders)
{
    auto& study = experiment.study("widths").on(contenders.gpu);
    study.axis("mebibytes", mebibytes()).axis("columns", widths());
    study.types<bench::fp16, bench::bf16, float, double>([&]<class T>(bench::Trial& trial) {
        experiment.library("cudnn", contenders.library().version);
        ways<T>(trial, contenders);
    });
}

void add_copy_speed(bench::Experiment& experiment, Contenders const& contenders)
{
    bench::AxisValues size;
    size.tiny = {std::int64_t{1}};
    size.quick = {std::int64_t{64}};
    size.book = size.full = {std::int64_t{512}};
    bench::AxisValues columns;
    columns.tiny = {std::int64_t{33}, std::int64_t{70000}};
    for (std::int64_t const vocabulary : {50257, 128256, 151936}) {
        columns.quick.emplace_back(vocabulary);
    }
    for (std::int64_t const count : {32, 128, 512, 1000, 1024, 4096, 8192, 16384, 32768, 50257,
                                     65536, 128256, 131072, 151936, 262144}) {
        columns.book.emplace_back(count);
    }
    columns.full = columns.book;
    auto& study = experiment.study("copy_speed").on(contenders.gpu);
    study.axis("mebibytes", size).axis("columns", columns);
    study.types<bench::fp16, bench::bf16, float, double>([&]<class T>(bench::Trial& trial) {
        experiment.library("cudnn", contenders.library().version);
        SoftmaxOperands<T> const p{trial, Softmax::probabilities, contenders.gpu};
        add_copy(trial, p, contenders.gpu);
        add_copy_kernel(trial, p, contenders.gpu);
        add_library(trial, p, Softmax::probabilities, contenders);
        trial.run();
    });
}

void add_logarithms(bench::Experiment& experiment, Contenders const& contenders)
{
    auto& study = experiment.study("log_softmax").on(contenders.gpu);
    study.axis("mebibytes", mebibytes()).axis("columns", {std::int64_t{1000}, std::int64_t{8192}});
    study.types<float>([&]<class T>(bench::Trial& trial) {
        experiment.library("cudnn", contenders.library().version);
        logarithms<T>(trial, contenders);
    });
}

} // namespace softmax_block
