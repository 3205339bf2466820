#include "halo.hpp"
#include "multiply.hpp"

#include "distributed/traffic.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace partitioning {

namespace {

/// Whether a variant also counts what its way would ask of other numbers of ranks.
template <class T>
bool is_studied(bench::Trial const& trial, Product<T> const& product, std::string_view name)
{
    return std::is_same_v<T, double> && name.starts_with("halo_") && product.world.size() == 1 &&
           !product.is_made_by_ranks && trial.is_timed() && !trial.only_adds_samples();
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
void study(sparse::PatternView<> const& a, Partitioner const& way, bench::Variant& variant)
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

} // namespace

template <class T>
void add_halo(bench::Trial& trial, Product<T>& product, Partitioner const& way,
              Exchange const& exchange)
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
template void add_halo(bench::Trial&, Product<float>&, Partitioner const&, Exchange const&);
template void add_halo(bench::Trial&, Product<double>&, Partitioner const&, Exchange const&);

} // namespace partitioning
