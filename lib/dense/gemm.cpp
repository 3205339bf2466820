#include "dense/gemm.hpp"

#include "base/ceil_div.hpp"
#include "dense/compiled_kernels.hpp"
#include "machine/cpu.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace dense {

namespace {

using base::ceil_div;

/// Bytes of a strip of `a` and of a strip of `b` with this depth stay in the first-level cache, and
/// a block of `a` in the second.
constexpr std::int64_t depth_bytes = 1536;
constexpr std::int64_t block_rows = 144;
constexpr std::int64_t block_columns = 4096;

struct Free
{
    void operator()(void* memory) const { ::operator delete (memory, std::align_val_t{64}); }
};

template <class T>
using Buffer = std::unique_ptr<T[], Free>;

template <class T>
Buffer<T> allocate(std::int64_t count)
{
    auto const bytes = static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(T);
    return Buffer<T>{static_cast<T*>(::operator new (bytes, std::align_val_t{64}))};
}

/// Strips of `height` rows, column after column; zeros fill the last strip up.
template <class T>
void pack_rows(Matrix<T const> const& a, int height, T* to)
{
    for (std::int64_t first = 0; first < a.rows; first += height) {
        auto const there = static_cast<int>(std::min<std::int64_t>(height, a.rows - first));
        for (std::int64_t k = 0; k < a.columns; ++k) {
            for (int i = 0; i < there; ++i) {
                to[i] = a(first + i, k);
            }
            std::fill(to + there, to + height, T{0});
            to += height;
        }
    }
}

/// A strip of `width` columns, row after row; zeros fill it up.
template <class T>
void pack_columns(Matrix<T const> const& b, int width, T* to)
{
    auto const there = static_cast<int>(std::min<std::int64_t>(width, b.columns));
    for (std::int64_t k = 0; k < b.rows; ++k) {
        std::copy_n(&b(k, 0), there, to);
        std::fill(to + there, to + width, T{0});
        to += width;
    }
}

/// A packed block of `a` times a packed block of `b`. Tiles that stick out of `c` go by a buffer.
template <class T>
void multiply_blocks(MicroKernel<T> const& kernel, std::int64_t depth, T const* a, T const* b,
                     Matrix<T> const& c, bool add, T* buffer)
{
    for (std::int64_t j = 0; j < c.columns; j += kernel.columns) {
        for (std::int64_t i = 0; i < c.rows; i += kernel.rows) {
            T const* const strip_a = a + i * depth;
            T const* const strip_b = b + j * depth;
            auto const rows = std::min<std::int64_t>(kernel.rows, c.rows - i);
            auto const columns = std::min<std::int64_t>(kernel.columns, c.columns - j);
            if (rows == kernel.rows && columns == kernel.columns) {
                kernel.multiply(depth, strip_a, strip_b, &c(i, j), c.stride, add);
                continue;
            }
            kernel.multiply(depth, strip_a, strip_b, buffer, kernel.columns, false);
            for (std::int64_t r = 0; r < rows; ++r) {
                for (std::int64_t s = 0; s < columns; ++s) {
                    T const value = buffer[r * kernel.columns + s];
                    c(i + r, j + s) = add ? c(i + r, j + s) + value : value;
                }
            }
        }
    }
}

/// What all threads do together.
template <class T>
class Product
{
public:
    Product(Matrix<T const> a, Matrix<T const> b, Matrix<T> c, MicroKernel<T> const& kernel,
            int threads)
        : a_{a}, b_{b}, c_{c}, kernel_{kernel}, depth_{std::min(deepest, a.columns)},
          width_{std::min(block_columns, ceil_div(c.columns, kernel.columns) * kernel.columns)},
          height_{height(c.rows, kernel.rows, threads)}, packed_b_{allocate<T>(depth_ * width_)}
    {
    }

    /// Called by every thread of a parallel region, out of which nothing may be thrown: where
    /// memory is short for one, all leave at once, with nothing written.
    void work() noexcept
    {
        auto const mine = desk(); // no names of its parts: clang knows none in a region
        if (!mine.packed_a) {
            is_short_ = true;
        }
#pragma omp barrier
        if (is_short_) {
            return;
        }
        for (std::int64_t j = 0; j < c_.columns; j += width_) {
            auto const columns = std::min(width_, c_.columns - j);
            for (std::int64_t k = 0; k < a_.columns; k += depth_) {
                auto const depth = std::min(depth_, a_.columns - k);
#pragma omp for schedule(static)
                for (std::int64_t s = 0; s < columns; s += kernel_.columns) {
                    auto const strip = std::min<std::int64_t>(kernel_.columns, columns - s);
                    pack_columns(b_.part(k, j + s, depth, strip), kernel_.columns,
                                 packed_b_.get() + s * depth);
                }
#pragma omp for schedule(dynamic, 1)
                for (std::int64_t i = 0; i < c_.rows; i += height_) {
                    auto const rows = std::min(height_, c_.rows - i);
                    pack_rows(a_.part(i, k, rows, depth), kernel_.rows, mine.packed_a.get());
                    multiply_blocks(kernel_, depth, mine.packed_a.get(), packed_b_.get(),
                                    c_.part(i, j, rows, columns), k > 0, mine.tile.get());
                }
            }
        }
    }

    /// Whether memory was short for some thread.
    bool is_short() const
    {
        return is_short_;
    }

private:
    /// Memory of one thread: a block of `a`, and a tile that sticks out of `c`.
    struct Desk
    {
        Buffer<T> packed_a;
        Buffer<T> tile;
    };

    /// Nothing where memory is short. Each thread asks for its own: so it lies near it, and in a
    /// heap that keeps it for the next call.
    Desk desk() const noexcept
    try {
        auto packed_a = allocate<T>(height_ * depth_);
        return {std::move(packed_a), allocate<T>(kernel_.rows * kernel_.columns)};
    } catch (std::bad_alloc const&) {
        return {};
    }

    static constexpr std::int64_t deepest = depth_bytes / static_cast<std::int64_t>(sizeof(T));

    /// Rows of a block: as many as there should be, or fewer, so that all threads have some.
    static std::int64_t height(std::int64_t rows, int strip, int threads)
    {
        auto const share = ceil_div(ceil_div(rows, threads), strip) * strip;
        return std::max<std::int64_t>(strip, std::min(block_rows, share));
    }

    Matrix<T const> a_;
    Matrix<T const> b_;
    Matrix<T> c_;
    MicroKernel<T> kernel_;
    std::int64_t depth_;
    std::int64_t width_;
    std::int64_t height_;
    Buffer<T> packed_b_;
    std::atomic<bool> is_short_ = false;
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
    auto const strips =
        std::max(ceil_div(c.rows, kernel.rows), ceil_div(c.columns, kernel.columns));
    auto const wanted = threads > 0 ? threads : omp_get_max_threads();
    auto const team =
        static_cast<int>(std::min<std::int64_t>(wanted, strips)); // all have some work
    Product<T> product{a, b, c, kernel, team};
#pragma omp parallel num_threads(team)
    product.work();
    if (product.is_short()) {
        throw std::bad_alloc{};
    }
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
