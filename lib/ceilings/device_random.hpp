#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define CEILINGS_EVERYWHERE __host__ __device__
#else
#define CEILINGS_EVERYWHERE
#endif

namespace ceilings {

/// The element that the gather number `i` reads, less what exceeds the table: multiply and shift,
/// as in the finaliser of MurmurHash3.
CEILINGS_EVERYWHERE constexpr std::uint32_t scattered(std::uint32_t i)
{
    i *= 0x85ebca6b;
    i ^= i >> 13;
    i *= 0xc2b2ae35;
    return i ^ i >> 16;
}

} // namespace ceilings

#undef CEILINGS_EVERYWHERE
