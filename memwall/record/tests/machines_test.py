"""What a machine is, what it is called, and what of its names other commands may rely on."""

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from memwall.record import files, machines, names, stored
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.record.sources import REPOSITORY

Change = Callable[[Json], Any]


@cache
def committed() -> dict[str, list[Json]]:
    """What the results of each machine of this repository say of it."""
    found: dict[str, list[Json]] = {}
    for name in machines.listed(REPOSITORY):
        for path in stored.results_of(REPOSITORY / "reports" / name):
            machine = files.read_json(path)["machine"]
            if machine not in found.setdefault(name, []):
                found[name].append(machine)
    return found


def tree(root: Path, found: dict[str, list[Json]], listed: bool) -> Path:
    """Folders of machines that hold no more than who measured."""
    for name, known in found.items():
        for number, machine in enumerate(known):
            path = root / "reports" / name / "results" / f"{number}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"machine": machine}))
        if listed:
            machines.enlist(root, name)
    return root


#: What says what a machine is, and another value of it.
IDENTIFYING: dict[str, Change] = {
    "processor": lambda m: m["cpu"].update(model="Other CPU"),
    "architecture": lambda m: m["cpu"].update(architecture="riscv64"),
    "vendor": lambda m: m["cpu"].update(vendor="other"),
    "family": lambda m: m["cpu"].update(family=99),
    "model": lambda m: m["cpu"].update(model_number=999),
    "stepping": lambda m: m["cpu"].update(stepping=99),
    "cores": lambda m: m["cpu"].update(cores=m["cpu"]["cores"] + 1),
    "threads": lambda m: m["cpu"].update(hardware_threads=2 * m["cpu"]["hardware_threads"]),
    "sockets": lambda m: m["cpu"].update(sockets=m["cpu"]["sockets"] + 1),
    "a larger cache": lambda m: m["cpu"]["caches"][-1].update(bytes=1 << 30),
    "more of a cache": lambda m: m["cpu"]["caches"][-1].update(instances=7),
    "a kind of cache": lambda m: m["cpu"]["caches"][0].update(kind="unified"),
    "one cache fewer": lambda m: m["cpu"]["caches"].pop(),
    "no cache is known": lambda m: m["cpu"].update(caches=[]),
    "one GPU more": lambda m: m["gpus"].append({"name": "NVIDIA H200"}),
    "another GPU": lambda m: (m["gpus"].clear(), m["gpus"].append({"name": "Other GPU"})),
    "no GPU": lambda m: (m["gpus"].clear() if m["gpus"] else m["gpus"].append({"name": "GPU"})),
}
#: What may change.
PASSING: dict[str, Change] = {
    "nothing": lambda m: None,
    "system": lambda m: m.update(os="Linux 99.0"),
    "memory": lambda m: m.update(memory_bytes=1 << 40),
    "governor": lambda m: m["cpu"].update(governor="powersave"),
    "what a kernel tells of its instructions": lambda m: m["cpu"].update(instruction_sets=["avx"]),
    "memory of a GPU": lambda m: [gpu.update(memory_bytes=1) for gpu in m["gpus"]],
    "order": lambda m: (m["cpu"]["caches"].reverse(), m["gpus"].reverse()),
}


def each_machine() -> Iterator[tuple[str, Json]]:
    for name, known in committed().items():
        fullest = max(known, key=lambda machine: len(machine["cpu"]))
        yield name, {**fullest, "cpu": {"vendor": "v", "family": 1, "model_number": 2,
                                        "stepping": 3, **fullest["cpu"]}}


def test_no_two_committed_machines_are_one() -> None:
    pairs = list(combinations(committed().items(), 2))
    assert len(pairs) >= 45
    alike = [(a, b) for (a, known), (b, others) in pairs for one in known for other in others
             if not (machines.difference(one, other) and machines.difference(other, one))]
    assert alike == []


