#include "bench/operand.hpp"

#include <algorithm>

namespace bench {

Operand::Operand(ElementType const& type, std::size_t count, bool is_output)
    : type_{&type}, count_{count}, is_output_{is_output}
{
}

namespace {

/// Where in a cache line an output on the host begins: where the elements of a large std::vector
/// do, so that threads share lines of a result as they would in a program that calls these kernels.
constexpr std::size_t offset_in_line = 16;

} // namespace

std::byte* Operand::on(Target& where)
{
    auto& memory = where.memory();
    auto const known = std::ranges::find(copies_, &memory, &Copy::where);
    if (known != copies_.end()) {
        return known->memory.get();
    }
    auto const offset = is_output_ && &memory == &host() ? offset_in_line : 0;
    auto const bytes = memory.allocate(count_ * type_->bytes + offset);
    return add(memory, {bytes, bytes.get() + offset});
}

void Operand::adopt(Target& where, std::byte* memory)
{
    home_ = &where.memory();
    add(where.memory(), {std::shared_ptr<void>{}, memory});
}

std::byte* Operand::add(Target& where, std::shared_ptr<std::byte> memory)
{
    auto* const bytes = memory.get();
    copies_.push_back({&where, std::move(memory)});
    if (is_output_) {
        where.poison({bytes, count_ * type_->bytes}, type_->poison);
    } else if (&where != &host()) {
        where.upload({bytes, count_ * type_->bytes}, this->bytes(host()));
    }
    return bytes;
}

void Operand::refill(Fill const& fill)
{
    type_->fill(fill, on(host()), count_);
    for (auto const& copy : copies_) {
        if (copy.where != &host()) {
            copy.where->upload({copy.memory.get(), count_ * type_->bytes}, bytes(host()));
            copy.where->finish();
        }
    }
}

void Operand::poison()
{
    for (auto const& copy : copies_) {
        copy.where->poison({copy.memory.get(), count_ * type_->bytes}, type_->poison);
    }
}

bool Operand::is_beyond(Target& where) const
{
    return std::ranges::any_of(copies_,
                               [&](Copy const& copy) { return copy.where != &where.memory(); });
}

} // namespace bench
