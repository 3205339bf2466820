#pragma once

#include <bit>
#include <cstdint>

#ifdef __CUDACC__
#define WORDS_EVERYWHERE __host__ __device__
#else
#define WORDS_EVERYWHERE
#endif

/// What lies in tables and what kernels write, on both sides of the bus.
namespace joules {

/// The numbers that a kernel works on.
enum class Bits
{
    zeros,    ///< nothing but 0
    repeated, ///< one number again and again
    random    ///< numbers that have nothing to do with each other
};

inline constexpr std::uint32_t lanes = 32;        ///< of a warp
inline constexpr std::uint32_t words_of_lane = 4; ///< 16 bytes, which a lane moves at once

/// Words after which a table repeats itself: 16 KiB, which any first-level cache holds. A warp
/// comes through all of them in so many steps.
inline constexpr std::uint32_t period = 4096;
inline constexpr std::uint32_t steps_of_period = period / (lanes * words_of_lane);

/// Bits of a number that nothing foresees: multiply and shift, as in the finaliser of MurmurHash3.
WORDS_EVERYWHERE constexpr std::uint32_t scattered(std::uint32_t i)
{
    i ^= i >> 16;
    i *= 0x85ebca6b;
    i ^= i >> 13;
    i *= 0xc2b2ae35;
    return i ^ i >> 16;
}

/// Word number `i` of a table.
WORDS_EVERYWHERE constexpr std::uint32_t word_read(Bits bits, std::uint32_t seed, std::uint32_t i)
{
    return bits == Bits::zeros      ? 0
           : bits == Bits::repeated ? scattered(seed * period)
                                    : scattered(seed * period + i % period);
}

/// Word number `i` of a table that was written: what a lane has in registers, rotated by one bit
/// more in each line of 32 lanes.
WORDS_EVERYWHERE constexpr std::uint32_t rotated(std::uint32_t word, std::uint32_t by)
{
    return word << by % 32 | word >> (32 - by % 32) % 32;
}
WORDS_EVERYWHERE constexpr std::uint32_t word_written(std::uint32_t seed, std::uint32_t i)
{
    constexpr auto line = lanes * words_of_lane;
    return rotated(word_read(Bits::random, seed, i % line), i / line);
}

} // namespace joules

#undef WORDS_EVERYWHERE
