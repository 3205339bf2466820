#include "spmv/plan_model.hpp"

#include "spmv/plan_sample.hpp"
#include "spmv/plan_steps.hpp"

#include "sparse/sell.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include <unistd.h>

namespace spmv {

namespace {

/// Nanoseconds of each kind of step, measured on a core of 2022 with AVX-512 at about 3.7 GHz; only
/// their proportions matter. Each row: by format, single then double precision.
struct StepTimes
{
    Steps csr;
    Steps delta_csr;
    Steps sell;
    Steps runs;
    Steps windows;
};

constexpr StepTimes single_times = {
    .csr = {0.82, 0, 0.23, 0.21, 0.23},
    .delta_csr = {0.88, 0, 0.22, 0.21, 0.26},
    .sell = {4.9, 1, 1.0, 3.8, 4.7, 4.8},
    .runs = {1.05, 0, 0.80, 0.40},
    .windows = {1.2, 0, 0.05, 1.30},
};

constexpr StepTimes double_times = {
    .csr = {0.60, 0, 0.24, 0.22, 0.10},
    .delta_csr = {0.65, 0, 0.24, 0.25, 0.14},
    .sell = {2.0, 1, 0.65, 2.0, 2.05, 3.0},
    .runs = {0.95, 0, 0.67, 0.49},
    .windows = {0.9, 0, 0.15, 1.29},
};

/// Nanoseconds of a block row and of a block, by shape.
struct BlockTimes
{
    sparse::BlockShape shape;
    double row_single;
    double block_single;
    double row_double;
    double block_double;
};

constexpr BlockTimes block_times[] = {
    {{2, 2}, 0.9, 0.43, 1.0, 0.44}, {{2, 3}, 0.5, 0.48, 0.5, 0.70}, {{2, 4}, 0.6, 0.48, 0.5, 0.65},
    {{3, 2}, 0.5, 0.46, 2.0, 0.57}, {{3, 3}, 0.9, 0.67, 1.5, 0.89}, {{4, 2}, 2.5, 0.41, 2.9, 0.53},
    {{4, 4}, 3.6, 0.49, 1.8, 1.15}, {{6, 6}, 8.0, 1.46, 8.6, 2.80}, {{8, 8}, 8.0, 3.00, 8.6, 5.40},
};

/// Ends of loops that a processor keeps in mind from one multiply to the next.
constexpr double remembered_ends = 5000;
/// Nanoseconds that the end of a loop costs which it has not foreseen.
constexpr double surprise = 7;

/// Sizes of the caches of this machine.
struct Caches
{
    double core;   ///< second level
    double shared; ///< last level
};

Caches detect_caches()
{
    auto const size = [](int name, double otherwise) {
        auto const found = static_cast<double>(sysconf(name));
        return found > 0 ? found : otherwise;
    };
    return {size(_SC_LEVEL2_CACHE_SIZE, static_cast<double>(core_cache_bytes)),
            size(_SC_LEVEL3_CACHE_SIZE, 32 * static_cast<double>(core_cache_bytes))};
}

/// Estimates all formats for one matrix.
template <class T>
class Model
{
public:
    Model(sparse::CsrView<T> const& a, int threads)
        : a_{a}, threads_{threads}, nonzeros_{static_cast<double>(a.nonzeros())},
          longest_{long_row()}, sample_{take_sample(a, sampled_rows, no_limit)},
          short_sample_{max_row_ > longest_ ? take_sample(a, sampled_rows, longest_) : Sample<T>{}}
    {
    }

    std::vector<Estimate> all()
    {
        add_rows();
        add_sell();
        add_runs();
        add_windows();
        add_blocks();
        add_tiles();
        return std::move(estimates_);
    }

private:
    static constexpr bool single = std::is_same_v<T, float>;
    static constexpr std::int32_t sampled_rows = 16384;
    static constexpr std::int32_t no_limit = std::numeric_limits<std::int32_t>::max();
    static constexpr StepTimes const& times = single ? single_times : double_times;

    /// Rows longer than this multiply better in pieces than in a lane of a chunk.
    std::int32_t long_row()
    {
        for (std::int32_t i = 0; i < a_.rows; ++i) {
            max_row_ = std::max(max_row_, a_.row_ptr[static_cast<std::size_t>(i) + 1] -
                                              a_.row_ptr[static_cast<std::size_t>(i)]);
        }
        double const mean = nonzeros_ / std::max(1, a_.rows);
        return static_cast<std::int32_t>(std::max(128.0, std::min(4 * mean, 1e9)));
    }

    /// Where whole rows go to threads, none may be longer than a good part of a thread's share.
    std::int32_t longest_for_threads() const
    {
        double const share = nonzeros_ / threads_;
        return threads_ > 1 && max_row_ > share / 4
                   ? std::max(1024, static_cast<std::int32_t>(share / 16))
                   : no_limit;
    }

    double processor(Steps const& steps, Steps const& times_of, double scale) const
    {
        double total = std::inner_product(steps.begin(), steps.end(), times_of.begin(), 0.0);
        return total * scale + surprise * std::max(0.0, steps[1] * scale - remembered_ends);
    }

