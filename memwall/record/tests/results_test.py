"""Every way in which a result file can be wrong is one line that says where."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memwall.record import joining, privacy, results
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.tests import synthetic


def test_a_whole_result_is_read(raw: Json, tmp_path: Path) -> None:
    results.write(raw, tmp_path / "r.json")
    loaded = results.load(tmp_path / "r.json")
    assert loaded.raw == raw
    assert len(loaded.cases) == len(raw["cases"])
    assert not (tmp_path / "r.json.part").exists()


def test_all_that_may_be_told_is_read(raw: Json, tmp_path: Path) -> None:
    synthetic.add_gpus(raw, 1)
    peak = {"name": "memory", "bytes_per_s": 4.8e12, "source": "https://example.org/a/data-sheet"}
    raw["machine"]["cpu"] |= {"vendor": "amd", "family": 25, "model_number": 17, "stepping": 1}
    raw["machine"]["cpu"]["peaks"] = [{"name": "fp64", "flops_per_s": 1e11, "source": "clock x 16"}]
    raw["machine"]["gpus"][0] |= {"bus": {"generation": 5, "lanes": 16}, "peaks": [peak]}
    span = {"lane": "bus", "name": "x to the device", "begin_s": 0, "end_s": 1e-3}
    told = {"study": "sum", "target": "cuda", "results": "host", "timeline": [span],
            "rounds": {"cycles": list(range(21))}}
    raw["cases"][2] |= told
    results.write(raw, tmp_path / "r.json")
    case = results.load(tmp_path / "r.json").cases[2]
    assert list(case.parameters.items()) == [
        ("study", "sum"), ("matrix", "pois2d"), ("precision", "fp32")]
    assert case.target == "cuda"
    assert case.rounds == {"cycles": tuple(range(21))}
    assert case.timeline == (results.Span("bus", "x to the device", 0, 1e-3),)


def test_one_variant_can_be_in_two_studies(raw: Json, tmp_path: Path) -> None:
    raw["cases"].append(raw["cases"][0] | {"study": "another"})
    results.write(raw, tmp_path / "r.json")


def _last_sample(raw: Json, value: Any) -> None:
    raw["cases"][0]["samples_s"][-1] = value


BROKEN: dict[str, tuple[Callable[[Json], Any], list[str]]] = {
    "version": (lambda r: r.update(schema=1), ["$.schema: found 1, expected 2"]),
    "version in words": (lambda r: r.update(schema="2"), ['$.schema: found "2", expected 2']),
    "version by luck": (lambda r: r.update(schema=True), ["$.schema: found true"]),
    "no version": (lambda r: r.pop("schema"), ['found no "schema"']),
    "no study": (lambda r: r["cases"][2].pop("study"), ["$.cases[2]", 'found no "study"']),
    "no target": (lambda r: r["cases"][2].pop("target"), ["$.cases[2]", 'found no "target"']),
    "skipped nowhere": (lambda r: r["skipped"][0].pop("study"), ["$.skipped[0]", '"study"']),
    "ceiling of nothing": (lambda r: r["ceilings"][0].pop("target"), ["$.ceilings[0]", '"target"']),
    "a study that is no name": (
        lambda r: r["cases"][0].update(study="a b"),
        ["$.cases[0].study", 'found "a b"', "text like"],
    ),
    "a number of a round too few": (
        lambda r: r["cases"][0].update(rounds={"cycles": [1.0] * 21, "misses": [1.0] * 20}),
        ["$.cases[0].rounds.misses", "found 20 values", "expected 21"],
    ),
    "numbers of rounds of a failed case": (
        lambda r: synthetic.case(r, "broken").update(rounds={"cycles": [1.0]}),
        [".rounds.cycles: found 1 values, expected 0"],
    ),
    "an empty timeline": (
        lambda r: r["cases"][0].update(timeline=[]),
        ["$.cases[0].timeline", "at least 1 entries"],
    ),
    "a span that ends before it begins": (
        lambda r: r["cases"][0].update(
            timeline=[{"lane": "bus", "name": "x", "begin_s": 2e-3, "end_s": 1e-3}]
        ),
        ["$.cases[0].timeline[0].end_s: found 0.001, expected at least 0.002"],
    ),
    "a peak without a rate": (
        lambda r: r["machine"]["cpu"].update(peaks=[{"name": "memory", "source": "data sheet"}]),
        ["$.machine.cpu.peaks[0]", "expected"],
    ),
    "a peak of two rates": (
        lambda r: r["machine"]["cpu"].update(
            peaks=[{"name": "x", "source": "y", "bytes_per_s": 1, "flops_per_s": 1}]
        ),
        ["$.machine.cpu.peaks[0]", "expected"],
    ),
    "missing key": (lambda r: r.pop("machine"), ['found no "machine"', "expected"]),
    "extra key": (lambda r: r["run"].update(host="x"), ["$.run", 'found the key "host"']),
    "text for a number": (
        lambda r: _last_sample(r, "fast"),
        ["$.cases[0].samples_s[20]", 'found "fast"', "expected number"],
    ),
    "negative time": (lambda r: _last_sample(r, -1.0), ["samples_s[20]", "more than 0"]),
    "zero time": (lambda r: _last_sample(r, 0), ["samples_s[20]", "more than 0"]),
    "digest": (
        lambda r: r["source"].update(binary_sha256="abc"),
        ["$.source.binary_sha256", 'found "abc"'],
    ),
    "a round too few": (
        lambda r: r["cases"][0]["samples_s"].pop(),
        ["$.cases[0].samples_s", "found 20 samples", "expected 21"],
    ),
    "launch of a case": (
        lambda r: r["cases"][0].update(launch=2),
        ["$.cases[0].launch", "found 2", "0 to 1"],
    ),
    "launch of a skip": (lambda r: r["skipped"][1].update(launch=9), ["$.skipped[1].launch"]),
    "launch of a ceiling": (lambda r: r["ceilings"][1].update(launch=9), ["$.ceilings[1].launch"]),
    "unknown excerpt": (
        lambda r: r["cases"][0].update(excerpt="gone"),
        ["$.cases[0].excerpt", 'found "gone"', "$.excerpts"],
    ),
    "unused excerpt": (
        lambda r: r["excerpts"].update(extra={"file": "a.cpp", "text": "x"}),
        ["$.excerpts.extra", "no case"],
    ),
    "passed with an error": (
        lambda r: r["cases"][0]["verdict"].update(error=1.5),
        ["$.cases[0].verdict.error", "found 1.5", "at most 1"],
    ),
    "passed without a check": (
        lambda r: r["cases"][0]["verdict"].pop("checks"),
        ["$.cases[0].verdict.checks", "found none"],
    ),
    "timed without iterations": (
        lambda r: r["cases"][0].update(iterations=0),
        ["$.cases[0].iterations", "at least 1"],
    ),
    "failed but timed": (
        lambda r: synthetic.case(r, "broken").update(samples_s=[1.0] * 21),
        ["samples_s", "found 21", "expected none of a failed case"],
    ),
    "failed without a reason": (
        lambda r: synthetic.case(r, "broken")["verdict"].pop("reason"),
        ["verdict", "found no reason"],
    ),
    "measured twice": (
        lambda r: r["cases"].append(r["cases"][0]),
        ['found "textbook" twice at one point'],
    ),
    "twin alone": (
        lambda r: r["cases"].__delitem__(0),
        ['found a twin of "textbook" without its pair'],
    ),
    "empty launches": (lambda r: r.update(launches=[]), ["$.launches", "at least 1 entries"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_said_in_one_line(name: str, raw: Json, tmp_path: Path) -> None:
    spoil, said = BROKEN[name]
    spoil(raw)
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(raw))
    with pytest.raises(UserError) as caught:
        results.load(path)
    message = str(caught.value)
    assert message.startswith("broken.json: ")
    assert "\n" not in message
    for part in said:
        assert part in message


PRIVATE: dict[str, tuple[Callable[[Json], object], list[str]]] = {
    "absolute path": (
        lambda r: r["build"]["objects"][0].update(flags="-O3 -I/usr/include/eigen3"),
        ["$.build.objects[0].flags", "no absolute path"],
    ),
    "home": (lambda r: r["run"].update(arguments=["~/a.mtx"]), ["$.run.arguments[0]"]),
    "user and host": (
        lambda r: r["libraries"].update(mpi="4.1 built by jane@cluster"),
        ["$.libraries.mpi", "no user or host name"],
    ),
    "host": (lambda r: r["machine"].update(os="Linux on node7.local"), ["$.machine.os", "no host"]),
}


@pytest.mark.parametrize("name", PRIVATE)
def test_who_measures_for_himself_may_name_anything(name: str, raw: Json, tmp_path: Path) -> None:
    """What a text tells of a machine is asked where it would leave that machine."""
    name_it, said = PRIVATE[name]
    assert list(privacy.tellings(raw, "r.json")) == []
    name_it(raw)
    results.write(raw, tmp_path / "r.json")
    found = list(privacy.tellings(results.load(tmp_path / "r.json").raw, "r.json"))
    assert len(found) == 1
    for part in said:
        assert part in found[0]


def test_folders_of_the_kernel_tell_nothing_of_a_machine(raw: Json) -> None:
    raw["machine"]["os"] = "Linux without /sys/class/powercap/intel-rapl:0/energy_uj"
    assert list(privacy.tellings(raw, "r.json")) == []


TEXTS = {
    "not json": ('{"schema": 1,\n oops}', "broken.json:2:2: not JSON"),
    "nan": ('{"schema": NaN}', "found NaN, expected a finite number"),
    "infinity": ('{"schema": -Infinity}', "found -Infinity, expected a finite number"),
    "overflow": ('{"schema": 1e999}', "$"),
    "twice": ('{"schema": 1, "schema": 1}', 'found the key "schema" twice'),
    "empty": ("", "not JSON"),
    "list": ("[]", "expected object"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_are_no_result(name: str, tmp_path: Path) -> None:
    text, said = TEXTS[name]
    (tmp_path / "broken.json").write_text(text)
    with pytest.raises(UserError, match="^broken.json") as caught:
        results.load(tmp_path / "broken.json")
    assert said in str(caught.value)


def test_an_infinite_sample_is_refused(raw: Json, tmp_path: Path) -> None:
    text = json.dumps(raw)
    sample = json.dumps(raw["cases"][0]["samples_s"][0])
    (tmp_path / "r.json").write_text(text.replace(sample, "1e999", 1))
    with pytest.raises(UserError, match="found inf, expected a finite number"):
        results.load(tmp_path / "r.json")


def test_what_is_measured_may_be_as_large_as_it_likes(raw: Json, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    raw["libraries"]["large"] = "x" * results.LARGEST_BYTES
    results.write(raw, path)
    assert results.load(path).raw == raw


def test_what_is_committed_may_not(raw: Json) -> None:
    assert results.too_large(results.LARGEST_BYTES) == ""
    assert results.too_large(results.LARGEST_BYTES + 1).startswith(
        "found 4000001 bytes of JSON, expected at most 4000000")


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, '{"a": 1, "a": 2}'])
def test_odd_json_is_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"^odd\.json: [^\n]+$"):
        results.load(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none.json: cannot be read"):
        results.load(tmp_path / "none.json")


@pytest.mark.parametrize(
    "innocent",
    [
        "12.3 GB/s",
        "a / b",
        "and/or",
        "Intel(R) CPU @ 2.50GHz",
        "gcc (Debian 12.2.0-14) 12.2.0",
        "-O3 -march=native",
        "{0}:4:1",
        "1/2",
        "https://example.org/a/b",
    ],
)
def test_innocent_texts_are_no_paths(innocent: str, raw: Json, tmp_path: Path) -> None:
    raw["libraries"]["text"] = innocent
    results.write(raw, tmp_path / "r.json")


def _parts() -> list[Json]:
    parts = [synthetic.result(seed=4, threads=(count,)) for count in (1, 2)]
    for part, count in zip(parts, (1, 2), strict=True):
        part["run"]["arguments"] = ["--profile", "full", "--threads", str(count)]
    parts[1]["run"]["id"] = "f" * 16
    return parts


def test_merge_concatenates_launches(tmp_path: Path) -> None:
    first, second = _parts()
    merged = joining.merge([first, second])
    results.validate(merged, "merged")
    assert [launch["threads"] for launch in merged["launches"]] == [1, 2]
    assert len(merged["cases"]) == len(first["cases"]) + len(second["cases"])
    assert {case["launch"] for case in merged["cases"]} == {0, 1}
    assert {entry["launch"] for entry in merged["ceilings"]} == {0, 1}
    assert {entry["launch"] for entry in merged["skipped"]} == {0, 1}
    assert merged["run"]["arguments"] == ["--profile", "full"]
    assert merged["run"]["id"] == first["run"]["id"]
    assert all(case["launch"] == 0 for case in second["cases"])


def test_merge_has_the_libraries_of_every_process() -> None:
    first, second = _parts()
    second["libraries"]["mkl"] = "2026.0"
    assert joining.merge([first, second])["libraries"] == first["libraries"] | {"mkl": "2026.0"}


def test_merge_of_one_is_itself(raw: Json) -> None:
    assert joining.merge([raw]) == raw


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda r: r["source"].update(binary_sha256="d" * 64), "$.source"),
        (lambda r: r["run"].update(seed=2), "$.run.seed: found 2, expected 1"),
        (lambda r: r["run"].update(rounds=22), "$.run.rounds"),
        (lambda r: r["machine"].update(slug="other"), "$.machine"),
        (lambda r: r["libraries"].update(eigen="3.3"), "$.libraries.eigen"),
        (lambda r: r["datasets"]["fem3"].update(sha256="e" * 64), "$.datasets.fem3"),
        (lambda r: r["excerpts"]["unroll4"].update(text="other"), "$.excerpts.unroll4"),
    ],
)
def test_merge_refuses_what_disagrees(spoil: Callable[[Json], Any], said: str) -> None:
    first, second = _parts()
    spoil(second)
    with pytest.raises(UserError) as caught:
        joining.merge([first, second])
    assert said in str(caught.value)


def _longer() -> tuple[Json, Json]:
    """A run, and one of other samples that continues it."""
    first, more = (synthetic.result(seed=seed, threads=(1, 2)) for seed in (4, 5))
    for raw, busy in ((first, 3), (more, 4)):
        synthetic.add_gpus(raw, 1)
        for launch in raw["launches"]:
            launch["processors"] = {"busy_s": busy, "stolen_s": 1}
        span = {"lane": "host", "name": "all", "begin_s": 0, "end_s": busy}
        raw["cases"][0] |= {"rounds": {"cycles": 21 * [busy + 1]}, "timeline": [span]}
    more["launches"][1]["gpus"]["after"][0]["temperature_c"] = 99
    more["run"].update(id="f" * 16)
    return first, more


def test_more_rounds_are_put_behind_the_first() -> None:
    first, more = _longer()
    whole = joining.prolong(first, more)
    results.validate(whole, "whole")
    assert whole["run"] == first["run"] | {"looks": [21, 21]}
    for case, begin, end in zip(whole["cases"], first["cases"], more["cases"], strict=True):
        assert case["samples_s"] == begin["samples_s"] + end["samples_s"]
    assert len(whole["ceilings"]) == 2 * len(first["ceilings"])
    assert whole["cases"][0]["rounds"] == {"cycles": 21 * [4] + 21 * [5]}
    assert whole["cases"][0]["timeline"] == first["cases"][0]["timeline"]
    assert whole["launches"][0]["processors"] == {"busy_s": 7, "stolen_s": 2}
    assert whole["launches"][1]["gpus"]["after"][0]["temperature_c"] == 99
    assert whole["launches"][1]["gpus"]["before"] == first["launches"][1]["gpus"]["before"]


def test_what_fails_in_more_rounds_has_failed() -> None:
    first, more = _longer()
    failed = more["cases"][0]
    failed.update(samples_s=[], iterations=0)
    failed["verdict"] = {"status": "failed", "checks": ["exact"], "error": 0, "reason": "wrong"}
    for name in ("rounds", "timeline"):
        del failed[name]
    whole = joining.prolong(first, more)
    results.validate(whole, "whole")
    assert whole["cases"][0]["verdict"]["reason"] == "wrong"
    assert whole["cases"][0]["samples_s"] == []
    assert whole["cases"][0]["rounds"] == {"cycles": []}
    assert "timeline" not in whole["cases"][0]


def test_more_rounds_of_something_else_are_refused() -> None:
    first, more = _longer()
    del more["cases"][3]
    with pytest.raises(UserError, match="has no further samples"):
        joining.prolong(first, more)
    _, more = _longer()
    more["cases"][0]["rounds"] = {"misses": 21 * [1]}
    with pytest.raises(UserError, match="textbook notes other numbers of its rounds"):
        joining.prolong(first, more)
    _, more = _longer()
    more["source"].update(binary_sha256="d" * 64)
    with pytest.raises(UserError, match=r"\$\.source"):
        joining.prolong(first, more)
