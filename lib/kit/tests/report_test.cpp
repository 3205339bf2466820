#include "kit/report.hpp"

#include <doctest/doctest.h>

namespace {

std::string what(std::string const& report)
{
    return kit::finding(report, "spmv.cpp", "it ended with exit code 1").what;
}

} // namespace

TEST_CASE("a report of AddressSanitizer has a kind, and a line of the file that was handed in")
{
    CHECK(what("==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2\n"
               "READ of size 8 at 0x1 thread T0\n"
               "    #0 0x2 in std::span<double>::operator[] /usr/include/c++/12/span:286\n"
               "    #1 0x3 in spmv(Csr const&) /home/ada/spmv.cpp:12\n"
               "    #2 0x3 in kit::call(kit::Part const&) call.cpp:6\n") ==
          "AddressSanitizer found heap-buffer-overflow (spmv.cpp, line 12)");
    CHECK(what("==7==ERROR: AddressSanitizer: SEGV on unknown address") ==
          "AddressSanitizer found SEGV");
}

TEST_CASE("so has one of UndefinedBehaviorSanitizer")
{
    CHECK(what("spmv.cpp:9:5: runtime error: signed integer overflow: 2 * 3\nmore") ==
          "UndefinedBehaviorSanitizer found signed integer overflow: 2 * 3 (spmv.cpp, line 9)");
}

TEST_CASE("a race is known by the end of the program, and by nothing that was printed")
{
    auto const found = [](std::string const& report) {
        return kit::finding(report, "spmv.cpp", "it ended with exit code 66");
    };
    for (auto const* const report :
         {"", "spmv.cpp:3: AddressSanitizer: nothing to see", "WARNING: ThreadSanitizer: x\n"}) {
        CHECK(found(report).race);
        CHECK(found(report).what.starts_with("a race: "));
    }
    auto const told = "WARNING: ThreadSanitizer: thread leak\n#0 spmv.cpp:1\n"
                      "WARNING: ThreadSanitizer: data race (pid=7)\n"
                      "    #0 spmv(Csr const&) [clone] /box/spmv.cpp:11:14\n";
    CHECK(found(told).what.ends_with("(spmv.cpp, line 11)"));
    CHECK_FALSE(kit::finding(told, "spmv.cpp", "it ended with exit code 1").race);
}

TEST_CASE("what is no report says nothing, however long its numbers are")
{
    CHECK(what("") == "");
    CHECK(what("spmv.cpp:12: hello") == "");
    CHECK(what("AddressSanitizer: ") == "");
    CHECK(what("AddressSanitizer: SEGV spmv.cpp:1234567890") == "AddressSanitizer found SEGV");
    CHECK(what("AddressSanitizer: SEGV spmv.cpp:") == "AddressSanitizer found SEGV");
    CHECK(what("AddressSanitizer: " + std::string(10'000, 'x')).size() < 300);
}
