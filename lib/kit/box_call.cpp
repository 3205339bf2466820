#include "kit/box.hpp"
#include "kit/link.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

namespace kit {
namespace {

template <class T>
std::span<T> placed(char* region, std::uint64_t offset, std::int32_t count)
{
    return {reinterpret_cast<T*>(region + offset), static_cast<std::size_t>(count)};
}

Part part_of(char* region)
{
    Header header;
    std::memcpy(&header, region, sizeof header);
    return {header.rows,
            header.columns,
            header.vectors,
            placed<std::int32_t const>(region, header.row_ptr, header.rows + 1),
            placed<std::int32_t const>(region, header.col, header.nonzeros),
            placed<double const>(region, header.values, header.nonzeros),
            placed<double const>(region, header.x, header.x_count),
            placed<double>(region, header.y, header.y_count),
            placed<std::int32_t const>(region, header.starts, header.ranks + 1)};
}

#ifdef __SANITIZE_ADDRESS__
template <class T>
std::vector<std::remove_const_t<T>> copied(std::span<T> from)
{
    return {from.begin(), from.end()};
}

/// On arrays of exactly their size, about whose ends the sanitizer knows.
void call_on_copies(Part const& part)
{
    auto const row_ptr = copied(part.row_ptr);
    auto const col = copied(part.col);
    auto const values = copied(part.values);
    auto const x = copied(part.x);
    auto const starts = copied(part.starts);
    auto y = copied(part.y);
    call({part.rows, part.columns, part.vectors, row_ptr, col, values, x, y, starts});
    std::ranges::copy(y, part.y.begin());
}
#else
void call_on_copies(Part const& part)
{
    call(part);
}
#endif

} // namespace

int serve(char const* path, int rank)
{
    return serve(path, rank, [](char* region, std::size_t) { call_on_copies(part_of(region)); });
}

} // namespace kit
