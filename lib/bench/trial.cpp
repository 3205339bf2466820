#include "bench/trial.hpp"

#include "bench/trial_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace bench {

namespace {

template <class T>
T const& parameter(Coordinates const& at, std::string const& axis)
{
    auto const found = std::ranges::find(at, axis, &Coordinates::value_type::first);
    if (found == at.end() || !std::holds_alternative<T>(found->second)) {
        throw std::logic_error{fmt::format("the study has no such axis '{}'", axis)};
    }
    return std::get<T>(found->second);
}

} // namespace

Trial::Trial(std::unique_ptr<TrialRunner> runner) : runner_{std::move(runner)} {}
Trial::~Trial() = default;

std::string const& Trial::text(std::string const& axis) const
{
    return parameter<std::string>(runner_->run_of.point.at, axis);
}
std::int64_t Trial::integer(std::string const& axis) const
{
    return parameter<std::int64_t>(runner_->run_of.point.at, axis);
}
double Trial::real(std::string const& axis) const
{
    return parameter<double>(runner_->run_of.point.at, axis);
}

int Trial::threads() const
{
    return runner_->run_of.settings.threads;
}
bool Trial::only_adds_samples() const
{
    return runner_->run_of.settings.again;
}
bool Trial::is_timed() const
{
    return runner_->check == Check::bounded;
}
bool Trial::is_cold() const
{
    return is_cold(runner_->usual());
}
bool Trial::is_cold(Target& where) const
{
    return runner_->is_cold(where);
}

void Trial::work(Work work)
{
    runner_->work = work;
}
void Trial::cache(Cache cache)
{
    runner_->cache = cache;
}
void Trial::cache(Cache cache, Target& where)
{
    runner_->cache_there[&where] = cache;
}
void Trial::inexact(std::string reason)
{
    runner_->inexact = std::move(reason);
}
void Trial::on_refill(std::function<void()> action)
{
    runner_->on_refill = std::move(action);
}
void Trial::on_reset(std::function<void()> action)
{
    runner_->on_reset = std::move(action);
}

void Trial::dataset(std::string const& name, std::string const& sha256,
                    std::vector<std::pair<std::string, double>> const& features)
{
    Json numbers = Json::object();
    for (auto const& [feature, value] : features) {
        numbers[feature] = value;
    }
    runner_->run_of.point.measured.datasets[to_text(name)] = {{"sha256", sha256},
                                                              {"features", numbers}};
}

Fill Trial::fill()
{
    return runner_->next_fill();
}

Operand& Trial::add_input(ElementType const& type, std::size_t count, void* values)
{
    auto& operand = runner_->inputs.emplace_back(type, count, false);
    if (values != nullptr) {
        operand.adopt(host(), static_cast<std::byte*>(values));
    }
    operand.refill(fill());
    return operand;
}

Operand& Trial::add_output(ElementType const& type, std::size_t count)
{
    return runner_->outputs.emplace_back(type, count, true);
}

Variant& Trial::add_variant(std::string name, std::function<Variant::Call(Variant&)> setup)
{
    return runner_->declare(std::move(name), std::move(setup), "");
}

Variant& Trial::skip(std::string name, std::string reason)
{
    return runner_->declare(std::move(name), nullptr, std::move(reason));
}

void Trial::not_applicable(std::string const& reason) const
{
    throw NotApplicable{reason};
}

void Trial::run()
{
    runner_->run();
}

} // namespace bench
