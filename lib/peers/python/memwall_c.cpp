#include "base/half.hpp"
#include "ceilings/device_kernels.hpp"
#include "cuda/stream.hpp"
#include "dense/gpu/attention.hpp"
#include "dense/gpu/softmax.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

/// \file
/// What `beside.py` calls of ours. Pointers are the current device's memory, work is put into
/// `stream`; what goes wrong is told as text, which the next call of the same thread overwrites,
/// and nothing as null.

namespace {

using dense::gpu::Softmax;

template <class Work>
char const* told(Work work)
{
    thread_local std::string reason;
    try {
        work();
        return nullptr;
    } catch (std::exception const& error) {
        reason = error.what();
        return reason.c_str();
    }
}

template <class T>
void softmax_of(void const* x, void* y, std::int64_t rows, std::int64_t columns,
                cuda::Stream const& stream)
{
    dense::gpu::softmax(Softmax::probabilities, static_cast<T const*>(x), static_cast<T*>(y), rows,
                        columns, stream);
}

} // namespace

extern "C" {

/// The softmax of each row; `precision` is fp16, bf16, fp32 or fp64.
char const* memwall_softmax(char const* precision, void const* x, void* y, std::int64_t rows,
                            std::int64_t columns, cudaStream_t stream)
{
    return told([&] {
        cuda::Stream const queue{stream};
        std::string_view const of{precision};
        if (of == "fp16") {
            softmax_of<base::fp16>(x, y, rows, columns, queue);
        } else if (of == "bf16") {
            softmax_of<base::bf16>(x, y, rows, columns, queue);
        } else if (of == "fp32") {
            softmax_of<float>(x, y, rows, columns, queue);
        } else if (of == "fp64") {
            softmax_of<double>(x, y, rows, columns, queue);
        } else {
            throw std::invalid_argument{"memwall_softmax: found a precision " + std::string{of} +
                                        ", expected fp16, bf16, fp32 or fp64"};
        }
    });
}

/// A copy by a kernel, of a multiple of two bytes.
char const* memwall_copy(void const* from, void* to, std::size_t bytes, cudaStream_t stream)
{
    return told([&] {
        using Two = std::uint16_t;
        auto const count = bytes / sizeof(Two);
        ceilings::device_copy(std::span{static_cast<Two const*>(from), count},
                              std::span{static_cast<Two*>(to), count}, cuda::Stream{stream});
    });
}

/// Attention of one new word in bf16; shapes as dense::gpu::AttentionOperands has them.
char const* memwall_attention(std::int64_t batch, std::int64_t heads, std::int64_t shared,
                              std::int64_t words, void const* query, void const* keys,
                              void const* values, void* result, cudaStream_t stream)
{
    return told([&] {
        dense::gpu::attention_decode(
            {batch, heads, shared, words},
            {static_cast<base::bf16 const*>(query), static_cast<base::bf16 const*>(keys),
             static_cast<base::bf16 const*>(values), static_cast<base::bf16*>(result)},
            cuda::Stream{stream});
    });
}

} // extern "C"
