#include "base/printable.hpp"

#include <doctest/doctest.h>

using base::printable;

TEST_CASE("what people write is shown as it is")
{
    for (auto const* text : {"", "fem3d-mid", "a b", "Löwe 獅子 🦁", "~!\\\"'", "\u00a0"}) {
        CHECK(printable(text) == text);
    }
}

TEST_CASE("nothing moves the cursor")
{
    CHECK(printable("a\x1b[2Jb") == "a\\x1b[2Jb");
    CHECK(printable("a\nb\r\t\b\x7f") == "a\\x0ab\\x0d\\x09\\x08\\x7f");
    CHECK(printable(std::string_view{"\0", 1}) == "\\x00");
    CHECK(printable("\u009b2J") == "\\xc2\\x9b2J");                       // the same in one letter
    CHECK(printable("\u202e\u2066") == "\\xe2\\x80\\xae\\xe2\\x81\\xa6"); // turn the direction
    CHECK(printable("\u2028") == "\\xe2\\x80\\xa8");
}

TEST_CASE("bytes that are no UTF-8 are spelled one by one")
{
    CHECK(printable("\xff.mtx") == "\\xff.mtx");
    CHECK(printable("L\xf6we") == "L\\xf6we");             // Latin-1
    CHECK(printable("\xe2\x82") == "\\xe2\\x82");          // cut short
    CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");          // longer than it need be
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80"); // half of a pair of UTF-16
    CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
}
