// What nearly every source of the harness includes: precompiled, it halves the time of a build.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
