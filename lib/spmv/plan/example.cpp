// Prints the sum of each row of a Matrix Market file: `example FILE`. Uses the installed library.
#include <sparse/io/matrix_market.hpp>
#include <spmv/plan.hpp>

#include <iostream>
#include <vector>

int main(int, char** arguments)
{
    auto const a = sparse::read_matrix_market<double>(arguments[1]);
    spmv::Plan<double> const plan{a}; // chooses format and kernel; `a` must outlive it
    std::vector<double> x(a.columns, 1.0), y(a.rows);
    plan(x, y); // as often as needed, also from several threads at once
    std::cout << plan.explain() << '\n';
    for (double sum : y) {
        std::cout << sum << '\n';
    }
}
