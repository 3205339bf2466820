#include "studies.hpp"

#include "ceilings/device_probes.hpp"

#include <memory>

void cuda::add_studies(bench::Experiment& experiment, Gpu& gpu)
{
    experiment.ceiling(gpu, ceilings::device_read)
        .ceiling(gpu, ceilings::device_fma<float>)
        .ceiling(gpu, ceilings::device_fma<double>);
    auto const meter = std::make_shared<joules::Meter>(gpu);
    auto const datasets = std::make_shared<sparse::Datasets>();
    auto const add = [&](char const* name, void (*measure)(bench::Trial&, joules::Meter&)) {
        experiment.study(name).on(gpu).untyped(
            [=](bench::Trial& trial) { measure(trial, *meter); });
    };
    add("levels", joules::levels);
    add("operations", joules::operations);
    add("bits", joules::bits);
    add("product_gemm", joules::gemm);
    add("product_softmax", joules::softmax);
    bench::AxisValues matrices{"sten27"};
    matrices.tiny = {"sten27-tiny"};
    matrices.require = [=](bench::Parameter const& name) {
        datasets->require(std::get<std::string>(name));
    };
    experiment.study("product_spmv")
        .on(gpu)
        .axis("matrix", matrices)
        .untyped([=, &experiment](bench::Trial& trial) {
            joules::spmv(experiment, trial, *meter, *datasets);
        });
}
