#include "machine/cpu.hpp"
#include "machine/system.hpp"
#include "machine/topology.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

/// What the schema of results demands.
bool is_slug(std::string const& text)
{
    return !text.empty() && text.find("--") == text.npos && !text.starts_with('-') &&
           !text.ends_with('-') && std::ranges::all_of(text, [](char c) {
               return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9') || c == '-';
           });
}

nlohmann::ordered_json gpus(std::size_t count, char const* name)
{
    return nlohmann::ordered_json(count, {{"name", name}});
}

} // namespace

TEST_CASE("slugs are short and stay what they were")
{
    using machine::slug;
    CHECK(slug("Intel(R) Xeon(R) Processor @ 2.50GHz", 2, gpus(1, "NVIDIA H200")) ==
          "intel-xeon-2-50ghz-2c-h200");
    CHECK(slug("Intel(R) Xeon(R) Processor", 64, gpus(4, "NVIDIA H200")) ==
          "intel-xeon-64c-4x-h200");
    CHECK(slug("AMD EPYC", 2, {}) == "amd-epyc-2c");
    CHECK(slug("Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz", 6, {}) ==
          "intel-core-i7-8700k-3-70ghz-6c");
    CHECK(slug("aarch64 processor", 80, {}) == "aarch64-80c");
}

TEST_CASE("slugs have no odd characters")
{
    for (auto const* model : {"", "  ", "(R)", "Ünïcode/../ CPU", "a\tb\nc", "A--B"}) {
        for (auto const* name : {"NVIDIA H100 80GB HBM3", "Tesla T4 (odd)", ""}) {
            auto const slug = machine::slug(model, 3, gpus(2, name));
            CHECK_MESSAGE(is_slug(slug), slug);
        }
    }
    CHECK(is_slug(machine::slug(machine::cpu().model, machine::topology().cores, machine::gpus())));
}

TEST_CASE("this machine has memory and a system, and tells of each GPU twice")
{
    CHECK(machine::memory_bytes() > 1 << 20);
    CHECK(machine::operating_system().starts_with("Linux "));
    CHECK(machine::gpus().size() == machine::gpu_states().size());
    CHECK((machine::gpus().empty() || !machine::gpu_driver_version().empty()));
}
