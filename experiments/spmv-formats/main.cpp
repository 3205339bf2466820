#include "experiments/spmv_peers.hpp"

#include "ceilings/probes.hpp"
#include "sparse/formats/blocked_coo/blocked_coo.hpp"
#include "spmv/plan.hpp"
#include "spmv/plan/format_kernels.hpp"
#include "spmv/steps/serial.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

/// A variant that multiplies by a plan.
template <class T>
auto by_plan(Problem<T>& problem, spmv::PlanOptions const& options, double bytes_of_tiles_in_csr)
{
    return [=, &problem](bench::Variant& variant) {
        try {
            auto const plan = variant.keep(spmv::Plan<T>{problem.a, options});
            variant.note(plan->explain());
            variant.count("bytes_of_tiles_in_csr", bytes_of_tiles_in_csr);
            return [plan, x = problem.x.on(), y = problem.y.on()] { (*plan)(x, y); };
        } catch (std::length_error const& refusal) {
            variant.not_applicable(refusal.what());
        }
    };
}

/// Of some matrices only claims about CSR, runs and tiles are asked: whether these name a format,
/// of matrices of the sweep or of a class.
bool is_in_brief(std::string_view format, std::string_view matrix)
{
    if (format == "csr" || format == "csrl") {
        return true;
    }
    bool const is_of_runs = format == "packed_csrl" || format == "masked_blocks";
    return matrix.starts_with("runs-") ? is_of_runs : format.starts_with("blocked_coo");
}

constexpr auto not_asked = "no claim asks it of this matrix";

/// Every format by itself, `planned(name)`.
template <class Planned>
void add_formats(bench::Trial& trial, bool is_brief, Planned planned)
{
    for (auto const& format : spmv::plan_formats()) {
        auto const name = std::string{format.name};
        if (is_brief && !is_in_brief(name, trial.text("matrix"))) {
            trial.skip(name, not_asked).group("format");
        } else {
            trial.add(name, planned(name)).excerpt(std::string{format.excerpt}).group("format");
        }
    }
}

/// Leaves out what chooses among formats.
template <class T>
void skip_choices(bench::Trial& trial)
{
    trial.skip("plan", not_asked).group("plan");
    trial.skip("plan_untimed", not_asked).group("plan");
    for (auto const& peer : peers::spmv_peers<T>({trial.threads(), peers::Tuning::off})) {
        auto const reason = peer.missing.empty() ? not_asked : std::string{peer.missing};
        trial.skip(std::string{peer.name}, reason).group("peer");
    }
}

} // namespace

/// Formats: which matrix is best stored in which way, and can a library choose?
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-formats", argc, argv};
    std::string kernels;
    experiment.option("kernels", &kernels,
                      "avx512_gather, avx512, avx2 or baseline; default: the best");
    experiment.ceiling(ceilings::read);
    auto const brief = datasets.set("formats-brief").quick;
    auto& study = experiment.study("spmv").axis(
        "matrix", datasets.set_beyond_cache("formats", bench::host().cache_bytes()));
    study.types<float, double>([&]<class T>(bench::Trial& trial) {
        bool const is_brief = std::ranges::find(brief, trial.text("matrix")) != brief.end();
        if (is_brief && trial.threads() > 1) {
            trial.not_applicable("what is asked of it, one thread answers");
        }
        Problem<T> problem{datasets, trial};
        auto const& a = problem.a;
        auto const x = problem.x.on();
        auto const y = problem.y.on();
        spmv::format_kernels<T>(kernels); // refuses a name that this processor has not
        auto const tiles_in_csr =
            static_cast<double>(sparse::bytes_of_tiles_in_csr(a.view(), 256, sizeof(T)));
        auto const planned = [&](std::string_view format, bool timed = true) {
            return by_plan<T>(problem,
                              {.threads = trial.threads(),
                               .cold = trial.is_cold(),
                               .timed = timed,
                               .format = std::string{format},
                               .kernels = kernels},
                              tiles_in_csr);
        };

        trial.add("accumulator", [&] { spmv::accumulator<T>(a, x, y); }).group("step");
        add_formats(trial, is_brief, planned);
        if (is_brief) {
            skip_choices<T>(trial);
            trial.run();
            return;
        }
        trial.add("plan", planned("")).group("plan");
        trial.add("plan_untimed", planned("", false)).excerpt("plan").group("plan");
        add_peers(experiment, trial, problem);
        trial.run();
    });
    return experiment.run();
}
