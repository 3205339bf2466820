#pragma once

#include "product.hpp"

#include "peers/petsc.hpp"
#include "sparse/catalogue/generators.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

/// The variants of this experiment: who gets which rows, and how `x` comes to them.
namespace partitioning {

using Way = distributed::Way<>;

inline std::vector<Way> const contiguous_ways = distributed::contiguous_ways<std::int32_t>();

inline Way const& contiguous_way(std::string_view name)
{
    return *std::ranges::find(contiguous_ways, name, &Way::name);
}

/// By the graph. The last ones that were cut are remembered: several variants and both checks of a
/// point ask for the same.
inline Way const by_graph{
    "graph", [](sparse::PatternView<> const& a, int ranks) {
        using Key = std::tuple<std::int32_t, std::size_t, std::int32_t, int>;
        static std::map<Key, distributed::Partition> cuts;
        static std::vector<std::int32_t> columns;
        if (!std::ranges::equal(columns, a.col)) {
            cuts.clear();
            columns.assign(a.col.begin(), a.col.end());
        }
        Key const key{a.rows, a.nonzeros(), a.columns, ranks};
        auto const found = cuts.find(key);
        return found != cuts.end()
                   ? found->second
                   : cuts.emplace(key, distributed::by_graph(a, ranks)).first->second;
    }};

/// The plan's own choice, for caches as the trial leaves them.
inline distributed::Choice planned(bench::Trial const& trial)
{
    return [cold = trial.is_cold()](sparse::PatternView<> const&) {
        return spmv::PlanOptions{.cold = cold};
    };
}

/// Cuts the matrix on rank 0 and tells all ranks; rows that each made for itself stay with it.
template <class T>
distributed::Partition cut(Product<T> const& product, Way const& way)
{
    if (product.is_made_by_ranks) {
        return product.equal;
    }
    auto const& world = product.world;
    auto const partition =
        world.is_root() ? way.cut(product.whole, world.size()) : distributed::Partition{};
    return distributed::broadcast(world, partition);
}

/// Whether a variant also counts what its way would ask of other numbers of ranks.
template <class T>
bool is_studied(bench::Trial const& trial, Product<T> const& product, std::string_view name)
{
    return std::is_same_v<T, double> && name.starts_with("halo_") && product.world.size() == 1 &&
           !product.is_made_by_ranks && trial.is_timed() && !trial.only_adds_samples();
}

/// Why a variant is not measured here; empty if it is. One rank has all rows of a matrix, however
/// they are cut: of what is the same there, one is measured for curves over ranks to begin with,
/// and in double precision the partitions for other numbers of ranks are studied.
template <class T>
std::string why_not(Product<T> const& product, Way const& way, std::string_view name,
                    std::string const& missing)
{
    if (way.name == by_graph.name && distributed::graph_partitioner().empty()) {
        return "no graph partitioner when this was built; Debian: apt install libmetis-dev";
    }
    if (way.name == by_graph.name && !product.is_square()) {
        return "a graph partition needs a square matrix";
    }
    constexpr std::string_view measured[] = {
        "openmp",           "openmp_plan",     "everywhere_alternate",
        "gather_alternate", "halo_bottleneck", "halo_graph"};
    bool const is_alone = product.world.size() == 1 && !product.is_made_by_ranks;
    bool const is_measured = !is_alone ||
                             (std::is_same_v<T, double> && name.starts_with("halo_")) ||
                             std::ranges::find(measured, name) != std::end(measured);
    return !missing.empty() || is_measured ? missing
                                           : "one rank has all rows, however they are cut";
}

/// Adds a variant that calls `multiply(matrix, share)` with what `make(variant, share)` has built
/// of rows dealt out in a way; skipped if something is `missing` for it.
template <class T, class Make, class Multiply>
void add_multiply(bench::Trial& trial, Product<T>& product, std::string const& name,
                  std::string const& group, Way const& way, std::string const& missing, Make make,
                  Multiply multiply, std::string const& excerpt = "")
{
    if (auto const reason = why_not(product, way, name, missing); !reason.empty()) {
        trial.skip(name, reason).group(group);
        return;
    }
    auto const prepare = [=, &product](bench::Variant& variant) {
        auto const share = product.share(cut(product, way), variant);
        auto const matrix = make(variant, *share);
        return [=] { multiply(*matrix, *share); };
    };
    trial.add(name, prepare).group(group).excerpt(excerpt.empty() ? group : excerpt);
}

/// The article's way: rank 0 sends slices, and every rank has all of `x`; or it has what a multiply
/// leaves there, and `gathers` the rest first.
template <class T>
void add_everywhere(bench::Trial& trial, Product<T>& product, std::string const& name,
                    Way const& way, distributed::Choice const& choose, bool gathers = false)
{
    bool const is_missing = gathers && !product.is_square();
    add_multiply<T>(
        trial, product, name, gathers ? "gather" : "everywhere", way,
        is_missing ? "y is no x for a matrix that is not square" : "",
        [=, &product](bench::Variant& variant, Share<T> const& share) {
            auto const& world = product.world;
            auto matrix = std::make_shared<distributed::EverywhereMatrix<T>>(
                world, distributed::send_slices(world, product.whole, share.rows), share.rows,
                choose);
            variant.stores(*matrix);
            auto const with_runs = world.sum(std::int64_t{matrix->format() == "csrl" ? 1 : 0});
            variant.count("ranks_with_runs", static_cast<double>(with_runs));
            return matrix;
        },
        [gathers, &product](auto& matrix, Share<T>& share) {
            gathers ? matrix.gather_and_multiply(share.x, share.y)
                    : matrix.multiply(product.x, share.y);
        });
}

/// Counts what a multiply moved, beside what the partition predicts.
template <class T>
void count_traffic(Product<T> const& product, distributed::HaloMatrix<T>& matrix,
                   Share<T> const& share, bench::Variant& variant)
{
    std::vector<T> y(share.y.size());
    matrix.multiply(share.x, y);
    auto const& world = product.world;
    variant.count("moved_bytes", static_cast<double>(world.sum(matrix.halo().received_bytes())));
    variant.count("sources", static_cast<double>(world.sum(std::int64_t{matrix.halo().sources()})));
    if (product.whole.rows > 0) { // on rank 0, which writes the record
        auto const traffic =
            distributed::traffic(sparse::PatternView<>{product.whole}, share.rows, share.columns);
        variant.count("predicted_bytes", static_cast<double>(traffic.bytes(sizeof(T))));
        variant.count("imbalance", traffic.imbalance());
    }
}

/// Counts what the way would ask of other numbers of ranks. To cut a graph takes up to minutes.
inline void study(sparse::PatternView<> const& a, Way const& way, bench::Variant& variant)
{
    static std::vector<int> const few{8, 128, 10'000};
    static std::vector<int> const many{2, 8, 32, 128, 1024, 10'000};
    for (int const ranks : way.name == by_graph.name ? few : many) {
        auto const rows = way.cut(a, ranks);
        auto const found =
            distributed::traffic(a, rows, distributed::columns_with(rows, a.columns));
        auto const count = [&](std::string const& name, auto value) {
            variant.count(name + "_" + std::to_string(ranks), static_cast<double>(value));
        };
        count("imbalance", found.imbalance());
        count("last", found.last());
        count("busy", ranks - found.idle_ranks);
        count("ghosts", found.ghosts);
        count("most_ghosts", found.most_ghosts);
        count("most_messages", found.most_messages);
    }
}

/// How ghosts come.
struct Exchange
{
    std::string group;
    std::string excerpt;
    bool overlaps = true; ///< else all ranks wait for ghosts first
    distributed::OnHost on_host = distributed::OnHost::memory;
};

inline Exchange const overlapped{"halo", "halo"};
inline Exchange const awaited{"wait", "wait", false};
inline Exchange const in_messages{"messages", "ghosts", true, distributed::OnHost::messages};

template <class T>
void add_halo(bench::Trial& trial, Product<T>& product, Way const& way,
              Exchange const& exchange = overlapped)
{
    auto const name = exchange.group + "_" + way.name;
    add_multiply<T>(
        trial, product, name, exchange.group, way, "",
        [=, &product, choose = planned(trial), counts = is_studied(trial, product, name)](
            bench::Variant& variant, Share<T> const& share) {
            auto matrix = std::make_shared<distributed::HaloMatrix<T>>(
                product.world, product.rows_of(share), share.columns, choose, exchange.on_host);
            variant.stores(*matrix);
            count_traffic(product, *matrix, share, variant);
            if (counts) {
                study(product.whole, way, variant);
            }
            return matrix;
        },
        [overlaps = exchange.overlaps](auto& matrix, Share<T>& share) {
            overlaps ? matrix.multiply(share.x, share.y)
                     : matrix.wait_and_multiply(share.x, share.y);
        },
        exchange.excerpt);
}

/// All ranks of a host read one `x`.
template <class T>
void add_shared(bench::Trial& trial, Product<T>& product, Way const& way)
{
    add_multiply<T>(
        trial, product, "shared_" + way.name, "shared", way,
        product.world.hosts() > 1 ? "ranks on several hosts share no memory" : "",
        [&product, choose = planned(trial)](bench::Variant& variant, Share<T> const& share) {
            auto matrix = std::make_shared<distributed::SharedMatrix<T>>(
                product.world, product.rows_of(share), share.columns, choose);
            variant.stores(*matrix);
            return matrix;
        },
        [](auto& matrix, Share<T>& share) { matrix.multiply(share.x, share.y); });
}

/// PETSc on the same partition.
template <class T>
void add_petsc(bench::Trial& trial, Product<T>& product, Way const& way)
{
    add_multiply<T>(
        trial, product, "petsc_" + way.name, "peer", way, peers::Petsc::missing<T>(),
        [&product](bench::Variant& variant, Share<T> const& share) {
            return variant.keep(peers::petsc<T>(product.world.handle(), product.rows_of(share),
                                                static_cast<std::int64_t>(share.x.size())));
        },
        [](auto const& matrix, Share<T>& share) { matrix(share.x, share.y); }, "petsc");
}

/// One process and all its threads: one format for the whole matrix.
template <class T>
void add_openmp(bench::Trial& trial, Product<T>& product, std::string const& name,
                distributed::Choice const& choose)
{
    add_multiply<T>(
        trial, product, name, "openmp", contiguous_way("equal"), "",
        [&product, choose, threads = trial.threads()](bench::Variant& variant, Share<T> const&) {
            auto options = choose(product.whole);
            options.threads = threads;
            return variant.keep(spmv::Plan<T>{product.whole, options});
        },
        //! [openmp]
        [](spmv::Plan<T> const& plan, Share<T>& share) { plan(share.x, share.y); }
        //! [openmp]
    );
}

/// All ways of ranks to multiply one matrix.
template <class T>
void add_ranks(bench::Trial& trial, Product<T>& product)
{
    auto const& alternate = contiguous_way("alternate");
    auto const& bottleneck = contiguous_way("bottleneck");
    for (auto const& way : contiguous_ways) {
        add_everywhere(trial, product, "everywhere_" + way.name, way, distributed::by_runs);
    }
    add_everywhere(trial, product, "all_csr", alternate, distributed::always("csr"));
    add_everywhere(trial, product, "all_csrl", alternate, distributed::always("csrl"));
    add_everywhere(trial, product, "all_plan", alternate, planned(trial));
    add_everywhere(trial, product, "gather_alternate", alternate, distributed::by_runs, true);
    for (auto const& way : contiguous_ways) {
        add_halo(trial, product, way);
    }
    add_halo(trial, product, bottleneck, in_messages);
    add_shared(trial, product, bottleneck);
    add_petsc(trial, product, bottleneck);
    add_halo(trial, product, by_graph);
    add_halo(trial, product, by_graph, awaited);
    add_petsc(trial, product, by_graph);
}

/// Measures one matrix: on the threads of one process, or on all ranks.
template <class T>
void measure_matrix(bench::Trial& trial, mpi::Communicator const& world, sparse::Datasets& datasets)
{
    Product<T> product{world, datasets, trial};
    trial.cache(bench::Cache::cold);
    if (world.size() == 1) {
        add_openmp(trial, product, "openmp", distributed::by_runs);
        add_openmp(trial, product, "openmp_plan", planned(trial));
    }
    if (world.size() > 1 || trial.threads() == 1) {
        add_ranks(trial, product);
    }
    trial.run();
}

/// Measures the 27-point stencil on a cube that grows with the number of ranks, each of which makes
/// its rows for itself.
template <class T>
void measure_weak_scaling(bench::Trial& trial, mpi::Communicator const& world)
{
    if (world.size() == 1 && trial.threads() > 1) {
        trial.not_applicable("it grows with the ranks, of which there is one");
    }
    // A rank has about 100,000 rows in company as alone: 32 MB in double precision, far more than
    // the caches of a core hold.
    double const rows_of_a_rank = trial.is_test() ? 1e3 : 100e3;
    auto const side = std::llround(std::cbrt(rows_of_a_rank * world.size()));
    auto const rows = side * side * side;
    auto pattern = sparse::stencil27<std::int64_t>(side, distributed::equal_share(world, rows));
    Product<T> product{world, distributed::filled<T>(std::move(pattern), trial.fill()), rows,
                       trial};
    trial.cache(bench::Cache::cold);
    add_halo(trial, product, contiguous_way("equal"));
    add_halo(trial, product, contiguous_way("equal"), awaited);
    trial.run();
}

/// Bytes of messages round a ring, from eight, which cost nothing but latency, to a megabyte; whole
/// elements in every precision.
inline bench::AxisValues message_bytes()
{
    bench::AxisValues values{8, 512, 4096, 32'768, 262'144, 1'048'576};
    values.require = [](bench::Parameter const& value) {
        if (auto const bytes = std::get<std::int64_t>(value); bytes <= 0 || bytes % 8 != 0) {
            throw std::invalid_argument{"--bytes: found " + std::to_string(bytes) +
                                        ", expected a multiple of 8"};
        }
    };
    return values;
}

/// Measures messages round a ring of all ranks, sent as a halo exchange does.
template <class T>
void measure_ring(bench::Trial& trial, mpi::Communicator const& world)
{
    struct Ring
    {
        std::vector<T> sent;
        std::vector<T> received{sent};
        mpi::Requests requests{};
    };
    auto const count = static_cast<std::size_t>(trial.integer("bytes")) / sizeof(T);
    auto const ring = std::make_shared<Ring>(std::vector<T>(count));
    int const left = (world.rank() + world.size() - 1) % world.size();
    int const right = (world.rank() + 1) % world.size();
    ring->requests.template receive<T>(world, ring->received, left);
    ring->requests.template send<T>(world, ring->sent, right);

    auto const x = trial.input<T>(count).on();
    auto const own = [x](std::size_t k, int rank) { return x[k] * static_cast<T>(rank + 1); };
    trial.work({.bytes = static_cast<double>(count * sizeof(T))});
    trial.cache(bench::Cache::warm);
    trial.on_refill([=, &world] {
        for (std::size_t k = 0; k < count; ++k) {
            ring->sent[k] = own(k, world.rank());
        }
    });
    trial.output(std::span<T>{ring->received}).expect([=] {
        bench::Expected wanted{std::vector<double>(count), std::vector<double>(count, 0.0)};
        for (std::size_t k = 0; k < count; ++k) {
            wanted.value[k] = static_cast<double>(own(k, left));
        }
        return wanted;
    });
    //! [ring]
    trial
        .add("ring",
             [ring] {
                 ring->requests.start();
                 ring->requests.finish();
             })
        .group("ring");
    //! [ring]
    trial.run();
}

} // namespace partitioning
