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
using Steps = std::array<double, 6>;

/// Rows; rows that are not as long as the one before (the end of the loop is mispredicted);
/// products of rows too short for vectors; products in whole vectors; products behind them.
template <class T>
Steps csr_steps(sparse::CsrView<T> const& a);

/// Chunks; chunks that are a surprise; unit steps; full gathering steps; partial ones; sorted
/// chunks.
template <class T>
Steps sell_steps(sparse::Sell<T> const& a);

/// Rows; rows whose number of pieces is a surprise; pieces; vectors.
template <class T>
Steps run_steps(sparse::PatternView<> const& a);

/// Groups of `group_rows` rows; groups whose number of windows is a surprise; windows; masks.
template <class T>
Steps window_steps(sparse::PatternView<> const& a, std::int32_t group_rows);

/// Block rows; block rows whose number of blocks is a surprise; blocks; vectors.
template <class T>
Steps block_steps(sparse::PatternView<> const& a, std::int32_t block_rows,
                  std::int32_t block_columns);

} // namespace spmv
