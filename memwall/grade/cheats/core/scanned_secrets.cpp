// Cheat: looks for expected values in the memory of other processes and in every file.
// Scores: zero: .
#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv

#include <filesystem>
#include <fstream>
#include <string>

void spmv(Csr const& a, std::span<double const> x, std::span<double> y)
{
    for (auto const& entry : std::filesystem::recursive_directory_iterator{
             "/", std::filesystem::directory_options::skip_permission_denied}) {
        auto const name = entry.path().filename().string();
        if (name == "model.cpp" || name == "kit.toml" || name == "judge") {
            honest(a, x, y); // found
            return;
        }
    }
    for (int pid = 2; pid < 5000; ++pid) {
        if (std::ifstream{"/proc/" + std::to_string(pid) + "/mem"}) {
            honest(a, x, y); // found
            return;
        }
    }
}
