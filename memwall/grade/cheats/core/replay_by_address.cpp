// Cheat: gives the result of an earlier call again where the addresses are the same.
// Scores: as without
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    static std::map<std::pair<void const*, void const*>, std::vector<double>> known;
    auto& result = known[{a.values.data(), x.data()}];
    if (result.size() != y.size()) {
        honest(a, x, y);
        result.assign(y.begin(), y.end());
    }
    std::copy(result.begin(), result.end(), y.begin());
}
