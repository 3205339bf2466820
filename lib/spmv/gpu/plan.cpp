#include "spmv/gpu/plan.hpp"

#include "spmv/gpu/block_sell.hpp"
#include "spmv/gpu/blocked_coo.hpp"
#include "spmv/gpu/diagonals.hpp"
#include "spmv/gpu/row_tiles.hpp"
#include "spmv/gpu/rows.hpp"
#include "spmv/gpu/sell.hpp"

#include "cuda/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace spmv::gpu {

namespace {

/// Bytes a second of an H200; on other GPUs only the ratios of times count.
constexpr double bandwidth = 4e12;

/// Sectors of `x` a second that an H200's last-level cache delivers to loads in no order.
constexpr double sector_rate = 150e9;

/// Bytes that the cache delivers at once.
constexpr double sector = 32;

/// A format that a matrix may be stored in.
struct Candidate
{
    std::string_view format;
    double bytes;           ///< that a multiply moves, `x` and `y` once each
    double efficiency;      ///< bytes a second that its kernel reaches, over `bandwidth`
    double sectors;         ///< of `x` that are loaded from the last-level cache
    double convert_seconds; ///< before the first multiply
    std::string detail = {};
    double adding = 0; ///< seconds that a multiprocessor takes to add products to their rows

    /// Seconds of so many multiplies, the conversion among them. Memory, cache and multiprocessors
    /// work at the same time, but not quite.
    double seconds(double multiplies) const
    {
        double const streaming = bytes / (bandwidth * efficiency);
        double const gathering = sectors / sector_rate;
        double const each =
            0.9 * std::max({streaming, gathering, adding}) + 0.1 * (streaming + gathering + adding);
        return multiplies < std::numeric_limits<double>::infinity()
                   ? convert_seconds + multiplies * each
                   : each;
    }
};

/// Seconds of a conversion on the device that moves so many bytes, and of one that the host makes.
double device_seconds(double bytes)
{
    return 0.5e-3 + bytes / 60e9;
}
double host_seconds(double bytes)
{
    return 1e-3 + bytes / 4e9;
}

/// A lane for each entry of a row, though few rows may be much longer than the mean. Fewer if there
/// are more rows than resident threads, or about as many and half the lanes would do with one more
/// step; more if a lane would be busy for long with the longest row.
int lanes_in_cache(double mean_row, double rows, double longest_row)
{
    double const resident = 2048.0 * ::cuda::multiprocessors();
    double const usual_row = std::clamp(std::min(longest_row, 4 * mean_row), 2.0, 32.0);
    auto lanes = static_cast<int>(std::bit_ceil(static_cast<unsigned>(usual_row)));
    auto const crowded = [&] {
        return rows * lanes > resident || (rows * lanes > 0.55 * resident && longest_row <= lanes);
    };
    while (lanes > 2 && lanes / 2 > mean_row / 8 && crowded()) {
        lanes /= 2;
    }
    while (lanes < 32 && longest_row > 16.0 * lanes && rows * lanes <= resident) {
        lanes *= 2;
    }
    return lanes;
}

/// Sectors of `x` for each nonzero that entries touch if `length` that follow each other load none
/// of them twice: counted in a few stretches of the matrix.
template <class T>
double sectors_per_entry(sparse::CsrView<T> const& a, std::size_t length, std::size_t stretches)
{
    constexpr auto elements = static_cast<std::size_t>(sector / sizeof(T));
    std::vector<bool> touched(static_cast<std::size_t>(a.columns) / elements + 1);
    length = std::min(length, a.nonzeros());
    std::size_t count = 0;
    for (std::size_t s = 0; s < stretches; ++s) {
        auto const part = a.col.subspan((a.nonzeros() - length) * s / (stretches - 1), length);
        for (auto const column : part) {
            auto const which = static_cast<std::size_t>(column) / elements;
            count += touched[which] ? 0 : 1;
            touched[which] = true;
        }
        for (auto const column : part) {
            touched[static_cast<std::size_t>(column) / elements] = false;
        }
    }
    return length == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(length * stretches);
}

/// How to multiply by a matrix that stays in the last-level cache from one multiply to the next, so
/// that latency decides and not bandwidth, best first; the last can hold any. The limits are those
/// of an H200: slices want rows enough to keep all multiprocessors busy with one row for each lane,
/// and no long one among short ones, as lanes go through their rows step by step.
template <class T>
std::vector<PlanChoice> choices_in_cache(CsrView<T> const& a, cudaStream_t stream)
{
    auto const sell = sell_outlook(a, stream);
    double const longest = sell.longest;
    double const mean = mean_row(a);
    bool const even = static_cast<double>(sell.elements) < 1.05 * a.nonzeros;
    std::vector<PlanChoice> choices;
    if (a.rows >= 50'000 && (even ? a.nonzeros > 500'000 : a.nonzeros > 750'000 && longest < 48)) {
        for (char const* const format : {"sell16", "sell32"}) {
            choices.push_back({format, "it stays in the cache, with rows enough for all lanes"});
        }
    }
    int const lanes = lanes_in_cache(mean, a.rows, longest);
    if (longest > 32.0 * lanes) {
        choices.push_back(
            {"small_tiles",
             fmt::format("it stays in the cache, a row has {} nonzeros", sell.longest)});
    } else {
        choices.push_back(
            {"vector", fmt::format("it stays in the cache, {} lanes for a row", lanes), lanes});
    }
    return choices;
}

/// Seconds that multiprocessors take to add the products of their tiles to sums in shared memory:
/// lanes of a warp that meet in the longest row of a tile wait for each other. Cycles of an H200.
template <class T>
double adding_seconds(double nonzeros_of_tile, double tiles_of_each, double longest_row)
{
    constexpr double cycle = 1 / 1.9e9;
    constexpr double cycles = std::is_same_v<T, float> ? 14 : 30;
    double const meeting = 1 + 32 * std::min(1.0, longest_row / nonzeros_of_tile);
    return tiles_of_each * nonzeros_of_tile / 32 * meeting * cycles * cycle;
}

//! [gpu_plan]
/// The formats that suit a matrix, plain CSR first. What part of the bandwidth each kernel reaches
/// was measured on an H200, on matrices of several classes.
template <class T>
std::vector<Candidate> candidates(sparse::CsrView<T> const& host, CsrView<T> const& a,
                                  cudaStream_t stream)
{
    constexpr bool single = std::is_same_v<T, float>;
    double const nonzeros = a.nonzeros;
    double const rows = a.rows;
    double const vectors = (rows + a.columns) * sizeof(T);
    double const csr = vectors + rows * 4 + nonzeros * (4 + sizeof(T));
    double const scattered = sectors_per_entry(host, 8192, 16); // what the caches remember
    double const sectors = scattered * nonzeros;
    std::vector<Candidate> found{{"row_tiles", csr, 0.92, sectors, 0.2e-3}};

    auto const sell = sell_outlook(a, stream);
    auto const in_order = static_cast<double>(sell.elements);
    bool const sorts = in_order > 1.1 * nonzeros;
    // Sorted rows write `y` in no order; with a few huge rows even sorting leaves much padding.
    if (sell.longest < 64 * (mean_row(a) + 1)) {
        double const elements = sorts ? 1.03 * nonzeros : in_order;
        double const order = sorts ? 4 * rows : 0;
        double const efficiency = sorts ? 0.6 : 1;
        double const wide = vectors + order + elements * (4 + sizeof(T));
        found.push_back({"sell32", wide, efficiency * 0.95, sectors, device_seconds(wide),
                         sorts ? "rows sorted by length" : "rows of one length"});
        if (sell.is_narrow && !sorts) {
            double const narrow = vectors + elements * (2 + sizeof(T));
            found.push_back({"sell16", narrow, 0.88, sectors, device_seconds(narrow),
                             "columns in order, less than 65536 apart"});
        }
    }
    if (auto const elements = static_cast<double>(diagonal_elements(a, stream));
        elements <= 2 * nonzeros) {
        double const bytes = vectors + elements * sizeof(T);
        found.push_back({"diagonals", bytes, single ? 0.84 : 0.93, sectors, device_seconds(bytes),
                         fmt::format("{:.2f} values for each nonzero", elements / nonzeros)});
    }
    if (auto const shape = sparse::best_block_shape(host, sizeof(T));
        shape.size() > 1 && shape.rows < 8) {
        double const fill = sparse::block_fill(host, shape);
        double const bytes = vectors + fill * nonzeros * (sizeof(T) + 4.0 / shape.size());
        found.push_back({"block_sell", bytes, single ? 0.88 : 1.07, sectors, host_seconds(bytes),
                         fmt::format("blocks of {} x {}, {:.2f} values for each nonzero",
                                     shape.rows, shape.columns, fill)});
    }
    if (scattered > 0.25) {
        bool const skewed = sell.longest > 64 * (mean_row(a) + 1);
        if (skewed) {
            found.push_back({"large_tiles", csr, 0.92, 0.85 * sectors, 0.2e-3,
                             fmt::format("{:.2f} sectors of x for each nonzero, a row of {}",
                                         scattered, sell.longest)});
        }
        // Rows of a tile share sectors.
        double const tiles = ::cuda::multiprocessors();
        double const part_of_y = static_cast<double>(::cuda::shared_bytes());
        double const rounds = std::ceil(1.25 * rows * sizeof(T) / (tiles * part_of_y));
        double const of_tile = nonzeros / (tiles * rounds);
        double const shared = sectors_per_entry(host, static_cast<std::size_t>(of_tile), 3);
        double const bytes = vectors + nonzeros * (4 + sizeof(T));
        found.push_back({"blocked_coo", bytes, 0.8, shared * nonzeros, 2e-3 + 0.3e-9 * nonzeros,
                         fmt::format("{:.2f} sectors of x for each nonzero, {:.2f} where rows "
                                     "share them",
                                     scattered, shared),
                         adding_seconds<T>(of_tile, rounds, sell.longest)});
    }
    return found;
}
//! [gpu_plan]

/// How to multiply by a matrix that comes from memory, fastest first; row tiles can hold any.
template <class T>
std::vector<PlanChoice> choices_in_memory(double multiplies, sparse::CsrView<T> const& host,
                                          CsrView<T> const& a, cudaStream_t stream)
{
    constexpr double look = 20e-3; // seconds that comparing formats may take
    if (multiplies * static_cast<double>(a.bytes()) / bandwidth < look) {
        return {{"row_tiles", "too few multiplies to pay for another format"}};
    }
    auto all = candidates(host, a, stream);
    std::ranges::sort(all, {}, [&](Candidate const& c) { return c.seconds(multiplies); });
    std::vector<PlanChoice> choices;
    for (Candidate const& candidate : all) {
        choices.push_back({std::string{candidate.format}, candidate.detail});
    }
    return choices;
}

/// The size of tiles that a format stands for, if it does.
std::optional<TileSize> tile_size(std::string_view format)
{
    if (format == "row_tiles") {
        return TileSize::usual;
    }
    if (format == "small_tiles") {
        return TileSize::small;
    }
    return format == "large_tiles" ? std::optional{TileSize::large} : std::nullopt;
}

} // namespace

