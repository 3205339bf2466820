#include "cycles.hpp"
#include "studies.hpp"

#include "dense/banks.hpp"
#include "dense/gpu/banks.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace shared_memory_banks {

namespace {

/// The patterns that are measured unless the command line names others, in the model's own words.
std::vector<dense::AccessPattern> known_patterns()
{
    std::vector<dense::AccessPattern> found;
    for (int stride = 1; stride <= 33; ++stride) {
        found.push_back(dense::strided(stride, 4));
    }
    for (int const bytes : {8, 16}) {
        for (int const stride : {1, 2, 3, 4, 8}) {
            found.push_back(dense::strided(stride, bytes));
        }
    }
    for (int const bytes : {8, 16}) {
        std::ranges::copy(dense::shared_elements(bytes), std::back_inserter(found));
        found.push_back(dense::phase_lines(bytes));
    }
    std::ranges::copy(dense::transposes(), std::back_inserter(found));
    for (int const words : {1, 2}) {
        for (int const pack : {1, 2, 4, 8}) {
            std::ranges::copy(dense::pack_layouts(pack, words), std::back_inserter(found));
        }
    }
    return found;
}

/// A known pattern, or one that the text describes.
dense::AccessPattern named(std::string const& name)
{
    auto const known = known_patterns();
    auto const found = std::ranges::find(known, name, &dense::AccessPattern::name);
    return found != known.end() ? *found : dense::parse_pattern(name);
}

bench::AxisValues pattern_names()
{
    bench::AxisValues values{"stride:1", "stride:2", "transpose-padded"};
    values.quick.clear();
    for (auto const& pattern : known_patterns()) {
        values.quick.emplace_back(pattern.name);
    }
    values.full = values.quick;
    values.require = [](bench::Parameter const& name) { named(std::get<std::string>(name)); };
    return values;
}

/// One pattern, read or written by all warps of a block.
void pattern(bench::Trial& trial, cuda::Gpu& gpu)
{
    using dense::Access;
    auto const pattern = named(trial.text("pattern"));
    auto const access = trial.text("access") == "read" ? Access::read : Access::write;
    auto const values = trial.input<float>(static_cast<std::size_t>(pattern.words()));
    auto const results = trial.output<float>(dense::gpu::bank_results(pattern));
    constexpr double accesses = dense::gpu::accesses_of_warp * dense::gpu::warps_of_block;
    trial.cache(bench::Cache::warm);
    trial.work({.operations = accesses});
    results.expect([=] {
        bench::Expected expected;
        for (auto const word : pattern.word) {
            for (int i = 0; i < pattern.bytes / 4; ++i) {
                expected.value.push_back(values.on()[static_cast<std::size_t>(word + i)]);
                expected.bound.push_back(0);
            }
        }
        return expected;
    });
    trial
        .add("block",
             [&](bench::Variant& variant) {
                 auto const words = std::make_shared<cuda::Buffer<std::int32_t>>(
                     std::span<std::int32_t const>{pattern.word});
                 auto const cycles = std::make_shared<cuda::Buffer<long long>>(1);
                 auto const predicted = dense::predicted_cycles(pattern, access);
                 variant.count("predicted_cycles", predicted);
                 variant.count("predicted_conflicts", dense::predicted_conflicts(pattern));
                 variant.count("cycles", cycles_of(cycles, accesses));
                 variant.count("cycles_over_predicted", cycles_of(cycles, accesses * predicted));
                 return [=, &gpu, values = values.on(gpu), results = results.on(gpu)] {
                     dense::gpu::bank_cycles(pattern, access, words->data(), values, results,
                                             cycles->data(), gpu.stream());
                 };
             })
        .excerpt("bank_cycles");
    trial.run();
}

} // namespace

void add_patterns(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    auto& study = experiment.study("patterns").on(gpu);
    study.axis("pattern", pattern_names());
    study.axis("access", {"read", "write"});
    study.untyped([&gpu](bench::Trial& trial) { pattern(trial, gpu); });
}

} // namespace shared_memory_banks
