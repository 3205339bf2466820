#include "ceilings/array.hpp"
#include "ceilings/instruction_set.hpp"
#include "ceilings/memory.hpp"
#include "ceilings/reference.hpp"
#include "ceilings/stream_loops.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

/// Lengths around every block size of the kernels, and none at all.
std::vector<std::size_t> const lengths{0,  1,  2,  3,   7,   8,   15,  16,  17,   31,  32,
                                       33, 63, 64, 127, 128, 129, 255, 511, 1000, 4099};

/// An array that begins `offset` elements after a 64-byte boundary, with a guard on both sides.
template <class T>
struct Guarded
{
    static constexpr T guard = T{-77};
    ceilings::Array<T> storage;
    std::span<T> values;

    Guarded(std::size_t count, std::size_t offset)
        : storage{count + offset + 2, 1}, values{storage.span().subspan(offset + 1, count)}
    {
        std::ranges::fill(storage.span(), guard);
    }

    bool intact() const
    {
        auto const all = storage.span();
        auto const before = static_cast<std::size_t>(values.data() - all.data());
        for (std::size_t i = 0; i < all.size(); ++i) {
            if ((i < before || i >= before + values.size()) && all[i] != guard) {
                return false;
            }
        }
        return true;
    }
};

template <class T>
void fill_integers(std::span<T> values, std::mt19937_64& random)
{
    std::uniform_int_distribution<int> digit{1, 3};
    std::bernoulli_distribution negative;
    for (auto& value : values) {
        value = static_cast<T>(digit(random) * (negative(random) ? -1 : 1));
    }
}

/// Operands b and c with integers, result a with rubbish, each at an offset of its own.
template <class T>
struct Operands
{
    Guarded<T> a, b, c;

    Operands(std::size_t count, std::size_t offset)
        : a{count, offset}, b{count, offset * 3 % 16}, c{count, offset * 5 % 16}
    {
        std::mt19937_64 random{count * 17 + offset};
        fill_integers(b.values, random);
        fill_integers(c.values, random);
    }

    T exact_dot() const
    {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < b.values.size(); ++i) {
            sum += static_cast<std::int64_t>(b.values[i]) * static_cast<std::int64_t>(c.values[i]);
        }
        return static_cast<T>(sum);
    }
};

template <class T>
void for_operands(std::function<void(Operands<T>&)> const& check)
{
    for (auto const count : lengths) {
        for (std::size_t const offset : {0, 1, 5, 15}) {
            CAPTURE(count);
            CAPTURE(offset);
            Operands<T> operands{count, offset};
            check(operands);
            CHECK(operands.a.intact());
        }
    }
}

template <class T>
bool is_copy(Operands<T> const& operands)
{
    return std::ranges::equal(operands.a.values, operands.b.values);
}

template <class T>
bool is_triad(Operands<T> const& operands, T scalar)
{
    for (std::size_t i = 0; i < operands.a.values.size(); ++i) {
        if (operands.a.values[i] != operands.b.values[i] + scalar * operands.c.values[i]) {
            return false;
        }
    }
    return true;
}

} // namespace

TEST_CASE("slices cover everything once and begin on whole lines")
{
    for (auto const count : lengths) {
        for (int const parts : {1, 2, 3, 4, 7, 64}) {
            std::size_t next = 0;
            for (int part = 0; part < parts; ++part) {
                auto const own = ceilings::slice(count, sizeof(double), part, parts);
                CHECK(own.begin == next);
                CHECK(own.end >= own.begin);
                CHECK((own.begin % 8 == 0 || own.begin == count));
                next = own.end;
            }
            CHECK(next == count);
        }
    }
}

TEST_CASE_TEMPLATE("an array is aligned and zero", T, float, double)
{
    for (auto const count : lengths) {
        ceilings::Array<T> const array{count, 3};
        CHECK(array.span().size() == count);
        CHECK(reinterpret_cast<std::uintptr_t>(array.span().data()) % 4096 == 0);
        CHECK(std::ranges::all_of(array.span(), [](T value) { return value == 0; }));
    }
}

