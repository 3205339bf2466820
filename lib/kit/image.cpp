#include "kit/image.hpp"

#include "kit/link.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace kit {
namespace {

/// Places arrays one behind the other, behind a head of so many bytes, with gaps of random length
/// filled with random bytes.
class Layout
{
public:
    Layout(std::size_t head, std::size_t arrays, Random& random) : random_{random}
    {
        constexpr std::size_t gaps = std::size_t{64} << 10;
        bytes_.reserve(head + arrays + gaps);
        bytes_.resize((head + 63) / 64 * 64);
        gap();
    }

    std::uint64_t place(std::span<std::byte const> from)
    {
        auto const offset = bytes_.size();
        bytes_.insert(bytes_.end(), from.begin(), from.end());
        bytes_.resize((bytes_.size() + 63) / 64 * 64);
        gap();
        return offset;
    }

    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    void gap()
    {
        auto const lines = std::max<std::uint64_t>(2, random_.below(64));
        for (std::uint64_t word = 0; word < lines * 8; ++word) {
            auto const bits = random_.next();
            auto const* begin = reinterpret_cast<std::byte const*>(&bits);
            bytes_.insert(bytes_.end(), begin, begin + sizeof bits);
        }
    }

    Random& random_;
    std::vector<std::byte> bytes_;
};

} // namespace

Image image(Invocation const& call, Random& random)
{
    if (call.numbers.size() > most_numbers || call.arrays.size() > most_arrays) {
        throw std::logic_error(call.function + " has more arguments than a header holds");
    }
    std::size_t arrays = 0;
    for (auto const array : call.arrays) {
        arrays += array.size();
    }
    Layout layout{sizeof(Header), arrays, random};
    Header header{};
    std::strncpy(header.function, call.function.c_str(), sizeof header.function - 1);
    header.numbers = static_cast<std::int32_t>(call.numbers.size());
    header.arrays = static_cast<std::int32_t>(call.arrays.size());
    header.output = static_cast<std::int32_t>(call.output);
    header.grid = call.grid;
    std::ranges::copy(call.numbers, header.number);
    for (std::size_t k = 0; k < call.arrays.size(); ++k) {
        header.array[k] = {layout.place(call.arrays[k]), call.arrays[k].size()};
    }
    auto const output = header.array[call.output];
    Image result{layout.take(), output.offset, output.bytes, call.first};
    std::memcpy(result.bytes.data(), &header, sizeof header);
    return result;
}

} // namespace kit
