#include "transfer/kernels.hpp"

#include "cuda/pinned.hpp"
#include "transfer/testing/arrays.hpp"
#include "transfer/testing/double_rows.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

using transfer::testing::counted;
using transfer::testing::doubled;
using transfer::testing::error_of;
using transfer::testing::is_usable;

TEST_CASE("kernels read and write mapped pages over the bus")
{
    cuda::Stream const stream;
    cuda::Pinned<float> from{1024, cudaHostAllocMapped | cudaHostAllocWriteCombined};
    cuda::Pinned<float> to{1024, cudaHostAllocMapped};
    std::ranges::copy(counted(1024), from.span().begin());
    transfer::copy_by_cores(from.on_device(), to.on_device(), 1024, 2, stream.get());
    stream.synchronize();
    CHECK(std::ranges::equal(to.span(), counted(1024)));
}

TEST_CASE("rows are summed and multiplied, one in so many, however long a thread is kept busy")
{
    cuda::Stream const stream;
    constexpr std::size_t columns = 256;
    auto const host = counted(12 * columns);
    cuda::Buffer<float> const x{std::span<float const>{host}};
    for (std::size_t const every : {1, 3, 12}) {
        cuda::Buffer<double> sums{12 / every};
        cuda::Buffer<double> products{12};
        transfer::row_sums(x.data(), columns, every, 5, sums.span(), stream.get());
        transfer::row_products(x.data(), x.data(), columns, products.span(), stream.get());
        stream.synchronize();
        auto const found = sums.download();
        auto const squares = products.download();
        for (std::size_t r = 0; r < found.size(); ++r) {
            auto const row = std::span{host}.subspan(r * every * columns, columns);
            double sum = 0;
            double square = 0;
            for (float const value : row) {
                sum += static_cast<double>(value);
                square += static_cast<double>(value) * static_cast<double>(value);
            }
            CHECK(found[r] == sum);
            CHECK(squares[r * every] == square);
        }
    }
}

TEST_CASE("rows with odd pitches are copied and doubled, and gaps are left alone")
{
    cuda::Stream const stream;
    constexpr std::size_t rows = 5;
    for (std::size_t const width : {1, 7, 33}) {
        std::size_t const host_pitch = 4 * width + 4;
        std::vector<float> host((host_pitch / 4) * rows, -1.0F);
        auto const values = counted(width * rows);
        for (std::size_t r = 0; r < rows; ++r) {
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(r * width), width,
                        host.begin() + static_cast<std::ptrdiff_t>(r * (width + 1)));
        }
        std::size_t pitch = 0;
        float* x = nullptr;
        cuda::check(cudaMallocPitch(reinterpret_cast<void**>(&x), &pitch, 4 * width, rows));
        CHECK(pitch % 32 == 0);
        cuda::Buffer<float> y{(host_pitch / 4) * rows};
        cuda::check(cudaMemset(y.data(), 0xff, y.bytes()));
        cuda::check(cudaMemcpy2DAsync(x, pitch, host.data(), host_pitch, 4 * width, rows,
                                      cudaMemcpyHostToDevice, stream.get()));
        transfer::testing::double_rows(x, pitch, y.data(), host_pitch, width, rows, stream.get());
        stream.synchronize();
        auto const found = y.download();
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (i % (width + 1) < width) {
                CHECK(found[i] == 2 * host[i]);
            } else {
                CHECK(std::isnan(found[i]));
            }
        }
        // A pitch below the width is refused, and the device is usable afterwards.
        CHECK(error_of([&] {
                  cuda::check(cudaMemcpy2DAsync(x, pitch, host.data(), 4 * width - 1, 4 * width,
                                                rows, cudaMemcpyHostToDevice, stream.get()));
              }) == cudaErrorInvalidPitchValue);
        CHECK(is_usable());
        cuda::check(cudaFree(x));
    }
}

TEST_CASE("the article's kernel makes NaN, and its own check does not see them")
{
    cuda::Stream const stream;
    constexpr std::size_t count = 1000;
    cuda::Buffer<float> const zeros{std::span<float const>{std::vector<float>(count)}};
    cuda::Buffer<float> out{count};
    auto const largest_error = [](std::vector<float> const& values) { // as in the article
        float largest = 0;
        for (float const value : values) {
            auto const error = std::abs(value - 1.0F);
            if (error > largest) {
                largest = error;
            }
        }
        return largest;
    };

    transfer::add_one_by_arcs(zeros.data(), out.data(), 0, count, stream.get());
    stream.synchronize();
    auto const arcs = out.download();
    CHECK(std::ranges::count_if(arcs, [](float value) { return std::isnan(value); }) == count - 2);
    CHECK(largest_error(arcs) == doctest::Approx(1.5708 - 1).epsilon(1e-3)); // of the two others

    transfer::add_one_by_sines(zeros.data(), out.data(), 0, count, stream.get());
    stream.synchronize();
    auto const sines = out.download();
    CHECK(std::ranges::none_of(sines, [](float value) { return std::isnan(value); }));
    CHECK(largest_error(sines) < 1e-5F);
}

TEST_CASE("sums of neighbours are those of the host")
{
    cuda::Stream const stream;
    std::vector<std::int32_t> a(1000);
    std::vector<std::int32_t> b(1000);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<std::int32_t>(i * i % 101);
        b[i] = static_cast<std::int32_t>(i % 17);
    }
    cuda::Buffer<std::int32_t> const x{std::span<std::int32_t const>{a}};
    cuda::Buffer<std::int32_t> const y{std::span<std::int32_t const>{b}};
    cuda::Buffer<std::int32_t> z{a.size()};
    transfer::neighbour_sums(x.data(), y.data(), z.data(), z.size(), 1, stream.get());
    stream.synchronize();
    auto const found = z.download();
    for (std::size_t i = 0; i < found.size(); ++i) {
        auto const j = (i + 1) % 256;
        auto const k = (i + 2) % 256;
        auto const sum = a[i] + a[j] + a[k] + b[i] + b[j] + b[k];
        CHECK(found[i] == static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + 1013904223U));
    }
}
