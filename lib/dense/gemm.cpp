#include "dense/gemm.hpp"

#include "base/ceil_div.hpp"
#include "dense/compiled_kernels.hpp"
#include "machine/cpu.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace dense {

namespace {

using base::ceil_div;

/// Bytes of a row of `a` that one pass multiplies: its depth.
constexpr std::int64_t depth_bytes = 1536;
/// Rows of `a` that stay in the second-level cache, with this depth.
constexpr std::int64_t block_rows = 144;
/// Columns of `b` that one pass packs.
constexpr std::int64_t block_columns = 4096;

/// Memory that a thread keeps for its next product: a system fills with zeros what it gives anew.
class Workspace
{
public:
    /// Memory for so many elements, from the beginning of a line.
    template <class T>
    T* of(std::int64_t count)
    {
        auto const bytes = static_cast<std::size_t>(count) * sizeof(T);
        if (bytes > bytes_) {
            memory_.reset();
            bytes_ = 0;
            memory_.reset(::operator new(bytes, line));
            bytes_ = bytes;
        }
        return static_cast<T*>(memory_.get());
    }

private:
    static constexpr std::align_val_t line{64};

    struct Free
    {
        void operator()(void* memory) const { ::operator delete(memory, line); }
    };

    std::unique_ptr<void, Free> memory_;
    std::size_t bytes_ = 0;
};

Workspace& workspace()
{
    static thread_local Workspace kept;
    return kept;
}

/// A strip of `height` rows, column after column; zeros fill it up. Of each row a line is read at a
/// time.
template <class T>
void pack_rows(Matrix<T const> const& a, int height, T* to)
{
    constexpr std::int64_t line = 64 / sizeof(T);
    for (std::int64_t first = 0; first < a.columns; first += line) {
        auto const columns = std::min(line, a.columns - first);
        for (std::int64_t i = 0; i < a.rows; ++i) {
            T const* const from = &a(i, first);
            for (std::int64_t k = 0; k < columns; ++k) {
                to[k * height + i] = from[k];
            }
        }
        for (std::int64_t k = 0; a.rows < height && k < columns; ++k) {
            std::fill(to + k * height + a.rows, to + (k + 1) * height, T{0});
        }
        to += columns * height;
    }
}

/// Strips of `width` columns, `gap` elements apart, each row after row; zeros fill the last one up.
/// Of a row all strips are written before the next is read: it lies in one page.
template <class T>
void pack_columns(Matrix<T const> const& b, int width, std::int64_t gap, T* to)
{
    for (std::int64_t k = 0; k < b.rows; ++k, to += width) {
        T* strip = to;
        for (std::int64_t j = 0; j < b.columns; j += width, strip += gap) {
            auto const there = std::min<std::int64_t>(width, b.columns - j);
            std::copy_n(&b(k, j), there, strip);
            std::fill(strip + there, strip + width, T{0});
        }
    }
}

/// A strip of `a` times a strip of `b`. What sticks out of `c` goes by a buffer.
template <class T>
void multiply_strips(MicroKernel<T> const& kernel, std::int64_t depth, T const* a, T const* b,
                     Matrix<T> const& c, bool add, T* buffer)
{
    if (c.rows == kernel.rows && c.columns == kernel.columns) {
        kernel.multiply(depth, a, b, c.data, c.stride, add);
        return;
    }
    kernel.multiply(depth, a, b, buffer, kernel.columns, false);
    for (std::int64_t r = 0; r < c.rows; ++r) {
        for (std::int64_t s = 0; s < c.columns; ++s) {
            T const value = buffer[r * kernel.columns + s];
            c(r, s) = add ? c(r, s) + value : value;
        }
    }
}

/// In which order pairs of strips are multiplied: those of one block of `a` after each other, and
/// in there those with one strip of `b`, which stays in the first-level cache.
struct Pairs
{
    std::int64_t of_a; ///< strips
    std::int64_t of_b;
    std::int64_t of_block; ///< strips of `a` in a block

