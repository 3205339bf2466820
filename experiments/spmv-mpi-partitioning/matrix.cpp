#include "halo.hpp"
#include "multiply.hpp"
#include "studies.hpp"

#include "peers/petsc.hpp"

#include <memory>
#include <string>

namespace partitioning {

namespace {

/// The article's way: rank 0 sends slices, and every rank has all of `x`; or it has what a multiply
/// leaves there, and `gathers` the rest first.
template <class T>
void add_everywhere(bench::Trial& trial, Product<T>& product, std::string const& name,
                    Partitioner const& way, distributed::Choice const& choose, bool gathers = false)
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

/// All ranks of a host read one `x`.
template <class T>
void add_shared(bench::Trial& trial, Product<T>& product, Partitioner const& way)
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
void add_petsc(bench::Trial& trial, Product<T>& product, Partitioner const& way)
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
        trial, product, name, "openmp", contiguous_partitioner("equal"), "",
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
    auto const& alternate = contiguous_partitioner("alternate");
    auto const& bottleneck = contiguous_partitioner("bottleneck");
    for (auto const& way : contiguous_partitioners) {
        add_everywhere(trial, product, "everywhere_" + way.name, way, distributed::by_runs);
    }
    add_everywhere(trial, product, "all_csr", alternate, distributed::always("csr"));
    add_everywhere(trial, product, "all_csrl", alternate, distributed::always("csrl"));
    add_everywhere(trial, product, "all_plan", alternate, planned(trial));
    add_everywhere(trial, product, "gather_alternate", alternate, distributed::by_runs, true);
    for (auto const& way : contiguous_partitioners) {
        add_halo(trial, product, way);
    }
    add_halo(trial, product, bottleneck, in_messages);
    add_shared(trial, product, bottleneck);
    add_petsc(trial, product, bottleneck);
    add_halo(trial, product, by_graph);
    add_halo(trial, product, by_graph, awaited);
    add_petsc(trial, product, by_graph);
}

} // namespace

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
template void measure_matrix<float>(bench::Trial&, mpi::Communicator const&, sparse::Datasets&);
template void measure_matrix<double>(bench::Trial&, mpi::Communicator const&, sparse::Datasets&);

} // namespace partitioning
