#pragma once

#include "cuda/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// \file
/// Reading bytes and doing nothing with them but adding them up: as fast as weights could be read.
/// Spans are in the device's memory, work is put into `stream`.

namespace decode {

/// Bytes that a block reads together.
inline constexpr std::size_t tile_bytes = 16384;

/// Blocks that read, for each of which there is a sum: as many as the multiprocessors keep.
std::size_t wide_blocks();
std::size_t bulk_blocks();

/// Adds up all words of 32 bits: block b those of tiles b, b + `sums.size()`, and so on. Bytes are
/// whole tiles and begin at a multiple of 16.
void read_wide(std::span<std::byte const> bytes, std::span<std::int32_t> sums,
               cuda::Stream const& stream);

/// The same by the copy engine, through shared memory.
void read_bulk(std::span<std::byte const> bytes, std::span<std::int32_t> sums,
               cuda::Stream const& stream);

/// Why the current device has no such engine; empty if it has.
std::string_view refuses_bulk();

} // namespace decode
