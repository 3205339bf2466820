// What stands before a cheat of the kits for sparse products so that it is one of a dense product:
// the values of its matrix are those of A, its x is B and its y is C.
#include "multiply.hpp"
#define multiply honest_product
#include "naive.cpp"
#undef multiply

struct Csr
{
    std::int32_t rows;
    std::int32_t columns;
    std::int32_t depth;
    std::span<double const> values;
};

void honest(Csr const& a, std::span<double const> x, std::span<double> y)
{
    honest_product(a.rows, a.columns, a.depth, a.values, x, y);
}

void spmv(Csr const& a, std::span<double const> x, std::span<double> y);

void multiply(std::int32_t m, std::int32_t n, std::int32_t k, std::span<double const> a,
              std::span<double const> b, std::span<double> c)
{
    spmv({m, n, k, a}, b, c);
}
