#include "cuda/buffer.hpp"
#include "cuda/stream.hpp"
#include "dense/gpu/banks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

TEST_CASE("accesses that no shared memory has are refused, and spans too short")
{
    cuda::Stream const stream;
    cuda::Buffer<float> memory{std::vector<float>(200)};
    cuda::Buffer<std::int32_t> const words{std::vector<std::int32_t>(32)};
    cuda::Buffer<long long> cycles{1};
    auto const refuses = [&](dense::AccessPattern const& pattern, std::size_t values,
                             std::size_t results) {
        CHECK_THROWS_AS(dense::gpu::bank_cycles(
                            pattern, dense::Access::read, words.data(), memory.span().first(values),
                            memory.span().first(results), cycles.data(), stream),
                        std::invalid_argument);
    };
    auto pattern = dense::strided(1, 16);
    refuses(pattern, 127, 128);
    refuses(pattern, 128, 127);
    pattern.bytes = 12;
    refuses(pattern, 200, 200);
    pattern.bytes = 16;
    pattern.word[7] = -4;
    refuses(pattern, 200, 200);
}

TEST_CASE("accesses read and write what they should, in every pattern")
{
    cuda::Stream const stream;
    std::vector<dense::AccessPattern> patterns = dense::transposes();
    for (int const stride : {1, 2, 7, 32}) {
        patterns.push_back(dense::strided(stride, 4));
        patterns.push_back(dense::strided(stride, 16));
    }
    for (int const bytes : {8, 16}) {
        std::ranges::copy(dense::shared_elements(bytes), std::back_inserter(patterns));
    }
    for (auto const& pattern : patterns) {
        for (auto const access : {dense::Access::read, dense::Access::write}) {
            std::vector<float> values(static_cast<std::size_t>(pattern.words()));
            std::iota(values.begin(), values.end(), 1.0f);
            cuda::Buffer<float> const in{std::span<float const>{values}};
            cuda::Buffer<float> out{dense::gpu::bank_results(pattern)};
            cuda::Buffer<std::int32_t> const words{std::span<std::int32_t const>{pattern.word}};
            cuda::Buffer<long long> cycles{1};
            dense::gpu::bank_cycles(pattern, access, words.data(), in.span(), out.span(),
                                    cycles.data(), stream);
            stream.synchronize();
            auto const found = out.download();
            auto const each = static_cast<std::size_t>(pattern.bytes / 4);
            for (std::size_t lane = 0; lane < pattern.word.size(); ++lane) {
                for (std::size_t i = 0; i < each; ++i) {
                    REQUIRE(found[lane * each + i] ==
                            static_cast<float>(pattern.word[lane] + 1) + static_cast<float>(i));
                }
            }
            CHECK(cycles.download().front() > 0);
        }
    }
}
