#include "studies.hpp"
#include "tables.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace joules {

namespace {

/// Operations of each thread in a call: of floats as many are read.
std::uint32_t operations_of_thread(bench::Trial const& trial)
{
    return 1U << (trial.is_test() ? 14 : 18);
}

/// Values as the bits ask for them.
template <class T>
std::vector<T> with_bits(Bits bits, std::span<T const> values)
{
    std::vector<T> made(values.begin(), values.end());
    if (bits != Bits::random) {
        std::ranges::fill(made, bits == Bits::zeros ? T{} : made.front());
    }
    return made;
}

/// An input, as the bits ask for it, on the device.
template <class T>
struct Operand
{
    bench::Input<T> input;
    Bits bits;

    std::vector<T> values() const { return with_bits<T>(bits, input.on()); }
};

/// Operands of a variant on the device, which follow its inputs: for whatever bits.
template <class T>
class Uploaded
{
public:
    explicit Uploaded(Operand<T> const& operand) : operand_{operand}, copy_{operand.values()} {}

    void refresh() { copy_.upload(operand_.values()); }
    std::span<T const> span() const { return copy_.span(); }

private:
    Operand<T> operand_;
    cuda::Buffer<T> copy_;
};

/// An expectation of a block or a warp, for each of them.
bench::Expected repeated(bench::Expected const& one, std::size_t times)
{
    bench::Expected all;
    for (std::size_t i = 0; i < times; ++i) {
        all.value.insert(all.value.end(), one.value.begin(), one.value.end());
        all.bound.insert(all.bound.end(), one.bound.begin(), one.bound.end());
    }
    return all;
}

/// Multiply-adds in registers.
template <class T>
void add_chains(bench::Trial& trial, Meter& meter, std::string const& name)
{
    auto& gpu = meter.gpu();
    auto const start = trial.input<T>(starts<T>);
    auto const factors = trial.input<T>(2).on();
    auto const steps = static_cast<std::uint32_t>(operations_of_thread(trial) /
                                                  (2 * chains * results_of_thread<T>));
    auto const setup = [=, &gpu](bench::Variant& variant) {
        auto const sums = variant.output<T>(grid_threads() * results_of_thread<T>);
        sums.expect([=] {
            auto const by = there_and_back<T>(factors[0], factors[1]);
            return repeated(multiply_add_reference<T>(start.on(), by, steps), blocks());
        });
        return [=, &gpu, from = start.on(gpu), out = sums.on(gpu)] {
            multiply_add<T>(from, there_and_back<T>(factors[0], factors[1]), steps, out,
                            gpu.stream());
        };
    };
    meter(trial.add(name, setup)).group("units").excerpt("multiply_add");
}

/// Products of tensor cores, on operands in registers.
template <class T>
void add_tiles(bench::Trial& trial, Meter& meter, std::string const& name, Bits bits)
{
    if (auto const why = refuses_tiles(); !why.empty()) {
        trial.skip(name, std::string{why}).group("tensor").excerpt("tensor_products");
        return;
    }
    using Shape = Tile<T>;
    using Sum = typename Shape::Sum;
    auto& gpu = meter.gpu();
    Operand<T> const a{trial.input<T>(tile_pairs * Shape::m * Shape::k), bits};
    Operand<T> const b{trial.input<T>(tile_pairs * Shape::k * Shape::n), bits};
    auto const products = lanes * operations_of_thread(trial) / tile_operations<T>;
    auto const steps = static_cast<std::uint32_t>(products / tile_pairs);
    auto const setup = [=, &gpu](bench::Variant& variant) {
        auto const left = std::make_shared<Uploaded<T>>(a);
        auto const right = std::make_shared<Uploaded<T>>(b);
        variant.on_refill([=] {
            left->refresh();
            right->refresh();
        });
        auto const sums = variant.output<Sum>(grid_threads() / lanes * Shape::m * Shape::n);
        sums.expect([=] {
            return repeated(tensor_reference<T>(a.values(), b.values(), steps),
                            grid_threads() / lanes);
        });
        return [=, &gpu, out = sums.on(gpu)] {
            tensor_products<T>(left->span(), right->span(), steps, out, gpu.stream());
        };
    };
    meter(trial.add(name, setup)).group("tensor").excerpt("tensor_products");
}

/// As many floats from memory as the others do operations.
void add_floats(bench::Trial& trial, Meter& meter, std::string const& name, Table const& table,
                bench::Input<std::int32_t> seed, Bits bits)
{
    auto const steps = operations_of_thread(trial) / words_of_lane;
    meter(trial.add(name, reads(Level::device, table.first(beyond_caches(trial)), bits, seed, steps,
                                meter.gpu())))
        .group("read")
        .excerpt("read_words");
}

void declare(bench::Trial& trial, Meter& meter)
{
    meter.begin(trial);
    auto const all = static_cast<double>(grid_threads()) * operations_of_thread(trial);
    trial.cache(bench::Cache::warm);
    trial.work({.flops = all, .operations = all});
}

} // namespace

void operations(bench::Trial& trial, Meter& meter)
{
    declare(trial, meter);
    auto const seed = trial.input<std::int32_t>(1);
    Table table{seed, Bits::random, beyond_caches(trial), meter.gpu()};
    trial.on_refill([&] { table.fill(); });
    add_floats(trial, meter, "float_read", table, seed, Bits::random);
    add_chains<double>(trial, meter, "fp64");
    add_chains<float>(trial, meter, "fp32");
    add_chains<bench::fp16>(trial, meter, "fp16");
    add_chains<std::int32_t>(trial, meter, "int32");
    add_tiles<double>(trial, meter, "tensor_fp64", Bits::random);
    add_tiles<float>(trial, meter, "tensor_tf32", Bits::random);
    add_tiles<bench::bf16>(trial, meter, "tensor_bf16", Bits::random);
    add_tiles<std::uint8_t>(trial, meter, "tensor_int8", Bits::random);
    add_idle(trial, meter);
    add_spin(trial, meter);
    trial.run();
}

void bits(bench::Trial& trial, Meter& meter)
{
    declare(trial, meter);
    auto const seed = trial.input<std::int32_t>(1);
    std::vector<std::unique_ptr<Table>> tables;
    for (auto const& [name, bits] : {std::pair{"zeros", Bits::zeros},
                                     {"repeated", Bits::repeated},
                                     {"random", Bits::random}}) {
        auto const with = std::string{"_"} + name;
        tables.push_back(std::make_unique<Table>(seed, bits, beyond_caches(trial), meter.gpu()));
        add_floats(trial, meter, "float_read" + with, *tables.back(), seed, bits);
        add_tiles<bench::bf16>(trial, meter, "tensor_bf16" + with, bits);
    }
    trial.on_refill([&] {
        for (auto const& table : tables) {
            table->fill();
        }
    });
    add_idle(trial, meter);
    trial.run();
}

} // namespace joules
