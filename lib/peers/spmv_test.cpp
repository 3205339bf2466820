#include "peers/spmv.hpp"

#include "spmv/test_matrices.hpp"

#include <doctest/doctest.h>

#include <omp.h>

#include <stdexcept>

namespace {

/// A peer may refuse a matrix without nonzeros, and no other.
template <class T>
bool refuses(peers::SpmvPeer<T> const& peer, sparse::Csr<T> const& a)
{
    try {
        peer.make(a);
        return false;
    } catch (std::runtime_error const& error) {
        CAPTURE(std::string{error.what()});
        CHECK(a.nonzeros() == 0);
        return true;
    }
}

} // namespace

TEST_CASE_TEMPLATE("the peers that were found multiply right", T, float, double)
{
    for (auto const tuning : {peers::Tuning::off, peers::Tuning::on}) {
        for (auto const& peer : peers::spmv_peers<T>(tuning)) {
            CAPTURE(peer.name);
            for (auto const& test : spmv::testing::cases<T>()) {
                CAPTURE(test.name);
                if (peer.available() && !refuses<T>(peer, test.a)) {
                    spmv::testing::check_multiply<T>(test, peer.make(test.a));
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("a peer has a version or a reason why it is missing", T, float, double)
{
    for (auto const& peer : peers::spmv_peers<T>()) {
        CAPTURE(peer.name);
        CHECK(peer.available() != peer.version.empty());
        CHECK(peer.available() == static_cast<bool>(peer.make));
    }
}

TEST_CASE("peers leave arithmetic and threads as they found them")
{
    int const threads = omp_get_max_threads();
    spmv::testing::Generator random{3};
    auto const a = spmv::testing::make_matrix<float>({"", 9, {2, 0, 7}},
                                                     spmv::testing::Values::uniform, random);
    std::vector<float> const x(9, 1);
    std::vector<float> y(3);
    for (auto const& peer : peers::spmv_peers<float>()) {
        CAPTURE(peer.name);
        if (peer.available()) {
            peer.make(a)(x, y);
            float const volatile smallest = std::numeric_limits<float>::denorm_min();
            float const volatile twice = smallest + smallest;
            CHECK(twice != 0);
            CHECK(omp_get_max_threads() == threads);
        }
    }
}
