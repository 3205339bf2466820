#include "machine/cpu.hpp"
#include "simd/testing/operations.hpp"

#include <doctest/doctest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

using simd::testing::Operations;

namespace {

constexpr std::size_t most_lanes = 16;

/// A set of operations that this processor has.
template <class T>
struct Set
{
    std::string name;
    Operations<T> on;
};

template <class T>
std::vector<Set<T>> sets()
{
    std::vector<Set<T>> known;
    auto const add = [&](std::string const& name, simd::testing::Compiled const& compiled) {
        if constexpr (std::is_same_v<T, float>) {
            known.push_back({name, compiled.fp32});
        } else {
            known.push_back({name, compiled.fp64});
        }
    };
    add("baseline", simd::testing::baseline);
#if defined(__x86_64__)
    auto const& has = machine::cpu().has;
    if (has.avx2) {
        add("avx2", simd::testing::avx2);
    }
    if (has.avx512f) {
        add("avx512", simd::testing::avx512);
    }
    if (has.avx512) {
        add("avx512_gather", simd::testing::avx512_gather);
    }
#endif
    return known;
}

/// Multiples of 1/8 of magnitude up to 100, of which sums and products are exact.
template <class T>
class Values
{
public:
    T operator()() { return static_cast<T>(pick_(bits_)) / 8; }

    std::vector<T> operator()(std::size_t count)
    {
        std::vector<T> values(count);
        std::ranges::generate(values, *this);
        return values;
    }

    std::size_t below(std::size_t limit) { return bits_() % limit; }

    template <class Index>
    std::vector<Index> indices(std::size_t count, std::size_t limit)
    {
        std::vector<Index> some(count);
        std::ranges::generate(some, [&] { return static_cast<Index>(below(limit)); });
        return some;
    }

private:
    std::mt19937 bits_{46};
    std::uniform_int_distribution<int> pick_{-800, 800};
};

/// `values` so placed that the byte behind the last one cannot be read.
template <class T>
class AtEndOfMemory
{
public:
    explicit AtEndOfMemory(std::vector<T> const& values)
        : bytes_{(values.size() * sizeof(T) / page_ + 1) * page_},
          memory_{static_cast<char*>(mmap(nullptr, bytes_ + page_, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))},
          begin_{reinterpret_cast<T*>(memory_ + bytes_) - values.size()}
    {
        REQUIRE(static_cast<void*>(memory_) != MAP_FAILED);
        std::ranges::copy(values, begin_);
        REQUIRE(mprotect(memory_ + bytes_, page_, PROT_NONE) == 0);
    }
    ~AtEndOfMemory() { munmap(memory_, bytes_ + page_); }
    AtEndOfMemory(AtEndOfMemory const&) = delete;
    AtEndOfMemory& operator=(AtEndOfMemory const&) = delete;

    T const* data() const { return begin_; }

private:
    std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::size_t bytes_;
    char* memory_;
    T* begin_;
};

/// What an operation wrote, and that it wrote nothing behind that.
template <class T, class Write>
std::vector<T> written(std::size_t lanes, Write write)
{
    constexpr T untouched = -12345;
    std::array<T, 2 * most_lanes> to;
    to.fill(untouched);
    write(to.data());
    CHECK(std::all_of(to.begin() + lanes, to.end(), [](T value) { return value == untouched; }));
    return {to.begin(), to.begin() + lanes};
}

/// The masks of so many lanes: all where there are few, else some.
std::vector<unsigned> masks(std::size_t lanes)
{
    std::vector<unsigned> some{0, 1, (1U << lanes) - 1, 1U << (lanes - 1)};
    Values<float> random;
    for (unsigned mask = 0; mask < 256; ++mask) {
        some.push_back(lanes <= 8 ? mask % (1U << lanes)
                                  : static_cast<unsigned>(random.below(std::size_t{1} << lanes)));
    }
    return some;
}

template <class T>
std::vector<T> masked(std::vector<T> values, unsigned mask)
{
    for (std::size_t lane = 0; lane < values.size(); ++lane) {
        values[lane] = (mask >> lane & 1U) != 0 ? values[lane] : T{0};
    }
    return values;
}

template <class T, class Index>
std::vector<T> gathered(std::vector<T> const& from, std::vector<Index> const& index)
{
    std::vector<T> values;
    for (Index const i : index) {
        values.push_back(from[static_cast<std::size_t>(i)]);
    }
    return values;
}

/// Calls `check` with the operations of each set, and with values to try them on.
template <class T, class Check>
void for_each_set(Check check)
{
    for (auto const& set : sets<T>()) {
        CAPTURE(set.name);
        Values<T> values;
        check(set.on, values);
    }
}

} // namespace

