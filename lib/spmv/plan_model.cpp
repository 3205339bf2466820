#include "spmv/plan_model.hpp"

#include "spmv/cpu.hpp"
#include "spmv/plan_sample.hpp"
#include "spmv/plan_steps.hpp"

#include "sparse/sell.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

namespace spmv {

namespace {

/// Nanoseconds of each kind of step that `plan_steps.hpp` counts, fitted to times of 38 matrices on
/// a core of 2022 with AVX-512 at about 3.7 GHz; only their proportions matter.
struct StepTimes
{
    Steps csr;
    Steps delta_csr;
    Steps sell;
    Steps runs;
    Steps windows;
};

constexpr StepTimes single_times = {
    .csr = {1.00, 0, 0.208, 0.180},
    .delta_csr = {0.97, 0, 0.208, 0.170},
    .sell = {4.9, 0, 0.90, 3.95, 4.8, 6.2},
    .runs = {0.98, 0, 1.03, 0.165},
    .windows = {0.95, 0, 0.15, 1.40},
};

constexpr StepTimes double_times = {
    .csr = {0.76, 0, 0.218, 0.210},
    .delta_csr = {0.61, 0, 0.228, 0.220},
    .sell = {2.8, 0, 0.84, 2.30, 2.25, 4.0},
    .runs = {0.85, 0, 0.66, 0.53},
    .windows = {0.60, 0, 0.05, 1.25},
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
    {{2, 2}, 1.33, 0.317, 1.22, 0.267}, {{2, 3}, 0.50, 0.360, 0.80, 0.480},
    {{2, 4}, 1.11, 0.400, 0.80, 0.620}, {{3, 2}, 0.40, 0.333, 1.13, 0.378},
    {{3, 3}, 0.80, 0.545, 1.37, 0.566}, {{4, 2}, 2.32, 0.261, 1.50, 0.341},
    {{4, 4}, 3.75, 0.240, 1.50, 0.677}, {{6, 6}, 5.66, 0.908, 6.10, 1.786},
    {{8, 8}, 5.00, 2.000, 6.00, 3.300},
};

/// Nanoseconds that a multiply loses at the ends of loops which the processor does not foresee: it
/// keeps some in mind from one multiply to the next.
double surprise(double ends)
{
    return 2 * std::max(0.0, ends - 3000) + 8 * std::max(0.0, ends - 9000);
}

/// Estimates all formats for one matrix.
template <class T>
class Model
{
public:
    Model(sparse::CsrView<T> const& a, ModelOptions const& options)
        : a_{a}, threads_{options.threads}, cold_{options.cold}, nonzeros_{static_cast<double>(
                                                                     a.nonzeros())}
    {
        look_for_long_rows();
        sample_ = take_sample(a, sampled_rows(), longest_row_, caches_);
        scale_ = (nonzeros_ - long_nonzeros_) /
                 static_cast<double>(std::max<std::size_t>(1, sample_.a.nonzeros()));
    }

    /// The estimates of all formats, or of the format `only`.
    std::vector<Estimate> estimates(std::string_view only)
    {
        struct Family
        {
            std::initializer_list<std::string_view> formats;
            void (Model::*add)();
        };
        for (auto const& [formats, add] :
             {Family{{"csr", "delta_csr"}, &Model::add_rows},
              Family{{"sell_unit", "sell16", "sell32"}, &Model::add_sell},
              Family{{"packed_csrl"}, &Model::add_runs},
              Family{{"masked_blocks"}, &Model::add_windows}, Family{{"bcsr"}, &Model::add_blocks},
              Family{{"blocked_coo16"}, &Model::add_tiles}}) {
            if (only.empty() || std::ranges::find(formats, only) != formats.end()) {
                (this->*add)();
            }
        }
        std::erase_if(estimates_, [&](Estimate const& estimate) {
            return !only.empty() && estimate.format != only;
        });
        return std::move(estimates_);
    }

private:
    static constexpr bool single = std::is_same_v<T, float>;
    static constexpr std::int32_t no_limit = std::numeric_limits<std::int32_t>::max();
    static constexpr double lanes = 64 / sizeof(T);
    static constexpr StepTimes const& times = single ? single_times : double_times;

