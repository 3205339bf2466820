"""What a newcomer meets first: one version everywhere, and a workflow, a container, hooks and
templates that name what is there."""

import json
import os
import re
import shlex
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WORKFLOW = ".github/workflows/ci.yml"
PUBLISHING = ".github/workflows/site.yml"
HOOKS = ".pre-commit-config.yaml"
CONTAINER = ".devcontainer/devcontainer.json"
RECIPES = set(re.findall(r"^([a-z][\w-]*)", (ROOT / "Justfile").read_text(encoding="utf-8"),
                         re.MULTILINE))


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def without_comments(text: str) -> str:
    """Of YAML, or of JSON with comments."""
    return re.sub(r"(^|\s)(#|//) .*", "", text)


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    for path, pattern in {
        "meson.build": r"^  version: '(.*)',$",
        "CITATION.cff": r"^version: (.*)$",
        "CHANGELOG.md": r"^## \[(\d.*)\]",  # the newest that was released stands first
        "memwall/pages/site/artifact.md": r"^> (\d[\d.]*), \d{4}\.",
    }.items():
        found = re.search(pattern, read(path), re.MULTILINE)
        assert found is not None, path
        assert found[1] == version, path
    assert f"the newest version alone, {version.rpartition('.')[0]};" in read("SECURITY.md")


def test_the_release_has_one_date() -> None:
    newest = re.search(r"^## \[.*\] - (.*)$", read("CHANGELOG.md"), re.MULTILINE)
    assert newest is not None
    assert f"date-released: {newest[1]}" in read("CITATION.cff")


def commands(path: str, key: str) -> list[list[str]]:
    """The commands that a file gives under a key, a list of words each."""
    lines = re.findall(rf'"{key}": "(.*)"|\b{key}: +(.*)$', without_comments(read(path)),
                       re.MULTILINE)
    return [shlex.split(part) for line in lines for part in "".join(line).split(" && ")]


@pytest.mark.parametrize(("path", "key"), [
    (WORKFLOW, "run"), (PUBLISHING, "run"), (HOOKS, "entry"), (CONTAINER, "onCreateCommand")])
def test_commands_are_there(path: str, key: str) -> None:
    """Of this tree: that Debian has `apt-get` and `git` nobody here can promise."""
    ours = [words for words in commands(path, key) if "/" in words[0]]
    assert ours != []
    for program, *arguments in ours:
        if program.startswith(".venv/"):
            name = Path(program).name
            assert f'"{name}==' in read("pyproject.toml")
        else:
            assert os.access(ROOT / program, os.X_OK), program
        if program == "./justw":
            assert arguments[0] in RECIPES


def test_the_workflow_runs_what_ci_runs_and_weekly_all() -> None:
    assert [words for words in commands(WORKFLOW, "run") if "/" in words[0]] == [
        [".ci/run"], ["./justw", "test", "--all"]]


@pytest.mark.parametrize("workflow", [WORKFLOW, PUBLISHING])
def test_actions_are_pinned_and_may_only_read(workflow: str) -> None:
    """But for the one job that publishes what another one made."""
    text = without_comments(read(workflow))
    assert all(re.search(r"@v\d+\.\d+\.\d+$", action)
               for action in re.findall(r"uses: (.*)", text))
    assert re.findall(r"^permissions:\n((?:  .*\n)*)", text, re.MULTILINE) == [
        "  contents: read\n"]
    rights = re.findall(r"^    permissions:\n((?:      .*\n)*)", text, re.MULTILINE)
    assert rights == (["      pages: write\n      id-token: write\n"]
                      if workflow == PUBLISHING else [])


def test_workflow_and_container_are_the_debian_that_is_promised() -> None:
    for workflow in (WORKFLOW, PUBLISHING):
        assert re.findall(r"image: (.*)", read(workflow)) == ["debian:12"]
    assert json.loads(without_comments(read(CONTAINER)))["image"] == "debian:12"
    assert "Debian 12" in read("memwall/pages/front_page.md.in")


def test_a_recipe_is_a_line_and_no_script() -> None:
    """What a command needs to know stands in that command, where it is tested."""
    bodies = re.findall(r"^[a-z_][^\n]*:[^\n=]*\n((?:    .*\n)+)", read("Justfile"), re.MULTILINE)
    assert len(bodies) > 20
    for body in bodies:
        assert body.count("\n") <= 2, body
        assert not re.search(r"#!|&|\|\||(?<!\\);", body), body


@pytest.mark.parametrize("page", ["SECURITY.md", ".github/pull_request_template.md",
                                  *(path.relative_to(ROOT).as_posix() for path in
                                    sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md")))])
def test_pages_name_recipes_and_files_that_exist(page: str) -> None:
    text = read(page)
    for recipe in re.findall(r"(?:`just|\./justw) ([a-z][\w-]*)", text):
        assert recipe in RECIPES, recipe
    for path in re.findall(r"`((?:lib|memwall)/[\w./-]+)`|\b([A-Z]+\.md)\b", text):
        assert (ROOT / "".join(path)).exists(), path
