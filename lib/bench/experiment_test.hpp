#pragma once

#include "bench/disturbance.hpp"
#include "bench/experiment.hpp"
#include "bench/provenance.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// \file
/// What tests of whole experiments need. For tests only.

namespace bench::testing {

using Json = nlohmann::json;

/// A folder of this test that goes away with it.
class Folder
{
public:
    Folder();
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;

    std::string file(std::string const& name) const { return (path_ / name).string(); }

    /// Everything in it, sorted.
    std::vector<std::string> files() const;

private:
    std::filesystem::path path_;
};

/// argv for an experiment: of one thread, into the output file, and tiny unless `arguments` name a
/// profile.
class CommandLine
{
public:
    CommandLine(std::string const& output, std::vector<std::string> arguments);

    int argc() const { return static_cast<int>(words_.size()); }
    char** argv() { return pointers_.data(); }

private:
    std::vector<std::string> words_;
    std::vector<char*> pointers_;
};

Json read(std::string const& file);

/// What an experiment left.
struct Outcome
{
    int code = 0;                   ///< of its program
    Json result;                    ///< null if it wrote none
    std::vector<std::string> files; ///< in its folder
};

/// A system in which nothing happens but what a test says: told how often it was asked so far.
class ScriptedSystem : public Witness
{
public:
    using Count = std::function<Disturbances(std::size_t asked)>;

    explicit ScriptedSystem(Count process = {}, Count machine = {})
        : process_{std::move(process)}, machine_{std::move(machine)}
    {
    }
    Disturbances of_process() override { return process_ ? process_(asked_++) : Disturbances{}; }
    Disturbances of_machine() override { return machine_ ? machine_(asked_++) : Disturbances{}; }
    Disturbances of_gpus() override { return {}; }

private:
    Count process_;
    Count machine_;
    std::size_t asked_ = 0;
};

/// The system of the next experiments: a calm one, unless a test puts another one here.
extern std::shared_ptr<Witness> tested_system;

/// Runs an experiment that `declare` describes, in a folder of its own.
Outcome measure(std::vector<std::string> const& arguments,
                std::function<void(Experiment&)> const& declare, Target& usual = host());

/// As above in a folder that may hold the journal of an earlier run.
Outcome measure_in(Folder const& folder, std::vector<std::string> const& arguments,
                   std::function<void(Experiment&)> const& declare, Target& usual = host());

/// Runs an experiment of one study without axes and types.
Outcome measure_point(std::vector<std::string> const& arguments,
                      std::function<void(Trial&)> const& body);

/// Runs an experiment that must not come to its end, for a user's error or one of its author:
/// returns the line that says why. No result may be left.
std::string refused(std::vector<std::string> const& arguments,
                    std::function<void(Experiment&)> const& declare);

/// The cases of a variant, without its twins.
Json cases_of(Json const& result, std::string const& variant);

/// "passed", or why the only case of a variant failed; checks that it has samples if it passed, and
/// none if not.
std::string verdict_of(Json const& result, std::string const& variant);

/// What every test program says that it was built from: the marked text "kernel", and one object.
extern std::array<ObjectFlags, 1> built_objects;

} // namespace bench::testing
