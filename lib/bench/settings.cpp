#include "bench/settings.hpp"

#include "bench/environment.hpp"
#include "bench/pattern.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

namespace bench {

namespace {

std::vector<Parameter> const& values_for(AxisValues const& values, std::string const& profile)
{
    if (profile == "tiny") {
        return values.tiny;
    }
    return profile == "full" ? values.full : values.quick;
}

/// `text` as a value of the same type as `like`.
Parameter parse_like(Parameter const& like, std::string const& text, std::string const& axis)
{
    std::int64_t integer = 0;
    double real = 0;
    if (std::holds_alternative<std::string>(like)) {
        return text;
    }
    if (std::holds_alternative<std::int64_t>(like) && CLI::detail::lexical_cast(text, integer)) {
        return integer;
    }
    if (std::holds_alternative<double>(like) && CLI::detail::lexical_cast(text, real)) {
        return real;
    }
    throw CLI::ValidationError{
        fmt::format("--{}", axis),
        fmt::format("found '{}', expected {}", text,
                    std::holds_alternative<double>(like) ? "a number" : "an integer")};
}

/// Arguments that belong in the record: without what names files of this machine or the protocol
/// with the runner.
std::vector<std::string> recorded_arguments(int argc, char** argv)
{
    std::vector<std::string> kept;
    for (int i = 1; i < argc; ++i) {
        std::string const argument{argv[i]};
        if (argument == "--output") {
            ++i;
        } else if (argument != "--events" && argument != "--lockstep" && argument != "--later" &&
                   !argument.starts_with("--output=")) {
            kept.push_back(to_text(argument));
        }
    }
    return kept;
}

void check_distinct(Axis const& axis)
{
    std::vector<std::string> labels;
    for (auto const& value : axis.values) {
        labels.push_back(to_text(value));
    }
    std::ranges::sort(labels);
    if (auto const twice = std::ranges::adjacent_find(labels); twice != labels.end()) {
        throw CLI::ValidationError{fmt::format("--{}", axis.name),
                                   fmt::format("two values are named '{}'", *twice)};
    }
}

std::size_t default_rounds(std::string const& profile)
{
    if (profile == "tiny") {
        return 3;
    }
    return profile == "full" ? 21 : 7;
}

} // namespace

Parameter displayed(Parameter const& value)
{
    auto const* text = std::get_if<std::string>(&value);
    if (text == nullptr || text->find('/') == std::string::npos) {
        return value;
    }
    auto path = std::filesystem::path{*text}.filename();
    for (auto const* extension : {".gz", ".mtx"}) {
        if (path.extension() == extension) {
            path.replace_extension();
        }
    }
    return path.string();
}

std::string to_text(Parameter const& value)
{
    return std::visit([](auto const& v) { return fmt::format("{}", v); }, displayed(value));
}

std::variant<Settings, int>
read_settings(std::string const& experiment, int argc, char** argv,
              std::vector<std::pair<std::string, AxisValues>> const& axes,
              std::vector<Option> const& options, std::vector<std::string> const& precisions)
{
    Settings settings;
    settings.threads = available_threads();
    settings.output = experiment + ".json";
    std::vector<std::vector<std::string>> given(axes.size() + 1);

    CLI::App app{experiment, experiment};
    app.add_option("--profile", settings.profile, "how large and how long")
        ->check(CLI::IsMember({"tiny", "quick", "full"}))
        ->capture_default_str();
    app.add_option("--samples", settings.rounds, "rounds of samples (tiny 3, quick 7, full 21)")
        ->check(CLI::PositiveNumber);
    app.add_option("--min-time", settings.min_time_s,
                   "least seconds of a warm sample; a short call is repeated to fill it")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--threads", settings.threads, "threads of this process")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--seed", settings.seed, "of values and of the order of variants")
        ->capture_default_str();
    app.add_option("--filter", settings.filter, "regular expression: variants to measure")
        ->check([](std::string const& text) -> std::string {
            try {
                Pattern const valid{text};
                return "";
            } catch (std::invalid_argument const& error) {
                return error.what();
            }
        });
    app.add_option("--output", settings.output, "result file")->capture_default_str();
    app.add_flag("--list", settings.list, "print axes and variants, measure nothing");
    app.add_flag("--events", settings.events, "print progress as JSON, one object a line");
    app.add_flag("--lockstep", settings.lockstep,
                 "wait for a line on standard input before each phase (with --events)");
    app.add_flag("--later", settings.later,
                 "another process measures what does not depend on threads");
    app.add_flag("--again", settings.again,
                 "samples for a run that has made the exact check and all counts");
    for (std::size_t i = 0; i < axes.size(); ++i) {
        app.add_option("--" + axes[i].first, given[i], "values of this axis");
    }
    if (!precisions.empty()) {
        app.add_option("--precision", given.back(), "element types")
            ->check(CLI::IsMember(precisions));
    }
    for (auto const& option : options) {
        std::visit(
            [&](auto* target) {
                app.add_option("--" + option.name, *target, option.help)->capture_default_str();
            },
            option.target);
    }

    try {
        app.parse(argc, argv);
        for (std::size_t i = 0; i < axes.size(); ++i) {
            auto const& declared = values_for(axes[i].second, settings.profile);
            Axis axis{axes[i].first, given[i].empty() ? declared : std::vector<Parameter>{}};
            for (auto const& text : given[i]) {
                axis.values.push_back(parse_like(
                    declared.empty() ? Parameter{text} : declared.front(), text, axis.name));
            }
            check_distinct(axis);
            settings.axes.push_back(std::move(axis));
        }
    } catch (CLI::CallForHelp const&) {
        fmt::print("{}", app.help());
        return 0;
    } catch (CLI::ParseError const& error) {
        throw std::invalid_argument{error.what()};
    }
    if (!precisions.empty()) {
        auto const& chosen = given.back().empty() ? precisions : given.back();
        settings.axes.push_back({"precision", {chosen.begin(), chosen.end()}});
    }
    if (settings.rounds == 0) {
        settings.rounds = default_rounds(settings.profile);
    }
    if (settings.min_time_s == 0) {
        settings.min_time_s = settings.profile == "tiny" ? 1e-4 : 2e-3;
    }
    settings.arguments = recorded_arguments(argc, argv);
    return settings;
}

} // namespace bench
