#include "spmv/plan_sample.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace spmv {

namespace {

/// A whole number of the chunks, windows, groups and blocks of every format.
constexpr std::int32_t least_block = 1536;
constexpr std::int32_t most_blocks = 16;

template <class T>
void append_row(sparse::Csr<T>& to, sparse::CsrView<T> const& from, std::int32_t i,
                std::int32_t longest)
{
    auto const begin = from.row_ptr[static_cast<std::size_t>(i)];
    auto const end = from.row_ptr[static_cast<std::size_t>(i) + 1];
    if (end - begin <= longest) {
        to.col.insert(to.col.end(), from.col.begin() + begin, from.col.begin() + end);
        to.values.insert(to.values.end(), from.values.begin() + begin, from.values.begin() + end);
    }
    to.row_ptr.push_back(static_cast<std::int32_t>(to.col.size()));
    ++to.rows;
}

/// The first row of a whole number of `least_block` before which lies `share` of the nonzeros.
template <class T>
std::int32_t row_after(sparse::CsrView<T> const& a, double share)
{
    auto const before = static_cast<std::int32_t>(share * static_cast<double>(a.nonzeros()));
    auto const row = std::ranges::upper_bound(a.row_ptr, before) - a.row_ptr.begin() - 1;
    return static_cast<std::int32_t>(row) / least_block * least_block;
}

} // namespace

template <class T>
Sample<T> take_sample(sparse::CsrView<T> const& a, std::int32_t rows, std::int32_t longest)
{
    Sample<T> sample;
    sample.a.columns = a.columns;
    bool const all = a.rows <= 2 * rows;
    std::int32_t const blocks = all ? 1 : std::min(most_blocks, rows / least_block);
    std::int32_t const block_rows = all ? a.rows : rows / blocks / least_block * least_block;
    std::int32_t last = 0;
    for (std::int32_t k = 0; k < blocks; ++k) {
        std::int32_t const first = std::max(last, row_after(a, static_cast<double>(k) / blocks));
        last = std::min(a.rows, first + block_rows);
        for (std::int32_t i = first; i < last; ++i) {
            append_row(sample.a, a, i, longest);
        }
        sample.ends.push_back(sample.a.rows);
    }
    return sample;
}

template Sample<float> take_sample(sparse::CsrView<float> const&, std::int32_t, std::int32_t);
template Sample<double> take_sample(sparse::CsrView<double> const&, std::int32_t, std::int32_t);

} // namespace spmv
