#include "bench/trial.hpp"

#include "bench/contest.hpp"

#include <algorithm>

namespace bench {

namespace {

template <class T>
struct alignas(64) CacheLine
{
    T values[64 / sizeof(T)];
};

} // namespace

void Setup::not_applicable(std::string const& reason) const
{
    throw NotApplicable{reason};
}

TrialCore::TrialCore(Session& session, Check check)
    : contest_{std::make_unique<Contest>(session, check)}
{
}

TrialCore::~TrialCore() = default;

void TrialCore::work(Work work)
{
    contest_->work = work;
}
void TrialCore::cache(Cache cache)
{
    contest_->cache = cache;
}
void TrialCore::expect_result(std::function<Expected()> expected)
{
    contest_->expected = std::move(expected);
}
void TrialCore::output(std::unique_ptr<Output> output)
{
    contest_->outputs.push_back(std::move(output));
}
void TrialCore::on_refill(std::function<void()> action)
{
    contest_->on_refill = std::move(action);
}
void TrialCore::on_reset(std::function<void()> action)
{
    contest_->on_reset = std::move(action);
}
void TrialCore::clock(std::unique_ptr<Clock> clock)
{
    contest_->clock = std::move(clock);
}
void TrialCore::flush_with(std::function<void()> flush)
{
    contest_->flush = std::move(flush);
}
void TrialCore::operand_sets(std::size_t count)
{
    contest_->sets = std::max<std::size_t>(1, count);
}
void TrialCore::inexact(std::string reason)
{
    contest_->inexact = std::move(reason);
}
bool TrialCore::is_timed() const
{
    return contest_->check == Check::bounded;
}

bool TrialCore::is_cold() const
{
    return contest_->is_cold();
}

bool TrialCore::is_first_process() const
{
    return !contest_->session.settings.later;
}

bool TrialCore::only_adds_samples() const
{
    return contest_->session.settings.again;
}

int TrialCore::threads() const
{
    return contest_->session.settings.threads;
}
Fill TrialCore::next_fill()
{
    return contest_->next_fill();
}

void TrialCore::input(std::function<void(Fill const&)> refill)
{
    refill(next_fill());
    contest_->inputs.push_back(std::move(refill));
}

void TrialCore::dataset(std::string const& name, std::string const& sha256,
                        std::vector<std::pair<std::string, double>> const& features)
{
    Json numbers = Json::object();
    for (auto const& [feature, value] : features) {
        numbers[feature] = value;
    }
    contest_->session.measured.datasets[to_text(name)] = {{"sha256", sha256},
                                                          {"features", numbers}};
}

void TrialCore::not_applicable(std::string reason)
{
    throw NotApplicable{reason};
}

Variant& TrialCore::skip(std::string name, std::string reason)
{
    return contest_->declare({Variant{name}, name, nullptr, std::move(reason)});
}

Variant& TrialCore::add_variant(std::string name, std::function<Variant::Call(Setup&)> prepare)
{
    return contest_->declare({Variant{name}, name, std::move(prepare), ""});
}

void TrialCore::run()
{
    contest_->run();
}

template <class T>
std::span<T> Trial<T>::input(std::size_t count)
{
    using Line = CacheLine<T>;
    constexpr std::size_t per_line = 64 / sizeof(T);
    auto const lines = std::make_shared<std::vector<Line>>(count / per_line + 1);
    std::span<T> const values{lines->data()->values, count};
    TrialCore::input([lines, values](Fill const& fill) { fill(values); });
    return values;
}

template <class T>
void Trial<T>::input(std::span<T> values)
{
    TrialCore::input([values](Fill const& fill) { fill(values); });
}

template <class T>
void Trial<T>::output(std::span<T> values)
{
    TrialCore::output(host_output(values));
}

template class Trial<float>;
template class Trial<double>;

} // namespace bench
