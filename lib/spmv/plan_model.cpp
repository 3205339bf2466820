#include "spmv/plan_model.hpp"

#include "spmv/decimal.hpp"
#include "spmv/long_rows.hpp"
#include "spmv/parted.hpp"
#include "spmv/plan_misses.hpp"
#include "spmv/plan_sample.hpp"
#include "spmv/plan_steps.hpp"
#include "spmv/shared_work.hpp"

#include "sparse/packed_csrl.hpp"
#include "sparse/sell.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace spmv {

namespace {

/// The shapes of blocks that kernels are compiled for.
constexpr sparse::BlockShape block_shapes[] = {{2, 2}, {2, 3}, {2, 4}, {3, 2}, {3, 3},
                                               {4, 2}, {4, 4}, {6, 6}, {8, 8}};

/// Estimates all formats for one matrix.
template <class T>
class Model
{
public:
    Model(sparse::CsrView<T> const& a, Processor const& processor, ModelOptions const& options)
        : a_{a}, processor_{processor}, caches_{processor.caches}, threads_{options.threads},
          cold_{options.cold}, only_{options.only}, nonzeros_{static_cast<double>(a.nonzeros())},
          lengths_{row_lengths(a)}
    {
        look_for_long_runs();
        sample_ = take_sample(a, sampled_rows(), lengths_.limit);
        misses_ = count_misses(sample_, 1, caches_, processor.misses_at_a_time);
        scale_ = (nonzeros_ - lengths_.nonzeros) /
                 static_cast<double>(std::max<std::size_t>(1, sample_.a.nonzeros()));
    }

    /// The estimates of all formats, or of those asked for.
    std::vector<Estimate> estimates()
    {
        struct Family
        {
            std::initializer_list<std::string_view> formats;
            void (Model::*add)();
        };
        for (auto const& [formats, add] :
             {Family{{"csr", "delta_csr"}, &Model::add_rows},
              Family{{"sell_unit", "sell16", "sell32"}, &Model::add_sell},
              Family{{"csrl", "packed_csrl"}, &Model::add_runs},
              Family{{"masked_blocks"}, &Model::add_windows}, Family{{"bcsr"}, &Model::add_blocks},
              Family{{"blocked_coo16"}, &Model::add_tiles}}) {
            auto const begins_like = [&](auto format) { return only_.starts_with(format); };
            if (only_.empty() || std::ranges::any_of(formats, begins_like)) {
                (this->*add)();
            }
        }
        std::erase_if(estimates_, [&](Estimate const& estimate) {
            return !only_.empty() && estimate.format != only_ && estimate.name != only_;
        });
        if (estimates_.empty()) { // of a format that the model does not know, or found hopeless
            Estimate asked{.format = only_, .name = std::string{only_}};
            asked.build.streamed = asks_early(nonzeros_ * (sizeof(T) + 4) + vector_bytes());
            add_rows(); // as long as they take, so does it, as far as sharing goes
            int const most = only_.starts_with("blocked_coo") ? most_of_tiles : no_limit;
            asked.build.shares = std::min(estimates_.front().build.shares, most);
            estimates_ = {std::move(asked)};
        }
        return std::move(estimates_);
    }

private:
    using Terms = std::vector<Term>;

    static constexpr bool single = std::is_same_v<T, float>;
    static constexpr std::int32_t no_limit = std::numeric_limits<std::int32_t>::max();
    static constexpr int most_of_tiles = 4; ///< shares of a thread, as each strip reads all of `x`

    /// Decides how pieces of long rows are stored, and what that takes.
    void look_for_long_runs()
    {
        constexpr double most_of_a_piece = sparse::Piece::longest;
        double const in_runs = lengths_.nonzeros * sizeof(T) + 4 * lengths_.runs;
        double const in_rows = lengths_.nonzeros * (sizeof(T) + 4);
        Terms const by_runs{
            {"packed_csrl.piece", lengths_.runs + lengths_.nonzeros / most_of_a_piece},
            {"packed_csrl.vector", lengths_.runs + lengths_.nonzeros / lanes()}};
        Terms const by_rows{{"csr.vector_product", lengths_.nonzeros}};
        Terms const of_memory{{"memory.byte", csr_streams() ? in_rows - in_runs : 0}};
        auto const time = [&](Terms const& terms) { return processor_.nanoseconds(terms, single); };
        long_in_runs_ = a_.columns <= sparse::Piece::columns_end &&
                        time(by_runs) < time(by_rows) + time(of_memory);
        long_bytes_ = long_in_runs_ ? in_runs : in_rows;
        long_terms_ = long_in_runs_ ? by_runs : by_rows;
    }

