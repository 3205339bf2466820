#!/usr/bin/env python3
"""Stands in for an experiment's program: speaks the protocol and writes a valid result.

What it does beside that is said by a `behaviour.json` in its own folder: `points`, `fail` (a
variant fails verification), `refuse` (exit code 2), `kill_at` (dies of SIGKILL at that point,
once), `log` (a file that gets a line for each turn), `pause_s` (the length of a turn), `ratios`
(how much faster the fast variant is, from round to round), `most_rounds` (refuses more),
`cold_beside` (its cases are cold; the seconds that a pass of its ceiling takes in a first run, and
in more rounds of it), `threads_at` (of a point how many threads measure it), `target` (where its
cases run), `iterations` (calls of a sample), `machine` (what is told of the machine beside the
usual), `unique` (no two samples are alike, and whatever a filter asks for is measured), `stop` (a
signal for the runner, and the turn that it comes in, once).
"""

import argparse
import hashlib
import json
import os
import random
import re
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SLUG = "fake-cpu-2-cores"


def behaviour() -> dict[str, Any]:
    path = HERE / "behaviour.json"
    return json.loads(path.read_text()) if path.exists() else {}


class Runner:
    """As lib/bench has it: the socket that events go to and turns come from, if there is one."""

    def __init__(self, path: str | None) -> None:
        self.file = None
        if path:
            channel = socket.socket(socket.AF_UNIX)
            channel.connect(path)
            self.file = channel.makefile("rw", encoding="utf-8")

    def tell(self, **event: object) -> None:
        if self.file:
            print(json.dumps(event), file=self.file, flush=True)

    def wait(self) -> None:
        if self.file and not self.file.readline():
            sys.exit("the runner went away")


def machine() -> dict[str, Any]:
    known = {
        "slug": SLUG,
        "cpu": {
            "model": "Fake CPU", "architecture": "x86_64", "sockets": 1, "numa_nodes": 1,
            "cores": 2, "hardware_threads": 2, "vendor": "amd", "family": 25, "model_number": 17,
            "caches": [{"level": 1, "kind": "data", "bytes": 32768, "instances": 2}],
            "last_level_cache_bytes": 1 << 20, "last_level_cache_known": True,
            "governor": "unknown", "instruction_sets": ["avx2", "fma"],
        },
        "memory_bytes": 1 << 30, "virtual": True, "os": "Linux 6", "gpus": [],
    }
    told = behaviour().get("machine", {})
    return known | told | {"cpu": known["cpu"] | told.get("cpu", {})}


def case(variant: str, point: int, seconds: list[float]) -> dict[str, Any]:
    failed = not seconds
    verdict = ({"status": "failed", "reason": "made to fail"} if failed
               else {"status": "passed", "checks": ["exact", "bounded"], "error": 0.5})
    return {
        "study": "sizes", "variant": variant, "group": "own",
        "target": behaviour().get("target", "host"),
        "excerpt": f"{Path(__file__).stem}-{variant}",
        "twin": False, "launch": 0,
        "parameters": {"size": 100 + point}, "work": {"flops": 100, "bytes": 800},
        "verdict": verdict, "clock": "host",
        "cache": "cold" if "cold_beside" in behaviour() else "warm",
        "setup": {"seconds": 0, "stored_bytes": 0},
        "iterations": 0 if failed else behaviour().get("iterations", 1),
        "samples_s": seconds,
    }


def sample() -> None:
    """Tells a profiler of processors, where one watches, that a sample begins and ends."""
    told = os.environ.get("MEMWALL_PROFILER", "")
    if "," in told:
        tell, answers = map(int, told.split(","))
        for word in (b"enable\n", b"disable\n"):
            os.write(tell, word)
            os.read(answers, 5)


def write_whole(path: str | Path, text: str) -> None:
    """As lib/bench does it: a signal leaves no half of it."""
    part = Path(f"{path}.part")
    part.write_text(text)
    part.replace(path)


def count(text: str) -> int:
    """A number of rounds."""
    if not re.fullmatch("[1-9][0-9]{0,8}", text):
        raise ValueError(text)
    return int(text)


def behave_oddly(how: str) -> None:
    """What somebody's kernel may do to the process that calls it."""
    if how == "prints":
        print('{"event": "turn"}\nhello', flush=True)
    elif how == "exits":
        os._exit(0)
    elif how == "aborts":
        os.abort()
    elif how == "closes":
        os.closerange(0, 3)
    elif how == "forks" and os.fork() == 0:
        time.sleep(20)  # with everything that it inherited
        os._exit(0)