    /// Finds the rows that multiply better in pieces than in a lane of a chunk, and their runs.
    void look_for_long_rows()
    {
        double const mean = nonzeros_ / std::max(1, a_.rows);
        auto const limit = static_cast<std::int32_t>(std::max(128.0, std::min(4 * mean, 1e9)));
        double runs = 0;
        for (std::int32_t i = 0; i < a_.rows; ++i) {
            auto const begin = static_cast<std::size_t>(a_.row_ptr[static_cast<std::size_t>(i)]);
            auto const end = static_cast<std::size_t>(a_.row_ptr[static_cast<std::size_t>(i) + 1]);
            auto const length = static_cast<std::int32_t>(end - begin);
            max_row_ = std::max(max_row_, length);
            if (length > limit) {
                long_nonzeros_ += length;
                for (std::size_t p = begin; p < end; ++p) {
                    runs += p == begin || a_.col[p] != a_.col[p - 1] + 1 ? 1 : 0;
                }
            } else if (length > 0) {
                widest_ = std::max(widest_, a_.col[end - 1] - a_.col[begin]);
            }
        }
        longest_row_ = max_row_ > limit ? limit : no_limit;
        bool const in_runs = runs < long_nonzeros_ / 4; // as `make_pieces` decides
        long_bytes_ = long_nonzeros_ * sizeof(T) + 4 * (in_runs ? runs : long_nonzeros_);
        long_core_ = long_nonzeros_ * (in_runs ? times.runs[3] / lanes : times.csr[2]);
    }

    /// So many that a look at them costs some multiplies, not hundreds.
    std::int32_t sampled_rows() const
    {
        constexpr double enough = 1 << 18; // nonzeros
        double const mean = short_nonzeros() / std::max(1, a_.rows);
        return static_cast<std::int32_t>(std::clamp(enough / std::max(1.0, mean), 3072.0, 16384.0));
    }

    /// Where CSR's rows go to threads whole, none may be longer than a good part of a share.
    std::int32_t longest_for_threads() const
    {
        double const share = nonzeros_ / threads_;
        return threads_ > 1 && max_row_ > share / 4
                   ? std::max(1024, static_cast<std::int32_t>(share / 16))
                   : no_limit;
    }

    /// Nanoseconds of all steps outside long rows.
    double processor(Steps const& steps, Steps const& times_of) const
    {
        double const total = std::inner_product(steps.begin(), steps.end(), times_of.begin(), 0.0);
        return total * scale_ + surprise(steps[1] * scale_);
    }

    /// Nanoseconds of a multiply whose processor works for `core`, each thread, and which reads
    /// `bytes` of the matrix: caches add to the work, memory goes on beside it, the better the
    /// larger `overlap` is.
    double together(double core, double bytes, double overlap) const
    {
        double const touched = bytes + vector_bytes();
        double const threads = threads_;
        if (streams(touched)) {
            double const gigabytes_per_second = 17 * threads / (1 + threads / 16);
            double const memory = touched / gigabytes_per_second;
            return std::pow(std::pow(core, overlap) + std::pow(memory, overlap), 1 / overlap);
        }
        bool const at_the_core = touched < 0.8 * static_cast<double>(caches_.core) * threads;
        return core + touched * (at_the_core ? 0.004 : caches_.shared_ns_per_byte) / threads;
    }

    /// Whether a multiply that touches so many bytes has to fetch them from memory.
    bool streams(double touched) const
    {
        return cold_ || touched >= 0.8 * static_cast<double>(caches_.shared);
    }

    /// Whether it loses a good part of them from its caches to whatever else they have to hold.
    bool mostly_streams(double touched) const
    {
        return cold_ || touched >= static_cast<double>(caches_.shared) / 2;
    }

    double vector_bytes() const
    {
        return (static_cast<double>(a_.rows) + static_cast<double>(a_.columns)) * sizeof(T);
    }

    /// Nanoseconds that a thread waits for elements of `x`.
    double vector_waits() const { return near_elements() + far_elements(); }

    /// Loads of several elements wait for two lines where they cross from one to the next.
    double wide_vector_waits() const { return 2 * near_elements() + far_elements(); }

