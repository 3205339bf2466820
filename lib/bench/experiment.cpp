#include "bench/experiment.hpp"

#include "base/output.hpp"
#include "base/program.hpp"
#include "bench/environment.hpp"
#include "bench/provenance.hpp"
#include "bench/run.hpp"
#include "bench/team.hpp"
#include "machine/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>

namespace bench {

namespace {

std::string random_id()
{
    std::random_device device;
    return fmt::format("{:08x}{:08x}", device(), device());
}

Json build_record()
{
    auto const& built = provenance();
    Json objects = Json::array();
    for (auto const& object : built.objects) {
        objects.push_back(
            {{"object", object.object}, {"source", object.source}, {"flags", object.flags}});
    }
    return {{"compiler", built.compiler}, {"type", built.build_type}, {"objects", objects}};
}

/// Times of code that was built to be debugged on the device mean nothing.
void refuse_device_debugging()
{
    for (auto const& object : provenance().objects) {
        std::istringstream flags{std::string{object.flags}};
        for (std::string flag; flags >> flag;) {
            if (flag == "-G") {
                throw std::runtime_error{fmt::format(
                    "{} was compiled with -G, for debugging: build for release", object.source)};
            }
        }
    }
}

/// Everything of a result but the measurements.
Json head(Run const& run, std::map<std::string, std::string> const& libraries,
          Json const& gpu_states)
{
    auto const& settings = run.settings;
    auto const& team = run.team;
    auto const& built = provenance();
    auto versions = library_record();
    for (auto const& [library, version] : libraries) {
        versions[library] = version;
    }
    auto launch = launch_record(settings.threads, team.size(), team.hosts());
    if (!gpu_states.empty()) {
        launch["gpus"] = gpu_states;
    }
    if (auto const& processors = run.meter.total()) {
        launch["processors"] = {{"busy_s", rounded(processors->busy_s)},
                                {"stolen_s", rounded(processors->stolen_s)}};
    }
    return {
        {"schema", 2},
        {"run",
         {{"id", random_id()},
          {"experiment", run.name},
          {"utc", utc_now()},
          {"arguments", settings.arguments},
          {"profile", settings.profile},
          {"seed", settings.seed},
          {"rounds", settings.rounds},
          {"tripled", false}}},
        {"source",
         {{"commit", built.commit}, {"dirty", built.dirty}, {"binary_sha256", program_sha256()}}},
        {"build", build_record()},
        {"libraries", versions},
        {"machine", machine_record()},
        {"launches", Json::array({launch})}};
}

/// Clocks, power and temperature of the GPUs, where there are any.
void note_gpus(Json& notes, char const* when)
{
    if (auto const states = machine::gpu_states(); !states.empty()) {
        notes[when] = states;
    }
}

/// Emptying a cache larger than this takes tests of a program too long. There it counts as one of
/// few MiB: all that is measured then lies in the large one, and so do the arrays of the probes, so
/// that no case looks faster than memory.
constexpr std::size_t large_cache = std::size_t{128} << 20;
constexpr std::size_t cache_in_tests = std::size_t{8} << 20;

/// Passes for about 0.3 s, at least five samples. Of a clock so coarse that it stands still during
/// a sample, the next ones are twice as long; throws std::runtime_error where that does not help.
std::vector<double> sample(Ceiling const& ceiling, Target& of, Run& run)
{
    constexpr int most_passes = 1 << 12;
    double const enough_s = run.settings.profile == "tiny" ? 0.05 : 0.3;
    auto& clock = of.clock(Cache::cold);
    clock.seconds(ceiling.pass);
    std::vector<double> samples;
    double spent = 0;
    int passes = 1;
    while (samples.size() < 5 || run.team.maximum(spent) < enough_s) {
        auto const seconds = clock.seconds([&] {
            for (int pass = 0; pass < passes; ++pass) {
                ceiling.pass();
            }
        });
        if (seconds > 0) {
            samples.push_back(rounded(seconds / passes));
            spent += seconds;
            continue;
        }
        if (passes == most_passes) {
            throw std::runtime_error{
                fmt::format("the clock of {} stood still during {} passes of the ceiling {}",
                            of.name(), passes, ceiling.name)};
        }
        passes *= 2;
        samples.clear();
        spent = 0;
    }
    return samples;
}

/// Runs the body for one point: exact check, unless an earlier run made it, then bounded check
/// and timing.
void measure_point(Run& run)
{
    auto& point = run.point;
    auto const& study = *point.selection->study;
    auto const& body = point.selection->body(point.at);
    try {
        if (auto const missing = study.usual().missing(); !missing.empty()) {
            throw NotApplicable{missing};
        }
        for (auto const check : {Check::exact, Check::bounded}) {
            if (check == Check::bounded || !run.settings.again) {
                Trial trial{run, check};
                body(trial);
            }
        }
    } catch (std::bad_alloc const&) {
        throw std::runtime_error{fmt::format("{}: not enough memory", point.label())};
    } catch (std::length_error const&) { // of a container that could never be as long
        throw std::runtime_error{fmt::format("{}: not enough memory", point.label())};
    } catch (NotApplicable const& reason) {
        point.measured["skipped"].push_back({{"launch", 0},
                                             {"study", study.name()},
                                             {"parameters", point.parameters()},
                                             {"reason", reason.what()}});
    }
}

/// The points that a file lists, as a result has them; none without a file. Throws
/// std::invalid_argument where it holds no list.
std::optional<std::vector<Json>> points_of(std::string const& file)
{
    if (file.empty()) {
        return std::nullopt;
    }
    std::ifstream text{file};
    auto const listed = Json::parse(text, nullptr, false);
    if (!listed.is_array()) {
        throw std::invalid_argument{fmt::format("--points: {}: found no list of points", file)};
    }
    return std::vector<Json>(listed.begin(), listed.end());
}

/// Whether ceilings are measured once more before this point: after each third of all.
bool is_between(std::size_t index, std::size_t points)
{
    return points >= 3 && (index == points / 3 || index == 2 * points / 3);
}

bool is_listed(PointState const& point, std::optional<std::vector<Json>> const& listed)
{
    if (!listed) {
        return true;
    }
    // In whatever order the parameters stand.
    nlohmann::json const here{{"study", point.selection->study->name()},
                              {"parameters", point.parameters()}};
    return std::ranges::any_of(*listed,
                               [&](Json const& one) { return nlohmann::json(one) == here; });
}

void list_variants(Run& run)
{
    base::print(fmt::format("variants at {}:\n", run.point.label()));
    try {
        Trial trial{run, Check::bounded};
        run.point.selection->body(run.point.at)(trial);
    } catch (NotApplicable const& reason) {
        base::print(fmt::format("  skipped: {}\n", reason.what()));
    }
}

/// A main declares what it measures before `Experiment::run`, which catches what is thrown then.
[[maybe_unused]] bool const uncaught_is_told = (base::tell_uncaught(), true);

} // namespace

void Experiment::measure_ceilings(Run& run, std::string const& when) const
{
    if (is_profiled()) { // nobody asks what a ceiling counts
        return;
    }
    for (auto const& [of, make] : ceilings_) {
        if (!of->missing().empty() || (run.settings.later && !of->depends_on_threads())) {
            continue;
        }
        run.pacer.turn("ceilings");
        auto const ceiling = make(run.settings.threads);
        run.record.add_ceiling({{"name", ceiling.name},
                                {"definition", ceiling_definition},
                                {"launch", 0},
                                {"target", of->name()},
                                {"when", when},
                                {"bytes", ceiling.work.bytes},
                                {"flops", ceiling.work.flops},
                                {"samples_s", sample(ceiling, *of, run)}});
    }
}

void Experiment::measure_points(Run& run) const
{
    run.pacer.begin(run.points, run.settings.rounds);
    auto const listed = points_of(run.settings.points);
    std::size_t index = 0;
    for (auto const& selection : run.settings.selections) {
        for (std::size_t i = 0; i < selection.points(); ++i, ++index) {
            if (!listed && is_between(index, run.points)) {
                measure_ceilings(run, "between");
            }
            run.point = {.index = index, .selection = &selection, .at = selection.point(i)};
            auto const key = label(run.point);
            if (!is_listed(run.point, listed)) {
                continue;
            }
            run.pacer.point(index, run.points, key);
            if (run.team.from_root(run.record.has(key)) == 0) {
                measure_point(run);
                run.point.measured["libraries"] = libraries_; // a run that goes on loads none again
                run.record.add_point(key, run.point.measured);
            }
        }
    }
}

/// A point in words, with its study where there are several.
std::string Experiment::label(PointState const& point) const
{
    auto const& study = point.selection->study->name();
    auto const at = point.label();
    return studies_.size() == 1 ? at : at.empty() ? study : study + " " + at;
}

void Experiment::list(Run& run) const
{
    for (auto const& selection : run.settings.selections) {
        base::print((studies_.size() > 1 ? "study " : "") + selection.study->name() + "\n");
        for (auto const& axis : selection.axes) {
            auto line = axis.name + ":";
            for (auto const& value : axis.values) {
                line += " " + to_text(value);
            }
            base::print(line + "\n");
        }
        if (auto const missing = selection.study->usual().missing(); !missing.empty()) {
            base::print(fmt::format("skipped: {}\n", missing));
        } else if (selection.points() > 0) {
            run.point = {.selection = &selection, .at = selection.point(0)};
            list_variants(run);
        }
    }
}

int Experiment::measure(Settings const& settings) const
{
    use_threads(settings.threads);
    if (settings.profile == "tiny" && host().cache_bytes() > large_cache) {
        limit_cache(cache_in_tests);
    }
    auto& team = usual_->team();
    std::size_t points = 0;
    for (auto const& selection : settings.selections) {
        points += selection.points();
    }
    Json const identity{{"experiment", name_},
                        {"binary_sha256", program_sha256()},
                        {"arguments", settings.arguments},
                        {"rounds", settings.rounds},
                        {"seed", settings.seed},
                        {"threads", settings.threads}};
    bool const writes = team.rank() == 0 && !settings.list;
    Run run{.name = name_,
            .settings = settings,
            .team = team,
            .filter = std::regex{settings.filter, std::regex::extended},
            .pacer = {settings.events, team},
            .record = {writes ? settings.output : "", identity},
            .points = points,
            .pairs = sampling_.pairs};
    if (settings.list) {
        list(run);
        return 0;
    }
    refuse_device_debugging();
    Json gpus = Json::object();
    measure_ceilings(run, "before");
    note_gpus(gpus, "before");
    measure_points(run);
    note_gpus(gpus, "after");
    measure_ceilings(run, "after");
    // Another process may measure what this one does not.
    bool const is_all = !settings.later && !settings.again;
    if (is_all && run.record.count("cases") + run.record.count("skipped") == 0) {
        throw std::invalid_argument{
            settings.filter.empty()
                ? fmt::format("no variant runs with {} at the points that were asked for (--list "
                              "prints variants and axes), or no study calls trial.run()",
                              settings.threads == 1 ? "1 thread"
                                                    : fmt::format("{} threads", settings.threads))
                : fmt::format("--filter: found '{}', expected the name of a variant (--list prints "
                              "them)",
                              settings.filter)};
    }
    run.record.finish(head(run, libraries_, gpus));
    run.pacer.done(settings.output);
    return run.record.any_failed() ? 1 : 0;
}

int Experiment::run()
try {
    auto const chosen = read_settings(name_, argc_, argv_, studies_, options_, sampling_);
    if (auto const* code = std::get_if<int>(&chosen)) {
        return *code;
    }
    return measure(std::get<Settings>(chosen));
} catch (...) {
    return usual_->team().failed(fmt::format("{}: {}", name_, base::cause()));
}

} // namespace bench
