#pragma once

#include "base/expected.hpp"
#include "bench/element.hpp"
#include "bench/target.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace bench {

using base::Expected;

/// What an output must hold after a call, as a whole or block by block.
struct Expectation
{
    /// Computes elements `first` and those after it, as many as the spans have.
    using Block =
        std::function<void(std::size_t first, std::span<double> value, std::span<double> bound)>;

    std::function<Expected()> whole = {};
    std::size_t granule = 1; ///< blocks begin at multiples of it
    Block block = {};

    explicit operator bool() const { return whole || block; }
};

/// An array that variants read or write, with a copy in the memory of each target that asked for
/// one. See `Input` and `Output`.
class Operand
{
public:
    Operand(ElementType const& type, std::size_t count, bool is_output)
        : type_{&type}, count_{count}, is_output_{is_output}
    {
    }

    ElementType const& type() const { return *type_; }
    std::size_t size() const { return count_; }

    /// The copy in the memory of `where`, made at the first call: an input is uploaded, an output
    /// poisoned.
    std::byte* on(Target& where)
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

    /// Takes memory of `where` that somebody else owns for the copy there. An output is checked
    /// there, wherever a variant leaves others.
    void adopt(Target& where, std::byte* memory)
    {
        home_ = &where.memory();
        add(where.memory(), {std::shared_ptr<void>{}, memory});
    }

    /// Where an output is checked that a variant should leave at `results`.
    Target& checked_at(Target& results) const { return home_ != nullptr ? *home_ : results; }

    /// Gives an input new values, in all copies.
    void refill(Fill const& fill)
    {
        type_->fill(fill, on(host()), count_);
        for (auto const& copy : copies_) {
            if (copy.where != &host()) {
                copy.where->upload({copy.memory.get(), count_ * type_->bytes}, bytes(host()));
                copy.where->finish();
            }
        }
    }

    /// Overwrites every copy of an output with what no correct result holds.
    void poison()
    {
        for (auto const& copy : copies_) {
            copy.where->poison({copy.memory.get(), count_ * type_->bytes}, type_->poison);
        }
    }

    /// Whether there is a copy in other memory than that of `where`.
    bool is_beyond(Target& where) const
    {
        return std::ranges::any_of(copies_,
                                   [&](Copy const& copy) { return copy.where != &where.memory(); });
    }

    Bytes bytes(Target& where) { return {on(where), count_ * type_->bytes}; }

    Expectation expectation;        ///< of an output
    std::optional<Expected> wanted; ///< what that says as a whole of the inputs as they are now

private:
    struct Copy
    {
        Target* where;
        std::shared_ptr<std::byte> memory;
    };

    std::byte* add(Target& where, std::shared_ptr<std::byte> memory)
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

    /// Where in a cache line an output on the host begins: where the elements of a large
    /// std::vector do, so that threads share lines of a result as they would in a program that
    /// calls these kernels.
    static constexpr std::size_t offset_in_line = 16;

    ElementType const* type_;
    std::size_t count_;
    bool is_output_;
    Target* home_ = nullptr; ///< where somebody else owns the memory
    std::vector<Copy> copies_;
};

/// A handle of an operand that variants read and that gets new values before every check, so that
/// none can pass by replaying an earlier result. Valid as long as its trial.
template <Element T>
class Input
{
public:
    explicit Input(Operand& operand) : operand_{&operand} {}

    /// The elements in the memory of `where`; only what runs there may read them.
    std::span<T const> on(Target& where = host()) const
    {
        return {reinterpret_cast<T const*>(operand_->on(where)), size()};
    }
    operator std::span<T const>() const { return on(); }

    std::size_t size() const { return operand_->size(); }

    /// Copies the host's elements to `where`, queued among its work.
    void upload(Target& where) const
    {
        where.upload(operand_->bytes(where), operand_->bytes(host()));
    }

private:
    Operand* operand_;
};

/// A handle of an operand that variants must overwrite completely. Every copy on every target is
/// poisoned before each call that is checked or timed. Valid as long as its trial.
template <Element T>
class Output
{
public:
    explicit Output(Operand& operand) : operand_{&operand} {}

    /// The elements in the memory of `where`.
    std::span<T> on(Target& where = host()) const
    {
        return {reinterpret_cast<T*>(operand_->on(where)), size()};
    }
    operator std::span<T>() const { return on(); }

    std::size_t size() const { return operand_->size(); }

    /// Copies the elements from `where` to the host, queued among its work.
    void download(Target& where) const
    {
        where.fetch(operand_->bytes(host()), operand_->bytes(where));
    }

    /// `whole()` computes the expected result from the inputs as they are when it is called.
    Output const& expect(std::function<Expected()> whole) const
    {
        operand_->expectation = {.whole = std::move(whole)};
        return *this;
    }

    /// The same block by block, for outputs so large that their expectation would not fit: blocks
    /// begin at multiples of `granule` (a row) and have some 2^20 elements.
    Output const& expect(std::size_t granule, Expectation::Block block) const
    {
        operand_->expectation = {.granule = granule, .block = std::move(block)};
        return *this;
    }

private:
    Operand* operand_;
};

} // namespace bench