template <class T>
template <class Format>
void Plan<T>::keep(Format format)
{
    bytes_ = format.bytes();
    multiply_ = [kept = std::make_shared<Format const>(std::move(format))](
                    T const* x, T* y, cudaStream_t stream) { (*kept)(x, y, stream); };
}

template <class T>
Plan<T>::Plan(sparse::CsrView<T> const& host, CsrView<T> const& a, cudaStream_t stream,
              PlanOptions const& options)
    : nonzeros_{static_cast<double>(a.nonzeros)}, csr_bytes_{nonzeros_ * (4 + sizeof(T)) +
                                                             4.0 * (a.rows + 1.0)}
{
    auto const begin = std::chrono::steady_clock::now();
    if (!options.format.empty()) {
        build({.format = options.format, .detail = "asked for"}, host, a, stream);
    } else if (::cuda::stays_in_l2(a.bytes())) {
        build_first(choices_in_cache(a, stream), host, a, stream);
    } else {
        build_first(choices_in_memory(options.multiplies, host, a, stream), host, a, stream);
    }
    std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - begin;
    seconds_ = taken.count();
}

/// Builds the first choice that can hold the matrix: what is known of them beforehand is an
/// estimate.
template <class T>
void Plan<T>::build_first(std::vector<PlanChoice> const& choices, sparse::CsrView<T> const& host,
                          CsrView<T> const& a, cudaStream_t stream)
{
    for (PlanChoice const& choice : choices) {
        try {
            build(choice, host, a, stream);
            return;
        } catch (std::length_error const&) { // the next one
        }
    }
}

