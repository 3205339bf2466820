#include "bench/element.hpp"

#include "bench/all_processors.hpp"

namespace bench {

namespace {

template <class T>
constexpr std::string_view name = "";
template <>
constexpr std::string_view name<fp16> = "fp16";
template <>
constexpr std::string_view name<bf16> = "bf16";
template <>
constexpr std::string_view name<float> = "fp32";
template <>
constexpr std::string_view name<double> = "fp64";
template <>
constexpr std::string_view name<std::int32_t> = "int32";
template <>
constexpr std::string_view name<std::uint8_t> = "uint8";

template <class T>
void to_double(std::byte const* from, std::span<double> to)
{
    auto const* const values = reinterpret_cast<T const*>(from);
    on_all_processors(to.size(), [=](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            to[i] = static_cast<double>(values[i]);
        }
    });
}

template <class T>
void fill_with(Fill const& fill, std::byte* to, std::size_t count)
{
    fill(std::span<T>{reinterpret_cast<T*>(to), count});
}

} // namespace

template <Element T>
ElementType const& element_type()
{
    constexpr unsigned char poison = std::integral<T> ? 0x80 : 0xff;
    static constexpr ElementType type{name<T>, sizeof(T), poison, to_double<T>, fill_with<T>};
    return type;
}

template ElementType const& element_type<fp16>();
template ElementType const& element_type<bf16>();
template ElementType const& element_type<float>();
template ElementType const& element_type<double>();
template ElementType const& element_type<std::int32_t>();
template ElementType const& element_type<std::uint8_t>();

} // namespace bench
