#include "bench/experiment.hpp"

#include "bench/environment.hpp"
#include "bench/provenance.hpp"
#include "bench/session.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <stdexcept>

namespace bench {

namespace {

template <class T>
T const& parameter(Point const& at, std::string const& axis)
{
    auto const& all = at.parameters();
    auto const found = std::ranges::find(all, axis, &std::pair<std::string, Parameter>::first);
    if (found == all.end() || !std::holds_alternative<T>(found->second)) {
        throw std::logic_error{fmt::format("the experiment has no such axis '{}'", axis)};
    }
    return std::get<T>(found->second);
}

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
Json head(Session const& session, Json const& libraries, Json const& gpu_states)
{
    auto const& settings = session.settings;
    auto const& team = *session.team;
    auto const& built = provenance();
    auto launch = launch_record(settings.threads, team.size(), team.hosts());
    if (!gpu_states.empty()) {
        launch["gpus"] = gpu_states;
    }
    if (auto const& processors = session.meter.total()) {
        launch["processors"] = {{"busy_s", rounded(processors->busy_s)},
                                {"stolen_s", rounded(processors->stolen_s)}};
    }
    return {
        {"schema", 1},
        {"run",
         {{"id", random_id()},
          {"experiment", session.name},
          {"utc", utc_now()},
          {"arguments", settings.arguments},
          {"profile", settings.profile},
          {"seed", settings.seed},
          {"rounds", settings.rounds},
          {"tripled", false}}},
        {"source",
         {{"commit", built.commit}, {"dirty", built.dirty}, {"binary_sha256", program_sha256()}}},
        {"build", build_record()},
        {"libraries", libraries},
        {"machine", machine_record()},
        {"launches", Json::array({launch})}};
}

} // namespace

std::string const& Point::text(std::string const& axis) const
{
    return parameter<std::string>(*this, axis);
}
std::int64_t Point::integer(std::string const& axis) const
{
    return parameter<std::int64_t>(*this, axis);
}
double Point::real(std::string const& axis) const
{
    return parameter<double>(*this, axis);
}

struct Experiment::State
{
    State(std::string experiment, int count, char** arguments, std::unique_ptr<Team> members)
        : name{std::move(experiment)}, argc{count}, argv{arguments}, team{std::move(members)}
    {
    }

    std::string name;
    int argc;
    char** argv;
    std::shared_ptr<Team> team; ///< outlives the session, which a failure ends
    std::shared_ptr<Clock> clock = std::make_shared<HostClock>();
    std::vector<std::pair<std::string, AxisValues>> axes;
    std::vector<Option> options;
    std::vector<std::pair<bool, std::function<Ceiling(int)>>> ceilings; ///< whether only once
    Json libraries = library_record();

    void measure_ceilings(Session& session, std::string const& when) const
    {
        for (auto const& [once, make] : ceilings) {
            if (once && session.settings.later) {
                continue;
            }
            session.pacer.turn("ceilings");
            auto const ceiling = make(session.settings.threads);
            session.record.add_ceiling({{"name", ceiling.name},
                                        {"launch", 0},
                                        {"when", when},
                                        {"bytes", ceiling.work.bytes},
                                        {"flops", ceiling.work.flops},
                                        {"samples_s", sample(ceiling, session)}});
        }
    }

    /// Clocks, power and temperature of the GPUs, where there are any.
    static void note_gpus(Json& notes, char const* when)
    {
        if (auto const states = gpu_states(); !states.empty()) {
            notes[when] = states;
        }
    }

    /// Passes for about 0.3 s, at least five.
    std::vector<double> sample(Ceiling const& ceiling, Session& session) const
    {
        double const enough_s = session.settings.profile == "tiny" ? 0.05 : 0.3;
        ceiling.seconds(*clock);
        std::vector<double> samples;
        double spent = 0;
        while (samples.size() < 5 || (session.team->maximum(spent) < enough_s)) {
            samples.push_back(rounded(ceiling.seconds(*clock)));
            spent += samples.back();
        }
        return samples;
    }

