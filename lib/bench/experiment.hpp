#pragma once

#include "bench/team.hpp"
#include "bench/trial.hpp"

#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace bench {

/// A typed parameter as it stands in the record.
using Parameter = std::variant<std::string, std::int64_t, double>;

/// The values of an axis in the three profiles.
struct AxisValues
{
    std::vector<Parameter> tiny;  ///< seconds: for tests
    std::vector<Parameter> quick; ///< fits a two-core laptop
    std::vector<Parameter> full;  ///< leaves every cache behind

    AxisValues() = default;

    /// The same values in every profile.
    AxisValues(std::initializer_list<Parameter> values) : tiny{values}, quick{values}, full{values}
    {
    }

    /// Adds values to every profile.
    template <class Values>
    AxisValues& and_also(Values const& values)
    {
        for (auto* list : {&tiny, &quick, &full}) {
            list->insert(list->end(), values.begin(), values.end());
        }
        return *this;
    }

    /// From anything with lists of names for the three profiles (`sparse::MatrixSet`).
    template <class Set>
    requires requires(Set const& set) { set.tiny, set.quick, set.full; }
    AxisValues(Set const& set)
        : tiny(set.tiny.begin(), set.tiny.end()), quick(set.quick.begin(), set.quick.end()),
          full(set.full.begin(), set.full.end())
    {
    }
};

/// Where in the space of parameters a trial stands.
class Point
{
public:
    std::string const& text(std::string const& axis) const;
    std::int64_t integer(std::string const& axis) const;
    double real(std::string const& axis) const;

    /// "fp32" or "fp64".
    std::string const& precision() const { return text("precision"); }

    /// Names and values in the order of the axes, precision last.
    std::vector<std::pair<std::string, Parameter>> const& parameters() const { return parameters_; }

private:
    friend class Session;
    std::vector<std::pair<std::string, Parameter>> parameters_;
};

/// Name of an element type in records and on the command line.
template <class T>
inline constexpr char const* precision_name = nullptr;
template <>
inline constexpr char const* precision_name<float> = "fp32";
template <>
inline constexpr char const* precision_name<double> = "fp64";

/// One question, its axes and options, and the loop over all points.
///
/// Every experiment understands `--filter --list --samples --min-time --threads --seed --profile
/// --output --help`, `--precision`, and one option per axis that replaces the axis' values
/// (`--matrix FILE.mtx`).
class Experiment
{
public:
    Experiment(std::string name, int argc, char** argv);

    /// As above, measured by several processes together.
    Experiment(std::string name, int argc, char** argv, std::unique_ptr<Team> team);
    ~Experiment();

    /// Adds an axis; the last axis varies fastest, precision after it.
    Experiment& axis(std::string const& name, AxisValues values);

    /// Adds `--name VALUE` with its present value as the default. `value` is set when `each`
    /// begins.
    Experiment& option(std::string const& name, std::int64_t& value, std::string const& help);
    Experiment& option(std::string const& name, double& value, std::string const& help);
    Experiment& option(std::string const& name, std::string& value, std::string const& help);

    /// The clock of every trial that does not choose its own; default `HostClock`.
    Experiment& clock(std::unique_ptr<Clock> clock);

    /// Measures a ceiling of this machine for about a second before the first and after the last
    /// point, in this process. `probe` has `name`, `bytes` and `flops` per pass, and `pass()`, or
    /// `seconds()` if it has a clock of its own; `make` is called when the threads of this process
    /// are known. What is no matter of threads is measured `once`, in the first process of several.
    template <class Make>
    Experiment& ceiling(Make make, bool once = false)
    {
        add_ceiling(once, [make](int threads) {
            auto probe = std::make_shared<std::invoke_result_t<Make, int>>(make(threads));
            return Ceiling{probe->name, {probe->flops, probe->bytes}, [probe](Clock& clock) {
                               if constexpr (requires { probe->seconds(); }) {
                                   return probe->seconds();
                               } else {
                                   return clock.seconds([&] { probe->pass(); });
                               }
                           }};
        });
        return *this;
    }

    /// Records the version of a library that was loaded; an empty one means that it was not.
    Experiment& library(std::string const& name, std::string const& version);

    /// Runs `body(Point const&, Trial<T>&)` at every point for every type, writes the result file
    /// and returns the program's exit code: 0, 1 if a variant failed, 2 for a user's error.
    template <class... Types, class Body>
    int each(Body body)
    {
        std::vector<TypedBody> bodies{
            {precision_name<Types>, [body](Session& session, Point const& at, Check check) {
                 Trial<Types> trial{session, check};
                 body(at, trial);
             }}...};
        return run(bodies);
    }

private:
    struct Ceiling
    {
        std::string name;
        Work work;
        std::function<double(Clock&)> seconds; ///< of one pass
    };
    struct TypedBody
    {
        std::string precision;
        std::function<void(Session&, Point const&, Check)> body;
    };

    void add_ceiling(bool once, std::function<Ceiling(int threads)> make);
    int run(std::vector<TypedBody> const& bodies);

    struct State;
    std::unique_ptr<State> state_;
};

} // namespace bench