    /// So many that a look at them costs some multiplies, not hundreds.
    std::int32_t sampled_rows() const
    {
        constexpr double enough = 1 << 18; // nonzeros
        double const mean = short_nonzeros() / std::max(1, a_.rows);
        return static_cast<std::int32_t>(std::clamp(enough / std::max(1.0, mean), 3072.0, 16384.0));
    }

    /// CSR's rows go to threads whole, unless long ones give some thread too much.
    std::int32_t longest_for_threads(double imbalance_of_rows) const
    {
        constexpr double too_much = 1.1;
        return imbalance_of_rows > too_much
                   ? std::max(1024, static_cast<std::int32_t>(nonzeros_ / threads_ / 16))
                   : no_limit;
    }

    /// The imbalance of a format of the sample, if that is all of the matrix; parts of larger ones
    /// have so many units that one more does not matter.
    template <class Format>
    double imbalance_of(Format const& format) const
    {
        return samples_all() ? imbalance(format, threads_) : 1;
    }

    bool samples_all() const { return sample_.a.rows == a_.rows; }

    /// Share of the threads on a core with another one; its price is relative to rows of CSR.
    double crowded() const { return processor_.crowded_share(threads_); }

    /// Elements in a vector of the kernels.
    double lanes() const { return static_cast<double>(processor_.vector_bytes / sizeof(T)); }

    /// Of so many things that a multiply comes to, the share that something of this capacity has
    /// forgotten when the next comes to them: none or all, but for a little more than it holds.
    static double forgotten_share(double count, double capacity)
    {
        return std::clamp(2 * (count / capacity - 1), 0.0, 1.0);
    }

    /// The steps of all rows that are not long, under their names. Loops whose ends the processor
    /// does not foresee lose time, little as long as it keeps them in mind from one multiply to the
    /// next.
    Terms steps(std::string const& family, Steps const& counts,
                std::initializer_list<std::pair<std::string_view, std::size_t>> kinds) const
    {
        Terms terms;
        for (auto const& [kind, index] : kinds) {
            terms.push_back({family + "." + std::string{kind}, counts[index] * scale_});
        }
        double const ends = counts[1] * scale_;
        terms.push_back({"loop_end.beyond_3000", std::max(0.0, ends - 3000)});
        constexpr double foreseen = 12'000; // loop ends that a processor keeps in mind
        terms.push_back({"loop_end.forgotten", ends * forgotten_share(ends / threads_, foreseen)});
        return terms;
    }

    /// The share of so many touched bytes that comes from memory. Others use the shared cache too,
    /// so that some of what would just fit in it is gone when a multiply comes back to it.
    double streamed_share(double touched) const
    {
        double const filled = touched / static_cast<double>(caches_.shared);
        return cold_ ? 1 : std::clamp((filled - 0.65) / 0.25, 0.0, 1.0);
    }

    /// Whether most of so many bytes come from memory.
    bool streams(double touched) const { return streamed_share(touched) >= 0.5; }

    /// Whether kernels should ask for it early: a good part of it comes from memory, as caches hold
    /// other things too, or from a shared cache that is as slow. Cores hold much of what is a few
    /// times their caches; blocks wait for the rest.
    bool asks_early(double touched, bool in_blocks = false) const
    {
        double const many = in_blocks ? 1 : 4; // times the caches of the cores
        Term const streamed{"cache.streamed_byte", 1};
        bool const slow = processor_.nanoseconds({&streamed, 1}, single) > 0;
        double const of_cores = static_cast<double>(caches_.core) * threads_;
        return cold_ || touched >= static_cast<double>(caches_.shared) / 2 ||
               (slow && touched >= many * of_cores);
    }

    /// Whether kernels of rows gain from asking early: very short rows, or in single precision long
    /// ones, take more time to ask than they wait.
    bool rows_ask_early() const
    {
        double const mean = nonzeros_ / std::max(1, a_.rows);
        return mean >= 4 && (!single || mean <= 16);
    }

    /// Whether CSR has to be fetched from memory, a measure of how busy the caches are beside `x`.
    bool csr_streams() const { return streams(nonzeros_ * (sizeof(T) + 4) + vector_bytes()); }

