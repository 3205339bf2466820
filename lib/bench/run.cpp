#include "bench/run.hpp"

#include "bench/environment.hpp"

#include <fmt/format.h>

namespace bench {

namespace {

Json identity(std::string const& experiment, Settings const& settings)
{
    return {{"experiment", experiment},        {"binary_sha256", program_sha256()},
            {"arguments", settings.arguments}, {"rounds", settings.rounds},
            {"seed", settings.seed},           {"threads", settings.threads}};
}

} // namespace

Json PointState::parameters() const
{
    Json parameters = Json::object();
    for (auto const& [axis, value] : at) {
        std::visit([&, name = axis](auto const& v) { parameters[name] = v; }, displayed(value));
    }
    return parameters;
}

std::string PointState::label() const
{
    std::string text;
    for (auto const& [axis, value] : at) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", axis, to_text(value));
    }
    return text;
}

Run::Run(std::string const& experiment, Settings chosen, Target& usual)
    : name{experiment}, settings{std::move(chosen)}, team{usual.team()},
      filter{settings.filter, std::regex::extended}, pacer{settings.events, settings.lockstep,
                                                           team},
      record{team.rank() == 0 && !settings.list ? settings.output : "",
             identity(experiment, settings)}
{
}

std::size_t Run::points() const
{
    std::size_t sum = 0;
    for (auto const& plan : settings.plans) {
        sum += plan.points();
    }
    return sum;
}

} // namespace bench
