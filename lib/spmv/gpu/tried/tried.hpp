#pragma once

#include "spmv/device/csr.hpp"
#include "spmv/tried/tried.hpp"

#include <string>

namespace spmv::gpu {

/// Somebody's own product on the GPU, from a shared object that `just try` compiles.
class Tried
{
public:
    /// Throws `std::invalid_argument` if the file is no shared object of `just try` for GPUs.
    explicit Tried(std::string const& file)
        : library_{file}, function_{library_.find<Function>("memwall_tried_on_gpu")}
    {
        library_.find<void()>("memwall_tried_prepare")();
    }

    /// Queues `y = A x` in double precision in a stream; all pointers are in the GPU's memory.
    template <class Stream>
    void operator()(CsrView<double> const& a, double const* x, double* y, Stream stream) const
    {
        //! [yours_on_gpu]
        function_(a.rows, a.columns, a.row_ptr, a.col, a.values, x, y, stream);
        //! [yours_on_gpu]
    }

private:
    using Function = void(std::int32_t rows, std::int32_t columns, std::int32_t const* row_ptr,
                          std::int32_t const* col, double const* values, double const* x, double* y,
                          void* stream);

    TriedLibrary library_;
    Function* function_;
};

} // namespace spmv::gpu