    /// Nanoseconds until `bytes` have come from where they are kept.
    double memory(double bytes) const
    {
        double const touched = bytes + vector_bytes();
        double const threads = threads_;
        if (touched < 0.8 * caches_.core * threads) {
            return touched * 0.008 / threads;
        }
        if (touched < 0.8 * caches_.shared) {
            return touched * 0.022 / threads;
        }
        double const gigabytes_per_second = 17 * threads / (1 + threads / 16);
        return touched / gigabytes_per_second;
    }

    double vector_bytes() const
    {
        return (static_cast<double>(a_.rows) + static_cast<double>(a_.columns)) * sizeof(T);
    }

    /// Nanoseconds that a thread waits for elements of `x` which lie far apart.
    double far_elements(double nonzeros) const
    {
        double const x_bytes = static_cast<double>(a_.columns) * sizeof(T);
        double const wait = x_bytes < caches_.core / 2 ? 0 : x_bytes < caches_.shared ? 0.8 : 4.0;
        return nonzeros * sample_.x_lines * wait;
    }

    void add(Estimate estimate, double processor_ns)
    {
        double const core = processor_ns / threads_;
        double const bus = memory(estimate.bytes);
        estimate.build.parts = threads_;
        estimate.nanoseconds = std::sqrt(core * core + bus * bus);
        estimate.conversion *= nonzeros_ / threads_;
        estimates_.push_back(std::move(estimate));
    }

    void add_rows()
    {
        auto const steps = csr_steps<T>(sample_.a);
        double const row_bytes = 4.0 * a_.rows;
        double const far = far_elements(nonzeros_);
        Estimate rows{.format = "csr", .bytes = nonzeros_ * (sizeof(T) + 4) + row_bytes};
        rows.build.longest_row = longest_for_threads();
        add(rows, processor(steps, times.csr, sample_.scale) + far);
        if (fits_deltas()) {
            Estimate deltas{.format = "delta_csr",
                            .bytes = nonzeros_ * (sizeof(T) + 2) + 2 * row_bytes,
                            .conversion = 4,
                            .detail = "every row spans fewer than 65536 columns"};
            deltas.build.longest_row = rows.build.longest_row;
            add(deltas, processor(steps, times.delta_csr, sample_.scale) + far);
        }
    }

    bool fits_deltas() const
    {
        for (std::int32_t i = 0; i < a_.rows; ++i) {
            auto const begin = static_cast<std::size_t>(a_.row_ptr[static_cast<std::size_t>(i)]);
            auto const end = static_cast<std::size_t>(a_.row_ptr[static_cast<std::size_t>(i) + 1]);
            if (begin < end && a_.col[end - 1] - a_.col[begin] > 65535) {
                return false;
            }
        }
        return true;
    }

    void add_sell()
    {
        bool const split = max_row_ > longest_;
        Sample<T> const& sample = split ? short_sample_ : sample_;
        auto const sell = sparse::to_sell<T>(sample.a.view());
        double const short_nonzeros = nonzeros_ * short_share();
        double const scale =
            short_nonzeros / static_cast<double>(std::max<std::size_t>(1, sample.a.nonzeros()));
        double const in_pieces = nonzeros_ - short_nonzeros;
        auto const steps = sell_steps<T>(sell);
        double const lanes = sparse::sell_height<T>;
        double const on_diagonals =
            steps[2] * lanes / std::max(1.0, static_cast<double>(sell.values.size()));
        Estimate estimate{.format = "sell_unit",
                          .bytes = static_cast<double>(sell.bytes()) * scale +
                                   in_pieces * (sizeof(T) + 4),
                          .conversion = 12,
                          .detail = percent(on_diagonals) + " of the products in unit steps, " +
                                    percent(stored_zeros(sell)) + " zeros stored"};
        estimate.build.longest_row = split ? longest_ : no_limit;
        double const core = processor(steps, times.sell, scale) + in_pieces * times.csr[3];
        double const far = far_elements(nonzeros_);
        double const wide =
            static_cast<double>(sell.wide.size()) / static_cast<double>(sell.values.size() + 1);
        add(estimate, core + far);
        if (far > 0 && wide > 0.02) {
            estimate.build.prefetch = true;
            estimate.detail += ", elements of x asked for early";
            add(estimate, core + 0.3 * far + 0.15 * wide * nonzeros_);
        }
    }

    static double stored_zeros(sparse::Sell<T> const& sell)
    {
        double const stored = static_cast<double>(std::max<std::size_t>(1, sell.values.size()));
        return 1 - static_cast<double>(sell.nonzeros()) / stored;
    }

    /// Share of the nonzeros that are not in long rows.
    double short_share() const
    {
        double in_long = 0;
        for (std::int32_t i = 0; i < a_.rows; ++i) {
            std::int32_t const length = a_.row_ptr[static_cast<std::size_t>(i) + 1] -
                                        a_.row_ptr[static_cast<std::size_t>(i)];
            in_long += length > longest_ ? length : 0;
        }
        return 1 - in_long / std::max(1.0, nonzeros_);
    }

