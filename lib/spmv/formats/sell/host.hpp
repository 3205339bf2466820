#pragma once

#include "spmv/formats/host.hpp"
#include "spmv/formats/sell/kernel.hpp"
#include "spmv/formats/sell/sell.hpp"

#include <tuple>

namespace spmv::formats::sell {

/// Sliced ELLPACK; units are chunks. `Stored` is float for values in single precision, else `void`.
template <bool narrow, bool unit_steps, class Stored = void>
struct Sell : FormatDefaults
{
    static constexpr bool rounds = !std::is_void_v<Stored>;
    static constexpr FormatName name{rounds       ? "sell_single"
                                     : unit_steps ? "sell_unit"
                                     : narrow     ? "sell16"
                                                  : "sell32",
                                     "sell"};

    template <class T>
    using Value = std::conditional_t<rounds, Stored, T>;

    template <Ahead ahead, class T>
    static constexpr auto* kernel = spmv::sell<rounds ? of_matrix(ahead) : ahead, T, Value<T>>;

    template <class T>
    static auto build(sparse::CsrView<T> const& a, BuildOptions const& options)
    {
        return sparse::to_sell<Value<T>, T>(
            a, {.narrow = narrow, .unit_steps = unit_steps, .parts = options.threads});
    }

    /// Elements of `x` are prefetched where many are gathered from beyond a core's cache.
    template <class T>
    static double bytes(sparse::CsrView<T> const& a, BuildOptions& options)
    {
        auto const sample = build<T>(a, BuildOptions{});
        bool const is_far = static_cast<std::size_t>(a.columns) * sizeof(T) > 4 * core_cache_bytes;
        options.prefetch_vector =
            options.prefetch && is_far && 4 * sample.wide.size() > sample.values.size();
        return static_cast<double>(sample.bytes());
    }
};

using Sell32 = Sell<false, false>;
using Sell16 = Sell<true, false>;
using SellUnit = Sell<true, true>;
using SellSingle = Sell<true, true, float>;
using All = std::tuple<Sell32, Sell16, SellUnit, SellSingle>;

} // namespace spmv::formats::sell
