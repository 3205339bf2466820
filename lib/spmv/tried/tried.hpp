#pragma once

#include "sparse/csr.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace spmv {

/// A shared object that `just try` compiled.
class TriedLibrary
{
public:
    /// Throws `std::invalid_argument` if the file cannot be loaded.
    explicit TriedLibrary(std::string const& file);

    /// One of its functions. Throws `std::invalid_argument` if there is none of that name.
    template <class Function>
    Function* find(char const* name) const
    {
        return reinterpret_cast<Function*>(symbol(name));
    }

private:
    void* symbol(char const* name) const;

    std::string file_;
    std::shared_ptr<void> handle_;
};

/// Somebody's own product on the host.
class Tried
{
public:
    /// Throws `std::invalid_argument` if the file is no shared object of `just try`.
    explicit Tried(std::string const& file)
        : library_{file}, function_{library_.find<Function>("memwall_tried")}
    {
    }

    /// Computes `y = A x` in double precision, as that product does.
    void operator()(sparse::CsrView<double> const& a, std::span<double const> x,
                    std::span<double> y) const
    {
        //! [yours]
        function_(a.rows, a.columns, a.row_ptr.data(), a.col.data(), a.values.data(), x.data(),
                  y.data());
        //! [yours]
    }

private:
    using Function = void(std::int32_t rows, std::int32_t columns, std::int32_t const* row_ptr,
                          std::int32_t const* col, double const* values, double const* x,
                          double* y);

    TriedLibrary library_;
    Function* function_;
};

} // namespace spmv
