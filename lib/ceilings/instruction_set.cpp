#include "ceilings/instruction_set.hpp"

#include "ceilings/compiled_sets.hpp"
#include "machine/cpu.hpp"

#include <algorithm>
#include <string>

namespace ceilings {

template <class T>
std::vector<InstructionSet<T>> instruction_sets()
{
    std::vector<InstructionSet<T>> sets;
#if defined(__x86_64__)
    if (machine::cpu().has.avx512f) {
        sets.push_back(avx512);
    }
    if (machine::cpu().has.avx2) {
        sets.push_back(avx2);
    }
#endif
    sets.push_back(baseline);
    return sets;
}

template <class T>
InstructionSet<T> const& widest()
{
    static InstructionSet<T> const set = instruction_sets<T>().front();
    return set;
}

template <class T>
InstructionSet<T> const& for_memory()
{
    static InstructionSet<T> const set = [] {
        auto const sets = instruction_sets<T>();
        auto const half_line =
            std::ranges::find(sets, std::string{"avx2"}, &InstructionSet<T>::name);
        return half_line == sets.end() ? sets.front() : *half_line;
    }();
    return set;
}

template std::vector<InstructionSet<float>> instruction_sets<float>();
template std::vector<InstructionSet<double>> instruction_sets<double>();
template InstructionSet<float> const& widest<float>();
template InstructionSet<double> const& widest<double>();
template InstructionSet<float> const& for_memory<float>();
template InstructionSet<double> const& for_memory<double>();

} // namespace ceilings
