#include "transfer/pipeline.hpp"

#include "base/bytes.hpp"
#include "cuda/error.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace transfer {

namespace {

constexpr auto const* pipeline_name = "transfer::Pipeline";

} // namespace

ChunkPipeline::ChunkPipeline(std::size_t chunk, std::size_t in_bytes, std::size_t out_bytes,
                             std::size_t slots)
    : chunk_{chunk}, in_bytes_{in_bytes}, out_bytes_{out_bytes}
{
    if (chunk == 0 || slots == 0) {
        throw std::invalid_argument{"transfer::Pipeline: found " + std::to_string(slots) +
                                    " chunks of " + std::to_string(chunk) +
                                    " elements, expected at least one of each"};
    }
    auto const of_chunk = [&](std::size_t each) {
        return base::bytes_of(pipeline_name, chunk, each);
    };
    for (auto const bytes : {of_chunk(in_bytes), of_chunk(out_bytes)}) {
        base::bytes_of(pipeline_name, slots, bytes);
    }
    for (std::size_t i = 0; i < slots; ++i) {
        slots_.emplace_back(of_chunk(in_bytes), of_chunk(out_bytes));
    }
}

//! [pipeline]
void ChunkPipeline::issue(std::byte const* in, std::byte* out, std::size_t count,
                          Kernel const& kernel)
{
    for (std::size_t first = 0, i = 0; first < count; first += chunk_, ++i) {
        auto& slot = slots_[i % slots_.size()];
        bool const used = i >= slots_.size(); // by an earlier chunk of this call
        auto const elements = std::min(chunk_, count - first);

        if (used) {
            to_device_.wait_for(slot.computed);
        }
        cuda::check(cudaMemcpyAsync(slot.in.data(), in + first * in_bytes_, elements * in_bytes_,
                                    cudaMemcpyHostToDevice, to_device_.get()));
        slot.arrived.record(to_device_);

        compute_.wait_for(slot.arrived);
        if (used) {
            compute_.wait_for(slot.left);
        }
        kernel(slot.in.data(), slot.out.data(), first, elements, compute_.get());
        slot.computed.record(compute_);

        to_host_.wait_for(slot.computed);
        cuda::check(cudaMemcpyAsync(out + first * out_bytes_, slot.out.data(),
                                    elements * out_bytes_, cudaMemcpyDeviceToHost, to_host_.get()));
        slot.left.record(to_host_);
    }
}
//! [pipeline]

void ChunkPipeline::run(std::byte const* in, std::byte* out, std::size_t count,
                        Kernel const& kernel, cudaStream_t stream)
{
    auto const read = base::bytes_of(pipeline_name, count, in_bytes_);
    auto const written = base::bytes_of(pipeline_name, count, out_bytes_);
    base::require_memory(pipeline_name, in, read);
    base::require_memory(pipeline_name, out, written);
    bool const in_place = in == out && in_bytes_ == out_bytes_;
    if (!in_place && base::overlap(in, read, out, written)) {
        throw std::invalid_argument{
            "transfer::Pipeline: found a result that overlaps a part of the "
            "input, expected memory of its own or just the input's"};
    }
    cuda::check(cudaEventRecord(begun_.get(), stream));
    for (auto const* lane : {&to_device_, &compute_, &to_host_}) {
        lane->wait_for(begun_);
    }
    try {
        issue(in, out, count, kernel);
    } catch (...) { // the caller may free what is still being copied
        for (auto const* lane : {&to_device_, &compute_, &to_host_}) {
            static_cast<void>(cudaStreamSynchronize(lane->get()));
        }
        throw;
    }
    // The first two lanes are empty when the last chunk was computed, but a capture has to be told.
    for (auto const* lane : {&to_device_, &compute_, &to_host_}) {
        ended_.record(*lane);
        cuda::check(cudaStreamWaitEvent(stream, ended_.get(), 0));
    }
}

} // namespace transfer