def test_a_committed_folder_is_of_one_machine() -> None:
    for name, known in committed().items():
        for one, other in combinations(known, 2):
            assert machines.difference(one, other) == "", name


@pytest.mark.parametrize("name", machines.listed(REPOSITORY))
def test_every_fact_of_a_machine_renames_it(name: str, tmp_path: Path) -> None:
    """Its own folder, which nobody listed, is found again for as long as it is the same."""
    machine = dict(each_machine())[name]
    root = tree(tmp_path, {machine["slug"]: [machine]}, listed=False)
    assert machines.name_of(root, machine) == machines.Named(machine["slug"])
    for what, change in IDENTIFYING.items():
        other = copy.deepcopy(machine)
        change(other)
        named = machines.name_of(root, other)
        assert named.name == f"{machine['slug']}-2", what
        assert named.why.startswith(f"reports/{machine['slug']} is another machine ("), what
        assert len(named.why) < 400 and "\n" not in named.why
        with pytest.raises(UserError, match="^--machine: reports/.* is another machine"):
            machines.name_of(root, other, machine["slug"])
    for what, change in PASSING.items():
        other = copy.deepcopy(machine)
        change(other)
        assert machines.name_of(root, other) == machines.Named(machine["slug"]), what


@pytest.mark.parametrize("name", list(committed()))
def test_a_machine_like_a_committed_one_has_a_name_of_its_own(name: str, tmp_path: Path) -> None:
    root = tree(tmp_path, {name: committed()[name]}, listed=True)
    here = committed()[name][-1] | {"slug": name}
    named = machines.name_of(root, here)
    assert named.name == f"{name}-2"
    assert named.why == (f"reports/{name} came with this tree and stays as it is (--machine {name}"
                         f" measures into it): this machine is called {name}-2")
    assert machines.name_of(root, here, name) == machines.Named(name)
    tree(root, {f"{name}-2": [here]}, listed=False)
    assert machines.name_of(root, here).name == f"{name}-2"
    machines.enlist(root, f"{name}-2")  # contributed: the next run leaves it alone
    assert machines.name_of(root, here).name == f"{name}-3"


def test_the_list_alone_says_what_came_with_the_tree(tmp_path: Path) -> None:
    """A bundle holds no other machine's results."""
    machine = committed()["amd-epyc-2c"][0]
    (tmp_path / "reports").mkdir()
    machines.enlist(tmp_path, "amd-epyc-2c")
    assert machines.name_of(tmp_path, machine).name == "amd-epyc-2c-2"


def test_the_own_folder_is_found_among_others(tmp_path: Path) -> None:
    here, *others = [committed()[name][0] for name in list(committed())[:4]]
    folders = {"box": [others[0]], "box-2": [others[1]], "box-11": [here], "box-3": [others[2]]}
    root = tree(tmp_path, folders, listed=False)
    assert machines.name_of(root, here | {"slug": "box"}).name == "box-11"
    (root / "reports/box-11/results/0.json").unlink()
    assert machines.name_of(root, here | {"slug": "box"}).name == "box-4"


def with_cache(size: object) -> str:
    """A result whose machine has a cache of a size that no machine has."""
    machine = copy.deepcopy(committed()["amd-epyc-2c"][0])
    machine["cpu"]["caches"][0]["bytes"] = size
    return json.dumps({"machine": machine})


@pytest.mark.parametrize("content", [
    "", "{", "[]", '{"machine": 3}', '{"machine": {"cpu": {}}}', "[" * 100_000,
    with_cache(10**400), with_cache(float("inf")), with_cache(float("nan"))],
    ids=lambda content: content[:20])
def test_what_cannot_be_read_is_not_replaced(content: str, tmp_path: Path) -> None:
    machine = committed()["amd-epyc-2c"][0]
    path = tmp_path / "reports/amd-epyc-2c/results/alpha.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    named = machines.name_of(tmp_path, machine)
    assert named.name == "amd-epyc-2c-2" and "holds no result that can be read" in named.why
    path.with_name("beta.json").write_text(json.dumps({"machine": machine}))
    assert machines.name_of(tmp_path, machine).name == "amd-epyc-2c"


