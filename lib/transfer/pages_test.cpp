#include "transfer/placed.hpp"

#include "cuda/pinned.hpp"
#include "transfer/testing/arrays.hpp"
#include "transfer/testing/double_rows.hpp"
#include "transfer/today.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <system_error>
#include <vector>

using transfer::testing::counted;
using transfer::testing::doubled;
using transfer::testing::error_of;
using transfer::testing::is_usable;

TEST_CASE("memory that cannot be locked, or allocated, is an error and nothing else")
{
    auto const most = std::numeric_limits<std::size_t>::max() / 8;
    CHECK(error_of([&] { cuda::Pinned<char>{most}; }) != cudaSuccess);
    CHECK_THROWS_AS(cuda::Pinned<double>{std::size_t{1} << 61}, std::invalid_argument); // 0 bytes
    CHECK_THROWS_AS(cuda::Buffer<double>{std::size_t{1} << 61}, std::invalid_argument);
    CHECK_THROWS_AS(cuda::Buffer<double>{(std::size_t{1} << 61) + 1}, std::invalid_argument);
    CHECK_THROWS_AS(transfer::Managed{std::size_t{1} << 62}, std::invalid_argument);
    cuda::Pinned<double> none{0};
    CHECK(none.span().empty());
    CHECK(none.on_device() == nullptr);
    CHECK_THROWS_AS((cuda::Registered{{static_cast<std::byte const*>(nullptr), 1}}),
                    std::invalid_argument);
    CHECK(error_of([&] { cuda::Buffer<char>{most}; }) == cudaErrorMemoryAllocation);
    CHECK(is_usable());
}

TEST_CASE("pages are registered once, unregistered with their guard, and nothing is no page")
{
    std::vector<float> host = counted(100'000);
    auto const bytes = std::as_writable_bytes(std::span{host});
    for (int time = 0; time < 2; ++time) {
        cuda::Registered const pages{bytes};
        CHECK(error_of([&] { cuda::Registered{bytes}; }) == cudaErrorHostMemoryAlreadyRegistered);
        CHECK(is_usable());
    }
    CHECK_NOTHROW(cuda::Registered{std::span<std::byte>{}});
    CHECK(error_of([] { // an address of the kernel: there is no memory
              cuda::Registered{{reinterpret_cast<std::byte*>(~std::uintptr_t{0xffff}), 4096}};
          }) != cudaSuccess);
    CHECK(is_usable());
    cuda::Registered const odd{bytes.subspan(3, 9001)}; // whole pages around it
    CHECK(is_usable());
}

TEST_CASE("managed memory is one address for both, and memory of a pool comes and goes")
{
    cuda::Stream const stream;
    if (transfer::missing_managed().empty()) {
        transfer::Managed const memory{1024};
        std::ranges::copy(counted(1024), memory.span().begin());
        memory.bring_to_device(stream);
        transfer::testing::double_rows(memory.span().data(), 0, memory.span().data(), 0, 1024, 1,
                                       stream.get());
        memory.bring_to_host(stream);
        stream.synchronize();
        CHECK(std::ranges::equal(memory.span(), doubled(counted(1024))));
    }
    if (transfer::missing_pools().empty()) {
        for (int time = 0; time < 3; ++time) {
            auto* const memory = transfer::allocate_in(stream, 1 << 20);
            CHECK(memory != nullptr);
            transfer::release_in(stream, memory);
        }
        stream.synchronize();
        CHECK(error_of([&] {
                  transfer::allocate_in(stream, std::numeric_limits<std::size_t>::max() / 8);
              }) == cudaErrorMemoryAllocation);
        CHECK(is_usable());
    }
}

TEST_CASE("memory of a NUMA node is memory, and a node that is not there is an error")
{
    transfer::Placed const memory{10'000, 0};
    memory.span().back() = std::byte{7};
    cuda::Registered const pages{memory.span()};
    CHECK(is_usable());
    for (int const node : {-1, 63, 64, 128, std::numeric_limits<int>::max()}) { // 64 is not 0
        CAPTURE(node);
        CHECK_THROWS_AS((transfer::Placed{10'000, node}), std::system_error);
    }
}
