#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "cuda/device.hpp"

#include <cstdio>

/// Runs the tests, or says why it cannot and returns 77, which Meson counts as skipped.
int main(int argc, char** argv)
{
    if (auto const missing = cuda::missing_device(); !missing.empty()) {
        std::printf("skipped: %s\n", missing.c_str());
        return 77;
    }
    return doctest::Context{argc, argv}.run();
}
