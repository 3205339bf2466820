#include "problem.hpp"
#include "studies.hpp"

#include "bench/all_processors.hpp"
#include "machine/limits.hpp"
#include "transfer/kernels.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace transfer_modes {

namespace {

/// Pages that were locked for one point and serve all bodies of it: locking takes seconds.
struct Large
{
    std::shared_ptr<cuda::Pinned<float>> pages;
    std::size_t row; ///< elements
};

constexpr std::size_t large_rows = 4096;

/// Ones, in 4096 rows; as much as was asked for, or more than the device has memory.
std::shared_ptr<Large> large(std::string const& data)
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
void capacity(Trial& trial, cuda::Gpu& gpu, std::shared_ptr<Large>& kept)
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

} // namespace

void add_capacity(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    bench::AxisValues data;
    data.tiny = {};
    data.quick = {};
    data.full = {"within"}; // "beyond" locks all of a large host's memory: who wants that, says so
    auto& study = experiment.study("capacity").on(gpu).axis("data", data);
    auto const kept = std::make_shared<std::shared_ptr<Large>>();
    study.untyped([&gpu, kept](Trial& trial) { capacity(trial, gpu, *kept); });
}

} // namespace transfer_modes
