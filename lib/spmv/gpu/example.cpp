// Multiplies the matrix of a Matrix Market file on the GPU: `example FILE` prints the sum of each
// row, then the same with all values doubled and added to what was there. Uses the installed
// library; no compiler but that for C++ is needed.
#include <cuda/buffer.hpp>
#include <sparse/io/matrix_market.hpp>
#include <spmv/gpu/plan.hpp>

#include <iostream>
#include <vector>

int main(int, char** arguments)
{
    auto host = sparse::read_matrix_market<double>(arguments[1]);
    cuda::Stream const stream;
    spmv::gpu::Csr<double> const a{host};                 // in the device's memory
    spmv::gpu::Plan<double> plan{a.view(), stream.get()}; // reads `a` as long as plan.borrows()
    std::cout << plan.explain() << '\n';

    std::vector<double> const ones(host.columns, 1.0);
    cuda::Buffer<double> const x{ones};
    cuda::Buffer<double> y{static_cast<std::size_t>(host.rows)};
    plan(x.data(), y.data(), stream.get()); // y = A x, as often as needed
    stream.synchronize();
    for (double const sum : y.download()) {
        std::cout << sum << '\n';
    }

    for (double& value : host.values) {
        value *= 2;
    }
    spmv::gpu::Csr<double> const doubled{host};
    plan.update(doubled.view(), stream.get());        // the same structure: nothing is chosen anew
    plan(1.0, x.data(), 1.0, y.data(), stream.get()); // y = A x + y
    stream.synchronize();
    for (double const sum : y.download()) {
        std::cout << sum << '\n';
    }
}
