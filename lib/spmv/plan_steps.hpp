#pragma once

#include "sparse/csr.hpp"
#include "sparse/sell.hpp"

#include <array>
#include <cstdint>

/// \file
/// Counts the steps that the kernels of a format take on a matrix: what their time is made of.

namespace spmv {

/// How often a kernel takes each kind of step. A loop's end is a surprise if the processor would
/// not foresee it from the lengths of the loops before.
using Steps = std::array<double, 7>;

/// Rows; rows whose length is a surprise; products in whole vectors; products behind them, or in
/// rows too short for vectors.
template <class T>
Steps csr_steps(sparse::CsrView<T> const& a);

/// Chunks; chunks that are a surprise; unit steps of every lane; full gathering steps; partial
/// ones; sorted chunks; unit steps that have a mask. Where chunks are multiplied `in_groups`, a
/// unit step of theirs counts as the part of one that it takes.
template <class T>
Steps sell_steps(sparse::Sell<T> const& a, bool in_groups);

/// Rows; rows whose number of pieces is a surprise; pieces, which are runs of at most `longest`
/// nonzeros; vectors of `lanes` elements.
Steps run_steps(sparse::PatternView<> const& a, std::int32_t longest, std::int32_t lanes);

/// Groups of `group_rows` rows; groups whose number of windows is a surprise; windows; masks.
template <class T>
Steps window_steps(sparse::PatternView<> const& a, std::int32_t group_rows);

/// Block rows; block rows whose number of blocks is a surprise; blocks.
Steps block_steps(sparse::PatternView<> const& a, std::int32_t block_rows,
                  std::int32_t block_columns);

} // namespace spmv