TEST_CASE_TEMPLATE("every instruction set reads, copies and adds exactly", T, float, double)
{
    for (auto const& set : ceilings::instruction_sets<T>()) {
        CAPTURE(std::string{set.name});
        for_operands<T>([&](Operands<T>& o) {
            auto const count = o.a.values.size();
            auto* const a = o.a.values.data();
            auto const* const b = o.b.values.data();
            auto const* const c = o.c.values.data();
            CHECK(set.read_simd(b, c, count) == o.exact_dot());
            CHECK(set.read_four_streams(b, c, count) == o.exact_dot());
            set.copy_simd(b, a, count);
            CHECK(is_copy(o));
            std::ranges::fill(o.a.values, T{-5});
            set.copy_streaming_stores(b, a, count);
            CHECK(is_copy(o));
            set.triad_simd(a, b, T{3}, c, count);
            CHECK(is_triad(o, T{3}));
            std::ranges::fill(o.a.values, T{-5});
            set.triad_streaming_stores(a, b, T{-2}, c, count);
            CHECK(is_triad(o, T{-2}));
        });
    }
}

TEST_CASE_TEMPLATE("threads share the work without loss", T, float, double)
{
    for (int threads = 1; threads <= 4; ++threads) {
        CAPTURE(threads);
        for_operands<T>([&](Operands<T>& o) {
            std::span<T> const a = o.a.values;
            std::span<T const> const b = o.b.values;
            std::span<T const> const c = o.c.values;
            CHECK(ceilings::read_simd(b, c, threads) == o.exact_dot());
            CHECK(ceilings::read_four_streams(b, c, threads) == o.exact_dot());
            ceilings::copy_simd(b, a, threads);
            CHECK(is_copy(o));
            ceilings::triad_simd(a, b, T{2}, c, threads);
            CHECK(is_triad(o, T{2}));
            ceilings::copy_streaming_stores(b, a, threads);
            CHECK(is_copy(o));
            ceilings::triad_streaming_stores(a, b, T{3}, c, threads);
            CHECK(is_triad(o, T{3}));
        });
    }
}

TEST_CASE_TEMPLATE("the loops of STREAM and BabelStream", T, float, double)
{
    for (int threads = 1; threads <= 4; ++threads) {
        CAPTURE(threads);
        for_operands<T>([&](Operands<T>& o) {
            auto const count = o.a.values.size();
            auto* const a = o.a.values.data();
            auto const* const b = o.b.values.data();
            auto const* const c = o.c.values.data();
            CHECK(ceilings::babelstream_dot(b, c, count, threads) == o.exact_dot());
            if constexpr (std::is_same_v<T, double>) {
                ceilings::stream_copy(b, a, count, threads);
                CHECK(is_copy(o));
                ceilings::stream_triad(a, b, T{3}, c, count, threads);
                CHECK(is_triad(o, T{3}));
            }
        });
    }
}

TEST_CASE_TEMPLATE("sums of reals lie within the reference's bound", T, float, double)
{
    std::mt19937_64 random{7};
    std::uniform_real_distribution<T> real{-1, 1};
    for (auto const count : lengths) {
        std::vector<T> a(count);
        std::vector<T> b(count);
        std::ranges::generate(a, [&] { return real(random); });
        std::ranges::generate(b, [&] { return real(random); });
        auto const reference = ceilings::dot_reference<T>(a, b);
        for (T const sum :
             {ceilings::read_simd<T>(a, b, 2), ceilings::read_four_streams<T>(a, b, 2),
              ceilings::babelstream_dot(a.data(), b.data(), count, 2)}) {
            CHECK(std::abs(sum - reference.value[0]) <= reference.bound[0]);
        }
    }
}
