#include "transfer/staged_copy.hpp"

#include "base/bytes.hpp"
#include "simd/vector.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

namespace transfer {

namespace {

/// A copy that leaves no line in the caches: nobody on this side reads it soon.
void copy_past_caches(std::byte* to, std::byte const* from, std::size_t bytes)
{
    constexpr auto width = simd::vector_bytes;
    auto const head =
        std::min(bytes, (width - reinterpret_cast<std::uintptr_t>(to) % width) % width);
    std::memcpy(to, from, head);
    std::size_t at = head;
    for (; at + width <= bytes; at += width) {
        auto const* const word = reinterpret_cast<std::int64_t const*>(from + at);
        simd::stream(reinterpret_cast<std::int64_t*>(to + at), simd::load(word));
    }
    std::memcpy(to + at, from + at, bytes - at);
    simd::finish_streaming();
}

/// A copy by one thread.
void copy(Stores stores, std::byte* to, std::byte const* from, std::size_t bytes)
{
    if (stores == Stores::cached) {
        std::memcpy(to, from, bytes);
    } else {
        copy_past_caches(to, from, bytes);
    }
}

/// A copy has so many chunks, so that threads and device work side by side.
constexpr std::size_t fewest_chunks = 8;
/// No chunk.
constexpr auto nobody = ~std::size_t{0};
/// But none so small that what the device takes to begin with it is more than a tenth.
constexpr std::size_t smallest_chunk = std::size_t{1} << 20;
/// What a thread copies at once: threads that wake late find others at work, and help.
constexpr std::size_t part_bytes = std::size_t{128} << 10;

/// How many parts of a size hold so many.
constexpr std::size_t parts_of(std::size_t count, std::size_t size)
{
    return (count + size - 1) / size;
}

/// How many bytes the chunks of a copy have: a half, a quarter... of what they have at most.
std::size_t chunk_bytes_for(std::size_t bytes, std::size_t at_most)
{
    while (at_most / 2 >= smallest_chunk && bytes / fewest_chunks < at_most) {
        at_most /= 2;
    }
    return at_most;
}

} // namespace

namespace detail {

StagedCopy::StagedCopy(StagedCopyOptions const& options)
    : threads_{options.threads}, chunk_bytes_{options.chunk_bytes},
      buffer_bytes_{options.chunk_bytes * options.chunks}, stores_{options.stores},
      buffer_{buffer_bytes_}, places_(buffer_bytes_ / chunk_bytes_for(0, chunk_bytes_))
{
    cuda::check(cudaGetDevice(&device_));
}

std::size_t StagedCopy::Cut::bytes_of(std::size_t chunk) const
{
    return std::min(chunk_bytes, bytes - chunk * chunk_bytes);
}

StagedCopy::Cut StagedCopy::cut(std::size_t bytes)
{
    read_.synchronize();
    auto const chunk = chunk_bytes_for(bytes, chunk_bytes_);
    auto const places = buffer_bytes_ / chunk;
    Cut const cut{.bytes = bytes,
                  .chunk_bytes = chunk,
                  .parts = parts_of(chunk, part_bytes),
                  .places = places,
                  .first_place = parts_of(next_byte_, chunk) % places};
    for (std::size_t number = 0; number < places; ++number) {
        auto& place = places_[cut.place_of(number)];
        place.asked = number;
        place.free = nobody;
        place.parts_left = cut.parts;
    }
    next_byte_ = cut.place_of(cut.chunks()) * chunk;
    return cut;
}

std::byte* StagedCopy::buffer_of(Cut const& cut, std::size_t chunk)
{
    return buffer_.span().data() + cut.place_of(chunk) * cut.chunk_bytes;
}

template <class Part, class Whole>
void StagedCopy::on_threads(Cut const& cut, Part const& part, Whole const& whole)
{
    std::atomic<std::size_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure;
#pragma omp parallel num_threads(threads_)
    {
        try {
            cuda::check(cudaSetDevice(device_)); // a new thread begins with the first one
            take_parts(cut, next, failed, part, whole);
        } catch (...) {
            failed = true;
#pragma omp critical(memwall_staged_copy)
            failure = failure ? failure : std::current_exception();
        }
    }
    if (failure) {
        static_cast<void>(cudaDeviceSynchronize()); // what was begun still uses the buffer
        std::rethrow_exception(failure);
    }
}

template <class Part, class Whole>
void StagedCopy::take_parts(Cut const& cut, std::atomic<std::size_t>& next,
                            std::atomic<bool> const& failed, Part const& part, Whole const& whole)
{
    auto const reaches = [&](std::atomic<std::size_t> const& turn, std::size_t chunk) {
        while (turn != chunk && !failed) {
            std::this_thread::yield();
        }
        return turn == chunk;
    };
    for (auto i = next++; i < cut.chunks() * cut.parts; i = next++) {
        auto const chunk = i / cut.parts;
        auto& place = places_[cut.place_of(chunk)];
        if (i % cut.parts == 0 && reaches(place.asked, chunk)) { // one asks the driver, for all
            place.copied.synchronize();
            place.free = chunk;
        }
        if (!reaches(place.free, chunk)) {
            return;
        }
        auto const in_chunk = std::min(i % cut.parts * part_bytes, cut.bytes_of(chunk));
        part(buffer_of(cut, chunk) + in_chunk, chunk * cut.chunk_bytes + in_chunk,
             std::min(part_bytes, cut.bytes_of(chunk) - in_chunk));
        if (--place.parts_left == 0) {
            whole(chunk);
            place.parts_left = cut.parts;
            place.asked = chunk + cut.places;
        }
    }
}

//! [staged]
void StagedCopy::to_device(void* device, void const* host, std::size_t bytes, cudaStream_t stream)
{
    auto* const to = static_cast<std::byte*>(device);
    auto const* const from = static_cast<std::byte const*>(host);
    auto const by_size = bytes / 2 <= buffer_bytes_ ? Stores::past_caches : Stores::cached;
    auto const stores = stores_ == Stores::by_size ? by_size : stores_;
    auto const cut = this->cut(bytes);
    on_threads(
        cut,
        [&](std::byte* staged, std::size_t first, std::size_t size) {
            copy(stores, staged, from + first, size);
        },
        [&](std::size_t chunk) {
            cuda::check(cudaMemcpyAsync(to + chunk * cut.chunk_bytes, buffer_of(cut, chunk),
                                        cut.bytes_of(chunk), cudaMemcpyHostToDevice, stream));
            cuda::check(cudaEventRecord(places_[cut.place_of(chunk)].copied.get(), stream));
        });
    cuda::check(cudaEventRecord(read_.get(), stream));
}

void StagedCopy::to_host(void* host, void const* device, std::size_t bytes, cudaStream_t stream)
{
    auto* const to = static_cast<std::byte*>(host);
    auto const* const from = static_cast<std::byte const*>(device);
    auto const stores = stores_ == Stores::cached ? Stores::cached : Stores::past_caches;
    auto const cut = this->cut(bytes);
    auto const fetch = [&](std::size_t chunk) { // if there is one
        if (chunk < cut.chunks()) {
            cuda::check(cudaMemcpyAsync(buffer_of(cut, chunk), from + chunk * cut.chunk_bytes,
                                        cut.bytes_of(chunk), cudaMemcpyDeviceToHost, stream));
            cuda::check(cudaEventRecord(places_[cut.place_of(chunk)].copied.get(), stream));
        }
    };
    for (std::size_t chunk = 0; chunk < cut.places; ++chunk) {
        fetch(chunk);
    }
    on_threads(
        cut,
        [&](std::byte const* staged, std::size_t first, std::size_t size) {
            copy(stores, to + first, staged, size);
        },
        [&](std::size_t chunk) { fetch(chunk + cut.places); });
}
//! [staged]

} // namespace detail

namespace {

constexpr auto const* who = "transfer::StagedCopy";
/// As a plan's: a typing error, not a machine.
constexpr int most_threads = 8192;

/// The options, if there can be such, with the number of threads in place of 0.
StagedCopyOptions sound(StagedCopyOptions options)
{
    if (options.threads < 0 || options.threads > most_threads) {
        throw std::invalid_argument{std::string{who} + ": found " +
                                    std::to_string(options.threads) + " threads, expected 1 to " +
                                    std::to_string(most_threads) + ", or 0 for all"};
    }
    if (options.chunk_bytes == 0 || options.chunks == 0) {
        throw std::invalid_argument{std::string{who} + ": found " + std::to_string(options.chunks) +
                                    " chunks of " + std::to_string(options.chunk_bytes) +
                                    " bytes, expected at least one of each"};
    }
    options.threads = options.threads > 0 ? options.threads : omp_get_max_threads();
    base::bytes_of(who, options.chunks, options.chunk_bytes);
    return options;
}

/// Throws std::invalid_argument unless so many bytes can be copied.
void require_copy(void const* from, void const* to, std::size_t bytes)
{
    base::require_memory(who, from, bytes);
    base::require_memory(who, to, bytes);
    if (base::overlap(from, bytes, to, bytes)) {
        throw std::invalid_argument{std::string{who} + ": found two places that overlap, expected"
                                                       " one on the host and one on the device"};
    }
}

} // namespace

StagedCopy::StagedCopy(StagedCopyOptions const& options) : copy_{sound(options)} {}

void StagedCopy::to_device(void* device, void const* host, std::size_t bytes, cudaStream_t stream)
{
    require_copy(host, device, bytes);
    copy_.to_device(device, host, bytes, stream);
}

void StagedCopy::to_host(void* host, void const* device, std::size_t bytes, cudaStream_t stream)
{
    require_copy(device, host, bytes);
    copy_.to_host(host, device, bytes, stream);
}

} // namespace transfer
