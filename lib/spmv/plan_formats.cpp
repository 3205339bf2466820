#include "spmv/plan_formats.hpp"

#include "sparse/sell.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace spmv {

namespace {

template <class T>
using View = sparse::CsrView<T>;
template <class T>
using Kernels = FormatKernels<T>;
template <class T>
using Made = std::unique_ptr<Parted<T>>;

template <class T>
Made<T> make_csr(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options)
{
    return make_parted<T>(CsrRows<T>{a}, kernels.csr.of(options.streamed), options.parts());
}

template <class T>
Made<T> make_csrl(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options)
{
    return make_parted<T>(sparse::to_csrl<T>(a), kernels.csrl.of(options.streamed),
                          options.parts());
}

template <class T>
Made<T> make_packed_csrl(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options)
{
    return make_parted<T>(sparse::to_packed_csrl<T>(a), kernels.packed_csrl.of(options.streamed),
                          options.parts());
}

template <class T>
Made<T> make_delta_csr(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options)
{
    return make_parted<T>(sparse::to_delta_csr<T>(a), kernels.delta_csr.of(options.streamed),
                          options.parts());
}

template <class T>
Made<T> make_bcsr(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options)
{
    return make_parted<T>(sparse::to_bcsr<T>(a, options.shape), kernels.bcsr.of(options.streamed),
                          options.parts());
}

template <class T>
Made<T> make_masked_blocks(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options)
{
    return make_parted<T>(sparse::to_masked_blocks<T>(a, options.group_rows),
                          kernels.masked_blocks.of(options.streamed), options.parts());
}

template <class T, class Index>
Made<T> make_tiles(View<T> const& a, RangeKernel<sparse::BlockedCooView<T, Index>, T>* kernel,
                   BuildOptions const& options)
{
    auto shape = sparse::tile_shape<T, Index>(core_cache_bytes, options.parts());
    shape.band = options.band;
    return make_parted<T>(sparse::to_blocked_coo<T, Index>(a, shape), kernel, options.parts());
}

template <class T>
Made<T> make_blocked_coo8(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options)
{
    return make_tiles<T, std::uint8_t>(a, kernels.blocked_coo8, options);
}

template <class T>
Made<T> make_blocked_coo16(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options)
{
    return make_tiles<T, std::uint16_t>(a, kernels.blocked_coo16, options);
}

template <class T>
Made<T> make_blocked_coo32(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options)
{
    return make_tiles<T, std::uint32_t>(a, kernels.blocked_coo32, options);
}

template <class T>
Made<T> make_sell(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options,
                  sparse::SellOptions steps)
{
    steps.parts = options.threads;
    if (options.narrow_values) {
        return make_parted<T>(sparse::to_sell<float>(a, steps),
                              kernels.sell_narrow_values.of(options.streamed), options.parts());
    }
    auto* const kernel =
        options.prefetch ? kernels.sell_prefetch : kernels.sell.of(options.streamed);
    return make_parted<T>(sparse::to_sell<T>(a, steps), kernel, options.parts());
}

template <class T>
Made<T> make_sell32(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options)
{
    return make_sell(a, kernels, options, {.narrow = false, .unit_steps = false});
}

template <class T>
Made<T> make_sell16(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options)
{
    return make_sell(a, kernels, options, {.unit_steps = false});
}

template <class T>
Made<T> make_sell_unit(View<T> const& a, Kernels<T> const& kernels, BuildOptions const& options)
{
    return make_sell(a, kernels, options, {});
}

} // namespace

template <class T>
std::span<PlanFormat<T> const> plan_format_table()
{
    static constexpr std::array<PlanFormat<T>, 12> table = {{
        {.name = "csr", .excerpt = "csr", .make = make_csr<T>, .borrows = true},
        {.name = "csrl", .excerpt = "csrl", .make = make_csrl<T>},
        {.name = "packed_csrl", .excerpt = "packed_csrl", .make = make_packed_csrl<T>},
        {.name = "delta_csr", .excerpt = "delta_csr", .make = make_delta_csr<T>},
        {.name = "blocked_coo32", .excerpt = "blocked_coo", .make = make_blocked_coo32<T>},
        {.name = "blocked_coo16", .excerpt = "blocked_coo", .make = make_blocked_coo16<T>},
        {.name = "blocked_coo8", .excerpt = "blocked_coo", .make = make_blocked_coo8<T>},
        {.name = "sell32", .excerpt = "sell", .make = make_sell32<T>, .narrows = true},
        {.name = "sell16", .excerpt = "sell", .make = make_sell16<T>, .narrows = true},
        {.name = "sell_unit", .excerpt = "sell", .make = make_sell_unit<T>, .narrows = true},
        {.name = "bcsr", .excerpt = "bcsr", .make = make_bcsr<T>},
        {.name = "masked_blocks", .excerpt = "masked_blocks", .make = make_masked_blocks<T>},
    }};
    return table;
}

template <class T>
Made<T> make_pieces(sparse::Csr<T> pieces, FormatKernels<T> const& kernels,
                    BuildOptions const& options)
{
    if (options.pieces_in_runs) {
        return make_parted<T>(sparse::to_packed_csrl<T>(pieces.view()),
                              kernels.packed_csrl.of(options.streamed), options.parts());
    }
    return make_parted<T>(CsrRows<T>{std::move(pieces)}, kernels.csr.of(options.streamed),
                          options.parts());
}

template std::span<PlanFormat<float> const> plan_format_table<float>();
template std::span<PlanFormat<double> const> plan_format_table<double>();
template Made<float> make_pieces(sparse::Csr<float>, FormatKernels<float> const&,
                                 BuildOptions const&);
template Made<double> make_pieces(sparse::Csr<double>, FormatKernels<double> const&,
                                  BuildOptions const&);

} // namespace spmv
