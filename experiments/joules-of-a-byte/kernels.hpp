#pragma once

#include "words.hpp"

#include "base/expected.hpp"
#include "base/half.hpp"
#include "cuda/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// \file
/// Kernels that move bytes or compute, and do little else. Spans are in the device's memory, work
/// is put into `stream`, and a grid is `blocks()` of `threads_of_block`: so many as the
/// multiprocessors keep at once.

namespace joules {

inline constexpr unsigned threads_of_block = 256;
inline constexpr unsigned warps_of_block = threads_of_block / lanes;

unsigned blocks();

/// Threads of the whole grid.
std::size_t grid_threads();

/// Where bytes are.
enum class Level
{
    device, ///< memory or L2, whichever holds the table: loads pass by L1
    l1,     ///< the first-level cache of each multiprocessor
    shared  ///< shared memory
};

/// Fills a table of `table.size()` words, a multiple of `period`, with `word_read`.
void fill_table(Bits bits, std::span<std::int32_t const> seed, std::span<std::uint32_t> table,
                cuda::Stream const& stream);

/// Each thread reads `steps` times 16 bytes of the table, all of it in turn, and adds up the words:
/// `sums` has an element for each block. `steps` is a multiple of `steps_of_period`, the words of
/// the table a power of two: for `Level::l1` and `Level::shared` one period.
void read_words(Level from, std::span<std::uint32_t const> table, std::uint32_t steps,
                std::span<std::int32_t> sums, cuda::Stream const& stream);

/// What `read_words` leaves for each block.
std::uint32_t words_sum(Bits bits, std::int32_t seed, std::uint32_t steps);

/// Each thread writes `steps` times 16 bytes to a table in device memory, which then holds
/// `word_written`. The words of the table are a power of two.
void write_words(std::span<std::int32_t const> seed, std::uint32_t steps,
                 std::span<std::int32_t> table, cuda::Stream const& stream);

/// As above to a table of one period in the shared memory of each block, whose words are then added
/// up: `sums` has an element for each block.
void write_shared(std::span<std::int32_t const> seed, std::uint32_t steps,
                  std::span<std::int32_t> sums, cuda::Stream const& stream);

/// What `write_shared` leaves for each block.
std::uint32_t written_sum(std::int32_t seed);

/// Chains of multiply-adds that a thread has under way, none of which waits for another.
inline constexpr std::size_t chains = 8;

/// Numbers that `multiply_add` begins with: for each thread of a block and each chain one, or two
/// of 16 bits.
template <class T>
constexpr std::size_t starts = threads_of_block* chains*(sizeof(T) == 2 ? 2 : 1);

/// Results of a thread.
template <class T>
constexpr std::size_t results_of_thread = sizeof(T) == 2 ? 2 : 1;

/// Two steps, `a = a x + y` and then `a = a u + v`. Of floating-point numbers the second takes back
/// the first but for a rounding, so that chains go on for ever with all of their bits.
template <class T>
struct Steps
{
    T x, y, u, v;
};

/// Such steps that begin with two numbers.
template <class T>
Steps<T> there_and_back(T x, T y);

/// Each thread takes `steps` steps, an even number, in each of its chains, and adds up what comes
/// out: `sums` has `results_of_thread` elements for each thread of the grid. `T` is double, float,
/// base::fp16 (in pairs), or std::int32_t (which wraps).
template <class T>
void multiply_add(std::span<T const> start, Steps<T> const& by, std::uint32_t steps,
                  std::span<T> sums, cuda::Stream const& stream);

/// What `multiply_add` leaves for the threads of each block, bit by bit.
template <class T>
base::Expected multiply_add_reference(std::span<T const> start, Steps<T> const& by,
                                      std::uint32_t steps);

/// Tiles of a product of tensor cores by the type of its operands: `c += a b`.
template <class T>
struct Tile;

/// Doubles, added up as doubles.
template <>
struct Tile<double>
{
    using Sum = double;
    static constexpr std::size_t m = 8, n = 8, k = 4;
};

/// Floats that are rounded to TF32, added up as floats.
template <>
struct Tile<float>
{
    using Sum = float;
    static constexpr std::size_t m = 16, n = 16, k = 8;
};

/// Half precision, added up as floats.
template <>
struct Tile<base::fp16>
{
    using Sum = float;
    static constexpr std::size_t m = 16, n = 16, k = 16;
};

/// Bfloat16, of the same tiles.
template <>
struct Tile<base::bf16> : Tile<base::fp16>
{
};

/// Bytes, added up as integers.
template <>
struct Tile<std::uint8_t>
{
    using Sum = std::int32_t;
    static constexpr std::size_t m = 16, n = 16, k = 16;
};

/// Pairs of tiles that take turns, each with sums of its own.
inline constexpr std::size_t tile_pairs = 4;

/// Operations of a product of tiles: a multiplication and an addition for each.
template <class T>
constexpr double tile_operations = 2.0 * Tile<T>::m* Tile<T>::n* Tile<T>::k;

/// Why tensor cores of the current device do not multiply all of these; empty if they do.
std::string_view refuses_tiles();

/// Each warp multiplies each of `tile_pairs` pairs of tiles `steps` times and adds up all of it:
/// `a` holds tiles of m x k, `b` of k x n, `sums` one of m x n for each warp, all in rows.
template <class T>
void tensor_products(std::span<T const> a, std::span<T const> b, std::uint32_t steps,
                     std::span<typename Tile<T>::Sum> sums, cuda::Stream const& stream);

/// What `tensor_products` leaves for each warp, and by how much sums in this order may be off.
template <class T>
base::Expected tensor_reference(std::span<T const> a, std::span<T const> b, std::uint32_t steps);

/// All threads look at the clock until so many cycles have passed, and then leave a mark of 1.
void spin(long long cycles, std::span<std::int32_t> marks, cuda::Stream const& stream);

/// One thread leaves a mark of 1. Then the device has nothing to do for so many seconds.
void idle(double seconds, std::span<std::int32_t> mark, cuda::Stream const& stream);

} // namespace joules
