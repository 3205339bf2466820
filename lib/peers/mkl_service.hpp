#pragma once

#include <mkl_service.h>

#include <string>

/// \file
/// What everything of the Math Kernel Library shares: how it starts, and on how many threads.

namespace peers {

/// Starts the library, with threads if `threads` is not 1: called for a single one, its threaded
/// half takes a third of a microsecond longer. The first call decides for the whole process; throws
/// `std::logic_error` if a later one wants threads that the first did without.
void start_mkl(int threads);

/// The version of the library that was loaded, and the processors that its code was chosen for.
std::string mkl_version();

/// While it lives, the library uses `count` threads for calls from this thread, no fewer.
class MklThreads
{
public:
    explicit MklThreads(int count) : before_{mkl_set_num_threads_local(count)} {}
    ~MklThreads() { mkl_set_num_threads_local(before_); }
    MklThreads(MklThreads const&) = delete;
    MklThreads& operator=(MklThreads const&) = delete;

private:
    int before_;
};

} // namespace peers
