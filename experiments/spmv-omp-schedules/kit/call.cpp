#include "kit/box.hpp"
#include "spmv.hpp"

void kit::call(Part const& part)
{
    spmv({part.number[0], part.number[1], part.in<std::int32_t>(0), part.in<std::int32_t>(1),
          part.in<double>(2)},
         part.in<double>(3), part.out<double>(4));
}
