#pragma once

#include "spmv/formats/host_list.hpp"

#include <span>
#include <string_view>
#include <tuple>
#include <utility>

/// \file
/// Kernels of every format, compiled once for each instruction set. A kernel computes the rows of
/// `y = A x` that belong to a range of the format's units, so that threads can share a matrix.

namespace spmv {

/// What a format makes of a matrix, and what its kernels see of that.
template <class Format, class T>
using Built =
    decltype(Format::template build<T>(std::declval<sparse::CsrView<T> const&>(), BuildOptions{}));
template <class Format, class T>
using ViewOf = decltype(std::declval<Built<Format, T> const&>().view());

/// The kernel of a format in three forms: for matrices that caches hold from one multiply to the
/// next, for those that come from memory, which are prefetched, and for those that gather far
/// elements of `x` too, which are prefetched as well.
template <class Format, class T>
struct KernelsOf
{
    using Kernel = RangeKernel<ViewOf<Format, T>, T>;

    Kernel* cached;
    Kernel* streamed;
    Kernel* gathering;

    /// The form that suits how the format is built.
    Kernel* of(BuildOptions const& options) const
    {
        return options.prefetch_vector ? gathering : options.prefetch ? streamed : cached;
    }
};

/// The kernels of one instruction set. `T` is float or double.
template <class T, class List = Formats>
struct FormatKernels;

/// The same, with the list of formats told apart.
template <class T, class... Format>
struct FormatKernels<T, std::tuple<Format...>>
{
    char const* name; ///< "avx512_gather", "avx512", "avx2" or "baseline"
    std::tuple<KernelsOf<Format, T>...> kernels;

    template <class Wanted>
    KernelsOf<Wanted, T> const& of() const
    {
        return std::get<KernelsOf<Wanted, T>>(kernels);
    }
};

/// The instruction sets that this CPU and its operating system support, the best first; never
/// empty. `T` is float or double.
template <class T>
std::span<FormatKernels<T> const> format_kernels();

/// The kernels of the instruction set `name`, of the best if it is empty. Throws
/// `std::invalid_argument` if this CPU has none of that name.
template <class T>
FormatKernels<T> const& format_kernels(std::string_view name);

/// What one object with flags of its own exports.
struct CompiledFormats
{
    FormatKernels<float> fp32;
    FormatKernels<double> fp64;
};

extern CompiledFormats const formats_avx512;

/// AVX-512 with gather instructions.
extern CompiledFormats const formats_avx512_gather;

extern CompiledFormats const formats_avx2;

/// Compiled without special flags: runs on every CPU of the architecture.
extern CompiledFormats const formats_baseline;

namespace {

/// The kernels of all formats as the object that includes this is compiled.
template <class T, class... Format>
constexpr FormatKernels<T> compiled_kernels(char const* name, std::tuple<Format...> const*)
{
    return {name,
            {KernelsOf<Format, T>{Format::template kernel<Ahead::nothing, T>,
                                  Format::template kernel<Ahead::matrix, T>,
                                  Format::template kernel<Ahead::matrix_and_vector, T>}...}};
}

constexpr CompiledFormats compiled_formats(char const* name)
{
    constexpr Formats const* list = nullptr;
    return {compiled_kernels<float>(name, list), compiled_kernels<double>(name, list)};
}

} // namespace
} // namespace spmv
