#pragma once

#include "spmv/formats/bcsr/bcsr.hpp"
#include "spmv/formats/bcsr/kernel.hpp"
#include "spmv/formats/host.hpp"

#include <stdexcept>
#include <tuple>

namespace spmv::formats::bcsr {

/// Dense blocks of the shape that stores fewest bytes; units are block rows.
struct Bcsr : FormatDefaults
{
    static constexpr FormatName name{"bcsr", "bcsr"};

    template <Ahead ahead, class T>
    static constexpr auto* kernel = spmv::bcsr<of_matrix(ahead), T>;

    template <class T>
    static sparse::Bcsr<T> build(sparse::CsrView<T> const& a, BuildOptions const& options)
    {
        return sparse::to_bcsr<T>(a, {options.block_rows, options.block_columns});
    }

    /// Throws `std::length_error` if no shape saves any.
    template <class T>
    static double bytes(sparse::CsrView<T> const& a, BuildOptions& options)
    {
        auto const shape = sparse::best_block_shape(a, sizeof(T));
        if (shape.size() == 1) {
            throw std::length_error{"dense blocks of no shape save any bytes"};
        }
        options.block_rows = shape.rows;
        options.block_columns = shape.columns;
        return sparse::block_fill(a, shape) * static_cast<double>(a.nonzeros()) *
                   (sizeof(T) + 4.0 / shape.size()) +
               4.0 * a.rows / shape.rows;
    }
};

using All = std::tuple<Bcsr>;

} // namespace spmv::formats::bcsr
