"""A box is what SECURITY.md says of it, in both tiers: asked by programs that run in one."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memwall.grade import sandbox
from memwall.grade.sandbox import Box, Limits
from memwall.grade.tests.cheats_test import needs_sandbox

pytestmark = [needs_sandbox, pytest.mark.xdist_group("workshop"),
              pytest.mark.parametrize("tier", ["A", "B"])]

UID = sandbox.FIRST_UID + 90  # of no grader that may be at work
LIMITS = Limits(processes=16, file_megabytes=1)


@pytest.fixture(name="folder")
def open_folder() -> Iterator[Path]:
    """A folder that the user of a box reaches, and could write to."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name).chmod(0o777)
        yield Path(name)


def said(tier: str, box: Box, script: str) -> list[str]:
    """What a shell in a box prints."""
    if not sandbox.works(tier, box.folder):
        pytest.skip(f"no sandbox of tier {tier} here")
    return subprocess.run(sandbox.command(tier, box, ["sh", "-c", script]), text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.split()


def test_only_places_with_a_size_take_files(tier: str, folder: Path) -> None:
    places = said(tier, Box(UID, folder, LIMITS),
                  "for place in / /* /dev/* /box/* /usr/* /sys/* /etc/*;"
                  " do touch $place/new && echo $place; done")
    assert places == ["/tmp", "/dev/shm"]
    for place in places:
        size, = said(tier, Box(UID, folder, LIMITS), f"df --output=size -k {place} | tail -n 1")
        assert int(size) == 64 * 1024


def test_a_program_has_a_user_and_no_powers(tier: str, folder: Path) -> None:
    words = said(tier, Box(UID, folder, LIMITS),
                 "id -u; id -G; grep -E '^(Cap|NoNewPrivs)' /proc/self/status")
    none = "0" * 16
    assert words == [str(UID), str(UID), "CapInh:", none, "CapPrm:", none, "CapEff:", none,
                     "CapBnd:", none, "CapAmb:", none, "NoNewPrivs:", "1"]


def test_few_things_can_go_off_while_a_box_is_frozen(tier: str, folder: Path) -> None:
    words = said(tier, Box(UID, folder, LIMITS), "grep -E 'open|pending' /proc/self/limits")
    files, timers = str(sandbox.FILES), str(sandbox.TIMERS)
    assert words == ["Max", "open", "files", files, files, "files",
                     "Max", "pending", "signals", timers, timers, "signals"]


def test_there_is_no_network(tier: str, folder: Path) -> None:
    assert said(tier, Box(UID, folder, LIMITS),
                "grep -o '[a-z0-9]*:' /proc/net/dev") == ["lo:"]


def test_it_sees_no_process_of_others_and_no_file_of_the_grader(tier: str, folder: Path) -> None:
    box = Box(UID, folder, LIMITS)
    assert len(said(tier, box, "ls -d /proc/[0-9]*")) <= 3
    assert said(tier, box, "ls -d /var /home /root /etc/passwd /etc/shadow") == []
    assert said(tier, box, "env | cut -d = -f 1 | sort") == [
        "HOME", "LC_ALL", "PATH", "PWD"]


def test_no_file_grows_beyond_its_limit(tier: str, folder: Path) -> None:
    assert said(tier, Box(UID, folder, LIMITS),
                "head -c 3000000 /dev/zero >/tmp/new; stat -c %s /tmp/new") == [str(1 << 20)]


def test_a_program_starts_on_the_processors_that_it_is_given(tier: str, folder: Path) -> None:
    last = max(os.sched_getaffinity(0))
    words = said(tier, Box(UID, folder, LIMITS, threads=[last]),
                 "nproc; grep Cpus_allowed_list /proc/self/status")
    assert words == ["1", "Cpus_allowed_list:", str(last)]
