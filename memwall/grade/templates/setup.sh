#!/usr/bin/env bash
# {{ kit.title }}: what the grader needs on the image of Gradescope.
set -euo pipefail
python3 -c 'import tomllib' || { echo "needs Python 3.11: choose the image of Ubuntu 24.04" >&2; exit 1; }
apt-get update
apt-get install --yes --no-install-recommends g++ make bubblewrap util-linux python3 python3-fastjsonschema python3-jinja2 python3-jsonschema{{ " libopenmpi-dev openmpi-bin" if kit.ranks > 1 }}{{ " clang libclang-rt-dev libomp-dev llvm" if kit.openmp }}
