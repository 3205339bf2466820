#include "gemm.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace gemm {

namespace {

constexpr int shapes_of_each = 24;

/// A size of any magnitude, each as likely as another.
std::int64_t log_uniform(base::Random& random, std::int64_t least, std::int64_t most)
{
    auto const low = std::log(static_cast<double>(least));
    auto const high = std::log(static_cast<double>(most + 1));
    auto const drawn = static_cast<std::int64_t>(std::exp(low + random.unit() * (high - low)));
    return std::clamp(drawn, least, most);
}

std::int64_t to_multiple(std::int64_t size)
{
    return std::max<std::int64_t>((size + 4) / 8 * 8, 8);
}

std::uint64_t seed_of(std::string const& hash)
{
    std::uint64_t seed = 0;
    auto const* const end = hash.data() + std::min<std::size_t>(hash.size(), 16);
    auto const [next, error] = std::from_chars(hash.data(), end, seed, 16);
    if (error != std::errc{} || next != end) {
        throw std::invalid_argument{"--drawn-from: found \"" + hash +
                                    "\", expected the hash of a commit in hexadecimal digits"};
    }
    return seed;
}

bench::Parameter to_parameter(Shape const& shape)
{
    return std::to_string(shape.m) + "x" + std::to_string(shape.k) + "x" + std::to_string(shape.n);
}

} // namespace

std::vector<Shape> draw_shapes(std::string const& hash, bool multiples, std::int64_t largest)
{
    auto const thin = largest / 64;
    base::Random random{seed_of(hash), multiples ? 1u : 0u};
    std::vector<Shape> shapes;
    for (int i = 0; i < shapes_of_each; ++i) {
        auto const thin_ones = i < shapes_of_each / 2 ? 0 : 1 + static_cast<int>(random.below(2));
        std::array<std::size_t, 3> order{0, 1, 2};
        random.shuffle(order);
        std::array<std::int64_t, 3> size{};
        for (int which = 0; which < 3; ++which) {
            auto const drawn = which < thin_ones ? log_uniform(random, 1, thin - 1)
                                                 : log_uniform(random, thin, largest);
            size[order[static_cast<std::size_t>(which)]] = multiples ? to_multiple(drawn) : drawn;
        }
        shapes.push_back({size[0], size[1], size[2]});
    }
    return shapes;
}

bench::AxisValues drawn_shapes(bool multiples)
{
    auto const as_values = [](std::vector<Shape> const& shapes) {
        std::vector<bench::Parameter> values;
        std::ranges::transform(shapes, std::back_inserter(values), to_parameter);
        return values;
    };
    bench::AxisValues values;
    values.quick = values.full = as_values(draw_shapes(options().drawn_from, multiples, 8192));
    values.tiny = as_values(draw_shapes(options().drawn_from, multiples, 512));
    values.tiny.erase(values.tiny.begin() + 2, values.tiny.end() - 2); // of both halves
    values.require = [](bench::Parameter const& shape) {
        parse_shape(std::get<std::string>(shape));
    };
    return values;
}

} // namespace gemm
