#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// A small model of shared memory on NVIDIA GPUs: 32 banks of 4 bytes; word i lies in bank i
/// modulo 32.

namespace dense {

inline constexpr int warp_lanes = 32;
inline constexpr int banks = 32;

/// What the lanes of a warp read or write in one instruction.
struct AccessPattern
{
    std::string name;
    int bytes = 4;                             ///< of each lane: 4, 8 or 16
    std::array<std::int32_t, warp_lanes> word; ///< index of each lane's first 4-byte word

    /// Words that the pattern needs in all.
    std::int32_t words() const;
};

/// Throws std::invalid_argument, with the pattern's name and one line, unless shared memory of 48
/// KiB has it: 4, 8 or 16 bytes a lane, at multiples of as many. All below make such patterns and
/// take no others.
void require_sound(AccessPattern const& pattern);

/// Whether lanes read shared memory or write it.
enum class Access
{
    read,
    write
};

/// Cycles that the pattern keeps shared memory busy: lanes of 4 bytes come all at once, of 8 bytes
/// half a warp at a time, of 16 a quarter. Within each, a bank serves one word a cycle, however
/// many lanes want it. CUDA C++ Programming Guide, section on shared memory; for wider words NVIDIA
/// documents only conflict-free cases, and this rule is what the experiment tests. Reads of wide
/// words come twice as many lanes at a time where all lanes want the same words as lane ^ 1, or all
/// the same as lane ^ 2: G. Smith of NVIDIA for compute capability 7,
/// https://forums.developer.nvidia.com/t/unexpected-shared-memory-bank-conflict/77228/2.
int predicted_cycles(AccessPattern const& pattern, Access access = Access::read);

/// Cycles that conflicts cost, where no lanes share words.
int predicted_conflicts(AccessPattern const& pattern);

/// Lane i at `i * stride` elements of so many bytes.
AccessPattern strided(int stride, int bytes);

/// What a column of a tile of 32 x 32 words reads: plain, with a word of padding behind each row,
/// or with columns exchanged by an exclusive or with the row.
std::vector<AccessPattern> transposes();

/// Packs of `pack` words in softmax: adjacent (`buf[lane * pack + i]`, element i by itself or all
/// of them in one access) or in columns (`buf[i * lanes + lane]`). `words` of 4 bytes an element.
std::vector<AccessPattern> pack_layouts(int pack, int words);

/// Lanes that share elements of so many bytes: one for all, one for each pair of neighbours, four
/// again and again, or one for lanes that are two apart.
std::vector<AccessPattern> shared_elements(int bytes);

/// Elements of 8 or 16 bytes in two or four lines: the lanes of one phase stand in one line, those
/// of another phase in another. Only if phases take turns are as many cycles needed as lanes.
AccessPattern phase_lines(int bytes);

/// A pattern from text: `stride:3`, `stride:2x8` (elements of 8 bytes; `stride:0x16`: one element
/// for all lanes), or 32 word indices with commas. Throws std::invalid_argument with what is wrong.
AccessPattern parse_pattern(std::string_view text);

} // namespace dense
