#pragma once

#include "gemm.hpp"

#include "bench/all_processors.hpp"
#include "cuda/gpu.hpp"
#include "dense/gpu/reference.hpp"

#include <cmath>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace gemm {

/// Elements of 16 bits.
template <class T>
constexpr bool is_half = sizeof(T) == 2;

/// By what sums are off with each addition, and a result that is rounded once from them.
template <class T>
constexpr double rounding_of_sums = std::is_same_v<T, double> ? 0x1p-52 : 0x1p-23;
template <class T>
constexpr double rounding_of_result = std::is_same_v<T, bench::fp16>   ? 0x1p-11
                                      : std::is_same_v<T, bench::bf16> ? 0x1p-8
                                                                       : 0;

/// A product on the GPU: its operands and what it must give. The reference is computed there too,
/// in double precision, by a kernel that does nothing but that.
template <class T>
struct GpuProduct
{
    Shape shape;
    bool is_exact; ///< whether this check asks for equality
    bench::Input<T> a;
    bench::Input<T> b;
    bench::Output<T> c;

    GpuProduct(bench::Trial& trial, Shape of, cuda::Gpu& gpu)
        : shape{of}, is_exact{!trial.is_timed()}, a{trial.input<T>(count(of.m, of.k))},
          b{trial.input<T>(count(of.k, of.n))}, c{trial.output<T>(count(of.m, of.n))}
    {
        auto const products = static_cast<double>(options().products);
        auto const elements = static_cast<double>(a.size() + b.size() + c.size());
        trial.work({.flops = products * dense::product_flops(of.m, of.n, of.k),
                    .bytes = products * elements * sizeof(T),
                    .operations = products});
        expect(c, gpu, 0);
        trial.on_refill([known = known_] { known->clear(); });
    }

    /// What a result must be whose operands were rounded to so small a part of themselves.
    void expect(bench::Output<T> const& of, cuda::Gpu& gpu, double rounding) const
    {
        double const unit = rounding_of_sums<T> * static_cast<double>(shape.k + 2) + 2 * rounding;
        of.expect(1, [p = *this, &gpu, unit](std::size_t first, std::span<double> value,
                                             std::span<double> bound) {
            auto const& reference = p.reference(first, value.size(), gpu);
            bench::on_all_processors(value.size(), [&](std::size_t begin, std::size_t end) {
                for (std::size_t e = begin; e < end; ++e) {
                    double const sum = reference.value[e];
                    bound[e] = unit * reference.bound[e] + rounding_of_result<T> * std::abs(sum);
                    // Sums of integers are exact; one rounding has one result.
                    value[e] =
                        is_half<T> && p.is_exact ? static_cast<double>(static_cast<T>(sum)) : sum;
                }
            });
        });
    }

    /// Where a variant leaves its result: with a bound of its own if its operands are rounded.
    dense::Matrix<T> result_of(bench::Variant& variant, cuda::Gpu& gpu, double rounding) const
    {
        if (rounding == 0) {
            return product(gpu);
        }
        auto const own = variant.output<T>(c.size());
        expect(own, gpu, rounding);
        return {own.on(gpu).data(), shape.m, shape.n};
    }

    dense::Matrix<T const> left(cuda::Gpu& gpu) const
    {
        return {a.on(gpu).data(), shape.m, shape.k};
    }
    dense::Matrix<T const> right(cuda::Gpu& gpu) const
    {
        return {b.on(gpu).data(), shape.k, shape.n};
    }
    dense::Matrix<T> product(cuda::Gpu& gpu) const { return {c.on(gpu).data(), shape.m, shape.n}; }

private:
    /// Blocks of the reference, by their first elements, of the operands as they are now: all
    /// variants are compared with the same, and at 8192 they would take a second each time.
    using Known = std::map<std::size_t, bench::Expected>;
    std::shared_ptr<Known> known_ = std::make_shared<Known>();

    /// So many elements from `first` on, and the sums of their products' magnitudes.
    bench::Expected const& reference(std::size_t first, std::size_t length, cuda::Gpu& gpu) const
    {
        auto found = known_->find(first);
        if (found == known_->end() || found->second.value.size() != length) {
            bench::Expected made{std::vector<double>(length), std::vector<double>(length)};
            dense::gpu::reference_product(left(gpu), right(gpu), first, made.value, made.bound,
                                          gpu.stream());
            found = known_->insert_or_assign(first, std::move(made)).first;
        }
        return found->second;
    }

    static std::size_t count(std::int64_t rows, std::int64_t columns)
    {
        return static_cast<std::size_t>(rows * columns);
    }
};

/// What puts one product into the stream, as many times as `--iter` says.
template <class Multiply>
auto repeated(Multiply multiply)
{
    return [multiply, products = options().products] {
        for (std::int64_t i = 0; i < products; ++i) {
            multiply();
        }
    };
}

} // namespace gemm
