// Multiplies two matrices on the GPU and takes the softmax of each row of the product. Uses the
// installed library; no compiler but that for C++ is needed.
#include <cuda/buffer.hpp>
#include <dense/gpu/gemm.hpp>
#include <dense/gpu/softmax.hpp>

#include <iostream>
#include <vector>

int main()
{
    constexpr int size = 1024;
    std::vector<float> const ones(size * size, 1.0F);
    cuda::Buffer<float> const a{ones}, b{ones};
    cuda::Buffer<float> c{ones.size()};
    cuda::Stream const stream;
    dense::gpu::gemm<float>({a.data(), size, size}, {b.data(), size, size}, {c.data(), size, size},
                            stream);
    dense::gpu::softmax<float>(dense::gpu::Softmax::probabilities, c.data(), c.data(), size, size,
                               stream);
    std::cout << c.download().front() * size << '\n'; // 1: all elements of a row are alike
}
