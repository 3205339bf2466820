#pragma once

#include "bench/experiment.hpp"
#include "cuda/gpu.hpp"

/// The studies of this experiment, each in a source of its own.
namespace transfer_streams {

/// two_streams.cpp: the article's first program. Twenty chunks in every order, over the time of the
/// kernel; and eight with timelines.
void add_two_streams(bench::Experiment& experiment, cuda::Gpu& gpu);

/// chunks.cpp: the article's second program. Chunks over eight streams in every way, and what such
/// chunks need.
void add_chunks(bench::Experiment& experiment, cuda::Gpu& gpu);

/// articles_check.cpp: what the article's check says of its kernel, and of the kernel that it
/// should have; and how many elements are NaN.
void add_articles_check(bench::Experiment& experiment, cuda::Gpu& gpu);

} // namespace transfer_streams
