#pragma once

#include "bench/experiment.hpp"
#include "distributed/matrix.hpp"
#include "distributed/read.hpp"
#include "distributed/traffic.hpp"
#include "sparse/catalogue/datasets.hpp"
#include "sparse/convert.hpp"
#include "spmv/steps/reference.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace partitioning {

/// A partition's share of this rank: its part of `x` and of `y`.
template <class T>
struct Share
{
    distributed::Partition rows;
    distributed::Partition columns;
    std::vector<T> x;
    std::vector<T> y;
};

/// `y = A x` of all ranks at one point, declared to its trial. Rank 0 may hold the matrix as a
/// whole; all ranks together hold it in equal shares of rows, and each can compute its rows of the
/// result. Each variant has a share of its own.
template <class T>
class Product
{
public:
    /// A matrix of the catalogue or a file, which rank 0 loads and deals out.
    Product(mpi::Communicator const& ranks, sparse::Datasets& datasets, bench::Trial& trial)
        : world{ranks}, is_made_by_ranks{false}
    {
        auto const fill = trial.fill(); // on every rank, as all of them count their fills
        if (world.is_root()) {
            auto const& name = trial.text("matrix");
            whole = datasets.load<T>(name, fill);
            auto const& description = datasets.description(name);
            trial.dataset(name, description.sha256, description.features);
        }
        std::int64_t rows = whole.rows;
        world.broadcast(std::span{&rows, 1});
        equal = distributed::equal_rows(rows, world.size());
        auto const wide = sparse::to_index<std::int64_t>(whole.view());
        declare(trial, distributed::deal_from_root(world, wide, equal));
    }

    /// Rows that every rank has made for itself, of a matrix with `rows` rows.
    Product(mpi::Communicator const& ranks, distributed::Rows<T> equal_share, std::int64_t rows,
            bench::Trial& trial)
        : world{ranks}, equal{distributed::equal_rows(rows, ranks.size())}, is_made_by_ranks{true}
    {
        declare(trial, std::move(equal_share));
    }

    Product(Product const&) = delete;
    Product& operator=(Product const&) = delete;

    bool is_square() const { return equal.rows() == equal_share.columns; }

    /// A share for a variant: its part of `y` is what the variant writes, its part of `x` is dealt
    /// anew whenever that gets new values.
    std::shared_ptr<Share<T>> share(distributed::Partition rows, bench::Variant& variant) const
    {
        auto columns = distributed::columns_with(rows, equal_share.columns);
        std::vector<T> of_x(static_cast<std::size_t>(columns.size(world.rank())));
        std::vector<T> of_y(static_cast<std::size_t>(rows.size(world.rank())));
        auto const share = std::make_shared<Share<T>>(
            Share<T>{std::move(rows), std::move(columns), std::move(of_x), std::move(of_y)});
        variant.on_refill([this, share] { deal_x(*share); });
        variant.output(std::span{share->y}).expect([this, share] { // from those who computed it
            distributed::Redistribution const move{world, equal, share->rows};
            return bench::Expected{move.template values<double>(wanted_.value),
                                   move.template values<double>(wanted_.bound)};
        });
        return share;
    }

    /// Brings a share its part of `x` as it is now.
    void deal_x(Share<T>& share) const
    {
        std::ranges::copy(distributed::part_of(x, share.columns, world.rank()), share.x.begin());
    }

    /// Rows and places of a share, as the scalable ways take them.
    distributed::Rows<T> rows_of(Share<T> const& share) const
    {
        distributed::Redistribution const move{world, equal, share.rows};
        return distributed::by_places(move.rows(equal_share), share.columns);
    }

    mpi::Communicator const& world;
    sparse::Csr<T> whole; ///< on rank 0; empty on others, and where every rank made its own rows
    distributed::Partition equal;
    distributed::Rows<T> equal_share; ///< of this rank
    std::span<T const> x;             ///< all of it
    bool const is_made_by_ranks;

private:
    void declare(bench::Trial& trial, distributed::Rows<T> mine)
    {
        equal_share = std::move(mine);
        local_ = sparse::to_index<std::int32_t>(equal_share.view());
        auto const work = spmv::work<T>(local_);
        auto const columns = static_cast<std::size_t>(equal_share.columns);
        auto const repeated = static_cast<double>(columns) * sizeof(T) + sizeof(std::int32_t);
        trial.work({.flops = world.sum(work.flops),
                    .bytes = world.sum(work.bytes) - (world.size() - 1) * repeated});
        x = trial.input<T>(columns).on();
        trial.on_refill([this] { wanted_ = spmv::expected<T>(local_, x); });
    }

    sparse::Csr<T> local_;   ///< the equal share, with 32-bit indices, for the reference
    bench::Expected wanted_; ///< of the equal share
};

} // namespace partitioning
