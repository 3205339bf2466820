#include "energy/counter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace energy {

namespace {

using std::filesystem::path;

/// The first word of a file as a number or a text; none if it cannot be read.
template <class T>
std::optional<T> read(path const& file)
{
    T value{};
    std::ifstream stream{file};
    return stream >> value ? std::optional{value} : std::nullopt;
}

/// One counter: a package of cores, or the memory at it.
struct Zone
{
    path file;
    Total total;

    Zone(path const& folder, std::uint64_t largest)
        : file{folder / "energy_uj"}, total{largest, largest}
    {
    }
};

/// The zones to add up: no zone of these lies inside another one, as cores lie inside a package.
std::vector<path> zones_in(path const& folder)
{
    std::vector<path> found;
    std::error_code none;
    for (auto const& entry : std::filesystem::directory_iterator{folder, none}) {
        auto const& at = entry.path();
        auto const name = read<std::string>(at / "name").value_or("");
        if (at.filename().string().starts_with("intel-rapl:") &&
            (name.starts_with("package-") || name == "dram")) {
            found.push_back(at);
        }
    }
    std::ranges::sort(found);
    return found;
}

class Powercap : public Counter
{
public:
    explicit Powercap(path const& folder)
    {
        auto const found = zones_in(folder);
        if (found.empty()) {
            missing_ = fmt::format("no energy counter: {} has no zones of processors, which Linux "
                                   "shows on bare metal with the module intel_rapl_msr loaded",
                                   folder.string());
        }
        for (auto const& at : found) {
            auto const largest = read<std::uint64_t>(at / "max_energy_range_uj");
            if (!largest || !read<std::uint64_t>(at / "energy_uj")) {
                missing_ =
                    fmt::format("no energy counter: {} cannot be read, which root can allow: "
                                "chmod a+r {}/intel-rapl:*/energy_uj",
                                (at / "energy_uj").string(), folder.string());
                return;
            }
            zones_.emplace_back(at, *largest);
        }
    }

    std::string name() const override { return "powercap"; }
    std::string missing() const override { return missing_; }

    double joules() override
    {
        double sum = 0;
        for (auto& zone : zones_) {
            auto const reading = read<std::uint64_t>(zone.file);
            if (!reading) {
                throw std::runtime_error{
                    fmt::format("{} cannot be read any more, which could be", zone.file.string())};
            }
            sum += 1e-6 * static_cast<double>(zone.total(*reading));
        }
        return sum;
    }

private:
    std::vector<Zone> zones_;
    std::string missing_;
};

} // namespace

std::unique_ptr<Counter> of_host(path const& folder)
{
    return std::make_unique<Powercap>(folder);
}

} // namespace energy
