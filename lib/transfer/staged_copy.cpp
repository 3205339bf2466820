#include "transfer/staged_copy.hpp"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace transfer {

StagedCopy::StagedCopy(StagedCopyOptions const& options)
    : threads_{options.threads > 0 ? options.threads : omp_get_max_threads()},
      chunk_bytes_{options.chunk_bytes}
{
    if (options.chunk_bytes == 0 || options.chunks == 0) {
        throw std::invalid_argument{"transfer::StagedCopy: needs a chunk of at least one byte"};
    }
    for (std::size_t i = 0; i < options.chunks; ++i) {
        chunks_.emplace_back(chunk_bytes_);
    }
}

//! [staged]
/// Copies on the host, every thread a part.
void StagedCopy::move(std::byte* to, std::byte const* from, std::size_t bytes) const
{
    auto const parts = static_cast<std::size_t>(threads_);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::size_t part = 0; part < parts; ++part) {
        auto const begin = bytes * part / parts;
        auto const end = bytes * (part + 1) / parts;
        std::memcpy(to + begin, from + begin, end - begin);
    }
}

void StagedCopy::to_device(void* device, void const* host, std::size_t bytes, cudaStream_t stream)
{
    auto* const to = static_cast<std::byte*>(device);
    auto const* const from = static_cast<std::byte const*>(host);
    for (std::size_t first = 0, i = 0; first < bytes; first += chunk_bytes_, ++i) {
        auto& chunk = chunks_[i % chunks_.size()];
        auto const size = std::min(chunk_bytes_, bytes - first);
        auto* const staged = chunk.memory.span().data();
        chunk.copied.synchronize(); // the device may still read what was there before
        move(staged, from + first, size);
        cuda::check(cudaMemcpyAsync(to + first, staged, size, cudaMemcpyHostToDevice, stream));
        cuda::check(cudaEventRecord(chunk.copied.get(), stream));
    }
}

void StagedCopy::to_host(void* host, void const* device, std::size_t bytes, cudaStream_t stream)
{
    auto* const to = static_cast<std::byte*>(host);
    auto const* const from = static_cast<std::byte const*>(device);
    auto const issue = [&](std::size_t i) { // the device's copy of chunk i, if there is one
        auto const first = i * chunk_bytes_;
        if (first < bytes) {
            auto& chunk = chunks_[i % chunks_.size()];
            auto const size = std::min(chunk_bytes_, bytes - first);
            cuda::check(cudaMemcpyAsync(chunk.memory.span().data(), from + first, size,
                                        cudaMemcpyDeviceToHost, stream));
            cuda::check(cudaEventRecord(chunk.copied.get(), stream));
        }
    };
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
        issue(i);
    }
    for (std::size_t first = 0, i = 0; first < bytes; first += chunk_bytes_, ++i) {
        auto& chunk = chunks_[i % chunks_.size()];
        chunk.copied.synchronize();
        move(to + first, chunk.memory.span().data(), std::min(chunk_bytes_, bytes - first));
        issue(i + chunks_.size());
    }
}
//! [staged]

} // namespace transfer
