// Multiplies a 2 x 3 matrix and a 3 x 2 matrix and prints the product. Uses the installed library.
#include <dense/gemm.hpp>

#include <iostream>
#include <vector>

int main()
{
    std::vector<double> const a{1, 2, 3, 4, 5, 6}; // row by row
    std::vector<double> const b{1, 0, 0, 1, 1, 1};
    std::vector<double> c(4);
    dense::gemm<double>({a.data(), 2, 3}, {b.data(), 3, 2}, {c.data(), 2, 2});
    std::cout << c[0] << ' ' << c[1] << '\n' << c[2] << ' ' << c[3] << '\n';
}
