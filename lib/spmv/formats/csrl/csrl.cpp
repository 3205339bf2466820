#include "spmv/formats/csrl/csrl.hpp"

#include "sparse/check.hpp"
#include "spmv/formats/runs.hpp"
#include "spmv/formats/stretches.hpp"

#include <limits>

namespace sparse {

namespace {

constexpr auto any_length = std::numeric_limits<std::int32_t>::max();

} // namespace

template <class T>
std::int32_t CsrlView<T>::position(std::int32_t row) const
{
    return values_before(checkpoint, first_run[row], [&](std::int32_t run) { return length[run]; });
}

template <class T>
std::size_t Csrl<T>::bytes() const
{
    return bytes_of(first_run, start, length, values, checkpoint);
}

template <class T>
Csrl<T> to_csrl(CsrView<T> const& a)
{
    require_sorted_rows(a);
    Csrl<T> runs;
    runs.rows = a.rows;
    runs.columns = a.columns;
    runs.first_run =
        offsets(a.rows, [&](std::int32_t row) { return count_runs(a, row, any_length); });
    runs.start.resize(static_cast<std::size_t>(runs.first_run[a.rows]));
    runs.length.resize(runs.start.size());
    runs.values.resize(a.nonzeros());
    runs.checkpoint = checkpoints(runs.start.size(), a.nonzeros());
    parallel_units(a.rows, [&](std::int32_t row) {
        auto run = runs.first_run[row];
        visit_runs(a, row, any_length, [&](std::int32_t position, std::int32_t length) {
            runs.start[run] = a.col[position];
            runs.length[run] = length;
            std::copy_n(&a.values[position], length, &runs.values[position]);
            note_checkpoint(runs.checkpoint, run, position);
            ++run;
        });
    });
    return runs;
}

template struct CsrlView<float>;
template struct CsrlView<double>;
template struct Csrl<float>;
template struct Csrl<double>;
template Csrl<float> to_csrl(CsrView<float> const&);
template Csrl<double> to_csrl(CsrView<double> const&);

} // namespace sparse
