#include "spmv/formats/kernels.hpp"

#include "machine/cpu.hpp"

#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace spmv {

namespace {

template <class T>
FormatKernels<T> of_type(CompiledFormats const& set)
{
    if constexpr (std::is_same_v<T, float>) {
        return set.fp32;
    } else {
        return set.fp64;
    }
}

template <class T>
std::vector<FormatKernels<T>> supported()
{
    std::vector<FormatKernels<T>> sets;
#if defined(__x86_64__)
    auto const& has = machine::cpu().has;
    if (has.avx512) {
        sets.push_back(of_type<T>(formats_avx512));
        // First where it is the best; elsewhere it runs as well, and can be asked for.
        sets.insert(has.fast_gathers ? sets.begin() : sets.end(),
                    of_type<T>(formats_avx512_gather));
    }
    if (has.avx2) {
        sets.push_back(of_type<T>(formats_avx2));
    }
#endif
    sets.push_back(of_type<T>(formats_baseline));
    return sets;
}

} // namespace

template <class T>
std::span<FormatKernels<T> const> format_kernels()
{
    static auto const sets = supported<T>();
    return sets;
}

template <class T>
FormatKernels<T> const& format_kernels(std::string_view name)
{
    std::string known;
    for (auto const& set : format_kernels<T>()) {
        if (name.empty() || name == set.name) {
            return set;
        }
        known += (known.empty() ? "" : ", ") + std::string{set.name};
    }
    throw std::invalid_argument{"plan: found kernels '" + std::string{name} +
                                "', expected one of " + known};
}

template FormatKernels<float> const& format_kernels<float>(std::string_view);
template FormatKernels<double> const& format_kernels<double>(std::string_view);
template std::span<FormatKernels<float> const> format_kernels<float>();
template std::span<FormatKernels<double> const> format_kernels<double>();

} // namespace spmv
