/// \file
/// What ThreadSanitizer asks the program that it is in. These stand here so that nothing that is
/// handed in can answer in their place: two of one name do not link.

#include <string_view>
#include <unistd.h>

extern "C" {

/// It prints the first report, and then ends.
char const* __tsan_default_options()
{
    return "halt_on_error=1:history_size=7:detect_deadlocks=0:report_mutex_bugs=0:"
           "report_thread_leaks=0:report_signal_unsafe=0:report_destroy_locked=0";
}

/// The library of OpenMP is not compiled for it; what its regions order is told by Archer.
char const* __tsan_default_suppressions()
{
    return "called_from_lib:libomp.so\ncalled_from_lib:libarcher.so\n";
}

int __tsan_get_report_data(void const* report, char const** kind, int* count, int* stacks,
                           int* accesses, int* locations, int* mutexes, int* threads,
                           int* unique_threads, void** sleep, unsigned long sleep_depth);

/// A race ends the program with a code of its own: that is believed, and not what was printed.
void __tsan_on_report(void const* report)
{
    char const* kind = "";
    int unused = 0;
    void* sleep = nullptr;
    __tsan_get_report_data(report, &kind, &unused, &unused, &unused, &unused, &unused, &unused,
                           &unused, &sleep, 1);
    _exit(std::string_view{kind}.starts_with("data-race") ? 66 : 1);
}

int __tsan_on_finalize(int failed)
{
    return failed;
}
}
