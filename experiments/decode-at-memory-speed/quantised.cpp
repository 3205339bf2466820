#include "studies.hpp"

#include "cuda/buffer.hpp"

#include <memory>

namespace decode {

using bench::bf16;
using dense::Matrix;

struct Quantised::State
{
    int bits;
    Matrix<bf16 const> from;
    cuda::Buffer<std::byte> packed;
    cuda::Buffer<float> scales;

    State(int of_bits, Matrix<bf16 const> weights)
        : bits{of_bits}, from{weights}, packed{bits == 8 ? static_cast<std::size_t>(weights.rows *
                                                                                    weights.columns)
                                                         : dense::gpu::int4_bytes(weights.rows,
                                                                                  weights.columns)},
          scales{bits == 8 ? static_cast<std::size_t>(weights.rows) : 1}
    {
    }

    dense::gpu::Fp8Weights eight() const
    {
        return {{reinterpret_cast<base::e4m3 const*>(packed.data()), from.rows, from.columns},
                scales.span()};
    }
    dense::gpu::Int4Weights four() const { return {from.rows, from.columns, packed.span()}; }
};

Quantised::Quantised(int bits, Matrix<bf16 const> weights, cuda::Gpu& gpu)
    : state_{std::make_shared<State>(bits, weights)}
{
    round_again(gpu);
}

void Quantised::round_again(cuda::Gpu& gpu)
{
    auto& s = *state_;
    if (s.bits == 8) {
        dense::gpu::quantise_fp8(
            s.from, {reinterpret_cast<base::e4m3*>(s.packed.data()), s.from.rows, s.from.columns},
            s.scales.span(), gpu.stream());
    } else {
        dense::gpu::quantise_int4(s.from, s.packed.span(), gpu.stream());
    }
    gpu.finish();
}

void Quantised::multiply(Matrix<bf16 const> x, Matrix<bf16> y, cuda::Stream const& stream) const
{
    if (is_eight()) {
        dense::gpu::gemv(state_->eight(), x, y, stream);
    } else {
        dense::gpu::gemv(state_->four(), x, y, stream);
    }
}

bench::Expected Quantised::expected(std::span<bf16 const> vectors, cuda::Gpu& gpu) const
{
    auto const& from = state_->from;
    cuda::Buffer<float> back{static_cast<std::size_t>(from.rows * from.columns)};
    Matrix<float> const to{back.data(), from.rows, from.columns};
    if (is_eight()) {
        dense::gpu::dequantise(state_->eight(), to, gpu.stream());
    } else {
        dense::gpu::dequantise(state_->four(), to, gpu.stream());
    }
    return expected_products<float>(to, vectors, false, gpu);
}

std::size_t Quantised::bytes() const
{
    return state_->packed.bytes() + (is_eight() ? state_->scales.bytes() : 0);
}

dense::gpu::Fp8Weights Quantised::eight() const
{
    return state_->eight();
}

bool Quantised::is_eight() const
{
    return state_->bits == 8;
}

} // namespace decode
