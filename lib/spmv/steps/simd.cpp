#include "spmv/steps/simd.hpp"

#include "machine/cpu.hpp"

#include <array>

namespace spmv {

namespace {

template <class T>
Kernel<T> if_supported(bool supported, Kernel<T> kernel)
{
    return supported ? Kernel<T>{kernel.name, kernel.function, ""}
                     : Kernel<T>{kernel.name, nullptr, kernel.missing};
}

template <class T>
std::array<Kernel<T>, 4> make_table()
{
    [[maybe_unused]] auto const& has = machine::cpu().has;
    return
    {
#if defined(__x86_64__)
        if_supported<T>(has.avx2,
                        {"scalar_inserts", scalar_inserts, "this CPU has no AVX2 and FMA"}),
            if_supported<T>(has.avx2, {"avx2_gather", avx2_gather, "this CPU has no AVX2 and FMA"}),
            if_supported<T>(has.avx512, {"avx512_gather", avx512_gather,
                                         "this CPU has no AVX-512F, VL, BW and DQ"}),
#else
        Kernel<T>{"scalar_inserts", nullptr, "AVX2 needs an x86-64 CPU"},
            Kernel<T>{"avx2_gather", nullptr, "AVX2 needs an x86-64 CPU"},
            Kernel<T>{"avx512_gather", nullptr, "AVX-512 needs an x86-64 CPU"},
#endif
#if defined(__aarch64__)
            if_supported<T>(has.neon, {"neon", neon, "this CPU has no NEON"}),
#else
            Kernel<T>{"neon", nullptr, "NEON needs an AArch64 CPU"},
#endif
    };
}

} // namespace

std::array<Kernel<double>, 3> vectors_of_x()
{
#if defined(__x86_64__)
    bool const has_avx2 = machine::cpu().has.avx2;
    auto const entry = [&](std::string_view name, Kernel<double>::Function* function) {
        return if_supported<double>(has_avx2, {name, function, "this CPU has no AVX2 and FMA"});
    };
    return {entry("x_inserted", scalar_inserts), entry("x_gathered", avx2_gather),
            entry("x_loaded", avx2_load)};
#else
    auto const entry = [](std::string_view name) {
        return Kernel<double>{name, nullptr, "AVX2 needs an x86-64 CPU"};
    };
    return {entry("x_inserted"), entry("x_gathered"), entry("x_loaded")};
#endif
}

template <class T>
std::span<Kernel<T> const> simd_kernels()
{
    static auto const table = make_table<T>();
    return table;
}

template std::span<Kernel<float> const> simd_kernels();
template std::span<Kernel<double> const> simd_kernels();

} // namespace spmv
