#pragma once

#include "bench/trial.hpp"

#include <concepts>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace bench {

struct PointState;
struct Settings;

/// A typed parameter as it stands in the record.
using Parameter = std::variant<std::string, std::int64_t, double>;

/// The values of an axis in each profile.
struct AxisValues
{
    std::vector<Parameter> tiny;  ///< seconds: for tests
    std::vector<Parameter> quick; ///< fits a two-core laptop
    std::vector<Parameter> book;  ///< for the machine that lessons show; empty if `quick` does
    std::vector<Parameter> full;  ///< leaves every cache behind

    /// Throws an exception with one line if a value cannot be measured at; called for every value
    /// that is asked for before anything is measured. May be empty.
    std::function<void(Parameter const&)> require;

    AxisValues() = default;

    /// The same values in every profile.
    AxisValues(std::initializer_list<Parameter> values) : tiny{values}, quick{values}, full{values}
    {
    }

    /// From anything with lists of names for the profiles (`sparse::MatrixSet`), and which may know
    /// other names and refuse what it does not.
    template <class Set>
    requires requires(Set const& set) { set.tiny, set.quick, set.book, set.full; }
    AxisValues(Set const& set)
        : tiny(set.tiny.begin(), set.tiny.end()), quick(set.quick.begin(), set.quick.end()),
          book(set.book.begin(), set.book.end()), full(set.full.begin(), set.full.end())
    {
        if constexpr (requires { set.require(std::string{}); }) {
            require = [require = set.require](Parameter const& value) {
                require(std::get<std::string>(value));
            };
        }
    }
};

/// What can be measured for each point of some axes: a part of an experiment with inputs of its
/// own. Made by `Experiment::study`.
class Study
{
public:
    Study(std::string name, Target& usual) : name_{std::move(name)}, usual_{&usual} {}

    /// Adds an axis; the last axis varies fastest, the element type after it.
    Study& axis(std::string name, AxisValues values)
    {
        return axis(std::move(name), [values = std::move(values)] { return values; });
    }

    /// As above for values that depend on options: called when these are known.
    Study& axis(std::string name, std::function<AxisValues()> values)
    {
        axes_.push_back({std::move(name), std::move(values)});
        return *this;
    }

    /// Where its variants run unless they say otherwise. Where that is missing, its points are
    /// skipped with the reason.
    Study& on(Target& usual)
    {
        usual_ = &usual;
        return *this;
    }

    /// Measures `body.operator()<T>(Trial&)` for each of the types, which is recorded as the
    /// parameter `precision`.
    template <Element... Types, class Body>
    void types(Body body)
    {
        (bodies_.push_back({element_type<Types>().name,
                            [body](Trial& trial) { body.template operator()<Types>(trial); }}),
         ...);
    }

    /// Measures `body(Trial&)`, which has no matter of types.
    template <class Body>
    void untyped(Body body)
    {
        bodies_.push_back({"", body});
    }

    /// A name, and what the command line may ask for along it.
    struct Axis
    {
        std::string name;
        std::function<AxisValues()> values;
    };
    /// What measures a point, for one element type.
    struct Body
    {
        std::string_view type; ///< empty: of none
        std::function<void(Trial&)> measure;
    };

    std::string const& name() const { return name_; }
    Target& usual() const { return *usual_; }
    std::vector<Axis> const& axes() const { return axes_; }
    std::vector<Body> const& bodies() const { return bodies_; }

private:
    std::string name_;
    Target* usual_;
    std::vector<Axis> axes_;
    std::vector<Body> bodies_;
};

/// Which way of measuring ceilings this is; results name it, and shares of two definitions are not
/// compared.
///
/// 1: two looks, before all points and after; threads where the system puts them; the median of all
/// passes together.
/// 2: four looks, also after each third of the points, and threads bound, each to a hardware thread
/// of its own; of the fastest look the median, since what a neighbour takes away is no property of
/// the machine. A look is 0.3 s of passes over memory that is touched anew.
constexpr int ceiling_definition = 2;