    double x_bytes() const { return static_cast<double>(a_.columns) * sizeof(T); }

    double vector_bytes() const { return x_bytes() + static_cast<double>(a_.rows) * sizeof(T); }

    /// What a kernel with such misses waits for.
    VectorWaits waits_of(Misses const& misses) const
    {
        return vector_waits(misses, {nonzeros_, x_bytes(), cold_, csr_streams()}, caches_);
    }

    static void add_waits(Terms& terms, VectorWaits const& waits)
    {
        terms.insert(terms.end(), {{"x.near", waits.near},
                                   {"x.busy", waits.busy},
                                   {"x.shared", waits.shared},
                                   {"x.memory", waits.memory}});
    }

    /// Adds the waits of a kernel that takes rows one by one. Loads of several elements wait for
    /// two lines where they cross from one to the next.
    void add_vector_waits(Terms& terms, bool wide) const
    {
        auto waits = waits_of(misses_);
        waits.near *= wide ? 2 : 1;
        waits.busy *= wide ? 2 : 1;
        add_waits(terms, waits);
    }

    /// Adds a format that converts the matrix, long rows apart.
    void add_converted(Estimate estimate)
    {
        if (lengths_.long_rows > 0) {
            estimate.core.insert(estimate.core.end(), long_terms_.begin(), long_terms_.end());
        }
        estimate.bytes += long_bytes_;
        estimate.build.longest_row = lengths_.limit;
        estimate.build.pieces_in_runs = long_in_runs_;
        add(std::move(estimate));
    }

    /// Adds a format whose `core` counts what all threads do together: caches add to the work,
    /// memory goes on beside it, as does a last-level cache that is as slow. Each thread begins
    /// with at most so many shares of its units.
    void add(Estimate estimate, int most_shares = no_limit)
    {
        if (estimate.name.empty()) {
            estimate.name = estimate.format;
        }
        estimate.build.threads = threads_;
        double const threads = threads_;
        double const touched = estimate.bytes + vector_bytes();
        estimate.build.streamed = asks_early(touched, estimate.format == "bcsr");
        double const streamed = streamed_share(touched) * touched;
        double const cached = touched - streamed;
        double const used = threads * (1 - crowded() / 2); // cores
        double const of_cores = static_cast<double>(caches_.core) * used;
        bool const at_the_core = touched < 0.8 * of_cores;
        estimate.core.push_back({at_the_core ? "cache.core_byte" : "cache.shared_byte", cached});
        estimate.memory.push_back(
            {"cache.streamed_byte", cached * forgotten_share(touched, of_cores) / threads});
        estimate.memory.push_back(memory_bytes(streamed));
        for (Term& term : estimate.core) {
            term.count *= estimate.imbalance / threads;
        }
        estimate.core.push_back({"threads.fork", std::log2(threads_)});
        estimate.core.push_back({"threads.long_row", rows_in_pieces(estimate) * (1 - 1 / threads)});
        double const core = processor_.nanoseconds(estimate.core, single);
        double const memory = processor_.nanoseconds(estimate.memory, single);
        estimate.nanoseconds =
            std::pow(std::pow(core, estimate.overlap) + std::pow(memory, estimate.overlap),
                     1 / estimate.overlap);
        estimate.build.shares =
            std::min(useful_shares(estimate.nanoseconds, threads_), most_shares);
        estimate.conversion *= nonzeros_ / threads;
        estimates_.push_back(std::move(estimate));
    }

    /// What all threads fetch from memory, which has at most seventeen times what one takes.
    Term memory_bytes(double bytes) const
    {
        return {"memory.byte", bytes * (1.0 / threads_ + 1.0 / 16)};
    }

    /// Rows whose pieces one thread adds up at last: it waits for the lines of `y` that others
    /// have.
    double rows_in_pieces(Estimate const& estimate) const
    {
        auto const longest = estimate.build.longest_row;
        return longest == lengths_.limit ? lengths_.long_rows : rows_longer_than(a_, longest);
    }

