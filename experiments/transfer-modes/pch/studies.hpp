// What every source of this experiment includes: precompiled, it halves the time of a build.
#include "bench/experiment.hpp"
#include "cuda/gpu.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>
