#pragma once

#include "product.hpp"

#include "distributed/traffic.hpp"
#include "peers/petsc.hpp"
#include "sparse/catalogue/generators.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// The variants of this experiment: who gets which rows, and how `x` comes to them.
namespace partitioning {

/// Bytes of messages round a ring, from eight, which cost nothing but latency, to a megabyte; whole
/// elements in every precision.
bench::AxisValues message_bytes();

/// The bandwidth of reading of so many ranks together.
bench::Ceiling read_on_all_ranks(int ranks, int threads);

/// The five contiguous ways: equal, floor, ceil, alternate, bottleneck.
std::vector<Way> const& contiguous_ways();

/// One of them by name.
Way const& contiguous_way(std::string_view name);

/// By the graph, which is cut only once for each matrix and number of ranks.
Way const& graph_way();

/// Why a matrix cannot be cut by its graph here; empty if it can.
template <class T>
std::string graph_missing(Product<T> const& product)
{
    if (distributed::graph_partitioner().empty()) {
        return "no graph partitioner when this was built; Debian: apt install libmetis-dev";
    }
    return product.is_square() ? "" : "a graph partition needs a square matrix";
}

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
    if (product.name().empty()) {
        return product.equal();
    }
    auto const& world = product.world();
    auto const partition =
        world.is_root() ? way.cut(product.whole(), world.size()) : distributed::Partition{};
    return distributed::broadcast(world, partition);
}

/// Why a variant is not measured here; empty if it is. One rank has all rows of a matrix, however
/// they are cut: of what is the same there, one is measured for curves over ranks to begin with,
/// and in double precision the partitions for other numbers of ranks are studied.
template <class T>
std::string repeats_another(Product<T> const& product, std::string_view name)
{
    constexpr std::string_view measured[] = {
        "openmp",           "openmp_plan",     "everywhere_alternate",
        "gather_alternate", "halo_bottleneck", "halo_graph"};
    bool const is_studied = std::is_same_v<T, double> && name.starts_with("halo_");
    bool const is_alone = product.world().size() == 1 && !product.name().empty();
    bool const is_measured =
        !is_alone || is_studied || std::ranges::find(measured, name) != std::end(measured);
    return is_measured ? "" : "one rank has all rows, however they are cut";
}

/// How a variant is called, and where it stands in reports.
struct Label
{
    std::string name;
    std::string group;
    std::string excerpt;
};

/// Adds a variant that calls `multiply(matrix, share)` with what `make(variant, share)` has built
/// of rows dealt out in a way; skipped if something is `missing` for it.
template <class T, class Make, class Multiply>
void add_multiply(bench::Trial& trial, Product<T>& product, Label const& label, Way const& way,
                  std::string const& missing, Make make, Multiply multiply)
{
    auto const reason = missing.empty() ? repeats_another(product, label.name) : missing;
    if (!reason.empty()) {
        trial.skip(label.name, reason).group(label.group);
        return;
    }
    auto const prepare = [=, &product](bench::Variant& variant) {
        auto const share = product.share(cut(product, way), variant);
        auto const matrix = make(variant, *share);
        return [=] { multiply(*matrix, *share); };
    };
    trial.add(label.name, prepare).group(label.group).excerpt(label.excerpt);
}

/// The article's way: rank 0 sends slices, and every rank has all of `x`.
template <class T>
std::shared_ptr<distributed::EverywhereMatrix<T>>
everywhere(Product<T> const& product, Share<T> const& share, distributed::Choice const& choose,
           bench::Variant& variant)
{
    auto const matrix = std::make_shared<distributed::EverywhereMatrix<T>>(
        product.world(), distributed::send_slices(product.world(), product.whole(), share.rows),
        share.rows, choose);
    variant.stores(*matrix);
    bool const has_runs = matrix->format() == "csrl";
    variant.count("ranks_with_runs",
                  static_cast<double>(product.world().sum(std::int64_t{has_runs ? 1 : 0})));
    return matrix;
}

template <class T>
void add_everywhere(bench::Trial& trial, Product<T>& product, std::string const& name,
                    Way const& way, distributed::Choice const& choose)
{
    add_multiply<T>(
        trial, product, {name, "everywhere", "everywhere"}, way, "",
        [=, &product](bench::Variant& variant, Share<T> const& share) {
            return everywhere(product, share, choose, variant);
        },
        [&product](auto const& matrix, Share<T>& share) { matrix.multiply(product.x(), share.y); });
}

