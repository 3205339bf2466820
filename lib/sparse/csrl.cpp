#include "sparse/csrl.hpp"

#include "sparse/runs.hpp"
#include "sparse/stretches.hpp"

#include <limits>

namespace sparse {

namespace {

constexpr auto any_length = std::numeric_limits<std::int32_t>::max();

} // namespace

template <class T>
std::int32_t CsrlView<T>::position(std::int32_t row) const
{
    std::int32_t const near = row / checkpoint_distance;
    std::int32_t before = checkpoint[near];
    for (auto run = first_run[near * checkpoint_distance]; run < first_run[row]; ++run) {
        before += length[run];
    }
    return before;
}

template <class T>
std::size_t Csrl<T>::bytes() const
{
    return bytes_of(first_run, start, length, values, checkpoint);
}

template <class T>
Csrl<T> to_csrl(CsrView<T> const& a)
{
    Csrl<T> runs;
    runs.rows = a.rows;
    runs.columns = a.columns;
    runs.first_run =
        offsets(a.rows, [&](std::int32_t row) { return count_runs(a, row, any_length); });
    runs.start.resize(static_cast<std::size_t>(runs.first_run[a.rows]));
    runs.length.resize(runs.start.size());
    runs.values.resize(a.nonzeros());
    parallel_units(a.rows, [&](std::int32_t row) {
        auto run = runs.first_run[row];
        visit_runs(a, row, any_length, [&](std::int32_t position, std::int32_t length) {
            runs.start[run] = a.col[position];
            runs.length[run] = length;
            std::copy_n(&a.values[position], length, &runs.values[position]);
            ++run;
        });
    });
    runs.checkpoint = checkpoints(a.rows, [&](std::int32_t row) { return a.row_ptr[row]; });
    return runs;
}

template struct CsrlView<float>;
template struct CsrlView<double>;
template struct Csrl<float>;
template struct Csrl<double>;
template Csrl<float> to_csrl(CsrView<float> const&);
template Csrl<double> to_csrl(CsrView<double> const&);

} // namespace sparse
