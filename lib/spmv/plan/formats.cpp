#include "spmv/plan/formats.hpp"

#include "spmv/plan.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace spmv {

namespace {

template <class Format, class T>
std::unique_ptr<Parted<T>> make(sparse::CsrView<T> const& a, FormatKernels<T> const& kernels,
                                BuildOptions const& options)
{
    return make_parted<T>(Format::template build<T>(a, options),
                          kernels.template of<Format>().of(options), options.parts());
}

template <class Format, class T>
double bytes(sparse::CsrView<T> const& sample, BuildOptions& options)
{
    if constexpr (requires { Format::template bytes<T>(sample, options); }) {
        return Format::template bytes<T>(sample, options);
    } else {
        return static_cast<double>(Format::template build<T>(sample, options).bytes());
    }
}

template <class T, class... Format>
constexpr std::array<PlanFormat<T>, sizeof...(Format)> table_of(std::tuple<Format...> const*)
{
    return {{{Format::name, Format::borrows, Format::rounds, Format::keeps_rows,
              Format::most_shares, Format::needs, make<Format, T>, bytes<Format, T>}...}};
}

} // namespace

template <class T>
std::span<PlanFormat<T> const> plan_format_table()
{
    static constexpr auto table = table_of<T>(static_cast<Formats const*>(nullptr));
    return table;
}

template <class T>
PlanFormat<T> const& format_named(std::string_view name)
{
    auto const known = plan_format_table<T>();
    auto const found = std::ranges::find(
        known, name, [](PlanFormat<T> const& format) { return format.name.name; });
    return found == known.end() ? format_to_ask_for<T>(name) : *found;
}

template <class T>
PlanFormat<T> const& format_to_ask_for(std::string_view name)
{
    std::string known;
    for (auto const& format : plan_format_table<T>()) {
        if (format.rounds) {
            continue;
        }
        if (format.name.name == name) {
            return format;
        }
        known += (known.empty() ? "" : ", ") + std::string{format.name.name};
    }
    throw std::invalid_argument{"plan: found format '" + std::string{name} + "', expected one of " +
                                known};
}

template <class T>
std::unique_ptr<Parted<T>> make_pieces(sparse::Csr<T> pieces, FormatKernels<T> const& kernels,
                                       BuildOptions const& options)
{
    if (options.pieces_in_runs) {
        return make<formats::packed_csrl::PackedCsrl, T>(pieces, kernels, options);
    }
    return make_parted<T>(CsrRows<T>{std::move(pieces)},
                          kernels.template of<formats::csr::Csr>().of(options), options.parts());
}

template std::span<PlanFormat<float> const> plan_format_table<float>();
template std::span<PlanFormat<double> const> plan_format_table<double>();
template PlanFormat<float> const& format_named(std::string_view);
template PlanFormat<double> const& format_named(std::string_view);
template PlanFormat<float> const& format_to_ask_for(std::string_view);
template PlanFormat<double> const& format_to_ask_for(std::string_view);
template std::unique_ptr<Parted<float>> make_pieces(sparse::Csr<float>, FormatKernels<float> const&,
                                                    BuildOptions const&);
template std::unique_ptr<Parted<double>>
make_pieces(sparse::Csr<double>, FormatKernels<double> const&, BuildOptions const&);

} // namespace spmv
