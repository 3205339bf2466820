#include "studies.hpp"

#include "bench/all_processors.hpp"

#include <cstring>

namespace decode {

void add_reads_of(bench::Trial& trial, cuda::Gpu& gpu, std::function<std::byte const*()> device,
                  std::function<std::byte const*()> host, std::size_t bytes)
{
    auto const whole = bytes / tile_bytes * tile_bytes;
    auto const add = [&](std::string const& name, auto read, auto blocks,
                         std::string_view missing) {
        if (!missing.empty() || whole == 0) {
            trial.skip(name, whole == 0 ? "there is no whole tile" : std::string{missing})
                .group("read");
            return;
        }
        trial
            .add(name,
                 [=, &gpu](bench::Variant& variant) {
                     auto const sums = variant.output<std::int32_t>(blocks());
                     sums.expect([=] {
                         std::vector<std::int32_t> of_tile(whole / tile_bytes);
                         std::byte const* const from = host();
                         bench::on_all_processors(
                             whole / 16, [&](std::size_t begin, std::size_t end) {
                                 // Whole tiles: those that begin in this range of packs.
                                 constexpr std::size_t packs = tile_bytes / 16;
                                 for (auto t = (begin + packs - 1) / packs; t * packs < end; ++t) {
                                     std::uint32_t sum = 0;
                                     for (std::size_t i = 0; i < tile_bytes; i += 4) {
                                         std::uint32_t word = 0;
                                         std::memcpy(&word, from + t * tile_bytes + i, 4);
                                         sum += word;
                                     }
                                     of_tile[t] = static_cast<std::int32_t>(sum);
                                 }
                             });
                         std::vector<std::uint32_t> total(sums.size());
                         for (std::size_t t = 0; t < of_tile.size(); ++t) {
                             total[t % total.size()] += static_cast<std::uint32_t>(of_tile[t]);
                         }
                         bench::Expected expected;
                         for (auto const sum : total) {
                             expected.value.push_back(static_cast<std::int32_t>(sum));
                             expected.bound.push_back(0);
                         }
                         return expected;
                     });
                     return [=, &gpu, from = device(), to = sums.on(gpu)] {
                         read({from, whole}, to, gpu.stream());
                     };
                 })
            .group("read");
    };
    add("read_wide", read_wide, wide_blocks, "");
    add("read_bulk", read_bulk, bulk_blocks, refuses_bulk());
}

void add_reads(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    bench::AxisValues sizes;
    sizes.tiny = {std::int64_t{1}};
    sizes.quick = sizes.full = {std::int64_t{32}, std::int64_t{128}, std::int64_t{1024}};
    experiment.study("reads").axis("mebibytes", sizes).untyped([&](bench::Trial& trial) {
        auto const bytes = static_cast<std::size_t>(trial.integer("mebibytes")) << 20;
        auto const words = trial.input<std::int32_t>(bytes / 4);
        trial.cache(bench::Cache::cold);
        trial.work({.bytes = static_cast<double>(bytes)});
        add_reads_of(
            trial, gpu,
            [=, &gpu] { return reinterpret_cast<std::byte const*>(words.on(gpu).data()); },
            [=] { return reinterpret_cast<std::byte const*>(words.on().data()); }, bytes);
        trial.run();
    });
}

} // namespace decode
