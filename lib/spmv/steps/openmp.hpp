#pragma once

#include "sparse/csr.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

/// \file
/// `y = A x` in compressed sparse rows on several threads: the same loop over a row, and different
/// ways to deal the rows out. `x` has `columns` elements, `y` has `rows` and is overwritten. Every
/// function uses `threads` >= 1 threads of OpenMP, and its result depends on nothing but the
/// operands and that number. `T` is float or double.

namespace spmv {

/// Each thread gets one contiguous share of the rows.
template <class T>
void static_rows(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads);

/// Chunks of `chunk` >= 1 rows are dealt out in turn.
template <class T>
void static_chunks(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                   int chunk);

/// A thread that is free takes the next row.
template <class T>
void dynamic_rows(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads);

/// A thread that is free takes the next `chunk` >= 1 rows.
template <class T>
void dynamic_chunks(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                    int chunk);

/// A thread that is free takes a share of the rows that are left, which become fewer.
template <class T>
void guided_rows(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads);

/// As `guided_rows`, and never less than `chunk` >= 1 rows at once.
template <class T>
void guided_chunks(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                   int chunk);

/// Each thread gets contiguous rows with, as nearly as whole rows allow, the same number of
/// nonzeros.
template <class T>
void nnz_balanced(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads);

/// Each thread begins with 16 shares of nonzeros, each cut at the first row that begins at or past
/// it, side by side; one that is done with its own takes those that others have not begun
/// (`for_each_part`).
template <class T>
void nnz_stealing(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads);

/// Rows and nonzeros together are split evenly, through rows where need be: the merge path of
/// Merrill and Garland (Merge-based parallel sparse matrix-vector multiplication, SC 2016).
template <class T>
void merge_path(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads);

/// Adds up each row in memory and not in a register; rows are dealt out one by one, and their sums
/// lie `stride` >= 1 elements apart. With a stride of 1 threads write to each other's cache lines,
/// with `apart<T>` they do not; nothing else differs. `sums` has `stride * rows` elements.
template <class T>
void sums_in_memory(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                    std::span<T> sums, std::size_t stride);

/// Elements between two sums that share no cache line, nor a pair of lines that is fetched
/// together.
template <class T>
inline constexpr std::size_t apart = 128 / sizeof(T);

/// The sum of all elements of `A x`, where a thread that is free takes the next row, as in
/// `dynamic_rows`: no thread writes what another one reads or writes.
template <class T>
T asked_total(sparse::CsrView<T> const& a, std::span<T const> x, int threads);

/// As above with the rows dealt out in turn, as in `static_chunks` one by one: nobody is asked.
template <class T>
T fixed_total(sparse::CsrView<T> const& a, std::span<T const> x, int threads);

/// As above with one contiguous share for each thread, as in `static_rows`.
template <class T>
T share_total(sparse::CsrView<T> const& a, std::span<T const> x, int threads);

/// Multiplies `times` times as `static_rows`, with a parallel region for each product.
template <class T>
void region_each(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                 int times);

/// As above in one region: threads wait for each other behind each product, but none is started.
template <class T>
void region_once(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                 int times);

/// As above, and none waits for the others before the end: each always has the same rows.
template <class T>
void no_barriers(sparse::CsrView<T> const& a, std::span<T const> x, std::span<T> y, int threads,
                 int times);

/// A copy whose pages were first touched by the threads that read them in `static_rows`, so that
/// each lies in the memory next to its thread.
template <class T>
sparse::Csr<T> first_touched(sparse::CsrView<T> const& a, int threads);

} // namespace spmv
