#include "transfer/staged_copy.hpp"

#include "transfer/testing/arrays.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

using transfer::testing::counted;
using transfer::testing::error_of;
using transfer::testing::is_usable;

TEST_CASE("a staged copy moves any number of bytes, from and to any address")
{
    cuda::Stream const stream;
    for (int const threads : {1, 3}) {
        transfer::StagedCopy copy{{.threads = threads, .chunk_bytes = 1000, .chunks = 3}};
        for (std::size_t const bytes : {0, 1, 999, 1000, 1001, 12'345}) {
            CAPTURE(threads);
            CAPTURE(bytes);
            std::vector<char> from(bytes + 1);
            for (std::size_t i = 0; i < from.size(); ++i) {
                from[i] = static_cast<char>(i * i % 251);
            }
            std::vector<char> to(bytes + 1, 'x');
            cuda::Buffer<char> device{bytes + 3};
            copy.to_device(device.data() + 3, from.data() + 1, bytes, stream.get());
            copy.to_host(to.data() + 1, device.data() + 3, bytes, stream.get());
            CHECK(to[0] == 'x');
            CHECK(std::equal(to.begin() + 1, to.end(), from.begin() + 1));
        }
    }
}

TEST_CASE("a staged copy takes its buffer in turns from call to call, whatever their sizes")
{
    cuda::Stream const stream;
    cuda::Stream const other;
    for (auto const stores :
         {transfer::Stores::by_size, transfer::Stores::cached, transfer::Stores::past_caches}) {
        transfer::StagedCopy copy{
            {.threads = 3, .chunk_bytes = std::size_t{1} << 20, .chunks = 2, .stores = stores}};
        auto const values = counted(5'000'000);
        cuda::Buffer<float> device{values.size()};
        std::size_t first = 0;
        for (std::size_t const count : {7, 300'000, 1, 2'600'000, 70'000, 0, 1'200'000, 65'536}) {
            auto const& in = count % 2 == 0 ? stream : other; // copies of both may be under way
            copy.to_device(device.data() + first, values.data() + first, count * sizeof(float),
                           in.get());
            first += count;
        }
        stream.synchronize();
        other.synchronize();
        std::vector<float> back(first);
        std::size_t at = 0;
        for (std::size_t const count : {1'000'000, 3, 2'000'000, 100'000}) {
            copy.to_host(back.data() + at, device.data() + at, count * sizeof(float), other.get());
            at += count;
        }
        copy.to_host(back.data() + at, device.data() + at, (first - at) * sizeof(float),
                     stream.get());
        CHECK(std::ranges::equal(back, std::span{values}.first(first)));
    }
}

TEST_CASE("a staged copy reads the host's memory before it returns")
{
    cuda::Stream const stream;
    transfer::StagedCopy copy{{.threads = 2, .chunk_bytes = 4096, .chunks = 2}};
    auto host = counted(100'000);
    auto const was = host;
    cuda::Buffer<float> device{host.size()};
    copy.to_device(device.data(), host.data(), device.bytes(), stream.get());
    std::ranges::fill(host, -1.0F);
    stream.synchronize();
    CHECK(device.download() == was);
}

TEST_CASE("a staged copy refuses what makes no sense, and what cannot be locked")
{
    CHECK_THROWS_AS((transfer::StagedCopy{{.chunk_bytes = 0}}), std::invalid_argument);
    CHECK_THROWS_AS((transfer::StagedCopy{{.chunks = 0}}), std::invalid_argument);
    CHECK_THROWS_AS((transfer::StagedCopy{{.threads = -1}}), std::invalid_argument);
    auto const half = std::size_t{1} << 32;
    CHECK_THROWS_AS((transfer::StagedCopy{{.chunk_bytes = half, .chunks = half}}),
                    std::invalid_argument); // 0 bytes in all, in 64 bits
    CHECK_THROWS_AS((transfer::StagedCopy{{.threads = 4, .chunks = std::size_t{1} << 62}}),
                    std::invalid_argument);
    CHECK_THROWS_AS((transfer::StagedCopy{{.threads = 1 << 30}}), std::invalid_argument);
    {
        cuda::Stream const stream;
        transfer::StagedCopy copy{{.threads = 2, .chunk_bytes = 4096}};
        std::vector<char> host(100'000);
        cuda::Buffer<char> device{host.size()};
        CHECK_THROWS_AS(copy.to_device(nullptr, host.data(), 1, stream.get()),
                        std::invalid_argument);
        CHECK_THROWS_AS(copy.to_device(device.data(), nullptr, 1, stream.get()),
                        std::invalid_argument);
        CHECK_THROWS_AS(copy.to_host(nullptr, device.data(), 1, stream.get()),
                        std::invalid_argument);
        CHECK_THROWS_AS(copy.to_host(host.data(), host.data() + 50'000, 60'000, stream.get()),
                        std::invalid_argument);
        CHECK_THROWS_AS(copy.to_host(host.data(), device.data(), ~std::size_t{0}, stream.get()),
                        std::invalid_argument);
        copy.to_device(nullptr, nullptr, 0, stream.get());
        copy.to_host(host.data(), host.data(), 0, stream.get());
    }
    transfer::StagedCopyOptions const beyond{.threads = 1, .chunk_bytes = std::size_t{1} << 58};
    CHECK(error_of([&] { transfer::StagedCopy{beyond}; }) != cudaSuccess);
    CHECK(is_usable());
}
