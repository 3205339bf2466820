#include "bench/record.hpp"

#include "base/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <utility>

namespace bench {

namespace {

/// The journal's complete lines; a line that was cut off when the program died is left out.
std::vector<Json> journal_lines(std::string const& path)
{
    std::vector<Json> lines;
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);) {
        auto parsed = Json::parse(line, nullptr, false);
        if (parsed.is_discarded()) {
            break;
        }
        lines.push_back(std::move(parsed));
    }
    return lines;
}

std::string journal_of(std::string const& output)
{
    return output + ".journal";
}

} // namespace

Record::Record(std::string output, Json identity) : output_{std::move(output)}
{
    if (output_.empty()) {
        return;
    }
    base::require_replaceable(output_); // or hours of measuring would end in an error
    auto const folder = std::filesystem::path{output_}.parent_path();
    if (!folder.empty()) {
        std::filesystem::create_directories(folder);
    }
    auto const lines = journal_lines(journal_of(output_));
    std::string kept = Json{{"identity", identity}}.dump() + "\n";
    bool const is_same = !lines.empty() && lines.front().value("identity", Json{}) == identity;
    if (lines.size() > 1 && !is_same) {
        auto const line = fmt::format("{}: holds what another program, or other options, measured "
                                      "before it was interrupted: begins anew\n",
                                      journal_of(output_));
        std::fputs(line.c_str(), stderr);
    }
    if (is_same) {
        for (auto line = lines.begin() + 1; line != lines.end(); ++line) {
            kept += line->dump() + "\n";
            if (line->contains("ceiling")) {
                ceilings_.push_back(line->at("ceiling"));
            } else {
                order_.push_back(line->at("key"));
                points_[order_.back()] = *line;
            }
        }
    }
    base::write_whole(journal_of(output_), kept);
}

void Record::append(Json const& line)
{
    if (!output_.empty()) {
        base::append(journal_of(output_), line.dump() + "\n");
    }
}

void Record::add_point(std::string const& key, Json const& measured)
{
    Json line{{"key", key}};
    line.update(measured);
    append(line);
    order_.push_back(key);
    points_[key] = std::move(line);
}

void Record::add_ceiling(Json ceiling)
{
    append({{"ceiling", ceiling}});
    ceilings_.push_back(std::move(ceiling));
}

std::size_t Record::count(std::string const& list) const
{
    std::size_t entries = 0;
    for (auto const& [key, point] : points_) {
        entries += point.at(list).size();
    }
    return entries;
}

bool Record::any_failed() const
{
    return std::ranges::any_of(points_, [](auto const& point) {
        return std::ranges::any_of(point.second.at("cases"), [](Json const& c) {
            return c.at("verdict").at("status") == "failed";
        });
    });
}

void Record::finish(Json head) const
{
    if (output_.empty()) {
        return;
    }
    for (auto const* list : {"cases", "skipped"}) {
        head[list] = Json::array();
        for (auto const& key : order_) {
            for (auto const& entry : points_.at(key).at(list)) {
                head[list].push_back(entry);
            }
        }
    }
    head["datasets"] = Json::object();
    head["excerpts"] = Json::object();
    for (auto const* map : {"datasets", "excerpts", "libraries"}) {
        for (auto const& key : order_) {
            head[map].update(points_.at(key).at(map));
        }
    }
    head["ceilings"] = ceilings_;
    base::write_whole(output_, head.dump(1) + "\n");
    std::filesystem::remove(journal_of(output_));
}

double rounded(double value)
{
    auto const digits = fmt::format("{:.6g}", value);
    double near = value; // in whatever locale, which std::stod would follow
    std::from_chars(digits.data(), digits.data() + digits.size(), near);
    return near;
}

} // namespace bench