    /// Of which those that the second level has: next to nothing, unless it is busy with a matrix
    /// that streams through it from memory.
    double near_elements() const
    {
        double const csr_bytes = nonzeros_ * (sizeof(T) + 4) + vector_bytes();
        double const wait = streams(csr_bytes) ? 2.0 : 0;
        return nonzeros_ * std::max(0.0, sample_.miss_first - sample_.miss_core) * wait;
    }

    /// Of which those farther away. The more of them there are, the more come at the same time.
    double far_elements() const
    {
        constexpr double most_at_a_time = 10;
        constexpr double nonzeros_in_flight = 100;
        double const x_bytes = static_cast<double>(a_.columns) * sizeof(T);
        double const latency = x_bytes < static_cast<double>(caches_.core) / 2     ? 0
                               : x_bytes < static_cast<double>(caches_.shared) / 3 ? 16
                                                                                   : 160;
        double const share = sample_.miss_core;
        double const at_a_time = std::clamp(nonzeros_in_flight * share, 1.0, most_at_a_time);
        return nonzeros_ * share * latency / at_a_time;
    }

    /// Adds a format that converts the matrix, long rows apart.
    void add_converted(Estimate estimate, double processor_ns)
    {
        estimate.bytes += long_bytes_;
        estimate.build.longest_row = longest_row_;
        add(std::move(estimate), processor_ns + long_core_);
    }

    /// The matrix streams through the shared cache too.
    bool x_is_in_shared_cache() const
    {
        return static_cast<double>(a_.columns) * sizeof(T) <
               static_cast<double>(caches_.shared) / 3;
    }

    void add(Estimate estimate, double processor_ns, double overlap = 2)
    {
        estimate.build.parts = threads_;
        estimate.build.streamed = mostly_streams(estimate.bytes + vector_bytes());
        estimate.nanoseconds = together(processor_ns / threads_, estimate.bytes, overlap);
        estimate.conversion *= nonzeros_ / threads_;
        estimates_.push_back(std::move(estimate));
    }

    void add_rows()
    {
        auto const steps = csr_steps<T>(sample_.a);
        double const row_bytes = 4.0 * a_.rows;
        Estimate rows{.format = "csr", .bytes = nonzeros_ * (sizeof(T) + 4) + row_bytes};
        rows.build.longest_row = longest_for_threads();
        add(rows, processor(steps, times.csr) + long_nonzeros_ * times.csr[2] + vector_waits());
        if (widest_ <= 65535) {
            Estimate const deltas{.format = "delta_csr",
                                  .bytes = short_nonzeros() * (sizeof(T) + 2) + 2 * row_bytes,
                                  .conversion = 4,
                                  .detail = "every row spans fewer than 65536 columns"};
            add_converted(deltas, processor(steps, times.delta_csr) + vector_waits());
        }
    }

    double short_nonzeros() const { return nonzeros_ - long_nonzeros_; }

    void add_sell()
    {
        auto const sell = sparse::to_sell<T>(sample_.a.view());
        auto const steps = sell_steps<T>(sell);
        double const stored = static_cast<double>(std::max<std::size_t>(1, sell.values.size()));
        Estimate estimate{.format = "sell_unit",
                          .bytes = static_cast<double>(sell.bytes()) * scale_,
                          .conversion = 12,
                          .detail = percent(steps[2] * lanes / stored) +
                                    " of the products in unit steps, " +
                                    percent(stored_zeros(sell)) + " zeros stored"};
        double const core = processor(steps, times.sell);
        double const far = far_elements();
        double const near = near_elements();
        double const wide = static_cast<double>(sell.wide.size()) / stored;
        add_converted(estimate, core + near + far);
        for (char const* plainer : {"sell16", "sell32"}) { // never better, but built alike
            Estimate same = estimate;
            same.format = plainer;
            add_converted(same, 1.01 * (core + near + far));
        }
        if (far > 0 && wide > 0.02) {
            estimate.build.prefetch = true;
            estimate.detail += ", elements of x asked for early";
            double const still = x_is_in_shared_cache() ? 0.9 : 0.4;
            add_converted(estimate, core + near + still * far + 0.15 * wide * nonzeros_);
        }
    }

    static double stored_zeros(sparse::Sell<T> const& sell)
    {
        double const stored = static_cast<double>(std::max<std::size_t>(1, sell.values.size()));
        return 1 - static_cast<double>(sell.nonzeros()) / stored;
    }