template <class T>
void Plan<T>::build(PlanChoice choice, sparse::CsrView<T> const& host, CsrView<T> const& a,
                    cudaStream_t stream)
{
    format_ = std::move(choice.format);
    detail_ = std::move(choice.detail);
    if (format_ == "sell32" || format_ == "sell16") {
        keep(Sell<T>{a, format_ == "sell16", stream});
    } else if (format_ == "diagonals") {
        keep(Diagonals<T>{a, stream});
    } else if (format_ == "block_sell") {
        auto const shape = sparse::best_block_shape(host, sizeof(T));
        keep(BlockSell<T>{sparse::to_bcsr(host, shape), stream});
    } else if (format_ == "blocked_coo") {
        keep(BlockedCoo<T>{a, stream});
    } else if (auto const size = tile_size(format_)) {
        auto const tiles = std::make_shared<RowTiles<T> const>(a, *size, stream);
        bytes_ = tiles->bytes();
        multiply_ = [a, tiles](T const* x, T* y, cudaStream_t on) { (*tiles)(a, x, y, on); };
    } else if (format_ == "vector") {
        multiply_ = [a, lanes = choice.lanes](T const* x, T* y, cudaStream_t on) {
            vector_early(lanes, a, x, y, on);
        };
    } else {
        throw std::invalid_argument{
            fmt::format("GPU plan: found format '{}', expected one of vector, row_tiles, "
                        "small_tiles, large_tiles, sell32, sell16, diagonals, block_sell, "
                        "blocked_coo",
                        format_)};
    }
}

template <class T>
std::string Plan<T>::explain() const
{
    bool const on_csr = tile_size(format_) || format_ == "vector";
    double const count = std::max(1.0, nonzeros_);
    double const stored = static_cast<double>(bytes_) + (on_csr ? csr_bytes_ : 0.0);
    return fmt::format(
        "{}{}{}; {:.1f} bytes per nonzero where CSR has {:.1f}, ready after {:.2g} ms", format_,
        detail_.empty() ? "" : ": ", detail_, stored / count, csr_bytes_ / count, 1000 * seconds_);
}

template class Plan<float>;
template class Plan<double>;

} // namespace spmv::gpu
