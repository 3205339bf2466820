#include "kit/score.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace kit {
namespace {

constexpr double worth =
    1.3; // the model must be so many times as fast as naive, or speed is not asked
constexpr double step = 0.2; // of the scale: as far as a target lies ahead

double model_seconds(Standing const& standing)
{
    return standing.floor / standing.model_share;
}

bool is_asked(Standing const& standing)
{
    return standing.model_share > 0 && standing.naive >= worth * model_seconds(standing);
}

/// The length of the scale, as a logarithm.
double length(Standing const& standing, double span)
{
    return std::log(std::min(span, standing.naive / model_seconds(standing)));
}

} // namespace

double part_of_speed(Standing const& standing, double span)
{
    auto const behind = std::log(standing.seconds / model_seconds(standing));
    return std::clamp(1 - behind / length(standing, span), 0.0, 1.0);
}

std::string score(std::vector<Standing> const& standings, Points const& points)
{
    std::vector<Standing> asked;
    std::ranges::copy_if(standings, std::back_inserter(asked), is_asked);
    if (asked.empty()) {
        return {};
    }
    double parts = 0;
    double weights = 0;
    auto const* last = &asked.front();
    for (auto const& one : asked) {
        auto const part = part_of_speed(one, points.span);
        parts += one.weight * part;
        weights += one.weight;
        last = part < part_of_speed(*last, points.span) ? &one : last;
    }
    auto const each = points.speed / weights; // for a case of weight 1
    auto const sum = points.correctness + each * parts;
    char text[400];
    auto used =
        std::snprintf(text, sizeof text,
                      "about %.0f of %.0f points, if hidden cases go as these do; the grader "
                      "times the model solution beside you\n",
                      sum, points.correctness + points.speed);
    auto const part = part_of_speed(*last, points.span);
    if (part < 1) {
        auto const target = std::min(part + step, 1.0);
        auto const seconds =
            model_seconds(*last) * std::exp((1 - target) * length(*last, points.span));
        std::snprintf(text + used, sizeof text - static_cast<std::size_t>(used),
                      "next: %s in %.3f ms, %.2f times as fast as naive, brings %.0f points more\n",
                      last->name.c_str(), 1e3 * seconds, last->naive / seconds,
                      each * last->weight * (target - part));
    }
    return text;
}

} // namespace kit
