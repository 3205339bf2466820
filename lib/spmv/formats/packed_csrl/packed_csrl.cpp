#include "spmv/formats/packed_csrl/packed_csrl.hpp"

#include "sparse/check.hpp"
#include "spmv/formats/runs.hpp"
#include "spmv/formats/stretches.hpp"

#include <string>

namespace sparse {

template <class T>
std::int32_t PackedCsrlView<T>::position(std::int32_t row) const
{
    return values_before(checkpoint, first_piece[row],
                         [&](std::int32_t p) { return piece[p].length(); });
}

template <class T>
std::size_t PackedCsrl<T>::bytes() const
{
    return bytes_of(first_piece, piece, values, checkpoint);
}

template <class T>
PackedCsrl<T> to_packed_csrl(CsrView<T> const& a)
{
    require_sorted_rows(a);
    if (a.columns > Piece::columns_end) {
        throw std::length_error{"packed runs name columns below " +
                                std::to_string(Piece::columns_end) + ", the matrix has " +
                                std::to_string(a.columns)};
    }
    PackedCsrl<T> packed;
    packed.rows = a.rows;
    packed.columns = a.columns;
    packed.first_piece =
        offsets(a.rows, [&](std::int32_t row) { return count_runs(a, row, Piece::longest); });
    packed.piece.resize(static_cast<std::size_t>(packed.first_piece[a.rows]));
    packed.values.resize(a.nonzeros());
    packed.checkpoint = checkpoints(packed.piece.size(), a.nonzeros());
    parallel_units(a.rows, [&](std::int32_t row) {
        auto piece = packed.first_piece[row];
        visit_runs(a, row, Piece::longest, [&](std::int32_t position, std::int32_t length) {
            packed.piece[piece] = Piece::pack(a.col[position], length);
            std::copy_n(&a.values[position], length, &packed.values[position]);
            note_checkpoint(packed.checkpoint, piece, position);
            ++piece;
        });
    });
    return packed;
}

template struct PackedCsrlView<float>;
template struct PackedCsrlView<double>;
template struct PackedCsrl<float>;
template struct PackedCsrl<double>;
template PackedCsrl<float> to_packed_csrl(CsrView<float> const&);
template PackedCsrl<double> to_packed_csrl(CsrView<double> const&);

} // namespace sparse