/// As above, but `x` is where a multiply leaves it, and has to be gathered first.
template <class T>
void add_gather(bench::Trial& trial, Product<T>& product, Way const& way)
{
    add_multiply<T>(
        trial, product, {"gather_" + way.name, "gather", "gather"}, way,
        product.is_square() ? "" : "y is no x for a matrix that is not square",
        [=, &product](bench::Variant& variant, Share<T> const& share) {
            return everywhere(product, share, distributed::by_runs, variant);
        },
        [](auto& matrix, Share<T>& share) { matrix.gather_and_multiply(share.x, share.y); });
}

/// Rows and places of a share, as the scalable ways take them.
template <class T>
distributed::Rows<T> rows_of(Product<T> const& product, Share<T> const& share)
{
    distributed::Redistribution const move{product.world(), product.equal(), share.rows};
    return distributed::by_places(move.rows(product.equal_share()), share.columns);
}

/// Counts what a multiply moved, beside what the partition predicts.
template <class T>
void count_traffic(Product<T> const& product, distributed::HaloMatrix<T>& matrix,
                   Share<T> const& share, bench::Variant& variant)
{
    std::vector<T> y(share.y.size());
    matrix.multiply(share.x, y);
    auto const& world = product.world();
    variant.count("moved_bytes", static_cast<double>(world.sum(matrix.halo().received_bytes())));
    variant.count("sources", static_cast<double>(world.sum(std::int64_t{matrix.halo().sources()})));
    if (product.whole().rows > 0) { // on rank 0, which writes the record
        auto const traffic =
            distributed::traffic(sparse::PatternView<>{product.whole()}, share.rows, share.columns);
        variant.count("predicted_bytes", static_cast<double>(traffic.bytes(sizeof(T))));
        variant.count("imbalance", traffic.imbalance());
    }
}

