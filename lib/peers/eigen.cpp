#include "peers/adapters.hpp"

#include <Eigen/SparseCore>

#include <cstdint>

namespace peers {

namespace {

//! [eigen]
template <class T>
SpmvOperator<T> eigen_operator(sparse::CsrView<T> const& a, int threads)
{
    using Matrix = Eigen::Map<Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t> const>;
    using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    auto const nonzeros = static_cast<Eigen::Index>(a.nonzeros());
    Matrix const matrix(a.rows, a.columns, nonzeros, a.row_ptr.data(), a.col.data(),
                        a.values.data());
    return {0, [matrix, threads](std::span<T const> x, std::span<T> y) {
                Eigen::setNbThreads(threads);
                Eigen::Map<Vector const> const in(x.data(), matrix.cols());
                Eigen::Map<Vector> out(y.data(), matrix.rows());
                out.noalias() = matrix * in;
            }};
}
//! [eigen]

std::string version()
{
    return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
           std::to_string(EIGEN_MINOR_VERSION);
}

} // namespace

template <class T>
SpmvPeer<T> eigen(PeerOptions options)
{
    return {"eigen", version(), "", [options](sparse::CsrView<T> const& a) {
                return eigen_operator<T>(a, options.threads);
            }};
}

template SpmvPeer<float> eigen(PeerOptions);
template SpmvPeer<double> eigen(PeerOptions);

} // namespace peers
