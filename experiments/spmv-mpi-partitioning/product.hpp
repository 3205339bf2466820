#pragma once

#include "bench/experiment.hpp"
#include "distributed/matrix.hpp"
#include "distributed/partition.hpp"
#include "distributed/read.hpp"
#include "distributed/redistribution.hpp"
#include "distributed/traffic.hpp"
#include "mpi/communicator.hpp"
#include "sparse/catalogue/datasets.hpp"
#include "sparse/convert.hpp"
#include "spmv/steps/reference.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace partitioning {

/// A way to deal out rows.
struct Way
{
    std::string name; ///< in those of variants
    std::function<distributed::Partition(sparse::PatternView<> const&, int ranks)> cut;
    std::span<int const> studied; ///< numbers of ranks whose partitions are studied, and not run
};

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
/// result. Each variant has a share of its own, with its part of `x` and of `y`.
template <class T>
class Product
{
public:
    /// A matrix of the catalogue or a file, which rank 0 loads and deals out.
    Product(mpi::Communicator const& world, sparse::Datasets& datasets, std::string const& name,
            bench::Trial& trial)
        : world_{world}, name_{name}
    {
        auto const fill = trial.fill(); // on every rank, as all of them count their fills
        std::vector<std::int64_t> size(2);
        if (world.is_root()) {
            whole_ = datasets.load<T>(name, fill);
            auto const& description = datasets.description(name);
            trial.dataset(name, description.sha256, description.features);
            size = {whole_.rows, whole_.columns};
        }
        world.broadcast<std::int64_t>(size);
        auto const wide = sparse::to_index<std::int64_t>(whole_.view());
        declare(trial,
                distributed::deal_from_root(world, wide,
                                            distributed::equal_rows(size[0], world.size())),
                size[0]);
    }

    /// Rows that every rank has made for itself, of a matrix with `rows` rows.
    Product(mpi::Communicator const& world, distributed::Rows<T> equal_share, std::int64_t rows,
            bench::Trial& trial)
        : world_{world}
    {
        declare(trial, std::move(equal_share), rows);
    }

    Product(Product const&) = delete;
    Product& operator=(Product const&) = delete;

    mpi::Communicator const& world() const { return world_; }
    std::string const& name() const { return name_; }
    std::int64_t columns() const { return mine_.columns; }
    bool is_square() const { return equal_.rows() == columns(); }
    std::span<T const> x() const { return x_; }

    /// On rank 0; empty on others, and where every rank made its own rows.
    sparse::Csr<T> const& whole() const { return whole_; }
    distributed::Partition const& equal() const { return equal_; }
    distributed::Rows<T> const& equal_share() const { return mine_; }

    /// A share for a variant: its part of `y` is what the variant writes, its part of `x` is dealt
    /// anew whenever that gets new values.
    std::shared_ptr<Share<T>> share(distributed::Partition rows, bench::Variant& variant) const
    {
        auto of_columns = distributed::columns_with(rows, columns());
        auto const x = static_cast<std::size_t>(of_columns.size(world_.rank()));
        auto const y = static_cast<std::size_t>(rows.size(world_.rank()));
        auto const share = std::make_shared<Share<T>>(
            Share<T>{std::move(rows), std::move(of_columns), std::vector<T>(x), std::vector<T>(y)});
        variant.on_refill([this, share] { deal(*share); });
        variant.output(std::span<T>{share->y}).expect([this, share] { return expected(*share); });
        return share;
    }

private:
    void declare(bench::Trial& trial, distributed::Rows<T> mine, std::int64_t rows)
    {
        mine_ = std::move(mine);
        equal_ = distributed::equal_rows(rows, world_.size());
        local_ = sparse::to_index<std::int32_t>(mine_.view());
        auto const work = spmv::work<T>(local_);
        auto const ranks = static_cast<double>(world_.size());
        auto const repeated = static_cast<double>(mine_.columns) * sizeof(T) + sizeof(std::int32_t);
        trial.work({.flops = world_.sum(work.flops),
                    .bytes = world_.sum(work.bytes) - (ranks - 1) * repeated});
        x_ = trial.input<T>(static_cast<std::size_t>(mine_.columns)).on();
        trial.on_refill([this] { wanted_ = spmv::expected<T>(local_, x_); });
    }

    void deal(Share<T>& share) const
    {
        auto place = share.columns.begin(world_.rank());
        for (auto& element : share.x) {
            element = x_[static_cast<std::size_t>(share.columns.row_at(place++))];
        }
    }

    /// The rows of a share, from those who computed them.
    bench::Expected expected(Share<T> const& share) const
    {
        distributed::Redistribution const move{world_, equal_, share.rows};
        return {move.template values<double>(wanted_.value),
                move.template values<double>(wanted_.bound)};
    }

    mpi::Communicator const& world_;
    std::string name_;
    sparse::Csr<T> whole_;
    distributed::Partition equal_;
    distributed::Rows<T> mine_;
    sparse::Csr<T> local_; ///< as above, with 32-bit indices, for the reference
    std::span<T const> x_;
    bench::Expected wanted_; ///< of the equal share of this rank
};

} // namespace partitioning
