#pragma once

#include "bench/experiment.hpp"
#include "cuda/gpu.hpp"
#include "energy/gpu_clock.hpp"
#include "sparse/catalogue/datasets.hpp"

#include <memory>
#include <string>

/// The studies of this experiment, each in a source of its own.
namespace joules {

/// The energy counter of the GPU and the clock that reads it, made when a trial first asks for
/// them: not before the device is needed.
class Meter
{
public:
    explicit Meter(cuda::Gpu& gpu) : gpu_{gpu} {}

    cuda::Gpu& gpu() const { return gpu_; }

    /// To be called before others in each trial; throws base::NotApplicable where the GPU has no
    /// counter. Samples of a test last one step.
    void begin(bench::Trial const& trial);

    /// Measures a variant in joules too.
    bench::Variant& operator()(bench::Variant& variant);

private:
    cuda::Gpu& gpu_;
    std::unique_ptr<energy::GpuCounter> counter_;
    std::unique_ptr<energy::GpuClock> clock_;
};

/// baselines.cpp: the board with nothing to do at the clock of the others, and a kernel that only
/// spins; what others take is counted above either.
void add_idle(bench::Trial& trial, Meter& meter);
void add_spin(bench::Trial& trial, Meter& meter);

/// levels.cpp: reading and writing so many bytes at each level, and over the bus.
void levels(bench::Trial& trial, Meter& meter);

/// operations.cpp: so many operations of each kind, and as many floats read from memory.
void operations(bench::Trial& trial, Meter& meter);

/// As above: some of them on zeros, on one repeated number and on random ones.
void bits(bench::Trial& trial, Meter& meter);

/// products.cpp: whole products by kernels whose time other chapters measure. Matrices: steps from
/// one thread for each element on to what a program would call.
void gemm(bench::Trial& trial, Meter& meter);

/// As above: ways of softmax, by how often they read a row, and from where.
void softmax(bench::Trial& trial, Meter& meter);

/// As above: a sparse matrix in formats that move more and fewer bytes, and a library.
void spmv(bench::Experiment& experiment, bench::Trial& trial, Meter& meter,
          sparse::Datasets& datasets);

} // namespace joules
