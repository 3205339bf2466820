// Compiled once for each instruction set, whose name is SIMD_SET.

#include "simd/testing/operations.hpp"

#include "simd/quad.hpp"

namespace simd::testing {
namespace {

template <class T>
void store_quad(T* to, Quad<T> some)
{
    *reinterpret_cast<typename QuadTypes<T>::Unaligned*>(to) = some;
}

template <class T>
constexpr Operations<T> operations()
{
    Operations<T> all{};
    all.lanes = lanes<T>;
    all.quad_lanes = quad_lanes<T>;
    all.load = [](T const* from, T* to) { store<T>(to, load(from)); };
    all.load_as = [](float const* from, T* to) { store<T>(to, load_as<T>(from)); };
    all.load_first = [](T const* from, std::size_t count, T* to) {
        store<T>(to, load_first(from, count));
    };
    all.load_masked = [](T const* from, unsigned mask, T* to) {
        store<T>(to, load_masked(from, mask));
    };
    all.stream = [](T const* from, T* to) {
        stream<T>(to, load(from));
        finish_streaming();
    };
    all.broadcast = [](T value, T* to) { store<T>(to, broadcast(value)); };
    all.keep = [](T const* from, unsigned mask, T* to) { store<T>(to, keep<T>(load(from), mask)); };
    all.forget = [](T const* from, T* to) {
        auto vector = load(from);
        forget<T>(vector);
        store<T>(to, vector);
    };
    all.multiply_add = [](T const* a, T const* b, T const* c, T* to) {
        store<T>(to, multiply_add<T>(load(a), load(b), load(c)));
    };
    all.gather = [](T const* from, std::int32_t const* index, T* to) {
        store<T>(to, gather(from, index));
    };
    all.gather_short = [](T const* from, std::uint16_t const* index, T* to) {
        store<T>(to, gather(from, index));
    };
    all.sum = [](T const* from) { return sum<T>(load(from)); };
#if defined(SIMD_GATHER_INSTRUCTIONS)
    all.gather_first = [](T const* from, std::int32_t const* index, std::size_t count, T* to) {
        store<T>(to, gather_first(from, index, count));
    };
    all.gather_first_short = [](T const* from, std::uint16_t const* index, std::size_t count,
                                T* to) { store<T>(to, gather_first(from, index, count)); };
#endif
    all.load_quad = [](T const* from, T* to) { store_quad<T>(to, load_quad(from)); };
    all.gather_quad = [](T const* from, std::int32_t const* index, T* to) {
        store_quad<T>(to, gather_quad(from, index));
    };
    all.multiply_add_quad = [](T const* a, T const* b, T const* c, T* to) {
        store_quad<T>(to, multiply_add_quad<T>(load_quad(a), load_quad(b), load_quad(c)));
    };
    all.sum_quad = [](T const* from) { return sum_quad<T>(load_quad(from)); };
    return all;
}

} // namespace

constinit Compiled const SIMD_SET = {operations<float>(), operations<double>()};

} // namespace simd::testing
