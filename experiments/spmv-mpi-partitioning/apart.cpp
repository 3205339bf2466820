#include "multiply.hpp"
#include "studies.hpp"

#include "distributed/traffic.hpp"

#include <initializer_list>
#include <memory>
#include <span>
#include <string>

namespace partitioning {

namespace {

using distributed::OnHost;

/// What is left of the costs of a product: who gets which rows, how ghosts come, and whether they
/// are chosen, and come, in each product.
template <class T>
struct Left
{
    using Matrix = distributed::HaloMatrix<T>;

    std::string name;
    std::string excerpt;
    std::string way;
    OnHost on_host;
    void (Matrix::*multiply)(std::span<T const>, std::span<T>);
};

/// Adds a product with some of the costs. All ranks store CSR, whatever rows they have.
template <class T>
void add(bench::Trial& trial, Product<T> const& product, Left<T> const& left)
{
    auto const prepare = [&product, left](bench::Variant& variant) {
        auto const share = product.share(cut(product, contiguous_partitioner(left.way)), variant);
        auto const matrix = std::make_shared<distributed::HaloMatrix<T>>(
            product.world, product.rows_of(*share), share->columns, distributed::always("csr"),
            left.on_host);
        variant.stores(*matrix);
        if (product.world.is_root()) { // which writes the record
            auto const traffic = distributed::traffic(sparse::PatternView<>{product.whole},
                                                      share->rows, share->columns);
            variant.count("imbalance", traffic.imbalance());
            variant.count("ghosts", static_cast<double>(traffic.ghosts));
        }
        variant.on_refill([&product, share, matrix] {
            product.deal_x(*share);
            for (int turn = 0; turn < 2; ++turn) { // ghosts of even and odd turns have boxes apart
                matrix->multiply(share->x, share->y);
            }
        });
        return [=] { ((*matrix).*left.multiply)(share->x, share->y); };
    };
    trial.add(left.name, prepare).excerpt(left.excerpt).group("apart");
}

} // namespace

template <class T>
void measure_apart(bench::Trial& trial, mpi::Communicator const& world, sparse::Datasets& datasets)
{
    if (world.size() == 1) {
        trial.not_applicable("one rank waits for nobody and sends nothing");
    }
    using Matrix = distributed::HaloMatrix<T>;
    Product<T> const product{world, datasets, trial};
    trial.cache(bench::Cache::cold);
    for (Left<T> const& left : std::initializer_list<Left<T>>{
             {"waits_packs_sends", "halo", "equal", OnHost::messages, &Matrix::multiply},
             {"packs_sends", "halo", "bottleneck", OnHost::messages, &Matrix::multiply},
             {"sends", "halo_again", "bottleneck", OnHost::messages, &Matrix::multiply_again},
             {"packs", "halo", "bottleneck", OnHost::memory, &Matrix::multiply},
             {"waits", "halo_alone", "equal", OnHost::messages, &Matrix::multiply_alone},
             {"multiplies", "halo_alone", "bottleneck", OnHost::messages,
              &Matrix::multiply_alone}}) {
        add(trial, product, left);
    }
    trial.run();
}
template void measure_apart<double>(bench::Trial&, mpi::Communicator const&, sparse::Datasets&);

} // namespace partitioning