TEST_CASE_TEMPLATE("vectors are loaded from and stored to any element", T, float, double)
{
    for_each_set<T>([](Operations<T> const& on, Values<T>& values) {
        auto const from = values(3 * on.lanes);
        for (std::size_t first = 0; first <= 2 * on.lanes; ++first) {
            T const* const begin = from.data() + first;
            std::vector<T> const wanted(begin, begin + on.lanes);
            CHECK(written<T>(on.lanes, [&](T* to) { on.load(begin, to); }) == wanted);
            CHECK(written<T>(on.lanes, [&](T* to) { on.forget(begin, to); }) == wanted);
        }
        alignas(64) std::array<T, most_lanes> aligned{};
        on.stream(from.data() + 1, aligned.data());
        CHECK(std::equal(aligned.begin(), aligned.begin() + on.lanes, from.begin() + 1));
        T const value = values();
        CHECK(written<T>(on.lanes, [&](T* to) { on.broadcast(value, to); }) ==
              std::vector<T>(on.lanes, value));
    });
}

TEST_CASE_TEMPLATE("stored floats become numbers of the type", T, float, double)
{
    for_each_set<T>([](Operations<T> const& on, Values<T>&) {
        auto const from = Values<float>{}(on.lanes);
        AtEndOfMemory const at_end{from};
        CHECK(written<T>(on.lanes, [&](T* to) { on.load_as(at_end.data(), to); }) ==
              std::vector<T>(from.begin(), from.end()));
    });
}

TEST_CASE_TEMPLATE("the first elements are loaded, and no byte beyond them", T, float, double)
{
    for_each_set<T>([](Operations<T> const& on, Values<T>& values) {
        for (std::size_t count = 0; count <= on.lanes; ++count) {
            auto wanted = values(count);
            AtEndOfMemory const from{wanted};
            wanted.resize(on.lanes, T{0});
            CHECK(written<T>(on.lanes, [&](T* to) { on.load_first(from.data(), count, to); }) ==
                  wanted);
        }
    });
}

TEST_CASE_TEMPLATE("elements of a mask are loaded, and no byte behind the last", T, float, double)
{
    for_each_set<T>([](Operations<T> const& on, Values<T>& values) {
        for (unsigned const mask : masks(on.lanes)) {
            auto const from = values(on.lanes);
            auto const wanted = masked(from, mask);
            auto const end = static_cast<std::size_t>(std::bit_width(mask));
            AtEndOfMemory const at_end{std::vector<T>(from.begin(), from.begin() + end)};
            CHECK(written<T>(on.lanes, [&](T* to) { on.load_masked(at_end.data(), mask, to); }) ==
                  wanted);
            CHECK(written<T>(on.lanes, [&](T* to) { on.keep(from.data(), mask, to); }) == wanted);
        }
    });
}

