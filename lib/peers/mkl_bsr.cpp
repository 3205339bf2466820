#include "peers/adapters.hpp"
#include "peers/fastest.hpp"
#include "peers/mkl_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peers {

namespace {

constexpr int block_sizes[] = {8, 6, 4, 3, 2};
constexpr double most_fill = 1.5; ///< beyond it, what blocks save on indices is lost on zeros

/// Blocks of `size` times `size` that hold a nonzero.
template <class T>
std::size_t count_blocks(sparse::CsrView<T> const& a, int size)
{
    std::vector<std::int32_t> last_row(static_cast<std::size_t>(a.columns / size), -1);
    std::size_t blocks = 0;
    for (std::int32_t row = 0; row < a.rows; ++row) {
        for (auto p = a.row_ptr[row]; p < a.row_ptr[row + 1]; ++p) {
            auto& seen = last_row[a.col[p] / size];
            blocks += seen != row / size;
            seen = row / size;
        }
    }
    return blocks;
}

/// A block size and what it would store.
struct Blocks
{
    int size;
    std::size_t count;
    double fill; ///< values stored per nonzero
};

/// The block sizes that suit a matrix, least fill first. Throws `NotApplicable` if none does.
template <class T>
std::vector<Blocks> suitable_blocks(sparse::CsrView<T> const& a)
{
    std::vector<Blocks> suitable;
    double least = std::numeric_limits<double>::infinity();
    for (int const size : block_sizes) {
        if (a.nonzeros() > 0 && a.rows % size == 0 && a.columns % size == 0) {
            auto const count = count_blocks(a, size);
            auto const values = static_cast<double>(count) * size * size;
            auto const fill = values / static_cast<double>(a.nonzeros());
            least = std::min(least, fill);
            if (fill <= most_fill) {
                suitable.push_back({size, count, fill});
            }
        }
    }
    if (suitable.empty()) {
        auto const why = least < std::numeric_limits<double>::infinity()
                             ? fmt::format("the best stores {:.2f} values per nonzero", least)
                             : "none divides its rows and columns";
        throw NotApplicable(fmt::format("blocks of {} do not suit this matrix: {}",
                                        fmt::join(block_sizes, ", "), why));
    }
    std::ranges::stable_sort(suitable, {}, &Blocks::fill);
    return suitable;
}

//! [mkl_bsr]
template <class T>
MklMatrix mkl_blocks(MklMatrix const& rows, Blocks const& blocks, sparse_layout_t layout)
{
    sparse_matrix_t handle = nullptr;
    check(mkl_sparse_convert_bsr(rows.handle.get(), blocks.size, layout,
                                 SPARSE_OPERATION_NON_TRANSPOSE, &handle),
          "mkl_sparse_convert_bsr");
    auto const block_bytes = sizeof(MKL_INT) + sizeof(T) * blocks.size * blocks.size;
    MklMatrix matrix{{handle, mkl_sparse_destroy}, blocks.count * block_bytes};
    mkl_optimize(matrix);
    return matrix;
}

template <class T>
SpmvOperator<T> mkl_bsr_operator(sparse::CsrView<T> const& a, PeerOptions options)
{
    MklThreads const here{options.threads};
    Fastest<T> fastest{a, options.tuning};
    auto const rows = mkl_csr(a);
    for (auto const& blocks : suitable_blocks(a)) {
        for (auto const layout : {SPARSE_LAYOUT_COLUMN_MAJOR, SPARSE_LAYOUT_ROW_MAJOR}) {
            auto const matrix = mkl_blocks<T>(rows, blocks, layout);
            fastest.offer(mkl_product<T>(matrix, options.threads));
        }
    }
    return fastest.kept();
}
//! [mkl_bsr]

} // namespace

template <class T>
SpmvPeer<T> mkl_bsr(PeerOptions options)
{
    start_mkl(options.threads);
    return {"mkl_bsr", mkl_version(), "",
            [options](sparse::CsrView<T> const& a) { return mkl_bsr_operator<T>(a, options); }};
}

template SpmvPeer<float> mkl_bsr(PeerOptions);
template SpmvPeer<double> mkl_bsr(PeerOptions);

} // namespace peers
