#include "kit/box.hpp"
#include "multiply.hpp"

void kit::call(Part const& part)
{
    multiply(part.number[0], part.number[1], part.number[2], part.in<double>(0), part.in<double>(1),
             part.out<double>(2));
}