/// What a machine can do at best, as a probe that reaches it: one pass does so much work.
struct Ceiling
{
    std::string name;           ///< "read", "fma_fp32": the same name in every experiment
    Work work;                  ///< of one pass: of bytes and flops only what it is the ceiling of
    std::function<void()> pass; ///< on the host, or put into the queue of its target
};

/// An option of one experiment and where its value goes.
struct Option
{
    std::string name;
    std::variant<std::int64_t*, double*, std::string*> target;
    std::string help;
};

/// How much an experiment measures where nobody says otherwise.
struct Sampling
{
    std::size_t rounds = 7; ///< of the profiles quick and book
    std::size_t pairs = 20; ///< A/A pairs of all points together, at least
};

/// One question, its studies and options, and the loop over all points.
///
/// Every experiment understands `--profile --samples --min-time --threads --seed --filter --study
/// --output --list --help`, `--precision` if it has types, and one option for each axis that
/// replaces the axis' values (`--matrix FILE.mtx`) and leaves out studies without that axis.
class Experiment
{
public:
    /// `usual` is where studies run unless they say otherwise; its team measures together.
    Experiment(std::string name, int argc, char** argv, Target& usual = host())
        : name_{std::move(name)}, argc_{argc}, argv_{argv}, usual_{&usual}
    {
    }
    Experiment(Experiment const&) = delete;
    Experiment& operator=(Experiment const&) = delete;

    /// Adds a study. The reference stays valid as long as the experiment.
    Study& study(std::string name) { return studies_.emplace_back(std::move(name), *usual_); }

    /// Adds `--name VALUE` with its present value as the default. `value` is set when `run` begins.
    Experiment& option(std::string const& name,
                       std::variant<std::int64_t*, double*, std::string*> value,
                       std::string const& help)
    {
        options_.push_back({name, value, help});
        return *this;
    }

    /// Takes fewer samples than is usual, where each of them lasts long.
    Experiment& sampling(Sampling sampling)
    {
        sampling_ = sampling;
        return *this;
    }

    /// Measures a ceiling of the usual target before the first point, after each third and after
    /// the last, in this process; `make` gets the threads of this process.
    Experiment& ceiling(std::function<Ceiling(int threads)> make)
    {
        ceilings_.push_back({usual_, std::move(make)});
        return *this;
    }

    /// As above of a target, unless that is missing here: once, by the first of several processes,
    /// where threads do not matter to it.
    Experiment& ceiling(Target& of, std::function<Ceiling()> make)
    {
        ceilings_.push_back({&of, [make = std::move(make)](int) { return make(); }});
        return *this;
    }

    template <std::derived_from<Target> T>
    Experiment& ceiling(T& of, Ceiling (*make)(T&))
    {
        return ceiling(of, [&of, make] { return make(of); });
    }

    /// Records the version of a library that was loaded; an empty one means that it was not.
    Experiment& library(std::string const& name, std::string const& version)
    {
        if (!version.empty()) {
            libraries_[name] = version;
        }
        return *this;
    }

    /// Measures what the command line asks for, writes the result file and returns the program's
    /// exit code: 0, 1 if a variant failed, 2 for a user's error.
    int run();

private:
    struct Probe
    {
        Target* of;
        std::function<Ceiling(int threads)> make;
    };

    int measure(Settings const& settings) const;
    void measure_ceilings(Run& run, std::string const& when) const;
    void measure_points(Run& run) const;
    std::string label(PointState const& point) const;
    void list(Run& run) const;

    std::string name_;
    int argc_;
    char** argv_;
    Target* usual_;
    std::deque<Study> studies_;
    std::vector<Option> options_;
    std::vector<Probe> ceilings_;
    std::map<std::string, std::string> libraries_;
    Sampling sampling_;
};

} // namespace bench
