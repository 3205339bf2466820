// Compiled once for each rung of the flag ladder, into a namespace named by SPMV_RUNG. Includes
// nothing: an inline function compiled here could replace its equal in the whole program.

namespace spmv::SPMV_RUNG {

namespace {

//! [textbook_flags]
template <class T>
void multiply_rows(int rows, int const* row_ptr, int const* col, T const* values, T const* x, T* y)
{
    for (int i = 0; i < rows; ++i) {
        T sum = 0;
        for (int p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
            sum += values[p] * x[col[p]];
        }
        y[i] = sum;
    }
}
//! [textbook_flags]

} // namespace

void multiply(int rows, int const* row_ptr, int const* col, float const* values, float const* x,
              float* y)
{
    multiply_rows(rows, row_ptr, col, values, x, y);
}

void multiply(int rows, int const* row_ptr, int const* col, double const* values, double const* x,
              double* y)
{
    multiply_rows(rows, row_ptr, col, values, x, y);
}

} // namespace spmv::SPMV_RUNG
