#include "bench/variant.hpp"

namespace bench {

Variant::Variant(std::string name, Target& usual)
    : name_{std::move(name)}, excerpt_{name_}, runs_{&usual}, results_{&usual}
{
}

Variant& Variant::on(Target& runs, Target& results)
{
    runs_ = &runs;
    results_ = &results;
    return *this;
}

Variant& Variant::clock(Clock& clock)
{
    clock_ = &clock;
    return *this;
}

Variant& Variant::excerpt(std::string name)
{
    excerpt_ = std::move(name);
    return *this;
}

Variant& Variant::group(std::string name)
{
    group_ = std::move(name);
    return *this;
}

void Variant::count(std::string name, double value)
{
    counts_.emplace_back(std::move(name), value);
}
void Variant::count(std::string name, std::function<double()> read)
{
    counters_.emplace_back(std::move(name), std::move(read));
}
void Variant::timeline(std::function<std::vector<Span>()> read)
{
    timeline_ = std::move(read);
}
void Variant::note(std::string text)
{
    notes_.push_back(std::move(text));
}
void Variant::not_applicable(std::string const& reason) const
{
    throw NotApplicable{reason};
}
void Variant::on_refill(std::function<void()> action)
{
    on_refill_ = std::move(action);
}
void Variant::on_reset(std::function<void()> action)
{
    on_reset_ = std::move(action);
}

Operand& Variant::own_output(ElementType const& type, std::size_t count)
{
    return outputs_.emplace_back(type, count, true);
}

void Variant::forget_setup()
{
    outputs_.clear();
    on_refill_ = nullptr;
    on_reset_ = nullptr;
}

} // namespace bench
