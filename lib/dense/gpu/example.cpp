// Multiplies matrices on the GPU, in single precision and in bf16 on tensor cores, takes the
// softmax of each row of a product, and plans one that is made often. Uses the installed library;
// no compiler but that for C++ is needed.
#include <cuda/buffer.hpp>
#include <dense/gpu/gemm.hpp>
#include <dense/gpu/gemm_plan.hpp>
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

    // The same shape again and again: a clock chooses the kernel once.
    dense::gpu::GemmPlan<float> const plan{
        {a.data(), size, size}, {b.data(), size, size}, {c.data(), size, size}, stream};
    plan({a.data(), size, size}, {b.data(), size, size}, {c.data(), size, size}, stream);
    std::cerr << plan.explain() << '\n';

    // Half of the left columns of x times the right ones transposed: parts of one matrix.
    std::vector<base::bf16> const twos(size * size, base::bf16{2.0});
    cuda::Buffer<base::bf16> const x{twos};
    cuda::Buffer<base::bf16> y{twos.size()};
    dense::Matrix const whole{x.data(), size, size};
    constexpr int half = size / 2;
    dense::gpu::gemm<base::bf16>(whole.part(0, 0, size, half), whole.part(0, half, size, half),
                                 {y.data(), size, size}, stream,
                                 {.alpha = 0.5, .transposes = {.b = true}});
    std::cout << static_cast<float>(y.download().front()) << '\n'; // 1024: half of 512 times 2 2
}