    void add_rows()
    {
        auto const counts = csr_steps<T>(sample_.a);
        auto const kinds = {std::pair{std::string_view{"row"}, std::size_t{0}},
                            {"vector_product", 2},
                            {"product", 3}};
        double const row_bytes = 4.0 * a_.rows;
        Estimate rows{.format = "csr",
                      .bytes = nonzeros_ * (sizeof(T) + 4) + row_bytes,
                      .core = steps("csr", counts, kinds)};
        double const imbalance_of_rows = imbalance(CsrRows<T>{a_}, threads_);
        rows.build.longest_row = longest_for_threads(imbalance_of_rows);
        rows.imbalance = rows.build.longest_row < lengths_.max ? 1 : imbalance_of_rows;
        rows.core.push_back({"csr.vector_product", lengths_.nonzeros});
        add_vector_waits(rows.core, false);
        add(std::move(rows));
        estimates_.back().build.streamed &= rows_ask_early();
        if (lengths_.widest <= 65535) {
            Estimate deltas{.format = "delta_csr",
                            .bytes = short_nonzeros() * (sizeof(T) + 2) + 2 * row_bytes,
                            .imbalance = imbalance_of(CsrRows<T>{sample_.a.view()}),
                            .conversion = 4,
                            .detail = "every row spans fewer than 65536 columns",
                            .core = steps("delta_csr", counts, kinds)};
            add_vector_waits(deltas.core, false);
            add_converted(std::move(deltas));
            estimates_.back().build.streamed &= rows_ask_early();
        }
    }

    double short_nonzeros() const { return nonzeros_ - lengths_.nonzeros; }

    void add_sell()
    {
        auto const sell =
            sparse::to_sell<T>(sample_.a.view(), {.parts = samples_all() ? threads_ : 1});
        double const bytes = static_cast<double>(sell.bytes()) * scale_;
        bool const has_registers = processor_.vector_bytes >= 32; // for the sums of a group
        bool const early = asks_early(bytes + long_bytes_ + vector_bytes());
        auto const counts = sell_steps<T>(sell, has_registers && !early);
        auto const stored_values = static_cast<double>(sell.values.size());
        double const stored = std::max(1.0, stored_values);
        Estimate estimate{
            .format = "sell_unit",
            .name = "sell_unit_plain",
            .bytes = bytes,
            .imbalance = imbalance_of(sell),
            .conversion = 12,
            .detail = percent((stored_values - (counts[3] + counts[4]) * sparse::sell_height<T>) /
                              stored) +
                      " of the products in unit steps, " + percent(stored_zeros(sell)) +
                      " zeros stored",
            .core = steps("sell", counts,
                          {{"chunk", 0},
                           {"unit_step", 2},
                           {"masked_unit_step", 6},
                           {"full_step", 3},
                           {"partial_step", 4},
                           {"sorted_chunk", 5}})};
        estimate.core.push_back(
            {"sell.crowded_step", crowded() * (counts[3] + counts[4]) * scale_});
        if (csr_streams()) {
            estimate.core.push_back({"sell.streamed_step", counts[3] * scale_});
        }
        // Where a row reaches over more of `x` than a cache holds, those beside it come along.
        auto waits = waits_of(misses_);
        if (waits.shared + waits.memory > 0) {
            waits = waits_of(count_misses(sample_, sparse::sell_height<T>, caches_,
                                          processor_.misses_at_a_time));
        }
        auto const waiting = [&](Estimate waiting) {
            add_waits(waiting.core, waits);
            return waiting;
        };
        Estimate wide = estimate;
        estimate.core.push_back({"sell.narrow_step", static_cast<double>(sell.narrow.size()) /
                                                         sparse::sell_height<T> * scale_});
        if (only_ == "sell16") { // never better, but built alike
            Estimate plainer = waiting(estimate);
            plainer.name = plainer.format = "sell16"; // a literal, which outlives the name
            add_converted(std::move(plainer));
        }
        add_converted(waiting(estimate));
        bool const has_unit_steps = counts[2] + counts[6] > 0.01 * stored / sparse::sell_height<T>;
        Term const narrow{"sell.narrow_step", 1};
        bool const may_win = processor_.nanoseconds({&narrow, 1}, single) > 0 && !has_unit_steps;
        if (only_ == "sell32" || (only_.empty() && may_win && !sell.narrow.empty())) {
            wide.name = wide.format = "sell32"; // a literal, which outlives the name
            wide.bytes += 2.0 * static_cast<double>(sell.narrow.size()) * scale_;
            wide.detail = "columns of 32 bits, " + percent(stored_zeros(sell)) + " zeros stored";
            add_converted(waiting(std::move(wide)));
        }
        double const wide_share = static_cast<double>(sell.wide.size()) / stored;
        if (waits.shared + waits.memory > 0 && wide_share > 0.02) {
            estimate.name = "sell_unit_ahead";
            estimate.build.prefetch = true;
            estimate.detail += ", elements of x asked for early";
            add_waits(estimate.core,
                      {waits.near, waits.busy, 0.9 * waits.shared, 0.4 * waits.memory});
            estimate.core.push_back({"x.prefetch", wide_share * nonzeros_});
            add_converted(std::move(estimate));
        }
    }

