#include "transfer/staged_copy.hpp"

#include "base/bytes.hpp"
#include "simd/vector.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

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

namespace detail {

StagedCopy::StagedCopy(StagedCopyOptions const& options)
    : threads_{options.threads},
      chunk_bytes_{options.chunk_bytes}, stride_{chunk_bytes_ * static_cast<std::size_t>(threads_)}
{
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

} // namespace detail

namespace {

constexpr auto const* who = "transfer::StagedCopy";

/// The options, if there can be such, with the number of threads in place of 0.
StagedCopyOptions sound(StagedCopyOptions options)
{
    if (options.threads < 0) {
        throw std::invalid_argument{std::string{who} + ": found " +
                                    std::to_string(options.threads) +
                                    " threads, expected 1 or more, or 0 for all"};
    }
    if (options.chunk_bytes == 0 || options.chunks == 0) {
        throw std::invalid_argument{std::string{who} + ": found " + std::to_string(options.chunks) +
                                    " chunks of " + std::to_string(options.chunk_bytes) +
                                    " bytes, expected at least one of each"};
    }
    options.threads = options.threads > 0 ? options.threads : omp_get_max_threads();
    base::bytes_of(who, base::bytes_of(who, options.chunks, options.chunk_bytes),
                   static_cast<std::size_t>(options.threads));
    return options;
}

/// Throws std::invalid_argument unless so many bytes can be copied.
void require_copy(void const* from, void const* to, std::size_t bytes)
{
    base::require_memory(who, from, bytes);
    base::require_memory(who, to, bytes);
    if (base::overlap(from, bytes, to, bytes)) {
        throw std::invalid_argument{std::string{who} + ": found two places that overlap, expected"
                                                       " one on the host and one on the device"};
    }
}

} // namespace

StagedCopy::StagedCopy(StagedCopyOptions const& options) : copy_{sound(options)} {}

void StagedCopy::to_device(void* device, void const* host, std::size_t bytes, cudaStream_t stream)
{
    require_copy(host, device, bytes);
    copy_.to_device(device, host, bytes, stream);
}

void StagedCopy::to_host(void* host, void const* device, std::size_t bytes, cudaStream_t stream)
{
    require_copy(device, host, bytes);
    copy_.to_host(host, device, bytes, stream);
}

} // namespace transfer
