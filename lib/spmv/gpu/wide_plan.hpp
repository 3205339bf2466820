#pragma once

#include "spmv/gpu/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spmv::gpu {

/// A matrix in compressed sparse rows in device memory, not owned, with offsets of 64 bits. Of its
/// arrays nothing is read behind the end, and they may lie anywhere.
template <class T>
struct WideCsrView
{
    std::int32_t rows = 0;
    std::int32_t columns = 0;
    std::int64_t nonzeros = 0;
    std::int64_t const* row_ptr = nullptr; ///< rows + 1 offsets
    std::int32_t const* col = nullptr;     ///< nonzeros
    T const* values = nullptr;             ///< nonzeros
};

/// `y = A x` of a matrix with more nonzeros than offsets of 32 bits can count: its rows in parts
/// that those can, each copied and with a plan of its own. `T` is float or double.
template <class T>
class WidePlan
{
public:
    /// Copies and converts `a` part by part on the device in `stream`, and returns when all plans
    /// stand; the caller may then free `a`. While it works there must be room for one more part.
    /// `nonzeros_of_part` are those of a part at most.
    ///
    /// Throws as `Plan` does, and `std::length_error` if a single row has more nonzeros than a part
    /// may have.
    WidePlan(WideCsrView<T> const& a, cudaStream_t stream, PlanOptions const& options = {},
             std::int64_t nonzeros_of_part = most_nonzeros);

    /// Computes `y = A x`, as `Plan` does.
    void operator()(T const* x, T* y, cudaStream_t stream) const;

    /// Computes `y = alpha A x + beta y`, as `Plan` does.
    void operator()(T alpha, T const* x, T beta, T* y, cudaStream_t stream) const;

    /// Whether the same operands always give the same bits.
    bool repeats() const;

    /// Bytes that it holds.
    std::size_t bytes() const;

    /// A line for each part, as `Plan` explains it.
    std::string explain() const;

private:
    struct Part
    {
        std::int32_t first_row;
        std::optional<Csr<T>> matrix; ///< where the plan reads it
        Plan<T> plan;
    };

    std::vector<Part> parts_;
};

} // namespace spmv::gpu