    static double stored_zeros(sparse::Sell<T> const& sell)
    {
        double const stored = static_cast<double>(std::max<std::size_t>(1, sell.values.size()));
        return 1 - static_cast<double>(sell.nonzeros()) / stored;
    }

    /// CSRL keeps long rows where they are, packed runs do not.
    void add_runs()
    {
        if (auto rows = in_runs("csrl", no_limit, 8)) {
            rows->imbalance =
                std::max(1.0, 1.0 * lengths_.max * threads_ / std::max(1.0, nonzeros_));
            rows->bytes += lengths_.nonzeros * sizeof(T) + 8 * lengths_.runs;
            rows->core.push_back({"packed_csrl.piece", lengths_.runs});
            rows->core.push_back(
                {"packed_csrl.vector", lengths_.runs + lengths_.nonzeros / lanes()});
            add(std::move(*rows));
        }
        if (a_.columns <= sparse::Piece::columns_end) {
            if (auto packed = in_runs("packed_csrl", sparse::Piece::longest, 4)) {
                add_converted(std::move(*packed));
            }
        }
    }

    /// The rows that are not long in a format of runs, which are cut into pieces of at most
    /// `longest` nonzeros; nothing where runs are too short. A piece takes as long whether its
    /// length is packed or not.
    std::optional<Estimate> in_runs(std::string_view format, std::int32_t longest,
                                    double piece_bytes) const
    {
        auto const counts = run_steps(sparse::PatternView<>{sample_.a}, longest,
                                      static_cast<std::int32_t>(lanes()));
        double const pieces = counts[2] * scale_;
        if (pieces > 0.6 * short_nonzeros()) {
            return {};
        }
        Estimate estimate{
            .format = format,
            .bytes = short_nonzeros() * sizeof(T) + piece_bytes * pieces + 4.0 * a_.rows,
            .conversion = 5,
            .detail = "runs of " + decimal("%.1f", short_nonzeros() / std::max(1.0, pieces)) +
                      " nonzeros",
            .core = steps("packed_csrl", counts, {{"row", 0}, {"piece", 2}, {"vector", 3}})};
        add_vector_waits(estimate.core, true);
        return estimate;
    }

    void add_windows()
    {
        if (!processor_.kernels.starts_with("avx512")) {
            return; // other instruction sets take the bits of a mask one by one
        }
        char const* const mask = csr_streams() ? "streamed_mask" : "mask";
        for (std::int32_t const rows : {6, 4, 3, 2, 1}) {
            auto const counts = window_steps<T>(sparse::PatternView<>{sample_.a}, rows);
            double const windows = counts[2] * scale_;
            if (only_.empty() && windows * 3 > short_nonzeros()) {
                return; // few nonzeros in a window; lower ones have fewer still
            }
            Estimate estimate{
                .format = "masked_blocks",
                .name = "masked_blocks_" + std::to_string(rows),
                .bytes = short_nonzeros() * sizeof(T) + windows * (4 + rows * (single ? 2 : 1)) +
                         4.0 * a_.rows / rows,
                .conversion = 12,
                .detail = decimal("%.1f", short_nonzeros() / std::max(1.0, windows)) +
                          " nonzeros in a window of " + std::to_string(rows) + " rows",
                .core = steps("masked_blocks", counts, {{"group", 0}, {"window", 2}, {mask, 3}})};
            estimate.build.group_rows = rows;
            add_vector_waits(estimate.core, true);
            add_converted(std::move(estimate));
        }
    }

