#pragma once

#include "cuda/error.hpp"
#include "cuda/pinned.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>

/// Arrays on the host, as programs have them. Several studies fill such arrays, and their marked
/// text is inline: so it stands in a header.
namespace transfer_modes {

/// An array on the host, and what keeps it.
struct HostArray
{
    std::shared_ptr<void const> keeper;
    std::span<float> span;
};

//! [pageable]
/// Whole pages, all of them touched.
inline HostArray pageable(std::size_t count)
{
    constexpr std::align_val_t page{4096};
    auto* const memory = static_cast<float*>(::operator new(count * sizeof(float), page));
    std::fill_n(memory, count, 0.0F);
    return {{memory, [](void* pages) { ::operator delete(pages, page); }}, {memory, count}};
}
//! [pageable]

//! [malloc_host]
inline HostArray malloc_host(std::size_t count)
{
    void* memory = nullptr;
    cuda::check(cudaMallocHost(&memory, count * sizeof(float)));
    return {{memory, [](void* pages) { static_cast<void>(cudaFreeHost(pages)); }},
            {static_cast<float*>(memory), count}};
}
//! [malloc_host]

//! [host_alloc]
inline HostArray host_alloc(std::size_t count, unsigned flags)
{
    auto const array = std::make_shared<cuda::Pinned<float>>(count, flags); // cudaHostAlloc
    return {array, array->span()};
}
//! [host_alloc]

//! [registered]
inline HostArray registered(std::size_t count)
{
    auto const array = pageable(count);
    auto const pages = std::make_shared<cuda::Registered>(std::as_writable_bytes(array.span));
    return {std::make_shared<std::pair<HostArray, decltype(pages)>>(array, pages), array.span};
}
//! [registered]

} // namespace transfer_modes
