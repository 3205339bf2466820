#include "peers/spmv.hpp"

#include "spmv/steps/test_matrices.hpp"

#include <doctest/doctest.h>

#include <omp.h>

namespace {

/// Of the peers in this process: OMP_NUM_THREADS says how many.
int const threads = omp_get_max_threads();

/// What a peer makes of a matrix is right; or it says that it is not made for it, which only a
/// matrix without nonzeros and one without blocks may be a reason for.
template <class T>
void check_peer(peers::SpmvPeer<T> const& peer, spmv::testing::TestProduct<T> const& test)
{
    CAPTURE(peer.name);
    CAPTURE(test.name);
    try {
        spmv::testing::check_multiply<T>(test, peer.make(test.a));
    } catch (peers::NotApplicable const& reason) {
        CHECK(std::string{reason.what()} != "");
        CHECK((test.a.nonzeros() == 0 || peer.name == "mkl_bsr"));
    }
}

/// A matrix of dense blocks of `size` times `size`, one or two in each row of blocks.
template <class T>
spmv::testing::TestProduct<T> dense_blocks(int size)
{
    constexpr int block_rows = 24;
    spmv::testing::Generator random{5};
    sparse::Csr<T> a;
    a.rows = a.columns = block_rows * size;
    for (int row = 0; row < a.rows; ++row) {
        int const block = row / size;
        for (int const column : std::set{block / 2, block}) {
            for (int k = 0; k < size; ++k) {
                a.col.push_back(column * size + k);
            }
        }
        a.row_ptr.push_back(static_cast<int>(a.col.size()));
    }
    a.values.resize(a.col.size());
    auto const values = spmv::testing::Values::uniform;
    spmv::testing::fill<T>(a.values, values, false, random);
    auto x = spmv::testing::make_vector<T>(a.columns, values, random);
    auto expected = spmv::expected<T>(a, x);
    return {"blocks of " + std::to_string(size), std::move(a), std::move(x), std::move(expected),
            values};
}

} // namespace

TEST_CASE_TEMPLATE("the peers that were found multiply right", T, float, double)
{
    for (auto const tuning : {peers::Tuning::off, peers::Tuning::on}) {
        for (auto const& peer : peers::spmv_peers<T>({threads, tuning})) {
            if (peer.available()) {
                for (auto const& test : spmv::testing::cases<T>()) {
                    check_peer(peer, test);
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("no peer refuses a matrix of dense blocks", T, float, double)
{
    for (auto const& peer : peers::spmv_peers<T>({.threads = threads})) {
        CAPTURE(peer.name);
        for (int const size : {2, 3, 4, 6, 8}) {
            auto const test = dense_blocks<T>(size);
            if (peer.available()) {
                spmv::testing::check_multiply<T>(test, peer.make(test.a));
            }
        }
    }
}

TEST_CASE_TEMPLATE("a peer has a version or a reason why it is missing", T, float, double)
{
    for (auto const& peer : peers::spmv_peers<T>({.threads = threads})) {
        CAPTURE(peer.name);
        CHECK(peer.available() != peer.version.empty());
        CHECK(peer.available() == static_cast<bool>(peer.make));
    }
}

TEST_CASE("peers leave arithmetic and threads as they found them")
{
    int const other_number = threads + 1;
    omp_set_num_threads(other_number);
    auto const test = dense_blocks<float>(3);
    std::vector<float> y(test.expected.value.size());
    for (auto const& peer : peers::spmv_peers<float>({.threads = threads})) {
        CAPTURE(peer.name);
        if (peer.available()) {
            peer.make(test.a)(test.x, y);
            float const volatile smallest = std::numeric_limits<float>::denorm_min();
            float const volatile twice = smallest + smallest;
            CHECK(twice != 0);
            CHECK(omp_get_max_threads() == other_number);
        }
    }
}
