#include "peers/spmv.hpp"

#include "spmv/test_matrices.hpp"

#include <doctest/doctest.h>

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
    for (auto const& peer : peers::spmv_peers<T>()) {
        CAPTURE(peer.name);
        for (auto const& test : spmv::testing::cases<T>()) {
            CAPTURE(test.name);
            if (peer.available() && !refuses<T>(peer, test.a)) {
                auto const multiply = peer.make(test.a);
                spmv::testing::check_multiply<T>(test, multiply);
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
