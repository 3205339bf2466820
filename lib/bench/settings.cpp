#include "bench/settings.hpp"

#include "base/output.hpp"
#include "base/printable.hpp"
#include "bench/numbers.hpp"
#include "bench/team.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>

namespace bench {

namespace {

/// `text` as a value of an axis. Numbers are as small as those that the axis is declared with, but
/// at least 1: what is counted in nothing else cannot be measured.
Parameter parse_like(std::vector<Parameter> const& declared, std::string const& text,
                     std::string const& axis)
{
    auto const option = "--" + axis;
    if (text.empty()) {
        throw std::invalid_argument{fmt::format("{}: found '', expected a value", option)};
    }
    if (declared.empty() || std::holds_alternative<std::string>(declared.front())) {
        return text;
    }
    if (auto const* first = std::get_if<std::int64_t>(&declared.front())) {
        auto least = std::min<std::int64_t>(*first, 1);
        for (auto const& value : declared) {
            least = std::min(least, std::get<std::int64_t>(value));
        }
        return whole_number(option, text, least, most_of_axis);
    }
    double least = 0;
    for (auto const& value : declared) {
        least = std::min(least, std::get<double>(value));
    }
    return finite_number(option, text, least, static_cast<double>(most_of_axis));
}

/// Arguments that belong in the record: without what names files of this machine or the protocol
/// with the runner.
std::vector<std::string> recorded_arguments(int argc, char** argv)
{
    std::vector<std::string> kept;
    for (int i = 1; i < argc; ++i) {
        std::string const argument{argv[i]};
        if (argument == "--output" || argument == "--events") {
            ++i;
        } else if (argument != "--later" && !argument.starts_with("--output=") &&
                   !argument.starts_with("--events=")) {
            kept.push_back(to_text(argument));
        }
    }
    return kept;
}

/// Replaces what an axis is declared with by what was given, if anything was.
SelectedAxis axis_of(Study::Axis const& declared, std::vector<std::string> const& given,
                     std::string const& profile)
{
    auto const values = declared.values();
    auto const& usual = profile == "tiny"                           ? values.tiny
                        : profile == "full"                         ? values.full
                        : profile == "book" && !values.book.empty() ? values.book
                                                                    : values.quick;
    SelectedAxis axis{declared.name, given.empty() ? usual : std::vector<Parameter>{}};
    std::vector<Parameter> every;
    for (auto const* values_of : {&values.tiny, &values.quick, &values.book, &values.full}) {
        every.insert(every.end(), values_of->begin(), values_of->end());
    }
    for (auto const& text : given) {
        axis.values.push_back(parse_like(every, text, axis.name));
    }
    if (values.require) {
        std::ranges::for_each(axis.values, values.require);
    }
    std::vector<std::string> labels;
    std::ranges::transform(axis.values, std::back_inserter(labels), to_text);
    std::ranges::sort(labels);
    if (auto const twice = std::ranges::adjacent_find(labels); twice != labels.end()) {
        throw CLI::ValidationError{fmt::format("--{}", axis.name),
                                   fmt::format("two values are named '{}'", *twice)};
    }
    return axis;
}

using Given =
    std::map<std::string, std::vector<std::string>>; ///< values of axes and of `precision`

/// Whether a study has every axis of which values were given.
bool has_axes(Study const& study, Given const& given)
{
    return std::ranges::all_of(given, [&](auto const& entry) {
        return entry.second.empty() || entry.first == "precision" ||
               std::ranges::find(study.axes(), entry.first, &Study::Axis::name) !=
                   study.axes().end();
    });
}

/// The element types that are asked for of those of a study; none if it has none.
std::vector<Parameter> types_of(Study const& study, std::vector<std::string> const& given)
{
    std::vector<Parameter> types;
    for (auto const& body : study.bodies()) {
        std::string const type{body.type};
        if (!type.empty() && (given.empty() || std::ranges::find(given, type) != given.end())) {
            types.emplace_back(type);
        }
    }
    return types;
}

std::vector<Selection> selections_for(std::deque<Study> const& studies,
                                      std::vector<std::string> const& named, Given const& given,
                                      Settings const& settings)
{
    std::vector<Selection> selections;
    for (auto const& study : studies) {
        bool const is_named =
            named.empty() || std::ranges::find(named, study.name()) != named.end();
        bool const elsewhere = settings.later && !study.usual().depends_on_threads();
        if (!is_named || elsewhere || !has_axes(study, given)) {
            continue;
        }
        Selection selection{&study, {}};
        for (auto const& axis : study.axes()) {
            selection.axes.push_back(axis_of(axis, given.at(axis.name), settings.profile));
        }
        if (!study.bodies().front().type.empty()) {
            selection.axes.push_back({"precision", types_of(study, given.at("precision"))});
        }
        selections.push_back(std::move(selection));
    }
    return selections;
}

/// Adds an option that is a whole number.
template <class T>
CLI::Option* add_number(CLI::App& app, std::string const& name, T& value, std::int64_t least,
                        std::int64_t most, std::string const& help)
{
    auto const option = "--" + name;
    auto const take = [&value, option, least, most](std::string const& text) {
        value = static_cast<T>(whole_number(option, text, least, most));
    };
    return app.add_option_function<std::string>(option, take, help)->type_name("NUMBER");
}

/// Adds an option of the experiment. Numbers are finite and not negative, unless the default is.
void add_own(CLI::App& app, Option const& option)
{
    if (auto* const* whole = std::get_if<std::int64_t*>(&option.target)) {
        add_number(app, option.name, **whole, std::min<std::int64_t>(**whole, 0), most_of_axis,
                   option.help)
            ->default_str(std::to_string(**whole));
    } else if (auto* const* real = std::get_if<double*>(&option.target)) {
        auto const take = [&value = **real, name = "--" + option.name,
                           least = std::min(**real, 0.0)](std::string const& text) {
            value = finite_number(name, text, least);
        };
        app.add_option_function<std::string>("--" + option.name, take, option.help)
            ->default_str(fmt::format("{}", **real));
    } else {
        app.add_option("--" + option.name, *std::get<std::string*>(option.target), option.help)
            ->capture_default_str();
    }
}

/// Mistakes of the experiment's author.
void require_sound(std::deque<Study> const& studies)
{
    std::set<std::string> names;
    for (auto const& study : studies) {
        if (study.bodies().empty()) {
            throw std::logic_error{fmt::format("study '{}' measures nothing", study.name())};
        }
        if (!names.insert(study.name()).second) {
            throw std::logic_error{fmt::format("two studies are called '{}'", study.name())};
        }
    }
}

} // namespace

Parameter displayed(Parameter const& value)
{
    auto const* text = std::get_if<std::string>(&value);
    if (text == nullptr) {
        return value;
    }
    if (text->find('/') == std::string::npos) {
        return base::printable(*text);
    }
    auto path = std::filesystem::path{*text}.filename();
    for (auto const* extension : {".gz", ".mtx"}) {
        if (path.extension() == extension) {
            path.replace_extension();
        }
    }
    return base::printable(path.string());
}

std::string to_text(Parameter const& value)
{
    return std::visit([](auto const& v) { return fmt::format("{}", v); }, displayed(value));
}

std::size_t Selection::points() const
{
    std::size_t product = 1;
    for (auto const& axis : axes) {
        product *= axis.values.size();
    }
    return product;
}

Coordinates Selection::point(std::size_t index) const
{
    Coordinates point;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        point.emplace(point.begin(), axis->name, axis->values[index % axis->values.size()]);
        index /= axis->values.size();
    }
    return point;
}