    std::int64_t count() const { return of_a * of_b; }

    /// The strips of a pair.
    std::pair<std::int64_t, std::int64_t> at(std::int64_t pair) const
    {
        auto const first = pair / (of_block * of_b) * of_block;
        auto const there = std::min(of_block, of_a - first);
        auto const in_block = pair - first * of_b;
        return {first + in_block % there, in_block / there};
    }
};

/// What all threads do together: in each pass they pack rows of `a` and `b`, wait for each other
/// once, and share out the pairs of strips. The next pass packs into other memory, so that nobody
/// waits for who still multiplies.
template <class T>
class Product
{
public:
    Product(Matrix<T const> a, Matrix<T const> b, Matrix<T> c, MicroKernel<T> const& kernel,
            int threads)
        : a_{a}, b_{b}, c_{c}, kernel_{kernel}, threads_{threads}, depth_{std::min(deepest,
                                                                                   a.columns)},
          width_{whole_strips(std::min(block_columns, c.columns), kernel.columns)},
          height_{whole_strips(std::min(threads * block_rows, c.rows), kernel.rows)}
    {
        auto const of_a = height_ * depth_, of_b = width_ * depth_;
        T* const memory = workspace().of<T>(2 * (of_a + of_b) + threads * tile());
        packed_b_ = {memory, memory + of_b}; // first, as its vectors fill lines
        packed_a_ = {memory + 2 * of_b, memory + 2 * of_b + of_a};
        tiles_ = packed_a_.back() + of_a;
    }

    /// Called by every thread of a parallel region.
    void work() noexcept
    {
        int turn_a = 0, turn_b = 0;
        for (std::int64_t j = 0; j < c_.columns; j += width_) {
            auto const columns = std::min(width_, c_.columns - j);
            for (std::int64_t k = 0; k < a_.columns; k += depth_) {
                auto const depth = std::min(depth_, a_.columns - k);
                auto* const packed_b = packed_b_[turn_b ^= 1];
                pack_b(b_.part(k, j, depth, columns), packed_b);
                for (std::int64_t i = 0; i < c_.rows; i += height_) {
                    auto const rows = std::min(height_, c_.rows - i);
                    auto* const packed_a = packed_a_[turn_a ^= 1];
                    pack_a(a_.part(i, k, rows, depth), packed_a);
#pragma omp barrier
                    multiply(depth, packed_a, packed_b, c_.part(i, j, rows, columns), k > 0);
                }
            }
        }
    }

private:
    static constexpr std::int64_t deepest = depth_bytes / static_cast<std::int64_t>(sizeof(T));

    static std::int64_t whole_strips(std::int64_t count, int strip)
    {
        return ceil_div(count, strip) * strip;
    }

    std::int64_t tile() const
    {
        return std::int64_t{kernel_.rows} * kernel_.columns;
    }

    void pack_a(Matrix<T const> const& a, T* to) const
    {
#pragma omp for schedule(static) nowait
        for (std::int64_t i = 0; i < a.rows; i += kernel_.rows) {
            auto const strip = std::min<std::int64_t>(kernel_.rows, a.rows - i);
            pack_rows(a.part(i, 0, strip, a.columns), kernel_.rows, to + i * a.columns);
        }
    }

    void pack_b(Matrix<T const> const& b, T* to) const
    {
        constexpr std::int64_t height = 16, strips = 8; // so few that their pages are at hand
        auto const width = strips * kernel_.columns;
#pragma omp for collapse(2) schedule(static) nowait
        for (std::int64_t j = 0; j < b.columns; j += width) {
            for (std::int64_t k = 0; k < b.rows; k += height) {
                auto const part =
                    b.part(k, j, std::min(height, b.rows - k), std::min(width, b.columns - j));
                pack_columns(part, kernel_.columns, b.rows * kernel_.columns,
                             to + j * b.rows + k * kernel_.columns);
            }
        }
    }

