#include "studies.hpp"

namespace softmax_block {

namespace {

/// The row in shared memory with blocks of every size, and what the article's rule chooses.
template <class T>
void block_sizes(bench::Trial& trial, Contenders const& contenders)
{
    SoftmaxOperands<T> const p{trial, Softmax::probabilities, contenders.gpu};
    auto& gpu = contenders.gpu;
    auto const of_size = [&](std::string const& name, int threads) {
        trial
            .add(name,
                 [&gpu, p, threads](bench::Variant& variant) {
                     variant.count("threads", threads);
                     return [&gpu, p, threads, x = p.x.on(gpu).data(), y = p.y.on(gpu).data()] {
                         dense::gpu::softmax_of_block_size(Softmax::probabilities, x, y, p.rows,
                                                           p.columns, threads, gpu.stream());
                     };
                 })
            .excerpt("block_shared");
    };
    for (int const threads : {128, 256, 512, 1024}) {
        of_size("threads" + std::to_string(threads), threads);
    }
    of_size("by_occupancy", dense::gpu::block_size_by_occupancy<T>(p.columns));
    trial.run();
}

/// Packs of two in shared memory: in columns, side by side, and side by side by single accesses.
template <class T>
void layouts(bench::Trial& trial, Contenders const& contenders)
{
    SoftmaxOperands<T> const p{trial, Softmax::probabilities, contenders.gpu};
    for (auto const& step : dense::gpu::softmax_layouts<T>()) {
        add(trial, p, Softmax::probabilities, contenders.gpu, step, "block_shared");
    }
    trial.run();
}

} // namespace

void add_block_sizes(bench::Experiment& experiment, Contenders const& contenders)
{
    auto& study = experiment.study("block_sizes").on(contenders.gpu);
    study.axis("mebibytes", mebibytes())
        .axis("columns", {std::int64_t{256}, std::int64_t{1024}, std::int64_t{4096},
                          std::int64_t{8192}, std::int64_t{16384}});
    study.types<float>([&]<class T>(bench::Trial& trial) { block_sizes<T>(trial, contenders); });
}

void add_layouts(bench::Experiment& experiment, Contenders const& contenders)
{
    auto& study = experiment.study("layouts").on(contenders.gpu);
    study.axis("mebibytes", mebibytes())
        .axis("columns", {std::int64_t{1024}, std::int64_t{4096}, std::int64_t{8192}});
    study.types<float, double>(
        [&]<class T>(bench::Trial& trial) { layouts<T>(trial, contenders); });
}

} // namespace softmax_block
