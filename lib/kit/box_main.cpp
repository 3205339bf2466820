#include "kit/box.hpp"

/// The process of a contender that is one process: `box SOCKET`.
int main(int, char** argv)
{
    return kit::serve(argv[1], 0);
}
