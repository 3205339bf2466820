#include "kit/contender.hpp"
#include "kit/json.hpp"
#include "kit/problem.hpp"
#include "kit/score.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <sys/random.h>

/// \file
/// Calls contenders in turn on problems that are new each time, and says of each call how long it
/// took and what is wrong with its result. What to do comes on standard input, a line each, its
/// words separated by tabs:
///
///     rounds N          how often all are called for each case
///     ranks N           processes of each contender
///     processors N      how many a contender may use
///     problem LINE      see kit::problem; before the cases
///     boxes keep time   host code is the kit's own and tells the time of a call
///     people            write for people, not for programs; stop at the first failure
///     sanitized FILE MEGABYTES   boxes are built with a sanitizer, whose report is about FILE;
///                       each may fill so much memory
///     points CORRECTNESS SPEED SPAN   see kit::Points: people are told about how many they get
///     model CASE SHARE WEIGHT   of the bound, that the model solution reaches; of the case
///     case LINE         see kit::Family
///     hidden LINE       the same, but of a failure only a race and what is against the rules is
///                       named
///     contender NAME UID SOCKET COMMAND...
///
/// A contender `floor` does what nobody can do without, and no more: its result is not looked at.

namespace {

constexpr double limit_seconds = 2; // of a call; the naive solutions take a hundredth
constexpr double sanitized_seconds = 20;
constexpr double noisy = 1.3; // a round in which a reference takes so much longer is repeated

struct Case
{
    kit::Family family;
    bool hidden;
};

/// What is known of the model solution in a case.
struct Model
{
    double share = 0; ///< of the bound
    double weight = 1;
};

struct Task
{
    int rounds = 3;
    int ranks = 1;
    int processors = 1;
    bool people = false;
    bool boxes_keep_time = false;
    std::string sanitized;
    std::int64_t most_memory = 0;
    kit::Generators problem;
    std::vector<Case> cases;
    kit::Points points;
    std::map<std::string, Model> models; // by the name of a case
    std::vector<kit::LaunchSpec> contenders;
};

std::uint64_t fresh_seed()
{
    std::uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed) {
        throw std::runtime_error("no random numbers");
    }
    return seed;
}

std::vector<std::string> split(std::string const& line)
{
    std::vector<std::string> words;
    std::istringstream stream{line};
    for (std::string word; std::getline(stream, word, '\t');) {
        words.push_back(word);
    }
    return words;
}

Task read_task(std::istream& input)
{
    Task task;
    std::map<std::string, int*> const numbers{
        {"rounds", &task.rounds}, {"ranks", &task.ranks}, {"processors", &task.processors}};
    for (std::string line; std::getline(input, line);) {
        auto const words = split(line);
        if (words.empty()) {
            continue;
        }
        if (words[0] == "people") {
            task.people = true;
        } else if (words[0] == "boxes keep time") {
            task.boxes_keep_time = true;
        } else if (words.size() == 2 && numbers.contains(words[0])) {
            *numbers.at(words[0]) = std::stoi(words[1]);
        } else if (words.size() == 3 && words[0] == "sanitized") {
            task.sanitized = words[1];
            task.most_memory = std::stoll(words[2]) << 20;
        } else if (words.size() == 2 && (words[0] == "case" || words[0] == "hidden")) {
            task.cases.push_back({kit::Family{task.problem, words[1]}, words[0] == "hidden"});
        } else if (words.size() == 2 && words[0] == "problem") {
            task.problem = kit::problem(words[1]);
        } else if (words.size() == 4 && words[0] == "points") {
            task.points = {std::stod(words[1]), std::stod(words[2]), std::stod(words[3])};
        } else if (words.size() == 4 && words[0] == "model") {
            task.models[words[1]] = {std::stod(words[2]), std::stod(words[3])};
        } else if (words.size() >= 5 && words[0] == "contender") {
            task.contenders.push_back({.name = words[1],
                                       .keeps_time = task.boxes_keep_time,
                                       .uid = std::stoi(words[2]),
                                       .socket = words[3],
                                       .may_print = task.people,
                                       .sanitized = task.sanitized,
                                       .most_memory = task.most_memory,
                                       .command = {words.begin() + 4, words.end()}});
        } else {
            throw std::invalid_argument("judge: cannot understand '" + line + "'");
        }
    }
    return task;
}

/// Is it the work of this kit, so that a fault of it is the kit's?
bool is_reference(std::string const& name)
{
    return name != "submission";
}

