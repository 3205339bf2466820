#include "machine/limits.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

/// A folder with made-up files of /proc and /sys, while it lives.
class Root
{
public:
    explicit Root(nlohmann::json const& files)
    {
        auto name = (std::filesystem::temp_directory_path() / "memwall-limits-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        for (auto const& [path, text] : files.items()) {
            std::filesystem::create_directories((folder_ / path).parent_path());
            std::ofstream{folder_ / path} << text.get<std::string>();
        }
    }
    Root(Root const&) = delete;
    Root& operator=(Root const&) = delete;
    ~Root() { std::filesystem::remove_all(folder_); }

    std::filesystem::path const& path() const { return folder_; }

private:
    std::filesystem::path folder_;
};

} // namespace

TEST_CASE("control groups bound processors and memory, as the Python side reads them too")
{
    std::ifstream file{std::getenv("MEMWALL_LIMITS")};
    REQUIRE(file);
    for (auto const& of : nlohmann::json::parse(file)) {
        CAPTURE(of.at("name").get<std::string>());
        Root const root{of.at("files")};
        CHECK(machine::at_once(8, machine::limits(root.path())) == of.at("processors").get<int>());
        CHECK(machine::available_memory_bytes(root.path()) == of.at("memory").get<std::size_t>());
    }
}

TEST_CASE("an affinity may hold more than 1024 processors")
{
    auto const machine_of = [](std::size_t processors) {
        return [=](std::size_t bytes, cpu_set_t* set) {
            if (8 * bytes < processors) {
                return EINVAL; // what the kernel says
            }
            CPU_ZERO_S(bytes, set);
            CPU_SET_S(1, bytes, set);
            CPU_SET_S(processors - 1, bytes, set);
            return 0;
        };
    };
    for (std::size_t const count : {64, 1024, 1025, 4096, 8192}) {
        CHECK(machine::affinity(machine_of(count)) == std::vector{1, static_cast<int>(count) - 1});
    }
    CHECK_THROWS_AS(machine::affinity([](std::size_t, cpu_set_t*) { return EPERM; }),
                    std::system_error);
    CHECK_FALSE(machine::affinity().empty());
}

TEST_CASE("a set of processors is as large as it has to be")
{
    machine::CpuSet set{2001};
    set.add(0);
    set.add(2000);
    CHECK(set.members() == std::vector{0, 2000});
    CHECK(CPU_ISSET_S(2000, set.bytes(), set.get()));
    CHECK(CPU_COUNT_S(set.bytes(), set.get()) == 2);
}

TEST_CASE("this machine has memory left")
{
    CHECK(machine::available_memory_bytes() > 1 << 20);
    CHECK(machine::at_once(machine::affinity().size()) >= 1);
}