    /// Runs the body for one point: exact check, unless an earlier run made it, then bounded check
    /// and timing.
    void measure(Session& session, std::vector<TypedBody> const& bodies) const
    {
        auto const wanted = bodies.size() == 1 ? bodies.front().precision : session.at.precision();
        session.exact.clear();
        session.unsuited.clear();
        session.measured = {};
        for (auto const& typed : bodies) {
            if (typed.precision != wanted) {
                continue;
            }
            try {
                if (!session.settings.again) {
                    typed.body(session, session.at, Check::exact);
                }
                typed.body(session, session.at, Check::bounded);
            } catch (NotApplicable const& reason) {
                session.measured.skipped.push_back({{"launch", 0},
                                                    {"parameters", Session::parameters(session.at)},
                                                    {"reason", reason.what()}});
            }
        }
    }

    void measure_points(Session& session, std::vector<TypedBody> const& bodies) const
    {
        auto const points = session.points();
        session.pacer.plan(points, session.settings.rounds);
        for (session.index = 0; session.index < points; ++session.index) {
            session.at = session.point(session.index);
            auto const key = Session::label(session.at);
            session.pacer.point(session.index, points, key);
            if (session.team->from_root(session.record.has(key)) == 0) {
                measure(session, bodies);
                session.record.add_point(key, session.measured);
            }
        }
    }

    void list(Session& session, std::vector<TypedBody> const& bodies) const
    {
        for (auto const& axis : session.settings.axes) {
            fmt::print("{}:", axis.name);
            for (auto const& value : axis.values) {
                fmt::print(" {}", to_text(value));
            }
            fmt::print("\n");
        }
        if (session.points() > 0) {
            session.at = session.point(0);
            fmt::print("variants at {}:\n", Session::label(session.at));
            for (auto const& typed : bodies) {
                if (bodies.size() == 1 || typed.precision == session.at.precision()) {
                    typed.body(session, session.at, Check::bounded);
                }
            }
        }
    }

    int run(Settings settings, std::vector<TypedBody> const& bodies)
    {
        omp_set_num_threads(settings.threads);
        Session session{name, std::move(settings), team, clock};
        if (session.settings.list) {
            list(session, bodies);
            return 0;
        }
        refuse_device_debugging();
        Json gpus = Json::object();
        measure_ceilings(session, "before");
        note_gpus(gpus, "before");
        measure_points(session, bodies);
        note_gpus(gpus, "after");
        measure_ceilings(session, "after");
        session.record.finish(head(session, libraries, gpus));
        session.pacer.done(session.settings.output);
        return session.record.any_failed() ? 1 : 0;
    }
};

Experiment::Experiment(std::string name, int argc, char** argv)
    : Experiment{std::move(name), argc, argv, std::make_unique<Team>()}
{
}

Experiment::Experiment(std::string name, int argc, char** argv, std::unique_ptr<Team> team)
    : state_{std::make_unique<State>(std::move(name), argc, argv, std::move(team))}
{
}

Experiment::~Experiment() = default;

Experiment& Experiment::axis(std::string const& name, AxisValues values)
{
    state_->axes.emplace_back(name, std::move(values));
    return *this;
}

Experiment& Experiment::option(std::string const& name, std::int64_t& value,
                               std::string const& help)
{
    state_->options.push_back({name, help, &value});
    return *this;
}
Experiment& Experiment::option(std::string const& name, double& value, std::string const& help)
{
    state_->options.push_back({name, help, &value});
    return *this;
}
Experiment& Experiment::option(std::string const& name, std::string& value, std::string const& help)
{
    state_->options.push_back({name, help, &value});
    return *this;
}

Experiment& Experiment::clock(std::unique_ptr<Clock> clock)
{
    state_->clock = std::move(clock);
    return *this;
}

Experiment& Experiment::library(std::string const& name, std::string const& version)
{
    if (!version.empty()) {
        state_->libraries[name] = version;
    }
    return *this;
}

void Experiment::add_ceiling(bool once, std::function<Ceiling(int threads)> make)
{
    state_->ceilings.emplace_back(once, std::move(make));
}

int Experiment::run(std::vector<TypedBody> const& bodies)
try {
    std::vector<std::string> precisions;
    if (bodies.size() > 1) {
        for (auto const& typed : bodies) {
            precisions.push_back(typed.precision);
        }
    }
    auto chosen = read_settings(state_->name, state_->argc, state_->argv, state_->axes,
                                state_->options, precisions);
    if (auto const* code = std::get_if<int>(&chosen)) {
        return *code;
    }
    return state_->run(std::get<Settings>(std::move(chosen)), bodies);
} catch (std::exception const& error) {
    return state_->team->failed(fmt::format("{}: {}", state_->name, error.what()));
}

} // namespace bench
