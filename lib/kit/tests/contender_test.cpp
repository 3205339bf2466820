#include "kit/contender.hpp"

#include "kit/link.hpp"
#include "kit/problem_spmv.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>

#include <fcntl.h>
#include <unistd.h>

namespace {

std::unique_ptr<kit::SparseProduct>
some_instance(std::string const& line = "many ragged rows=100 columns=100 longest=9")
{
    auto instance = kit::Family{kit::problem("spmv vectors=2"), line}.make(3);
    instance->expect(true);
    return std::unique_ptr<kit::SparseProduct>{
        dynamic_cast<kit::SparseProduct*>(instance.release())};
}

kit::Header header_of(kit::Image const& image)
{
    kit::Header header{};
    std::memcpy(&header, image.bytes.data(), sizeof header);
    return header;
}

template <class T>
std::span<T const> placed(kit::Image const& image, int k)
{
    auto const array = header_of(image).array[k];
    return {reinterpret_cast<T const*>(image.bytes.data() + array.offset), array.bytes / sizeof(T)};
}

/// A folder for sockets, gone in the end.
struct Folder
{
    std::filesystem::path path;

    Folder()
    {
        std::string name = std::filesystem::temp_directory_path() / "memwall-kit-XXXXXX";
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;
};

/// What comes of one call of a box that does what `handed_in` says.
struct Outcome
{
    kit::Call call;
    std::string complaint;
    bool changed_input;
};

Outcome outcome(std::string const& handed_in, double limit_seconds = 5, int processors = 1,
                int calls = 1)
{
    char const* const box = std::getenv("MEMWALL_KIT_BOX");
    REQUIRE(box != nullptr);
    Folder const folder;
    auto const socket = (folder.path / "socket").string();
    auto const instance = some_instance();
    auto const images = instance->images(1, 11);
    kit::Contender contender{{.name = "one",
                              .keeps_time = false,
                              .uid = 0,
                              .socket = socket,
                              .command = {"env", "MEMWALL_HANDED_IN=" + handed_in, box, socket}},
                             1,
                             images[0].bytes.size() + 4096};
    contender.load(images);
    auto call = contender.call(processors, limit_seconds);
    for (; calls > 1 && call.fault.empty(); --calls) {
        contender.load(images);
        call = contender.call(processors, limit_seconds);
    }
    auto const y = contender.result(images, 0);
    return {call, instance->complaint({0, y}), contender.changed_input(images)};
}

} // namespace

TEST_CASE("ranks get rows that follow each other, and all arrays of them")
{
    auto const instance = some_instance();
    auto const images = instance->images(3, 5);
    auto const& a = instance->a;
    REQUIRE(images.size() == 3);
    std::int32_t row = 0;
    for (auto const& image : images) {
        auto const header = header_of(image);
        CHECK(std::string{header.function} == "spmv");
        REQUIRE(header.numbers == 2);
        REQUIRE(header.arrays == 6);
        auto const rows = header.number[0];
        CHECK(header.number[1] == a.columns);
        CHECK(image.first == static_cast<std::size_t>(row) * 2);
        CHECK(image.output == header.array[header.output].offset);
        CHECK(image.output_bytes == static_cast<std::size_t>(rows) * 2 * sizeof(double));
        auto const row_ptr = placed<std::int32_t>(image, 0);
        auto const values = placed<double>(image, 2);
        CHECK(row_ptr.size() == static_cast<std::size_t>(rows) + 1);
        CHECK(row_ptr.front() == 0);
        CHECK(static_cast<std::size_t>(row_ptr.back()) == values.size());
        CHECK(std::equal(values.begin(), values.end(), a.values.begin() + a.row_ptr[row]));
        auto const x = placed<double>(image, 3);
        CHECK(std::equal(x.begin(), x.end(), instance->x.begin() + 2 * row));
        for (double const element : placed<double>(image, 4)) {
            CHECK(std::isnan(element));
        }
        CHECK(placed<std::int32_t>(image, 5).size() == 4);
        for (std::int32_t k = 0; k < header.arrays; ++k) {
            CHECK(header.array[k].offset % 64 == 0);
        }
        row += rows;
    }
    CHECK(row == a.rows);
}

TEST_CASE("one rank has all of x, and arrays lie elsewhere each time")
{
    auto const instance = some_instance("wide ragged rows=50 columns=100 longest=9");
    auto const one = header_of(instance->images(1, 1)[0]);
    auto const other = header_of(instance->images(1, 2)[0]);
    CHECK(one.arrays == 5);
    CHECK(one.array[3].bytes == instance->x.size() * sizeof(double));
    CHECK(one.array[3].offset != other.array[3].offset);
    CHECK(one.array[4].offset != other.array[4].offset);
}

TEST_CASE("a call of an honest box has a time and the right result")
{
    auto const found = outcome("multiplies");
    CHECK(found.call.fault == "");
    CHECK_FALSE(found.call.foul);
    CHECK(found.call.seconds > 0);
    CHECK(found.complaint == "");
    CHECK_FALSE(found.changed_input);
}

TEST_CASE("a wrong element and a write to the input or behind y are seen")
{
    CHECK(outcome("forgets the last").complaint.starts_with("y[199] is "));
    CHECK(outcome("writes x").changed_input);
    CHECK(outcome("writes behind y").changed_input);
}

TEST_CASE("processor time beyond that of the processors it may use is foul")
{
    CHECK_FALSE(outcome("works for a while").call.foul);
    auto const found = outcome("works for a while", 5, 0); // in place of a second thread
    CHECK(found.call.fault == "it used more processor time than 0 processors have");
    CHECK(found.call.foul);
    CHECK(found.call.processor >= 0.02);
}

TEST_CASE("a little too much processor time is foul in the end, call after call")
{
    CHECK_FALSE(outcome("works for a moment", 5, 0).call.foul);
    CHECK(outcome("works for a moment", 5, 0, 10).call.foul);
    CHECK_FALSE(outcome("works for a moment", 5, 1, 10).call.foul);
}

TEST_CASE("a box that ends or does not answer has no result")
{
    CHECK(outcome("leaves").call.fault == "it ended with exit code 3");
    CHECK(outcome("stands still", 0.1).call.fault == "it took more than 0 s");
}

TEST_CASE("whatever a box does to its link is a fault of that box, in one line")
{
    // A box that asks too early may be stopped just before: not in each of twenty calls.
    auto const said = [](char const* what) { return outcome(what, 1, 1, 20).call.fault; };
    CHECK(said("answers another thing") == "it answered what it was not asked");
    CHECK(said("answers too much") == "it answered what it was not asked");
    CHECK(said("fills its link") == "it answered what it was not asked");
    CHECK(said("sends a socket that lingers") == "it answered what it was not asked");
    CHECK(said("closes its link") == "it closed its link");
    CHECK(said("does not wait") == "it ended with exit code 0");
}

TEST_CASE("nothing that a box prints stands among what the judge says")
{
    int ends[2];
    REQUIRE(pipe2(ends, O_NONBLOCK) == 0);
    int const before = dup(STDOUT_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    auto const found = outcome("prints");
    dup2(before, STDOUT_FILENO);
    char text[8];
    CHECK(found.call.fault == "");
    CHECK(read(ends[0], text, sizeof text) < 0);
    for (int const descriptor : {before, ends[0], ends[1]}) {
        close(descriptor);
    }
}

TEST_CASE("a program that is no box is named")
{
    Folder const folder;
    kit::LaunchSpec const entry{.name = "one",
                                .keeps_time = false,
                                .uid = 0,
                                .socket = folder.path / "socket",
                                .command = {"false"}};
    CHECK_THROWS_WITH(kit::Contender(entry, 1, 4096),
                      "one did not start: it ended with exit code 1");
}

TEST_CASE("a program may not fill memory before it has taken its link, either")
{
    if (getuid() != 0 || kit::best_freezer() == kit::Freezer::signals) {
        return; // nothing tells whose memory it is
    }
    Folder const folder;
    kit::LaunchSpec const entry{
        .name = "one",
        .keeps_time = false,
        .uid = 64'191, // a user of no process: what is started stays root's here
        .socket = folder.path / "socket",
        .sanitized = "spmv.cpp",
        .most_memory = 64 << 20,
        .command = {"sh", "-c", "{ head -c 200000000 /dev/zero; sleep 5; } | tail -n 1"}};
    CHECK_THROWS_WITH(kit::Contender(entry, 1, 4096),
                      "one did not start: it fills more than 64 MB");
}
