# The user's interface. On a fresh machine call ./justw in place of just.

set positional-arguments

root := justfile_directory()
python := root / ".venv/bin/python"

export PYTHONPATH := root
# What a user has set for a Python of their own breaks or bares this one.
export PYTHONHOME := ""
export PYTHONOPTIMIZE := ""
export PYTHONSAFEPATH := ""
export PYTHONINSPECT := ""
# Open MPI refuses both by default: to run as root, and more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT := "1"
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := "1"
export OMPI_MCA_rmaps_base_oversubscribe := "1"
export OMPI_MCA_mpi_yield_when_idle := "1"

# List the recipes
_list:
    @"{{just_executable()}}" --justfile "{{justfile()}}" --list --unsorted

# Install what this machine lacks
setup:
    @.ci/setup test

# Install MKL, a peer to compare with that nothing needs
[no-exit-message]
setup-peers: (_needs "run")
    @.ci/setup peers

# Build everything for release into build/ (or only the given targets)
[no-exit-message]
build *TARGETS: (_needs "run")
    @.ci/build build "$@"

# Run every test as CI does (or only the given stages: unit, python, ...; --all: hours more)
[no-exit-message]
test *STAGES: (_needs "test")
    @"{{python}}" .ci/stages.py "$@"

# Run the tests of GPU code, alone and under memcheck, racecheck, initcheck and synccheck
[no-exit-message]
test-gpu: (_needs "run")
    @.ci/test-gpu

# Measure what this machine can do at best, beside its nominal peaks, on one page (build/machine/)
[no-exit-message]
machine *ARGS: (_needs "run")
    @"{{python}}" -P -m memwall machine "$@"

# Measure one experiment and weave its page under build/runs/
[no-cd, no-exit-message]
run NAME *ARGS: (_needs "run")
    @"{{python}}" -P -m memwall run "$@"

# Make a page about your matrix: structure, formats, ranking, plan, partitions (FILE.mtx..., or study.json)
[no-cd, no-exit-message]
study *FILES: (_needs "run")
    @"{{python}}" -P -m memwall study "$@"

# Verify your kernel and place it among ours: FILE.cpp|.cu --as spmv [--matrix NAME...]
[no-cd, no-exit-message]
try *ARGS: (_needs "run")
    @"{{python}}" -P -m memwall try "$@"

# Write what a profiler counts (ncu, perf) into a result of this machine (--result FILE; --help)
[no-cd, no-exit-message]
profile NAME *ARGS: (_needs "run")
    @"{{python}}" -P -m memwall profile "$@"

# Keep a run of build/runs/ (its folder or result) in this machine's folder: RESULT TITLE
[no-cd, no-exit-message]
keep *RESULT_TITLE: (_needs "run")
    @"{{python}}" -P -m memwall keep "$@"

# Measure every experiment into this machine's folder (--book: half an hour; --full: hours)
[no-exit-message]
run-all *ARGS: (_needs "run")
    @"{{python}}" -P -m memwall run-all "$@"

# List claim by claim the command, the minutes and the hardware that decide it
[no-exit-message]
claims *ARGS: (_needs "run")
    @"{{python}}" -P -m memwall claims "$@"

# Check and pack what this machine measured (--machine NAME), and say what every chapter gains
[no-exit-message]
contribute *ARGS: (_needs "run")
    @"{{python}}" -P -m memwall contribute "$@"

# Write a job for Slurm that measures ranks on so many hosts (further options are those of `run`)
[no-exit-message]
slurm NODES *ARGS: (_needs "run")
    @"{{python}}" -P -m memwall slurm "$@"

# Make an archive that measures, all or some experiments, on machines without a toolchain
[no-exit-message]
bundle *EXPERIMENTS: (_needs "run")
    @"{{python}}" .ci/bundle.py build-bundle "build-bundle/memwall-{{arch()}}.tar.gz" "$@"

# Compare two results, runs or machines case by case: A B [--all] [--markdown]
[no-cd, no-exit-message]
compare *A_B: (_needs "run")
    @"{{python}}" -P -m memwall compare "$@"

# Weave the pages again from their results (or only that of one machine)
[no-exit-message]
report *MACHINE: (_needs "run")
    @"{{python}}" -P -m memwall report "$@"

# Show every figure of the articles, and their numbers beside this machine's (build/figures/)
[no-exit-message]
figures *MACHINE: (_needs "run")
    @"{{python}}" -P -m memwall figures "$@"

# Check style, result files, and that every committed page is what its results weave to
[no-exit-message]
check: (_needs "test")
    @.ci/check

# Time the same kernels with Google Benchmark and compare the medians
[no-exit-message]
check-harness: (_needs "test") build
    @build/lib/bench/check-harness "$("{{python}}" -P -m memwall folder)"

# Make an assignment of an experiment's kit: a folder for students, one for instructors (--out DIR)
[no-cd, no-exit-message]
assignment *NAME: (_needs "run")
    @"{{python}}" -P -m memwall assignment "$@"

# Grade submissions with an instructor kit, in a sandbox (as root; goes on where it was ended)
[no-cd, no-exit-message]
grade *KIT: (_needs "run")
    @"{{python}}" -P -m memwall grade "$@"

# Grade what a class has handed in, and write its sheet (DIR with class.toml and roster.csv)
[no-cd, no-exit-message]
class *DIR: (_needs "run")
    @"{{python}}" -P -m memwall class "$@"

# Make what Gradescope, Autolab and GitHub Classroom take of an instructor kit (--out DIR)
[no-cd, no-exit-message]
platforms *KIT: (_needs "run")
    @"{{python}}" -P -m memwall platforms "$@"

# Grade a made-up class (--out DIR): whether this machine is good for grading, and what all will see
[no-cd, no-exit-message]
rehearse *NAME: (_needs "run")
    @"{{python}}" -P -m memwall rehearse "$@"

# Start a new experiment that already builds, runs and weaves
[no-exit-message]
new NAME: (_needs "run")
    @"{{python}}" -P -m memwall new "$@"

# Print the features of a Matrix Market file (--json for programs)
[no-cd, no-exit-message]
describe *FILE: (_needs "run")
    @"{{root}}/.ci/build" build lib/sparse/describe
    @"{{root}}/build/lib/sparse/describe" "$@"

# Fetch a matrix of the SuiteSparse collection by its catalogue name
[no-exit-message]
fetch *NAME: (_needs "run")
    @"{{python}}" datasets/fetch.py "$@"

# Make one site of lessons, reports, machines and the library's pages (build/site/index.html)
[no-exit-message]
site: (_needs "run")
    @"{{python}}" -P -m memwall site

# Format the C++ sources
format: (_needs "test")
    @find lib experiments memwall \( -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' \) -exec clang-format -i {} +

# Remove everything that was built or measured outside reports/
clean:
    @rm -rf build build-*

[no-exit-message]
_needs LEVEL:
    @.ci/setup --check "$1"
