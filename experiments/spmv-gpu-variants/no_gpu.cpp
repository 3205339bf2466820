#include "bench/experiment.hpp"
#include "sparse/datasets.hpp"

/// The experiment on GPUs where it was built without nvcc: it tells why it measures nothing.
int main(int argc, char** argv)
{
    sparse::Datasets datasets;
    bench::Experiment experiment{"spmv-gpu-variants", argc, argv};
    experiment.axis("matrix", datasets.set("gpu"));
    return experiment.each<float, double>([]<class T>(bench::Point const&, bench::Trial<T>& trial) {
        trial.not_applicable("it was built without nvcc");
    });
}
