#include "studies.hpp"

#include "cuda/buffer.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

namespace decode {

namespace {

using bench::bf16;
using dense::Matrix;

/// Sizes of a model's layers, as published: elements of a word, heads of the query and shared ones
/// of 128 elements, elements between the two products behind attention.
struct Model
{
    char const* name;
    std::int64_t hidden;
    std::int64_t heads;
    std::int64_t shared;
    std::int64_t between;

    /// Queries, keys and values; the product behind attention; both that open the second half, and
    /// the one that closes it.
    std::array<Shape, 4> shapes() const
    {
        constexpr std::int64_t head = 128;
        return {{{(heads + 2 * shared) * head, hidden},
                 {hidden, heads * head},
                 {2 * between, hidden},
                 {hidden, between}}};
    }
};

constexpr Model models[] = {{"llama-8b", 4096, 32, 8, 14336},
                            {"qwen-32b", 5120, 40, 8, 27648},
                            {"llama-70b", 8192, 64, 8, 28672},
                            {"small", 256, 2, 1, 512}};

Model const& model_of(std::string const& name)
{
    auto const* const found = std::ranges::find(models, name, &Model::name);
    if (found == std::end(models)) {
        throw std::invalid_argument{"--model: found " + name +
                                    ", expected llama-8b, qwen-32b, llama-70b or small"};
    }
    return *found;
}

/// All weights of a layer, one matrix behind the other, and a vector for each.
struct Layer
{
    std::array<Shape, 4> shapes;
    bench::Input<bf16> w;
    bench::Input<bf16> x; ///< each product takes as many elements as it needs
    std::size_t results = 0;

    Layer(bench::Trial& trial, Model const& model)
        : shapes{model.shapes()}, w{trial.input<bf16>(count())},
          x{trial.input<bf16>(static_cast<std::size_t>(longest()))}
    {
        for (auto const& shape : shapes) {
            results += static_cast<std::size_t>(shape.m);
        }
        trial.cache(bench::Cache::cold);
        trial.inexact("scales of rounded weights are no integers");
        trial.work({.flops = 2.0 * static_cast<double>(w.size()),
                    .bytes = 2.0 * static_cast<double>(w.size())});
    }

    /// Calls `body(i, weights, results before)` for each matrix.
    template <class Body>
    void each(cuda::Gpu& gpu, Body body) const
    {
        bf16 const* at = w.on(gpu).data();
        std::size_t before = 0;
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            body(i, Matrix<bf16 const>{at, shapes[i].m, shapes[i].k}, before);
            at += shapes[i].count();
            before += static_cast<std::size_t>(shapes[i].m);
        }
    }

private:
    std::size_t count() const
    {
        std::size_t sum = 0;
        for (auto const& shape : shapes) {
            sum += shape.count();
        }
        return sum;
    }
    std::int64_t longest() const { return std::ranges::max(shapes, {}, &Shape::k).k; }
};

/// The products of a layer one after the other, with weights of so many bits.
void add_bits(bench::Trial& trial, Layer const& layer, cuda::Gpu& gpu, int bits)
{
    auto const setup = [=, &gpu](bench::Variant& variant) {
        auto const y = variant.output<bf16>(layer.results);
        auto const rounded = std::make_shared<std::vector<Quantised>>();
        double bytes = 0;
        layer.each(gpu, [&](std::size_t, Matrix<bf16 const> w, std::size_t) {
            if (bits < 16) {
                rounded->emplace_back(bits, w, gpu);
            }
            bytes += bits < 16 ? static_cast<double>(rounded->back().bytes())
                               : 2.0 * static_cast<double>(w.rows * w.columns);
        });
        variant.count("weight_bytes", bytes);
        variant.on_refill([rounded, &gpu] {
            for (auto& each : *rounded) {
                each.round_again(gpu);
            }
        });
        y.expect([=, &gpu] {
            bench::Expected all;
            layer.each(gpu, [&](std::size_t i, Matrix<bf16 const> w, std::size_t) {
                auto const x = layer.x.on().first(static_cast<std::size_t>(w.columns));
                auto const made = bits < 16 ? (*rounded)[i].expected(x, gpu)
                                            : expected_products<bf16>(w, x, false, gpu);
                all.value.insert(all.value.end(), made.value.begin(), made.value.end());
                all.bound.insert(all.bound.end(), made.bound.begin(), made.bound.end());
            });
            return all;
        });
        return [=, &gpu, x = layer.x.on(gpu).data(), to = y.on(gpu).data()] {
            layer.each(gpu, [&](std::size_t i, Matrix<bf16 const> w, std::size_t before) {
                Matrix<bf16 const> const vector{x, 1, w.columns};
                Matrix<bf16> const result{to + before, 1, w.rows};
                if (bits < 16) {
                    (*rounded)[i].multiply(vector, result, gpu.stream());
                } else {
                    dense::gpu::gemv(w, vector, result, gpu.stream());
                }
            });
        };
    };
    trial.add("bits_" + std::to_string(bits), setup)
        .group("library")
        .excerpt(bits == 16 ? "split_rows" : "tensor_rows");
}

} // namespace

void add_layers(bench::Experiment& experiment, cuda::Gpu& gpu)
{
    bench::AxisValues names;
    names.tiny = {std::string{"small"}};
    names.quick =
        names.full = {std::string{"llama-8b"}, std::string{"qwen-32b"}, std::string{"llama-70b"}};
    names.require = [](bench::Parameter const& name) { model_of(std::get<std::string>(name)); };
    experiment.study("layers").axis("model", names).untyped([&](bench::Trial& trial) {
        Layer const layer{trial, model_of(trial.text("model"))};
        auto const bytes = layer.w.size() * sizeof(bf16);
        add_reads_of(
            trial, gpu,
            [=, &gpu] { return reinterpret_cast<std::byte const*>(layer.w.on(gpu).data()); },
            [=] { return reinterpret_cast<std::byte const*>(layer.w.on().data()); }, bytes);
        for (int const bits : {16, 8, 4}) {
            add_bits(trial, layer, gpu, bits);
        }
        trial.run();
    });
}

} // namespace decode
