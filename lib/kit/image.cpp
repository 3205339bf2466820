#include "kit/image.hpp"

#include "kit/link.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kit {
namespace {

/// Places arrays one behind the other, with gaps of random length filled with random bytes.
class Layout
{
public:
    explicit Layout(base::Random& random) : random_{random} { gap(); }

    template <class T>
    std::uint64_t place(T const* from, std::size_t count)
    {
        auto const offset = bytes_.size();
        auto const* begin = reinterpret_cast<std::byte const*>(from);
        bytes_.insert(bytes_.end(), begin, begin + count * sizeof(T));
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

    base::Random& random_;
    std::vector<std::byte> bytes_;
};

Image image(Instance const& problem, std::vector<std::int32_t> const& starts, std::size_t rank,
            base::Random& random)
{
    auto const& a = problem.a;
    auto const begin = starts[rank];
    auto const end = starts[rank + 1];
    auto const vectors = static_cast<std::size_t>(problem.vectors);
    auto const count = static_cast<std::size_t>(end - begin) * vectors;
    std::vector<std::int32_t> row_ptr(a.row_ptr.begin() + begin, a.row_ptr.begin() + end + 1);
    auto const offset = row_ptr.front();
    std::ranges::for_each(row_ptr, [&](auto& entry) { entry -= offset; });
    auto const nonzeros = static_cast<std::size_t>(row_ptr.back());
    // x is dealt as rows are; one rank has all of it, also where the matrix is not square.
    bool const alone = starts.size() == 2;
    auto const first = static_cast<std::size_t>(begin) * vectors;
    auto const x_count = alone ? problem.x.size() : count;
    std::vector<std::uint64_t> poison(count);
    std::ranges::generate(poison, [&] { return 0x7ff8'0000'0000'0000 | random.next() >> 13; });

    Layout layout{random};
    Header header{};
    header.rows = end - begin;
    header.columns = a.columns;
    header.nonzeros = static_cast<std::int32_t>(nonzeros);
    header.x_count = static_cast<std::int32_t>(x_count);
    header.y_count = static_cast<std::int32_t>(count);
    header.vectors = problem.vectors;
    header.ranks = static_cast<std::int32_t>(starts.size()) - 1;
    header.row_ptr = layout.place(row_ptr.data(), row_ptr.size());
    header.col = layout.place(a.col.data() + offset, nonzeros);
    header.values = layout.place(a.values.data() + offset, nonzeros);
    header.x = layout.place(problem.x.data() + first, x_count);
    header.y = layout.place(poison.data(), count);
    header.starts = layout.place(starts.data(), starts.size());
    Image result{layout.take(), header.y, count, first};
    std::memcpy(result.bytes.data(), &header, sizeof header);
    return result;
}

} // namespace

std::vector<Image> images(Instance const& problem, int ranks, std::uint64_t seed)
{
    base::Random random{seed};
    std::vector<std::int32_t> starts;
    for (int rank = 0; rank <= ranks; ++rank) {
        starts.push_back(static_cast<std::int32_t>(std::int64_t{problem.a.rows} * rank / ranks));
    }
    std::vector<Image> result;
    for (int rank = 0; rank < ranks; ++rank) {
        result.push_back(image(problem, starts, static_cast<std::size_t>(rank), random));
    }
    return result;
}

} // namespace kit
