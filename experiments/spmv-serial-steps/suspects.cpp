#include "causes.hpp"

#include "spmv/steps/serial.hpp"
#include "spmv/steps/suspects.hpp"

#include <memory>

namespace serial_steps {

void suspects(sparse::Datasets& datasets, bench::Trial& trial)
{
    using T = double;
    Problem<T> problem{datasets, trial};
    auto const x = problem.x.on();
    auto const add = [&](std::string const& name, auto const& change) -> bench::Variant& {
        auto const setup = [=, &problem](bench::Variant& variant) {
            auto const a = std::make_shared<sparse::Csr<T> const>(change(problem.a));
            auto const y = variant.output<T>(static_cast<std::size_t>(a->rows));
            y.expect([=] { return spmv::expected<T>(*a, x); });
            return [=, y = y.on()] { spmv::accumulator<T>(*a, x, y); };
        };
        return trial.add(name, setup).group("suspect");
    };
    add("as_stored", [](auto const& a) { return a; }).excerpt("accumulator");
    add("equal_rows", spmv::equal_rows<T>);
    add("x_in_order", spmv::x_in_order<T>);
    add("equal_rows_x_in_order", [](auto const& a) {
        return spmv::x_in_order(spmv::equal_rows(a));
    }).excerpt("x_in_order");
    trial.run();
}

} // namespace serial_steps
