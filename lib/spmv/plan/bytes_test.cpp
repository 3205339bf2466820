#include "spmv/plan.hpp"
#include "spmv/plan/formats.hpp"
#include "spmv/steps/test_matrices.hpp"

#include "sparse/catalogue/generators.hpp"

#include <doctest/doctest.h>

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

// Every allocation of this program is counted: what a format says it takes is compared with what it
// took from the heap.

namespace {

std::atomic<std::size_t> held = 0;

void* counted(void* memory)
{
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    held += malloc_usable_size(memory);
    return memory;
}

void give_back(void* memory)
{
    held -= memory == nullptr ? 0 : malloc_usable_size(memory);
    std::free(memory);
}

} // namespace

void* operator new(std::size_t bytes)
{
    return counted(std::malloc(bytes));
}

void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    auto const step = static_cast<std::size_t>(alignment);
    return counted(std::aligned_alloc(step, (bytes + step - 1) / step * step));
}

void operator delete(void* memory) noexcept
{
    give_back(memory);
}

void operator delete(void* memory, std::size_t) noexcept
{
    give_back(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept
{
    give_back(memory);
}

void operator delete(void* memory, std::size_t, std::align_val_t) noexcept
{
    give_back(memory);
}

TEST_CASE_TEMPLATE("formats take the bytes that they say", T, float, double)
{
    for (auto const& structure :
         {sparse::fem3(12), sparse::stencil27(16), sparse::random_rows(9000, 9000, 9, 1)}) {
        auto const a = spmv::testing::filled<T>(structure);
        auto const csr = (a.row_ptr.size() + a.col.size()) * 4 + a.values.size() * sizeof(T);
        for (auto const& name : spmv::plan_formats()) {
            CAPTURE(name.name);
            CAPTURE(a.rows);
            auto const& format = spmv::format_named<T>(name.name);
            spmv::BuildOptions build;
            try {
                static_cast<void>(format.bytes(a, build));
                auto const& kernels = spmv::format_kernels<T>("");
                static_cast<void>(format.make(a, kernels, build)); // what libraries keep for ever
                std::size_t const before = held;
                auto const made = format.make(a, kernels, build);
                std::size_t const taken = held - before;
                if (format.borrows) {
                    CHECK(made->bytes() == csr);
                    CHECK(taken < 4096);
                } else {
                    CHECK(made->bytes() <= taken);
                    // Arrays that grew have room behind them, and each is rounded up.
                    CHECK(static_cast<double>(taken) <= 1.02 * made->bytes() + 8192);
                }
            } catch (std::length_error const&) { // the format does not suit the matrix
            }
        }
    }
}

TEST_CASE("a plan on CSR takes the bytes of its arrays")
{
    auto const a = spmv::testing::filled<double>(sparse::random_rows(5000, 700, 7, 1));
    spmv::Plan<double> const plan{a, {.threads = 1, .format = "csr"}};
    CHECK(plan.bytes() == 4 * 5001 + 12 * std::size_t{5000} * 7);
}
