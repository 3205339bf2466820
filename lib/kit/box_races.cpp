/// \file
/// What ThreadSanitizer asks the program that it is in. These stand here so that nothing that is
/// handed in can answer in their place: two of one name do not link.

extern "C" {

/// It ends with the first race, and with a code of its own, which counts where nothing was printed.
char const* __tsan_default_options()
{
    return "halt_on_error=1:exitcode=66:history_size=7:detect_deadlocks=0:report_mutex_bugs=0:"
           "report_thread_leaks=0:report_signal_unsafe=0:report_destroy_locked=0";
}

/// The library of OpenMP is not compiled for it; what its regions order is told by Archer.
char const* __tsan_default_suppressions()
{
    return "called_from_lib:libomp.so\ncalled_from_lib:libarcher.so\n";
}

void __tsan_on_report(void const*) {}

int __tsan_on_finalize(int failed)
{
    return failed;
}
}