class FakeProgram:
    def __init__(self, options: argparse.Namespace, does: dict[str, Any]) -> None:
        self.options = options
        self.does = does
        self.runner = Runner(options.events)
        self.rounds = options.samples or 3
        self.points = does.get("points", 2)
        self.listed = (None if options.points is None else
                       [each["parameters"]["size"] - 100
                        for each in json.loads(Path(options.points).read_text())])
        self.journal = Path(f"{options.output}.journal")
        self.cases: list[dict[str, Any]] = []
        self.turns = 0

    def turn(self, phase: str, point: int) -> None:
        self.runner.tell(event="turn", phase=phase, point=point)
        self.turns += 1
        number, at = self.does.get("stop", (0, 0))
        if at == self.turns and not (HERE / "has-stopped").exists():
            (HERE / "has-stopped").touch()
            os.kill(os.getppid(), number)
        self.runner.wait()
        if "log" in self.does:
            with open(self.does["log"], "a") as log:
                more = " again" if self.options.again else ""
                log.write(f"{self.options.threads} {phase} {point}{more}\n")
        time.sleep(self.does.get("pause_s", 0))

    def measure(self, point: int) -> None:
        self.turn("prepare", point)
        behave_oddly(self.does.get("oddly", ""))
        if self.does.get("kill_at") == point and not (HERE / "was-killed").exists():
            (HERE / "was-killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if "skip" in self.does or self.options.threads < self.does.get("threads_at", {}).get(
                str(point), 1):
            return
        for _ in range(self.rounds):
            self.turn("round", point)
            if not self.options.size or 100 + point in self.options.size:
                sample()
        slow = [1e-3 * (1 + 0.01 * i) for i in range(self.rounds)]
        ratios = self.does.get("ratios", [2])
        fast = [value / ratios[i % len(ratios)] for i, value in enumerate(slow)]
        if self.does.get("unique"):
            slow, fast = ([each * (1 + 1e-6 * random.random()) for each in of]
                          for of in (slow, fast))
        fast = [] if self.does.get("fail") else fast
        self.cases += [case("slow", point, slow), case("fast", point, fast)]

    def run(self) -> int:
        """As lib/bench does it: ceilings, then every point that the journal lacks."""
        known = json.loads(self.journal.read_text()) if self.journal.exists() else []
        self.turn("ceilings", 0)
        self.runner.tell(event="plan", points=self.points, rounds=self.rounds)
        for point in range(self.points):
            if self.listed is not None and point not in self.listed:
                continue
            self.runner.tell(event="point", point=point, points=self.points,
                             label=f"size={100 + point}")
            if len(self.cases) < len(known):
                self.cases += known[len(self.cases):len(self.cases) + 2]
            else:
                self.measure(point)
            write_whole(self.journal, json.dumps(self.cases))
        if not (self.cases or "skip" in self.does or self.options.later or self.options.again):
            print("no variant runs", file=sys.stderr)
            return 2
        write_whole(self.options.output, json.dumps(self.result()))
        self.journal.unlink()
        self.runner.tell(event="done", output=self.options.output)
        if self.does.get("fail"):
            print("fast: the result is wrong", file=sys.stderr)
            return 1
        return 0

    def result(self) -> dict[str, Any]:
        digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
        name = Path(__file__).stem
        sizes = self.options.size
        skipped = [{"launch": 0, "study": "sizes", "parameters": {}, "reason": self.does["skip"]}
                   ] if "skip" in self.does else []
        cases = [case for case in self.cases
                 if (self.does.get("unique")
                      or re.search(self.options.filter, case["variant"]))
                 and (not sizes or case["parameters"]["size"] in sizes)]
        excerpt = {"file": f"experiments/{name}/main.cpp", "text": "work();\n"}
        passes = self.does.get("cold_beside", [1e-4, 1e-4])
        ceiling = {"name": "copy", "target": "host", "launch": 0, "bytes": 1e6, "flops": 0,
                   "samples_s": [passes[self.options.again]] * 5}
        return {
            "schema": 2,
            "run": {
                "id": "0123456789abcdef", "experiment": name,
                "utc": "2025-01-01T00:00:00Z", "arguments": ["--profile", self.options.profile],
                "profile": self.options.profile, "seed": 1, "rounds": self.rounds,
                "tripled": False,
            },
            "source": {"commit": "unknown", "dirty": False, "binary_sha256": digest},
            "build": {"compiler": "none", "type": "release", "objects": []},
            "libraries": {},
            "machine": machine(),
            "launches": [{
                "threads": self.options.threads, "ranks": 1, "affinity": [0],
                "oversubscribed": False,
                "environment": {key: value for key, value in os.environ.items()
                                if key.startswith("OMP_")},
            }],
            "datasets": {},
            "excerpts": {case["excerpt"]: excerpt for case in cases},
            "ceilings": [ceiling | {"when": when} for when in ("before", "after")],
            "cases": cases,
            "skipped": skipped,
        }


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--samples", type=count)
    parser.add_argument("--size", type=int, nargs="+")
    parser.add_argument("--filter", default="")
    parser.add_argument("--study", nargs="+")
    parser.add_argument("--matrix")
    parser.add_argument("--min-time")
    parser.add_argument("--seed")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output")
    parser.add_argument("--events")
    parser.add_argument("--later", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--points")
    options = parser.parse_args()
    does = behaviour()
    if "refuse" in does:
        print(does["refuse"], file=sys.stderr)
        return 2
    if (options.samples or 0) > does.get("most_rounds", 1000):
        print("more rounds than I can", file=sys.stderr)
        return 2
    return FakeProgram(options, does).run()


if __name__ == "__main__":
    if Path(__file__).name == "machine":
        print(json.dumps(machine()))
        sys.exit(0)
    sys.exit(main())