/// All that is told of a failure in a hidden case. A program chooses how it fails, and could tell
/// in that what it has seen: only what is against the rules is named, and races are, as they cost
/// less.
constexpr char const* hidden_failure = "it gives no result as expected (of hidden cases no more is"
                                       " told)";
constexpr char const* hidden_race = "a race (of hidden cases no more is told)";

constexpr char const* beyond_result = "it wrote outside its result: to its input, or beyond the end"
                                      " of the result";

/// All that a grade tells of a wrong result: a program chooses what it leaves and where, and could
/// write there what it has seen, of another case, too, if anything had kept it.
std::string without_values(std::string const& complaint)
{
    if (complaint.empty() || complaint == beyond_result) {
        return complaint;
    }
    bool const is_nan = complaint.find("NaN") != std::string::npos;
    return std::string{"an element of the result is "} +
           (is_nan ? "NaN: was it written?" : "wrong") + " (make test shows such a one)";
}

/// One case: its contenders, and what they did.
class Contest
{
public:
    Contest(Task const& task, Case const& which)
        : task_{task}, case_{which.family}, hidden_{which.hidden},
          whole_{static_cast<int>(fresh_seed() % static_cast<std::uint64_t>(task.rounds))}
    {
    }

    /// False where the submission failed; its first failure ends the case.
    bool run()
    {
        auto const some = case_.make(fresh_seed());
        for (auto const& image : some->images(task_.ranks, 0)) {
            region_bytes_ = std::max(region_bytes_, image.bytes.size() * 3 / 2 + (1U << 16));
        }
        for (auto const& entry : task_.contenders) {
            start(entry);
        }
        int spare = task_.rounds; // rounds that may be repeated
        for (int round = 0; round < task_.rounds && passed_;) {
            bool const counts = play(round, spare == 0);
            round += counts;
            spare -= !counts;
        }
        return passed_;
    }

private:
    struct Sample
    {
        std::string contender;
        kit::Call call;
        std::string complaint;
    };

    void start(kit::LaunchSpec const& entry)
    {
        try {
            alive_.push_back(std::make_unique<kit::Contender>(entry, task_.ranks, region_bytes_));
        } catch (std::runtime_error const& error) {
            if (is_reference(entry.name)) {
                throw;
            }
            tell(-1, 0, {entry.name, {.fault = error.what()}, {}});
        }
    }

    /// One round. It counts, unless the references say that something disturbed it and it may be
    /// repeated; a failure is told in any case.
    bool play(int round, bool in_any_case)
    {
        auto const problem = case_.make(fresh_seed());
        auto const images = problem->images(task_.ranks, fresh_seed());
        problem->expect(round == whole_);
        for (std::size_t last = alive_.size(); last > 1; --last) {
            std::swap(alive_[last - 1], alive_[fresh_seed() % last]);
        }
        std::vector<Sample> samples;
        for (auto const& contender : alive_) {
            contender->load(images);
            auto const limit = task_.sanitized.empty() ? limit_seconds : sanitized_seconds;
            Sample sample{contender->name(), contender->call(task_.processors, limit), {}};
            if (sample.call.fault.empty() && contender->name() != "floor") {
                sample.complaint = checked(*contender, *problem, images);
            }
            if (task_.people && !sample.call.fault.empty()) {
                std::fputs(contender->report().c_str(), stderr);
            }
            samples.push_back(sample);
        }
        bool const counts = is_quiet(samples, problem->work()) || in_any_case;
        for (auto const& sample : samples) {
            bool const failed = !sample.call.fault.empty() || !sample.complaint.empty();
            if (failed && is_reference(sample.contender)) {
                throw std::runtime_error(sample.contender + " failed in case " + case_.name() +
                                         ": " + sample.call.fault + sample.complaint);
            }
            if (counts || failed) {
                tell(round, problem->work(), sample);
            }
        }
        return counts;
    }

    std::string checked(kit::Contender const& contender, kit::Instance& problem,
                        std::vector<kit::Image> const& images) const
    {
        if (contender.changed_input(images)) {
            return beyond_result;
        }
        for (std::size_t rank = 0; rank < images.size(); ++rank) {
            auto const bytes = contender.result(images, rank);
            kit::Result const result{images[rank].first, bytes};
            auto const complaint = problem.complaint(result);
            if (!complaint.empty()) {
                bool const small = problem.is_small() && task_.people;
                return complaint + (small ? "\n" + problem.shown(result) : "");
            }
        }
        return {};
    }

