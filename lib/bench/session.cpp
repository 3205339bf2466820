#include "bench/session.hpp"

#include "bench/environment.hpp"
#include "bench/provenance.hpp"
#include "machine/topology.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bench {

namespace {

Json identity(std::string const& name, Settings const& settings)
{
    return {{"experiment", name},
            {"binary_sha256", program_sha256()},
            {"arguments", settings.arguments},
            {"rounds", settings.rounds},
            {"seed", settings.seed},
            {"threads", settings.threads}};
}

} // namespace

Session::Session(std::string experiment, Settings chosen, std::shared_ptr<Team> members,
                 std::shared_ptr<Clock> default_clock)
    : name{std::move(experiment)}, settings{std::move(chosen)}, team{std::move(members)},
      clock{std::move(default_clock)}, filter{settings.filter},
      cache_bytes{machine::last_level_cache_bytes()}, pacer{settings.events, settings.lockstep,
                                                            *team},
      record{team->rank() == 0 && !settings.list ? settings.output : "", identity(name, settings)}
{
}

void Session::flush_caches()
{
    if (!flush_) {
        flush_.emplace(cache_bytes);
    }
    (*flush_)();
}

std::size_t Session::points() const
{
    std::size_t product = 1;
    for (auto const& axis : settings.axes) {
        product *= axis.values.size();
    }
    return product;
}

Point Session::point(std::size_t at_index) const
{
    Point point;
    for (auto axis = settings.axes.rbegin(); axis != settings.axes.rend(); ++axis) {
        auto const& value = axis->values[at_index % axis->values.size()];
        point.parameters_.emplace(point.parameters_.begin(), axis->name, value);
        at_index /= axis->values.size();
    }
    return point;
}

Json Session::parameters(Point const& at)
{
    Json parameters = Json::object();
    for (auto const& [axis, value] : at.parameters()) {
        std::visit([&, name = axis](auto const& v) { parameters[name] = v; }, displayed(value));
    }
    return parameters;
}

std::string Session::label(Point const& at)
{
    std::string text;
    for (auto const& [axis, value] : at.parameters()) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", axis, to_text(value));
    }
    return text;
}

} // namespace bench