@pytest.mark.parametrize("folder", ["weave", "weave/tests", "some.file"])
def test_a_folder_of_something_else_is_no_machine(folder: str, tmp_path: Path) -> None:
    machine = committed()["amd-epyc-2c"][0]
    (tmp_path / "reports").mkdir()
    if "." in folder:
        (tmp_path / "reports/weave").write_text("")
    else:
        (tmp_path / "reports/weave" / "tests").mkdir(parents=True)
    with pytest.raises(UserError, match="reports/weave is no machine's folder"):
        machines.name_of(tmp_path, machine, "weave")
    assert machines.name_of(tmp_path, machine | {"slug": "weave"}).name == "weave-2"


@pytest.mark.parametrize("spoil", [
    lambda folder: folder.symlink_to("nowhere"),
    lambda folder: folder.symlink_to(folder),
    lambda folder: (folder.mkdir(), (folder / "results").write_text("")),
    lambda folder: (folder.mkdir(), (folder / "results").symlink_to("nowhere")),
    lambda folder: (folder.mkdir(), (folder / "notes").symlink_to(folder / "notes")),
], ids=["link to nothing", "loop", "file of results", "results nowhere", "notes in a loop"])
def test_a_place_where_no_folder_can_be_is_taken(spoil: Callable[[Path], Any],
                                                 tmp_path: Path) -> None:
    """Else all would be measured before the first result finds no room."""
    machine = committed()["amd-epyc-2c"][0]
    (tmp_path / "reports").mkdir()
    spoil(tmp_path / "reports/amd-epyc-2c")
    named = machines.name_of(tmp_path, machine)
    assert named.name == "amd-epyc-2c-2" and "is no machine's folder" in named.why


def test_another_machine_is_told_in_one_harmless_line(tmp_path: Path) -> None:
    here = committed()["amd-epyc-2c"][0]
    other = copy.deepcopy(here)
    other["cpu"]["model"] = "\x1b[31mCPU\nof\u202e another"
    why = machines.name_of(tree(tmp_path, {"amd-epyc-2c": [other]}, listed=False), here).why
    assert "processor: \\x1b[31mCPU of\\u202e another, here AMD" in why


@pytest.mark.parametrize("slug", ["", "..", "<script>", "Ünï (R) CPU/GPU", "x" * 300, "-", "a--b"])
def test_hardware_of_any_name_has_a_folder(slug: str, tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    named = machines.name_of(tmp_path, committed()["amd-epyc-2c"][0] | {"slug": slug})
    assert names.require(named.name, "slug") == named.name


def test_the_list_is_sorted_and_says_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    for name in ("b-2c", "a-2c", "b-2c"):
        machines.enlist(tmp_path, name)
    assert (tmp_path / machines.LIST).read_text() == f"{machines.HEAD}a-2c\nb-2c\n"
    with (tmp_path / machines.LIST).open("a") as file:
        file.write("../x\n")
    with pytest.raises(UserError, match=r"reports/machines.txt: found '../x', expected"):
        machines.listed(tmp_path)
    (tmp_path / machines.LIST).write_bytes(b"caf\xe9\n")
    with pytest.raises(UserError, match=r"^reports/machines.txt: cannot be read: byte 3 is no UTF"):
        machines.listed(tmp_path)


def test_the_list_is_of_this_repository() -> None:
    """Each machine has its folder, and the text is what `contribute` would write."""
    listed = machines.listed(REPOSITORY)
    assert listed == sorted(set(listed))
    assert (REPOSITORY / machines.LIST).read_text(encoding="utf-8").startswith(machines.HEAD)
    assert all(stored.results_of(REPOSITORY / "reports" / name) for name in listed)