TEST_CASE_TEMPLATE("products are added and rounded once or twice", T, float, double)
{
    for_each_set<T>([](Operations<T> const& on, Values<T>& values) {
        auto const check = [&](std::size_t lanes, auto multiply_add) {
            auto a = values(lanes);
            auto const b = values(lanes);
            auto const c = values(lanes);
            a.back() += 1e-5; // of which the product is not exact
            auto const found =
                written<T>(lanes, [&](T* to) { multiply_add(a.data(), b.data(), c.data(), to); });
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                T const volatile product = a[lane] * b[lane];
                T const twice = product + c[lane];
                bool const is_right =
                    found[lane] == std::fma(a[lane], b[lane], c[lane]) || found[lane] == twice;
                CHECK(is_right);
            }
        };
        for (int repeat = 0; repeat < 20; ++repeat) {
            check(on.lanes, on.multiply_add);
            check(on.quad_lanes, on.multiply_add_quad);
        }
    });
}

TEST_CASE_TEMPLATE("elements are gathered by indices of 32 and of 16 bits", T, float, double)
{
    for_each_set<T>([](Operations<T> const& on, Values<T>& values) {
        auto const from = values(1000);
        AtEndOfMemory const at_end{from};
        for (int repeat = 0; repeat < 20; ++repeat) {
            auto const index = values.template indices<std::int32_t>(on.lanes, from.size());
            auto const brief = values.template indices<std::uint16_t>(on.lanes, from.size());
            CHECK(written<T>(on.lanes, [&](T* to) {
                      on.gather(at_end.data(), index.data(), to);
                  }) == gathered(from, index));
            CHECK(written<T>(on.lanes, [&](T* to) {
                      on.gather_short(at_end.data(), brief.data(), to);
                  }) == gathered(from, brief));
        }
    });
}

TEST_CASE_TEMPLATE("the first indices are gathered, and none beyond them is read", T, float, double)
{
    for_each_set<T>([](Operations<T> const& on, Values<T>& values) {
        auto const from = values(1000);
        for (std::size_t count = 0; on.gather_first != nullptr && count <= on.lanes; ++count) {
            auto const index = values.template indices<std::int32_t>(count, from.size());
            auto const brief = values.template indices<std::uint16_t>(count, from.size());
            AtEndOfMemory const at_end{index};
            AtEndOfMemory const brief_at_end{brief};
            auto wanted = gathered(from, index);
            wanted.resize(on.lanes, T{0});
            CHECK(written<T>(on.lanes, [&](T* to) {
                      on.gather_first(from.data(), at_end.data(), count, to);
                  }) == wanted);
            wanted = gathered(from, brief);
            wanted.resize(on.lanes, T{0});
            CHECK(written<T>(on.lanes, [&](T* to) {
                      on.gather_first_short(from.data(), brief_at_end.data(), count, to);
                  }) == wanted);
        }
    });
}

TEST_CASE_TEMPLATE("all lanes are added up", T, float, double)
{
    for_each_set<T>([](Operations<T> const& on, Values<T>& values) {
        for (int repeat = 0; repeat < 20; ++repeat) {
            auto const from = values(on.lanes);
            auto const sum_of = [&](std::size_t lanes) {
                return std::accumulate(from.begin(), from.begin() + lanes, T{0});
            };
            CHECK(on.sum(from.data()) == sum_of(on.lanes));
            CHECK(on.sum_quad(from.data()) == sum_of(on.quad_lanes));
        }
    });
}

TEST_CASE_TEMPLATE("quads are loaded and gathered", T, float, double)
{
    for_each_set<T>([](Operations<T> const& on, Values<T>& values) {
        auto const from = values(1000);
        AtEndOfMemory const at_end{from};
        T const* const last = at_end.data() + from.size() - on.quad_lanes;
        CHECK(written<T>(on.quad_lanes, [&](T* to) { on.load_quad(last, to); }) ==
              std::vector<T>(last, last + on.quad_lanes));
        auto const index = values.template indices<std::int32_t>(on.quad_lanes, from.size());
        CHECK(written<T>(on.quad_lanes, [&](T* to) {
                  on.gather_quad(at_end.data(), index.data(), to);
              }) == gathered(from, index));
    });
}