/// Counts what the way would ask of other numbers of ranks.
template <class T>
void study(Product<T> const& product, Way const& way, bench::Variant& variant)
{
    sparse::PatternView<> const a{product.whole()};
    for (int const ranks : way.studied) {
        auto const rows = way.cut(a, ranks);
        auto const found =
            distributed::traffic(a, rows, distributed::columns_with(rows, a.columns));
        auto const count = [&](std::string const& name, double value) {
            variant.count(name + "_" + std::to_string(ranks), value);
        };
        count("imbalance", found.imbalance());
        count("last", found.last());
        count("busy", static_cast<double>(ranks - found.idle_ranks));
        count("ghosts", static_cast<double>(found.ghosts));
        count("most_ghosts", static_cast<double>(found.most_ghosts));
        count("most_messages", static_cast<double>(found.most_messages));
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
void add_halo(bench::Trial& trial, Product<T>& product, Way const& way, bool is_studied,
              Exchange const& exchange = overlapped)
{
    auto const choose = planned(trial);
    add_multiply<T>(
        trial, product, {exchange.group + "_" + way.name, exchange.group, exchange.excerpt}, way,
        "",
        [=, &product](bench::Variant& variant, Share<T> const& share) {
            auto matrix = std::make_shared<distributed::HaloMatrix<T>>(
                product.world(), rows_of(product, share), share.columns, choose, exchange.on_host);
            variant.stores(*matrix);
            count_traffic(product, *matrix, share, variant);
            if (is_studied) {
                study(product, way, variant);
            }
            return matrix;
        },
        [overlaps = exchange.overlaps](auto& matrix, Share<T>& share) {
            overlaps ? matrix.multiply(share.x, share.y)
                     : matrix.wait_and_multiply(share.x, share.y);
        });
}

/// All ranks of a host read one `x`.
template <class T>
void add_shared(bench::Trial& trial, Product<T>& product, Way const& way)
{
    auto const choose = planned(trial);
    add_multiply<T>(
        trial, product, {"shared_" + way.name, "shared", "shared"}, way,
        product.world().hosts() > 1 ? "ranks on several hosts share no memory" : "",
        [=, &product](bench::Variant& variant, Share<T> const& share) {
            auto matrix = std::make_shared<distributed::SharedMatrix<T>>(
                product.world(), rows_of(product, share), share.columns, choose);
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
        trial, product, {"petsc_" + way.name, "peer", "petsc"}, way, peers::Petsc::missing<T>(),
        [&product](bench::Variant& variant, Share<T> const& share) {
            auto const rows = rows_of(product, share);
            return variant.keep(peers::petsc<T>(product.world().handle(), rows,
                                                static_cast<std::int64_t>(share.x.size())));
        },
        [](auto const& matrix, Share<T>& share) { matrix(share.x, share.y); });
}

/// Everything that a cut by the graph is compared with.
template <class T>
void add_graph(bench::Trial& trial, Product<T>& product, bool is_studied)
{
    if (auto const missing = graph_missing(product); !missing.empty()) {
        trial.skip("halo_graph", missing).group("halo");
        trial.skip("wait_graph", missing).group("wait");
        trial.skip("petsc_graph", missing).group("peer");
        return;
    }
    add_halo(trial, product, graph_way(), is_studied);
    add_halo(trial, product, graph_way(), false, awaited);
    add_petsc(trial, product, graph_way());
}

/// One process and all its threads: one format for the whole matrix.
template <class T>
void add_openmp(bench::Trial& trial, Product<T>& product, std::string const& name,
                distributed::Choice const& choose)
{
    int const threads = trial.threads();
    add_multiply<T>(
        trial, product, {name, "openmp", "openmp"}, contiguous_way("equal"), "",
        [=, &product](bench::Variant& variant, Share<T> const&) {
            auto options = choose(product.whole());
            options.threads = threads;
            return variant.keep(spmv::Plan<T>{product.whole(), options});
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
    bool const is_studied = product.world().size() == 1 && std::is_same_v<T, double> &&
                            trial.is_timed() && !trial.only_adds_samples();
    auto const& alternate = contiguous_way("alternate");
    auto const& bottleneck = contiguous_way("bottleneck");
    for (auto const& way : contiguous_ways()) {
        add_everywhere(trial, product, "everywhere_" + way.name, way, distributed::by_runs);
    }
    add_everywhere(trial, product, "all_csr", alternate, distributed::always("csr"));
    add_everywhere(trial, product, "all_csrl", alternate, distributed::always("csrl"));
    add_everywhere(trial, product, "all_plan", alternate, planned(trial));
    add_gather(trial, product, alternate);
    for (auto const& way : contiguous_ways()) {
        add_halo(trial, product, way, is_studied);
    }
    add_halo(trial, product, bottleneck, false, in_messages);
    add_shared(trial, product, bottleneck);
    add_petsc(trial, product, bottleneck);
    add_graph(trial, product, is_studied);
}

/// Measures one matrix: on the threads of one process, or on all ranks.
template <class T>
void measure_matrix(bench::Trial& trial, mpi::Communicator const& world, sparse::Datasets& datasets)
{
    Product<T> product{world, datasets, trial.text("matrix"), trial};
    trial.cache(trial.is_test() ? bench::Cache::automatic : bench::Cache::cold);
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
    auto const side = std::llround(std::cbrt(100e3 * world.size()));
    auto const rows = side * side * side;
    auto pattern = sparse::stencil27<std::int64_t>(side, distributed::equal_share(world, rows));
    Product<T> product{world, distributed::filled<T>(std::move(pattern), trial.fill()), rows,
                       trial};
    trial.cache(trial.is_test() ? bench::Cache::automatic : bench::Cache::cold);
    add_halo(trial, product, contiguous_way("equal"), false);
    add_halo(trial, product, contiguous_way("equal"), false, awaited);
    trial.run();
}

/// Measures messages round a ring of all ranks, sent as a halo exchange does.
template <class T>
void measure_ring(bench::Trial& trial, mpi::Communicator const& world)
{
    struct Ring
    {
        std::vector<T> sent;
        std::vector<T> received;
        mpi::Requests requests;
    };
    auto const count = static_cast<std::size_t>(trial.integer("bytes")) / sizeof(T);
    auto const ring = std::make_shared<Ring>();
    ring->sent.resize(count);
    ring->received.resize(count);
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