std::function<void(Trial&)> const& Selection::body(Coordinates const& at) const
{
    auto const& bodies = study->bodies();
    auto const type = bodies.front().type.empty() ? "" : to_text(at.back().second);
    return std::ranges::find(bodies, type, &Study::Body::type)->measure;
}

std::variant<Settings, int> read_settings(std::string const& experiment, int argc, char** argv,
                                          std::deque<Study> const& studies,
                                          std::vector<Option> const& options,
                                          Sampling const& sampling)
{
    require_sound(studies);
    Settings settings;
    settings.threads = available_threads();
    settings.output = experiment + ".json";
    Given given{{"precision", {}}};
    std::vector<std::string> names;
    std::vector<std::string> named;
    std::vector<std::string> types;
    for (auto const& study : studies) {
        names.push_back(study.name());
        for (auto const& axis : study.axes()) {
            given[axis.name];
        }
        for (auto const& body : study.bodies()) {
            if (!body.type.empty() && std::ranges::find(types, body.type) == types.end()) {
                types.emplace_back(body.type);
            }
        }
    }

    CLI::App app{experiment, experiment};
    app.add_option("--profile", settings.profile, "how large and how long")
        ->check(CLI::IsMember({"tiny", "quick", "book", "full"}))
        ->capture_default_str();
    add_number(
        app, "samples", settings.rounds, 1, 1'000'000,
        fmt::format("rounds of samples (tiny 3, quick and book {}, full 21)", sampling.rounds));
    app.add_option_function<std::string>(
        "--min-time",
        [&](std::string const& text) {
            settings.min_time_s = finite_number("--min-time", text, 1e-9, 3600);
        },
        "least seconds of a warm sample; a short call is repeated to fill it");
    add_number(app, "threads", settings.threads, 1, 65'536, "threads of this process")
        ->default_str(std::to_string(settings.threads));
    add_number(app, "seed", settings.seed, 0, std::numeric_limits<std::int64_t>::max(),
               "of values and of the order of variants")
        ->default_str(std::to_string(settings.seed));
    app.add_option("--filter", settings.filter, "regular expression: variants to measure")
        ->check([](std::string const& text) -> std::string {
            try {
                std::regex const valid{text, std::regex::extended};
                return "";
            } catch (std::regex_error const& error) {
                return fmt::format("'{}' is no regular expression: {}", text, error.what());
            }
        });
    if (studies.size() > 1) {
        app.add_option("--study", named, "studies to measure")->check(CLI::IsMember(names));
    }
    app.add_option("--output", settings.output, "result file")
        ->check(
            [](std::string const& text) { return text.empty() ? "found '', expected a file" : ""; })
        ->capture_default_str();
    app.add_flag("--list", settings.list, "print studies, axes and variants, measure nothing");
    app.add_option("--events", settings.events,
                   "socket of a runner that hears events, and grants turns");
    app.add_flag("--later", settings.later,
                 "another process measures what does not depend on threads");
    app.add_flag("--again", settings.again,
                 "samples for a run that has made the exact check and all counts");
    app.add_option("--points", settings.points, "a JSON file that lists the points to measure");
    for (auto& [name, values] : given) {
        if (name != "precision") {
            app.add_option("--" + name, values, "values of this axis, of the studies that have it");
        }
    }
    if (!types.empty()) {
        app.add_option("--precision", given.at("precision"), "element types")
            ->check(CLI::IsMember(types));
    }
    for (auto const& option : options) {
        add_own(app, option);
    }

    try {
        app.parse(argc, argv);
        settings.selections = selections_for(studies, named, given, settings);
        auto const has_points = [](Selection const& selection) { return selection.points() > 0; };
        if (!settings.later && std::ranges::none_of(settings.selections, has_points)) {
            throw CLI::ValidationError{
                "nothing to measure: no study that was asked for has all axes and types of which "
                "values were given"};
        }
    } catch (CLI::CallForHelp const&) {
        base::print(app.help());
        return 0;
    } catch (CLI::ParseError const& error) {
        throw std::invalid_argument{error.what()};
    }
    if (settings.rounds == 0) {
        settings.rounds = settings.profile == "tiny"   ? 3
                          : settings.profile == "full" ? 21
                                                       : sampling.rounds;
    }
    if (settings.min_time_s == 0) {
        settings.min_time_s = settings.profile == "tiny" ? 1e-4 : 2e-3;
    }
    settings.arguments = recorded_arguments(argc, argv);
    return settings;
}

} // namespace bench
