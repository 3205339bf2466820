#include "kit/box.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace kit {
namespace {

Part part_of(Header const& header, char* region)
{
    Part part{};
    std::ranges::copy(header.number, part.number);
    for (std::int32_t k = 0; k < header.arrays; ++k) {
        auto const [offset, bytes] = header.array[k];
        part.array[k] = {reinterpret_cast<std::byte*>(region) + offset, bytes};
    }
    return part;
}

#ifdef __SANITIZE_ADDRESS__
/// On arrays of exactly their size, about whose ends the sanitizer knows.
void call_on_copies(Header const& header, Part const& part)
{
    std::unique_ptr<std::byte[]> copies[most_arrays];
    Part copied = part;
    for (std::int32_t k = 0; k < header.arrays; ++k) {
        auto const from = part.array[k];
        copies[k] = std::make_unique<std::byte[]>(from.size());
        copied.array[k] = {copies[k].get(), from.size()};
        std::ranges::copy(from, copied.array[k].begin());
    }
    call(copied);
    std::ranges::copy(copied.array[header.output], part.array[header.output].begin());
}
#else
void call_on_copies(Header const&, Part const& part)
{
    call(part);
}
#endif

} // namespace

int serve(char const* path, int rank)
{
    return serve(path, rank, [](char* region, std::size_t) {
        Header header;
        std::memcpy(&header, region, sizeof header);
        call_on_copies(header, part_of(header, region));
    });
}

} // namespace kit