    /// Each thread takes a range of pairs, so that it multiplies mostly what it has packed.
    void multiply(std::int64_t depth, T const* a, T const* b, Matrix<T> const& c, bool add) const
    {
        auto const strips = ceil_div(c.rows, kernel_.rows);
        Pairs const pairs{strips, ceil_div(c.columns, kernel_.columns),
                          std::min(block_rows / kernel_.rows, ceil_div(strips, threads_))};
        T* const buffer = tiles_ + omp_get_thread_num() * tile();
#pragma omp for schedule(static) nowait
        for (std::int64_t pair = 0; pair < pairs.count(); ++pair) {
            auto const at = pairs.at(pair); // no names of its parts: clang knows none here
            auto const i = at.first * kernel_.rows, j = at.second * kernel_.columns;
            auto const rows = std::min<std::int64_t>(kernel_.rows, c.rows - i);
            auto const columns = std::min<std::int64_t>(kernel_.columns, c.columns - j);
            multiply_strips(kernel_, depth, a + i * depth, b + j * depth,
                            c.part(i, j, rows, columns), add, buffer);
        }
    }

    Matrix<T const> a_;
    Matrix<T const> b_;
    Matrix<T> c_;
    MicroKernel<T> kernel_;
    std::int64_t threads_;
    std::int64_t depth_;
    std::int64_t width_;
    std::int64_t height_;
    std::array<T*, 2> packed_a_; ///< of a pass and the next
    std::array<T*, 2> packed_b_;
    T* tiles_; ///< one for each thread, for what sticks out of `c`
};

template <class T>
MicroKernel<T> const& of_type(CompiledKernels const& kernels)
{
    if constexpr (std::is_same_v<T, float>) {
        return kernels.fp32;
    } else {
        return kernels.fp64;
    }
}

} // namespace

template <class T>
std::vector<MicroKernel<T>> micro_kernels()
{
    std::vector<MicroKernel<T>> found;
#if defined(__x86_64__)
    if (machine::cpu().has.avx512f) {
        found.push_back(of_type<T>(avx512_kernels));
    }
    if (machine::cpu().has.avx2) {
        found.push_back(of_type<T>(avx2_kernels));
    }
#endif
    found.push_back(of_type<T>(baseline_kernels));
    return found;
}

template <class T>
void packed_gemm(Operand<T> a, Operand<T> b, Matrix<T> c, MicroKernel<T> const& kernel, int threads)
{
    require_product("dense::gemm", a, b, c);
    if (threads < 0) {
        throw std::invalid_argument{"dense::gemm: found " + std::to_string(threads) +
                                    " threads, expected 1 or more, or 0 for all"};
    }
    if (c.rows == 0 || c.columns == 0) {
        return;
    }
    if (a.columns == 0) {
        for (std::int64_t i = 0; i < c.rows; ++i) {
            std::fill_n(&c(i, 0), c.columns, T{0});
        }
        return;
    }
    auto const pairs = ceil_div(c.rows, kernel.rows) * ceil_div(c.columns, kernel.columns);
    auto const wanted = threads > 0 ? threads : omp_get_max_threads();
    auto const team = static_cast<int>(std::min<std::int64_t>(wanted, pairs)); // all have some work
    Product<T> product{a, b, c, kernel, team};
#pragma omp parallel num_threads(team)
    product.work();
}

template <class T>
void gemm(Operand<T> a, Operand<T> b, Matrix<T> c, int threads)
{
    static auto const kernel = micro_kernels<T>().front();
    packed_gemm(a, b, c, kernel, threads);
}

template std::vector<MicroKernel<float>> micro_kernels();
template std::vector<MicroKernel<double>> micro_kernels();
template void packed_gemm(Matrix<float const>, Matrix<float const>, Matrix<float>,
                          MicroKernel<float> const&, int);
template void packed_gemm(Matrix<double const>, Matrix<double const>, Matrix<double>,
                          MicroKernel<double> const&, int);
template void gemm(Matrix<float const>, Matrix<float const>, Matrix<float>, int);
template void gemm(Matrix<double const>, Matrix<double const>, Matrix<double>, int);

} // namespace dense
