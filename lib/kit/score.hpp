#pragma once

#include <string>
#include <vector>

namespace kit {

/// What points there are: those of a kit.toml.
struct Points
{
    double correctness = 0;
    double speed = 0;
    double span =
        1; ///< points for speed begin where a call takes so many times as long as the model's
};

/// A case in which all was right, with the times of a call in seconds.
struct Standing
{
    std::string name;
    double seconds = 0;
    double naive = 0;
    double floor = 0;
    double model_share =
        0;             ///< of the bound: what the model solution reached where the kit was made
    double weight = 1; ///< in the mean over the cases
};

/// The part of the points for speed that a case brings, 0 to 1: as memwall/grade/points.py has it,
/// less the noise, and with the model where it was when the kit was made.
double part_of_speed(Standing const& standing, double span);

/// For people: about how many points all cases bring, and which next step in which case brings the
/// most.
std::string score(std::vector<Standing> const& standings, Points const& points);

} // namespace kit