    void add_blocks()
    {
        constexpr double hopeless = 3; // of 2 x 2, stored for each nonzero: larger ones are emptier
        for (auto const& shape : block_shapes) {
            if (shape.columns > a_.columns) {
                continue;
            }
            auto const counts =
                block_steps(sparse::PatternView<>{sample_.a}, shape.rows, shape.columns);
            double const blocks = counts[2] * scale_;
            double const fill = blocks * shape.size() / std::max(1.0, short_nonzeros());
            if (only_.empty() && shape.size() == 4 && fill > hopeless) {
                return;
            }
            if (fill > 2) {
                continue;
            }
            std::string const name =
                "bcsr_" + std::to_string(shape.rows) + "x" + std::to_string(shape.columns);
            Estimate estimate{
                .format = "bcsr",
                .name = name,
                .bytes = blocks * (shape.size() * sizeof(T) + 4) + 4.0 * a_.rows / shape.rows,
                .conversion = 12,
                .detail = "blocks of " + std::to_string(shape.rows) + " x " +
                          std::to_string(shape.columns) + " are " + percent(1 / fill) + " full",
                .core = steps(name, counts, {{"row", 0}, {"block", 2}})};
            estimate.build.shape = shape;
            add_vector_waits(estimate.core, false);
            add_converted(std::move(estimate));
        }
    }

    void add_tiles()
    {
        auto const shape = sparse::tile_shape<T, std::uint16_t>(core_cache_bytes, threads_);
        double const strips = std::ceil(static_cast<double>(a_.rows) / shape.rows);
        double const tiles = strips * std::ceil(static_cast<double>(a_.columns) / shape.columns);
        double const once = x_bytes();
        double const far_lines = 64 * nonzeros_ * misses_.core;
        Estimate estimate{
            .format = "blocked_coo16",
            .bytes = nonzeros_ * (sizeof(T) + 4),
            .conversion = 30,
            .detail = percent(misses_.core) + " of the elements of x are far from the others",
            .core = {{"blocked_coo16.product", nonzeros_},
                     {"blocked_coo16.dense_row_product", lengths_.dense_nonzeros},
                     {"blocked_coo16.crowded_product", crowded() * nonzeros_},
                     {"blocked_coo16.tile", tiles},
                     {"blocked_coo16.x_byte", std::min(strips * once, far_lines)},
                     {"blocked_coo16.y_byte", static_cast<double>(a_.rows) * sizeof(T)}},
            .overlap = 4}; // a tile waits for nothing, so that the next is fetched all the while
        if (double const all = std::min(threads_ * once, far_lines); cold_ && all > once) {
            constexpr double found = 0.25; // of memory's time, where another thread has been before
            estimate.memory.push_back(memory_bytes(found * (all - once)));
        }
        if (auto const rows = band(); rows < shape.rows) {
            estimate.build.band = rows;
            estimate.detail += ", bands of " + std::to_string(rows) + " rows";
        }
        add(std::move(estimate), most_of_tiles);
    }

    /// Rows whose part of `y` takes a third of the first cache, where that is worth a band.
    /// Elements of `y` are as scattered to a column as those of `x` are to a row, as a rule.
    std::int32_t band() const
    {
        constexpr double scattered = 0.25; // of the elements, beyond the first cache
        bool const gains =
            misses_.first > scattered && misses_.core < processor_.far_share_in_bands;
        return gains ? static_cast<std::int32_t>(caches_.first / 3 / sizeof(T)) : no_limit;
    }

    static std::string percent(double share) { return decimal("%.0f %%", 100 * share); }

    sparse::CsrView<T> const& a_;
    Processor const& processor_;
    Caches const& caches_;
    int threads_;
    bool cold_;
    std::string_view only_;
    double nonzeros_;
    RowLengths lengths_;
    double long_bytes_ = 0;     ///< of long rows, in pieces
    bool long_in_runs_ = false; ///< whether the pieces are stored by runs
    Terms long_terms_;          ///< of the pieces
    Sample<T> sample_;          ///< of the other rows
    Misses misses_;             ///< of kernels that take rows one by one
    double scale_ = 1;          ///< from the sample to all of them
    std::vector<Estimate> estimates_;
};

} // namespace

template <class T>
std::vector<Estimate> estimate_formats(sparse::CsrView<T> const& a, Processor const& processor,
                                       ModelOptions const& options)
{
    return Model<T>{a, processor, options}.estimates();
}

Estimate const& best_estimate(std::vector<Estimate> const& estimates, double multiplies)
{
    return *std::ranges::min_element(estimates, {}, [&](Estimate const& estimate) {
        return estimate.nanoseconds + estimate.conversion / multiplies;
    });
}

template std::vector<Estimate> estimate_formats(sparse::CsrView<float> const&, Processor const&,
                                                ModelOptions const&);
template std::vector<Estimate> estimate_formats(sparse::CsrView<double> const&, Processor const&,
                                                ModelOptions const&);

} // namespace spmv
