#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace bench {

using Json = nlohmann::ordered_json;

/// The journal and the result file of one program.
///
/// Each finished point is appended to `<output>.journal` at once; the result file is written under
/// a temporary name and renamed into place. A program that is started again with the same identity
/// (binary, arguments, seed) finds the points of its journal and goes on behind them.
class Record
{
public:
    /// `identity` is what must agree for a journal to be continued. An empty `output` keeps no
    /// files. Throws std::system_error if the journal cannot be written, std::invalid_argument if
    /// `output` is no name of a file.
    Record(std::string output, Json identity);

    /// True if the journal holds this point already.
    bool has(std::string const& key) const { return points_.contains(key); }

    /// `measured` is an object of what a point adds: cases, skipped, datasets, excerpts and
    /// libraries.
    void add_point(std::string const& key, Json const& measured);
    void add_ceiling(Json ceiling);

    /// Entries of all points in one of their lists, "cases" or "skipped".
    std::size_t count(std::string const& list) const;

    /// True if any case of any point failed.
    bool any_failed() const;

    /// Writes the result file: `head` (everything but measurements) and all points. Removes the
    /// journal.
    void finish(Json head) const;

private:
    void append(Json const& line);

    std::string output_;
    std::map<std::string, Json> points_;
    std::vector<std::string> order_;
    Json ceilings_ = Json::array();
};

/// The middle of the sorted samples, or the mean of the two in the middle. `samples` is not empty.
inline double median(std::vector<double> samples)
{
    std::ranges::sort(samples);
    auto const half = samples.size() / 2;
    return samples.size() % 2 == 1 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
}

/// `value` with six significant digits: more than any clock resolves, and shorter.
double rounded(double value);

} // namespace bench
