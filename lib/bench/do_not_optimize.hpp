#pragma once

namespace bench {

/// Makes the compiler believe that `value` is read and memory written, so that the work behind it
/// stays. Costs no instruction.
template <class T>
inline void do_not_optimize(T const& value)
{
    asm volatile("" : : "r,m"(value) : "memory");
}

} // namespace bench