    void add_runs()
    {
        auto const steps = run_steps<T>(sparse::PatternView<>{sample_.a});
        double const pieces = steps[2] * sample_.scale;
        if (a_.columns > 1 << 27 || pieces > 0.6 * nonzeros_) {
            return;
        }
        Estimate estimate{.format = "packed_csrl",
                          .bytes = nonzeros_ * sizeof(T) + 4 * pieces + 4.0 * a_.rows,
                          .conversion = 5,
                          .detail = "runs of " + decimal(nonzeros_ / std::max(1.0, pieces)) +
                                    " nonzeros"};
        estimate.build.longest_row = longest_for_threads();
        add(estimate, processor(steps, times.runs, sample_.scale) + far_elements(nonzeros_));
    }

    void add_windows()
    {
        if (format_kernels<T>().front().name != std::string_view{"avx512"}) {
            return; // other instruction sets take the bits of a mask one by one
        }
        for (std::int32_t const rows : {1, 2, 3, 4, 6}) {
            auto const steps = window_steps<T>(sparse::PatternView<>{sample_.a}, rows);
            double const windows = steps[2] * sample_.scale;
            Estimate estimate{
                .format = "masked_blocks",
                .bytes = nonzeros_ * sizeof(T) + windows * (4 + rows * (single ? 2 : 1)) +
                         4.0 * a_.rows / rows,
                .conversion = 12,
                .detail = decimal(nonzeros_ / std::max(1.0, windows)) +
                          " nonzeros in a window of " + std::to_string(rows) + " rows"};
            estimate.build.group_rows = rows;
            estimate.build.longest_row = longest_for_threads();
            add(estimate, processor(steps, times.windows, sample_.scale) + far_elements(nonzeros_));
        }
    }

    void add_blocks()
    {
        for (auto const& [shape, row_single, block_single, row_double, block_double] :
             block_times) {
            if (shape.columns > a_.columns) {
                continue;
            }
            auto const steps =
                block_steps<T>(sparse::PatternView<>{sample_.a}, shape.rows, shape.columns);
            double const blocks = steps[2] * sample_.scale;
            double const fill = blocks * shape.size() / std::max(1.0, nonzeros_);
            if (fill > 2) {
                continue;
            }
            Estimate estimate{
                .format = "bcsr",
                .bytes = blocks * (shape.size() * sizeof(T) + 4) + 4.0 * a_.rows / shape.rows,
                .conversion = 12,
                .detail = "blocks of " + std::to_string(shape.rows) + " x " +
                          std::to_string(shape.columns) + " are " + percent(1 / fill) + " full"};
            estimate.build.shape = shape;
            estimate.build.longest_row = longest_for_threads();
            Steps const block_step = {single ? row_single : row_double, 0,
                                      single ? block_single : block_double};
            add(estimate, processor(steps, block_step, sample_.scale) + far_elements(nonzeros_));
        }
    }

    void add_tiles()
    {
        auto const shape = sparse::tile_shape<T, std::uint16_t>(core_cache_bytes, threads_);
        double const strips = std::ceil(static_cast<double>(a_.rows) / shape.rows);
        double const tiles = strips * std::ceil(static_cast<double>(a_.columns) / shape.columns);
        double const x_bytes = strips * static_cast<double>(a_.columns) * sizeof(T);
        if (far_elements(nonzeros_) == 0) {
            return;
        }
        Estimate estimate{.format = "blocked_coo16",
                          .bytes = nonzeros_ * (sizeof(T) + 4),
                          .conversion = 30,
                          .detail = "neighbours in a row are far apart in x"};
        add(estimate, nonzeros_ * (single ? 0.55 : 0.70) + 60 * tiles + 0.02 * x_bytes);
    }

    static std::string percent(double share)
    {
        return std::to_string(static_cast<int>(std::lround(100 * share))) + " %";
    }

    static std::string decimal(double number)
    {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f", number);
        return text;
    }

    sparse::CsrView<T> const& a_;
    int threads_;
    double nonzeros_;
    Caches caches_ = detect_caches();
    std::int32_t max_row_ = 0;
    std::int32_t longest_;
    Sample<T> sample_;
    Sample<T> short_sample_; ///< without the long rows, if there are any
    std::vector<Estimate> estimates_;
};

} // namespace

template <class T>
std::vector<Estimate> estimate_formats(sparse::CsrView<T> const& a, int threads)
{
    return Model<T>{a, threads}.all();
}

Estimate const& best_estimate(std::vector<Estimate> const& estimates, double multiplies)
{
    auto const total = [&](Estimate const& estimate) {
        return estimate.nanoseconds + estimate.conversion / multiplies;
    };
    return *std::ranges::min_element(estimates, {}, total);
}

template std::vector<Estimate> estimate_formats(sparse::CsrView<float> const&, int);
template std::vector<Estimate> estimate_formats(sparse::CsrView<double> const&, int);

} // namespace spmv