    /// What counts as the time of a call. Where one processor works, its own time: then nobody else
    /// who uses the machine is in it.
    double time(kit::Call const& call) const
    {
        bool const own = task_.processors == 1 && !task_.boxes_keep_time;
        return own ? call.processor : call.seconds;
    }

    bool is_quiet(std::vector<Sample> const& samples, double work)
    {
        bool quiet = true;
        for (auto const& sample : samples) {
            if (is_reference(sample.contender)) {
                auto const rate = time(sample.call) / work;
                auto const [best, first] = best_.try_emplace(sample.contender, rate);
                quiet = quiet && rate < noisy * best->second;
                best->second = std::min(best->second, rate);
            }
        }
        return quiet;
    }

    void tell(int round, double work, Sample const& sample)
    {
        bool const failed = !sample.call.fault.empty() || !sample.complaint.empty();
        passed_ = passed_ && !failed;
        auto fault = sample.call.fault;
        auto wrong = sample.complaint;
        if (hidden_ && failed && !sample.call.foul) {
            fault = sample.call.race ? hidden_race : hidden_failure;
            wrong.clear();
        }
        if (!task_.people) {
            std::printf("{\"case\": %s, \"round\": %d, \"contender\": %s, \"work\": %.0f, "
                        "\"seconds\": %.9f, \"wall\": %.9f, \"fault\": %s, "
                        "\"foul\": %s, \"race\": %s, \"wrong\": %s, \"freezer\": %s}\n",
                        kit::quoted(case_.name()).c_str(), round,
                        kit::quoted(sample.contender).c_str(), work, time(sample.call),
                        sample.call.seconds, kit::quoted(fault).c_str(),
                        sample.call.foul ? "true" : "false", sample.call.race ? "true" : "false",
                        kit::quoted(without_values(wrong)).c_str(),
                        kit::quoted(kit::name(task_.contenders.front().freezer())).c_str());
        } else if (failed) {
            std::printf("%s: FAILED, and the fault is yours: %s%s\n", case_.name().c_str(),
                        fault.c_str(), wrong.c_str());
        } else {
            times_[sample.contender].push_back(time(sample.call));
        }
        std::fflush(stdout);
    }

public:
    /// For people: times of the submission beside those of the references, where these are there.
    std::optional<kit::Standing> summarise()
    {
        if (!task_.people || !passed_) {
            return {};
        }
        std::optional<kit::Standing> standing;
        std::printf("%-16s right", case_.name().c_str());
        if (task_.rounds >= 3 && times_.contains("naive") && times_.contains("floor")) {
            auto const found = task_.models.find(case_.name());
            auto const model = found == task_.models.end() ? Model{} : found->second;
            standing = {.name = case_.name(),
                        .seconds = usual("submission"),
                        .naive = usual("naive"),
                        .floor = usual("floor"),
                        .model_share = model.share,
                        .weight = model.weight};
            std::printf("  %8.3f ms, %5.2f times as fast as naive, %3.0f %% of the bound",
                        1e3 * standing->seconds, standing->naive / standing->seconds,
                        100 * standing->floor / standing->seconds);
        }
        std::printf("\n");
        return standing;
    }

private:
    /// The lower quartile: what disturbs a call only makes it longer.
    double usual(std::string const& contender)
    {
        auto& times = times_.at(contender);
        std::ranges::sort(times);
        return times[times.size() / 4];
    }

    Task const& task_;
    kit::Family const& case_;
    bool hidden_;
    int whole_; ///< the round whose results are checked whole: which one is nobody's to know
    std::size_t region_bytes_ = 0;
    std::vector<std::unique_ptr<kit::Contender>> alive_;
    std::map<std::string, double> best_;
    std::map<std::string, std::vector<double>> times_;
    bool passed_ = true;
};

} // namespace

int main()
{
    try {
        auto const task = read_task(std::cin);
        bool passed = true;
        std::vector<kit::Standing> standings;
        for (auto const& which : task.cases) {
            Contest contest{task, which};
            passed = contest.run() && passed;
            if (auto const standing = contest.summarise()) {
                standings.push_back(*standing);
            }
            if (task.people && !passed) {
                break; // the first fault is enough to work on
            }
        }
        if (passed) {
            std::fputs(kit::score(standings, task.points).c_str(), stdout);
        }
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
            throw std::runtime_error{"standard output cannot be written"};
        }
        return passed ? 0 : 1;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "judge: the fault is ours: %s\n", error.what());
        return 2;
    }
}
