#include "transfer/staged_copy.hpp"

#include "simd/vector.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>

namespace transfer {

namespace {

/// A copy that leaves no line in the caches: nobody on this side reads it soon.
void copy_past_caches(std::byte* to, std::byte const* from, std::size_t bytes)
{
    constexpr auto width = simd::vector_bytes;
    auto const head =
        std::min(bytes, (width - reinterpret_cast<std::uintptr_t>(to) % width) % width);
    std::memcpy(to, from, head);
    std::size_t at = head;
    for (; at + width <= bytes; at += width) {
        auto const* const word = reinterpret_cast<std::int64_t const*>(from + at);
        simd::stream(reinterpret_cast<std::int64_t*>(to + at), simd::load(word));
    }
    std::memcpy(to + at, from + at, bytes - at);
    simd::finish_streaming();
}

} // namespace

StagedCopy::StagedCopy(StagedCopyOptions const& options)
    : threads_{options.threads > 0 ? options.threads : omp_get_max_threads()},
      chunk_bytes_{options.chunk_bytes}, stride_{chunk_bytes_ * static_cast<std::size_t>(threads_)}
{
    if (options.chunk_bytes == 0 || options.chunks == 0) {
        throw std::invalid_argument{"transfer::StagedCopy: needs a chunk of at least one byte"};
    }
    cuda::check(cudaGetDevice(&device_));
    for (std::size_t i = 0; i < options.chunks * static_cast<std::size_t>(threads_); ++i) {
        chunks_.emplace_back(chunk_bytes_);
    }
}

template <class Work>
void StagedCopy::on_threads(Work const& work)
{
    std::exception_ptr failure;
    auto const each = chunks_.size() / static_cast<std::size_t>(threads_);
#pragma omp parallel for num_threads(threads_) schedule(static, 1)
    for (int thread = 0; thread < threads_; ++thread) {
        auto const number = static_cast<std::size_t>(thread);
        try {
            cuda::check(cudaSetDevice(device_)); // a new thread begins with the first one
            work(std::span{chunks_}.subspan(number * each, each), number * chunk_bytes_);
        } catch (...) {
#pragma omp critical(memwall_staged_copy)
            failure = failure ? failure : std::current_exception();
        }
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

//! [staged]
void StagedCopy::to_device(void* device, void const* host, std::size_t bytes, cudaStream_t stream)
{
    auto* const to = static_cast<std::byte*>(device);
    auto const* const from = static_cast<std::byte const*>(host);
    on_threads([&](std::span<Chunk> chunks, std::size_t first) {
        for (std::size_t turn = 0; first < bytes; first += stride_, ++turn) {
            auto& chunk = chunks[turn % chunks.size()];
            auto const size = std::min(chunk_bytes_, bytes - first);
            auto* const staged = chunk.memory.span().data();
            chunk.copied.synchronize(); // the device may still read what was there before
            copy_past_caches(staged, from + first, size);
            cuda::check(cudaMemcpyAsync(to + first, staged, size, cudaMemcpyHostToDevice, stream));
            cuda::check(cudaEventRecord(chunk.copied.get(), stream));
        }
    });
}

void StagedCopy::to_host(void* host, void const* device, std::size_t bytes, cudaStream_t stream)
{
    auto* const to = static_cast<std::byte*>(host);
    auto const* const from = static_cast<std::byte const*>(device);
    on_threads([&](std::span<Chunk> chunks, std::size_t begin) {
        auto const issue = [&](std::size_t turn) { // the device's copy, if there is one
            auto const first = begin + turn * stride_;
            if (first < bytes) {
                auto& chunk = chunks[turn % chunks.size()];
                cuda::check(cudaMemcpyAsync(chunk.memory.span().data(), from + first,
                                            std::min(chunk_bytes_, bytes - first),
                                            cudaMemcpyDeviceToHost, stream));
                cuda::check(cudaEventRecord(chunk.copied.get(), stream));
            }
        };
        for (std::size_t turn = 0; turn < chunks.size(); ++turn) {
            issue(turn);
        }
        for (std::size_t turn = 0; begin + turn * stride_ < bytes; ++turn) {
            auto& chunk = chunks[turn % chunks.size()];
            auto const first = begin + turn * stride_;
            chunk.copied.synchronize();
            copy_past_caches(to + first, chunk.memory.span().data(),
                             std::min(chunk_bytes_, bytes - first));
            issue(turn + chunks.size());
        }
    });
}
//! [staged]

} // namespace transfer
