#include "bench/operand.hpp"

#include <algorithm>

namespace bench {

Operand::Operand(ElementType const& type, std::size_t count, bool is_output)
    : type_{&type}, count_{count}, is_output_{is_output}
{
}

std::byte* Operand::on(Target& where)
{
    auto& memory = where.memory();
    auto const known = std::ranges::find(copies_, &memory, &Copy::where);
    return known != copies_.end() ? known->memory.get()
                                  : add(memory, memory.allocate(count_ * type_->bytes));
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
