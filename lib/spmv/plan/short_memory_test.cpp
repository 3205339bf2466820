#include "spmv/plan.hpp"
#include "spmv/plan/formats.hpp"
#include "spmv/steps/openmp.hpp"
#include "spmv/steps/test_matrices.hpp"

#include "sparse/catalogue/generators.hpp"
#include "sparse/convert.hpp"
#include "sparse/features.hpp"
#include "sparse/io/matrix_market.hpp"

#include <doctest/doctest.h>

#include <omp.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

// Memory is short from some allocation on, on whichever thread: what was asked for has to throw
// `std::bad_alloc`, or to do without. An exception that leaves a parallel region ends the process.

namespace {

constexpr long unlimited = std::numeric_limits<long>::max();
std::atomic<long> left = unlimited;  // allocations until memory is short
std::atomic<bool> was_short = false; // since it was set

void* allocated(std::size_t bytes, std::size_t alignment)
{
    if (left.load() != unlimited && left.fetch_sub(1) <= 0) {
        was_short = true;
        throw std::bad_alloc{};
    }
    void* const memory =
        std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return memory;
}

} // namespace

void* operator new(std::size_t bytes)
{
    return allocated(bytes, alignof(std::max_align_t));
}

void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    return allocated(bytes, static_cast<std::size_t>(alignment));
}

void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept
{
    try {
        return allocated(bytes, alignof(std::max_align_t));
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t, std::align_val_t) noexcept
{
    std::free(memory);
}

namespace {

/// Runs `work` with memory short after none, one, two, ... allocations, until it needs no more.
/// Returns how often it threw.
template <class Work>
int thrown_by(Work const& work)
{
    int thrown = 0;
    for (long allowed = 0;; allowed += 1 + allowed / 16) {
        was_short = false;
        left = allowed;
        bool failed = false;
        try {
            work();
        } catch (std::bad_alloc const&) {
            failed = true;
        } catch (...) {
            left = unlimited;
            throw;
        }
        left = unlimited;
        if (!was_short) {
            return thrown;
        }
        thrown += failed ? 1 : 0;
    }
}

} // namespace

TEST_CASE("where memory is short, what is done on several threads throws")
{
    omp_set_num_threads(3);
    auto const a = spmv::testing::filled<double>(sparse::banded(9000, 9));
    auto const ragged = spmv::testing::filled<double>(sparse::dense_rows(9000, 3, 6, 500, 1));
    auto const blocks = spmv::testing::filled<double>(sparse::fem3(14)); // 8232 rows
    CHECK(thrown_by([] { sparse::stencil27(20); }) > 0);
    CHECK(thrown_by([] { sparse::fem3_shuffled(12, 64, 1); }) > 0);
    CHECK(thrown_by([] { sparse::rmat(13, 60'000, 1); }) > 0);
    CHECK(thrown_by([] { sparse::ragged(9000, 200, 90, 1); }) > 0);
    CHECK(thrown_by([] { sparse::random_rows(9000, 500, 9, 1); }) > 0);
    CHECK(thrown_by([] { sparse::runs(9001, 20, 3, 100, 5); }) > 0);
    CHECK(thrown_by([&] { sparse::features(a); }) > 0);
    CHECK(thrown_by([&] { sparse::sorted(a.view()); }) > 0);
    std::vector<double> const x(9000, 0.5);
    std::vector<double> y(9000);
    CHECK(thrown_by([&] { spmv::expected<double>(a, x); }) > 0);
    CHECK(thrown_by([&] { spmv::merge_path<double>(a, x, y, 3); }) > 0);
    CHECK(thrown_by([&] { spmv::first_touched<double>(a, 3); }) > 0);
    std::ostringstream text;
    sparse::write_matrix_market(text, a.view());
    CHECK(thrown_by([&] {
              sparse::parse_matrix_market<double>(text.view(), "x", {.chunk_bytes = 100'000});
          }) > 0);

    for (auto const& format : spmv::plan_formats()) {
        CAPTURE(format.name);
        for (auto const* matrix : {&a, &ragged, &blocks}) {
            spmv::PlanOptions const options{.threads = 3, .format = std::string{format.name}};
            try {
                int const thrown = thrown_by([&] { spmv::Plan<double>{*matrix, options}; });
                CHECK(thrown > 0);
                spmv::Plan<double> const plan{*matrix, options};
                auto const rows = static_cast<std::size_t>(matrix->rows);
                thrown_by([&] { plan(std::span{x}.first(rows), std::span{y}.first(rows)); });
            } catch (std::length_error const&) { // it does not suit the matrix
            }
        }
    }
    CHECK(thrown_by([&] { spmv::Plan<double>{ragged, {.threads = 3, .timed = false}}; }) > 0);
}