    void add_runs()
    {
        auto const steps = run_steps<T>(sparse::PatternView<>{sample_.a});
        double const pieces = steps[2] * scale_;
        if (a_.columns > 1 << 27 || pieces > 0.6 * short_nonzeros()) {
            return;
        }
        Estimate estimate{.format = "packed_csrl",
                          .bytes = short_nonzeros() * sizeof(T) + 4 * pieces + 4.0 * a_.rows,
                          .conversion = 5,
                          .detail = "runs of " + decimal(short_nonzeros() / std::max(1.0, pieces)) +
                                    " nonzeros"};
        add_converted(estimate, processor(steps, times.runs) + wide_vector_waits());
    }

    void add_windows()
    {
        if (format_kernels<T>().front().name != std::string_view{"avx512"}) {
            return; // other instruction sets take the bits of a mask one by one
        }
        for (std::int32_t const rows : {1, 2, 3, 4, 6}) {
            auto const steps = window_steps<T>(sparse::PatternView<>{sample_.a}, rows);
            double const windows = steps[2] * scale_;
            Estimate estimate{
                .format = "masked_blocks",
                .bytes = short_nonzeros() * sizeof(T) + windows * (4 + rows * (single ? 2 : 1)) +
                         4.0 * a_.rows / rows,
                .conversion = 12,
                .detail = decimal(short_nonzeros() / std::max(1.0, windows)) +
                          " nonzeros in a window of " + std::to_string(rows) + " rows"};
            estimate.build.group_rows = rows;
            add_converted(estimate, processor(steps, times.windows) + wide_vector_waits());
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
            double const blocks = steps[2] * scale_;
            double const fill = blocks * shape.size() / std::max(1.0, short_nonzeros());
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
            Steps const block_step = {single ? row_single : row_double, 0,
                                      single ? block_single : block_double};
            add_converted(estimate, processor(steps, block_step) + vector_waits());
        }
    }

    void add_tiles()
    {
        auto const shape = sparse::tile_shape<T, std::uint16_t>(core_cache_bytes, threads_);
        double const strips = std::ceil(static_cast<double>(a_.rows) / shape.rows);
        double const tiles = strips * std::ceil(static_cast<double>(a_.columns) / shape.columns);
        double const x_bytes = std::min(strips * static_cast<double>(a_.columns) * sizeof(T),
                                        64 * nonzeros_ * sample_.miss_core);
        Estimate estimate{.format = "blocked_coo16",
                          .bytes = nonzeros_ * (sizeof(T) + 4),
                          .conversion = 30,
                          .detail = percent(sample_.miss_core) +
                                    " of the elements of x are far from the others"};
        add(estimate,
            nonzeros_ * (single ? 0.54 : 0.56) + 60 * tiles + 0.02 * x_bytes +
                0.012 * static_cast<double>(a_.rows) * sizeof(T),
            4); // a tile waits for nothing, so that the next is fetched all the while
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
    bool cold_;
    double nonzeros_;
    Caches caches_ = detect_caches();
    std::int32_t max_row_ = 0;
    std::int32_t widest_ = 0;      ///< columns between the ends of a row that is not long
    std::int32_t longest_row_ = 0; ///< with more nonzeros a row is long
    double long_nonzeros_ = 0;     ///< in long rows
    double long_bytes_ = 0;        ///< of long rows, in pieces
    double long_core_ = 0;         ///< nanoseconds of multiplying them
    Sample<T> sample_;             ///< of the other rows
    double scale_ = 1;             ///< from the sample to all of them
    std::vector<Estimate> estimates_;
};

} // namespace

template <class T>
std::vector<Estimate> estimate_formats(sparse::CsrView<T> const& a, ModelOptions const& options)
{
    return Model<T>{a, options}.estimates(options.only);
}

Estimate const& best_estimate(std::vector<Estimate> const& estimates, double multiplies)
{
    auto const total = [&](Estimate const& estimate) {
        return estimate.nanoseconds + estimate.conversion / multiplies;
    };
    return *std::ranges::min_element(estimates, {}, total);
}

template std::vector<Estimate> estimate_formats(sparse::CsrView<float> const&, ModelOptions const&);
template std::vector<Estimate> estimate_formats(sparse::CsrView<double> const&,
                                                ModelOptions const&);

} // namespace spmv
