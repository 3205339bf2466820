#include "kit/box.hpp"
#include "spmv.hpp"

void kit::call(Part const& part)
{
    spmv({part.rows, part.columns, part.row_ptr, part.col, part.values}, part.x, part.y);
}
