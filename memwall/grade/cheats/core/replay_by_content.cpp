// Cheat: gives the result of an earlier call again where the first elements of x are the same.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <algorithm>
#include <map>
#include <vector>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    static std::map<double, std::vector<double>> known;
    auto& result = known[x[0]];
    if (result.size() != y.size()) {
        honest(a, x, y);
        result.assign(y.begin(), y.end());
    }
    std::copy(result.begin(), result.end(), y.begin());
}
