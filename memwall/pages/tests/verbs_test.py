"""Verbs: what they say, and that nothing missing becomes a blank."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memwall.analysis.measurements import Measurements
from memwall.conftest import Say
from memwall.figures import curves, dots, rows
from memwall.figures.plots import Plot
from memwall.record.errors import UserError
from memwall.record.results import Json, Span
from memwall.tests import synthetic

AT_FEM3 = {"matrix": "fem3", "precision": "fp64", "threads": 1}
FEM3 = '{"matrix": "fem3", "precision": "fp64", "threads": 1}'


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ('number("speedup", "unroll4", over="textbook", where=W) | times', "1.2 times"),
        ('number("median", "textbook", where=W) | seconds', "180 µs"),
        ('number("gbps", "csrl", where=W) | about', "16"),
        ('number("of_ceiling", "textbook", where=W) | percent', "41 %"),
        ('number("setup", "csrl", where=W) | seconds', "3.1 ms"),
        ('number("bytes", where=W) | size', "1.2 MiB"),
        ('number("bound", where=W) | seconds', "72 µs"),
        ('number("bound_gflops", where=W, ceiling="triad") | about', "1.7"),
        ('probe("read", W) | rate', "18 GB/s"),
        ('number("speedup", "textbook", over={"best_of": "formats"}, where=W) | about', "0.45"),
        ('number("speedup", "csrl", over={"best_of": ["unroll4", "avx512"]}, where=W) | about',
         "1.8"),
        ('holds("csrl", "textbook", expect="several")', "False"),
        ('machine("cpu")', "Example CPU @ 2.00GHz"),
        ('machine("last_level_cache")', "64.0 MiB"),
    ],
)
def test_sentences(template: str, said: str, say: Say) -> None:
    assert say("{{ " + template.replace("W", FEM3) + " }}") == said


ERRORS = {
    'number("speedup", "unrol4", over="textbook")': 'no variant "unrol4" in the result, which has:'
    " textbook",
    'number("speedup", "unroll4", over="textbok")': 'no variant "textbok" in the result',
    'number("speedup", "unroll4", over="textbook", where={"matrix": "fem4"})': "no case where"
    " matrix = fem4",
    'number("speedup", "avx512", over="textbook")': "skipped: this CPU has no AVX-512",
    'number("speedup", "unroll4", over="avx512")': "nothing to compare with, `avx512` skipped: this"
    " CPU has no AVX-512",
    'number("speedup", "csrl", over={"best_of": ["avx512"]}, where=W)': "nothing to compare with,"
    " `avx512` skipped: this CPU has no AVX-512",
    'number("speedup", "broken", over="textbook", where=W)': "failed: exact check: y[3] is 0, not"
    " 7, error 12.5 times the bound (at fem3 fp64 threads=1)",
    'number("speedup", "unroll4", over="textbook", where={"matrx": "fem3"})': 'no axis "matrx"',
    'number("mean", "textbook")': 'no metric "mean", expected one of median',
    'number("median", "textbook")': '"median" has no mean over points, found 20 of them',
    'number("median")': '"median" differs between variants',
    'number("speedup", "unroll4")': "found no over=",
    'number("bytes", where={"matrix": "fem4"})': "nothing was measured where matrix = fem4",
    'number("bound", where=W, ceiling="copy")': 'no ceiling "copy" in the result',
    'probe("copy")': 'no ceiling "copy"',
    'part("unrol4")': 'no source text "unrol4" in the result',
    'shown("1.unrol", "words")': 'no claim "1.unrol"',
    'holds("csrl", "textbook", expect="much")': 'expect="much", expected a number or one of faster',
    'machine("color")': 'machine: found "color", expected one of summary',
    'number()': "missing 1 required positional argument: 'metric'",
    'numbber("median")': "'numbber' is undefined",
    "unknown": "'unknown' is undefined",
}


@pytest.mark.parametrize("template", ERRORS)
def test_errors_name_the_line(template: str, say: Say) -> None:
    with pytest.raises(UserError) as caught:
        say("# Title\n\n{{ " + template.replace("W", FEM3) + " }}\n")
    assert str(caught.value).startswith("lesson.md.in:3: ")
    assert ERRORS[template] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_syntax_errors_name_the_line(say: Say) -> None:
    with pytest.raises(UserError, match="^lesson.md.in:2: "):
        say("text\n{{ number( }}\n")


def test_a_variant_that_failed_somewhere_is_not_ranked_anywhere_near(say: Say, raw: Json) -> None:
    entry = synthetic.case(raw, "csrl", 3)
    entry.update(samples_s=[], iterations=0)
    entry["verdict"] = {"status": "failed", "reason": "bounded check: y[7] is NaN"}
    with pytest.raises(UserError, match="speedup of csrl: failed: bounded check"):
        say('{{ number("speedup", "csrl", over="textbook") }}', raw)


def test_launches_are_compared_in_the_same_rounds(say: Say) -> None:
    where = '{"matrix": "fem3", "precision": "fp64", "threads": 2}'
    text = say('{{ number("speedup", "csrl", over={"threads": 1}, where=%s) }}' % where)
    assert text.startswith("2.0")


def test_a_variant_may_be_compared_with_another_one_of_another_launch(say: Say) -> None:
    where = '{"matrix": "fem3", "precision": "fp64", "threads": 1}'
    over = '{"variant": "textbook", "threads": "max"}'
    slower = say('{{ number("speedup", "csrl", over=%s, where=%s) }}' % (over, where))
    same = say('{{ number("speedup", "csrl", over="textbook", where=%s) }}' % where)
    assert 2 * float(slower) == pytest.approx(float(same), rel=0.02)


def test_workers_are_threads_of_all_ranks(say: Say, raw: Json) -> None:
    raw["launches"][0]["ranks"] = 3
    assert say('{{ number("gflops", "csrl", where={"workers": "max"}) }}', raw) == say(
        '{{ number("gflops", "csrl", where={"ranks": 3}) }}', raw)


def test_counts_are_metrics(say: Say, raw: Json) -> None:
    for number, entry in enumerate(e for e in raw["cases"] if e["variant"] == "csrl"):
        entry["setup"]["counts"] = {"messages_8": number}
    where = '{"matrix": "pois2d", "precision": "fp32", "threads": 1}'
    assert say('{{ number("count:messages_8", "csrl", where=%s) | about }}' % where, raw) == "0"


def test_what_the_bytes_of_a_format_allow(say: Say, raw: Json) -> None:
    """The compulsory bytes less the matrix of `over` are what every format reads besides."""
    for entry in raw["cases"]:
        setup, compulsory = entry["setup"], entry["work"]["bytes"]
        if entry["variant"] == "textbook":
            setup["operand_bytes"] = 0.8 * compulsory
        if entry["variant"] == "csrl":
            setup["stored_bytes"] = 0.3 * compulsory
    gain = '{{ number("byte_gain", "%s", over="textbook", where={"matrix": "fem3"}) | about }}'
    assert say(gain % "csrl", raw) == "2.0"
    assert say(gain % "textbook", raw) == "1.0"
    bound = '{{ number("of_own_bound", "%s", over="textbook", where=%s) | percent }}'
    assert say(bound % ("textbook", FEM3), raw) == "41 %"
    assert say(bound % ("csrl", FEM3), raw) == "45 %"
    with pytest.raises(UserError, match="unroll4 records no bytes of its format"):
        say(gain % "unroll4", raw)


def test_code_is_what_was_timed_not_what_the_tree_has(say: Say, raw: Json) -> None:
    raw["excerpts"]["csrl"]["text"] = "an_older_csrl(a, x, y);\n"
    assert "an_older_csrl(a, x, y);" in say('{{ part("csrl") }}', raw)


def test_code_of_a_skipped_variant_is_the_trees(say: Say) -> None:
    assert "gather(a, x, y);" in say('{{ part("avx512") }}')


def test_missing_from_a_stale_result_stops_the_weave(say: Say, raw: Json) -> None:
    synthetic.drop(raw, "csrl")
    raw["excerpts"]["unroll4"]["text"] = "older\n"
    with pytest.raises(UserError, match="speedup of csrl: not measured in this run"):
        say('{{ number("speedup", "csrl", over="textbook") }}', raw)


def test_missing_from_a_fresh_result_stops_the_weave(say: Say, raw: Json, root: Path) -> None:
    synthetic.drop(raw, "csrl")
    main = root / "experiments" / synthetic.NAME / "main.cpp"
    lines = main.read_text().splitlines(keepends=True)
    main.write_text("".join(line for line in lines if "csrl" not in line))
    with pytest.raises(UserError, match='lesson.md.in:1: no variant "csrl" in the result'):
        say('{{ number("speedup", "csrl", over="textbook") }}', raw)


def test_a_case_deleted_from_a_fresh_result_stops_the_weave(say: Say, raw: Json) -> None:
    raw["cases"].remove(synthetic.case(raw, "csrl", 0))
    with pytest.raises(UserError, match='"csrl" has no case where .*matrix = pois2d'):
        say(
            '{{ number("speedup", "csrl", over="textbook", where={"matrix": "pois2d", "threads": 1,'
            ' "precision": "fp32"}) }}',
            raw,
        )


@pytest.mark.parametrize("where", ['{"matrix": "other"}', '{"bytes": 8}'])
def test_a_narrowed_run_says_what_it_lacks(where: str, say: Say, raw: Json) -> None:
    """Its axes too."""
    synthetic.drop(raw, "csrl")
    with pytest.raises(UserError, match="speedup of csrl: not measured in this run"):
        say('{{ number("speedup", "csrl", over="textbook", where=%s) }}' % where, raw, partial=True)


def test_conditional_sentences(say: Say) -> None:
    template = "{% if holds('csrl', 'textbook', expect='far') %}yes{% else %}no{% endif %}"
    assert say(template) == "yes"


def test_a_setup_that_never_pays(say: Say, raw: Json) -> None:
    synthetic.scale(raw, "csrl", 3.0)
    assert say('{{ number("break_even", "csrl", over="textbook", where=%s) }}' % FEM3, raw) == "inf"


def test_a_setup_in_calls_of_another_variant(say: Say, raw: Json) -> None:
    synthetic.scale(raw, "textbook", 2.0)
    verb = '{{ number("setup_calls", "csrl", over="textbook", where=%s) }}' % FEM3
    calls = float(say(verb, raw))
    synthetic.scale(raw, "textbook", 0.5)
    assert float(say(verb, raw)) == pytest.approx(2 * calls)


# --- figures -------------------------------------------------------------------------------------

Draw = Callable[..., tuple[str, str]]


@pytest.fixture
def draw(measured: Callable[..., Measurements], raw: Json) -> Draw:
    """Calls a verb of `plot`: what it says, and the figure that it drew."""

    def call(verb: str, *given: Any, result: Json | None = None, **named: Any) -> tuple[str, str]:
        plot = Plot(measured(result or raw), "figures")
        said = getattr(plot, verb)("1.serial", *given, **named)
        return said, next(iter(plot.drawn.values()))

    return call


def drawn_by(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[Any]:
    """What a function that draws is given from now on."""
    given: list[Any] = []
    original = getattr(module, name)

    def drawn(data: Any) -> Any:
        given.append(data)
        return original(data)

    monkeypatch.setattr(module, name, drawn)
    return given


def with_counts(raw: Json) -> Json:
    """As if `csrl` had studied its partitions."""
    for entry in raw["cases"]:
        if entry["variant"] == "csrl":
            entry["setup"]["counts"] = {
                f"{name}_{ranks}": value
                for ranks in (8, 128)
                for name, value in (("imbalance", 1.5), ("most_messages", 2), ("most_ghosts", 99))
            }
    return raw


def test_counts_are_drawn_over_their_numbers(draw: Draw, raw: Json) -> None:
    one = {**AT_FEM3, "variant": ["csrl", "unroll4"]}
    assert "figures/demo-serial.svg" in draw("studied", "most_ghosts", one,
                                             result=with_counts(raw))[0]
    with pytest.raises(UserError, match='csrl counts "most_ghosts" at several points'):
        draw("studied", "most_ghosts", {"variant": "csrl"}, result=raw)
    with pytest.raises(UserError, match="would be empty"):
        draw("studied", "most_ghosts", {**one, "variant": "restrict"}, result=raw)


def test_a_model_is_drawn_beside_what_was_measured(draw: Draw, raw: Json) -> None:
    for ring in ("textbook", "ring"):
        said, _ = draw("modelled", ["csrl", "unroll4"], {"matrix": "fem3", "precision": "fp64"},
                       ring, result=with_counts(raw))
        assert "figures/demo-serial.svg" in said


ONE = {"threads": 1, "variant": ["textbook", "unroll4", "csrl", "avx512"]}


def test_dots_have_a_panel_for_each_matrix(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    given = drawn_by(monkeypatch, dots, "dots")
    said, svg = draw("dots", where=ONE)
    assert "figures/demo-serial.svg" in said
    assert svg.startswith("<svg")
    data = given[0]
    assert [panel.title for panel in data.panels] == list(synthetic.MATRICES)
    assert {panel.bound for panel in data.panels} == {100.0}
    assert data.panels[0].about == "5 per row"
    assert [row.name for row in data.rows] == ["textbook", "unroll4", "csrl"]  # avx512 has none
    assert data.series == ("fp32", "fp64")
    assert (data.scale, data.unit, data.bars) == ("linear", "%", False)
    assert data.cells[1][0][1].value == pytest.approx(41, abs=0.5)


def test_speedups_are_dots_around_one(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    given = drawn_by(monkeypatch, dots, "dots")
    draw("dots", y="speedup", over="textbook", where=ONE)
    draw("bars", x="matrix", y="speedup", over="textbook", where={**ONE, "precision": "fp64"})
    draw("bars", x="matrix", y="gbps", where={**ONE, "precision": "fp64"})
    draw("bars", x="matrix", y="gbps", series="precision", where={"threads": 1, "variant": "csrl"})
    assert [data.scale for data in given] == ["ratio", "ratio", "linear", "linear"]
    assert [data.bars for data in given] == [False, False, True, True]
    assert [row.name for row in given[0].rows] == ["unroll4", "csrl"]
    assert [row.name for row in given[3].rows] == list(synthetic.MATRICES)
    assert given[3].series == ("fp32", "fp64")


def test_rows_tell_whose_code_they_are(draw: Draw, raw: Json,
                                       monkeypatch: pytest.MonkeyPatch) -> None:
    given = drawn_by(monkeypatch, dots, "dots")
    for entry in raw["cases"]:
        if entry["variant"] == "csrl":
            entry["group"] = "peer"
    draw("dots", where=ONE, result=raw)
    assert [row.role for row in given[0].rows] == ["ours", "ours", "library"]
    assert given[0].rows[2].group == "libraries"


def test_a_timeline_is_drawn_of_one_point(draw: Draw, raw: Json,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    given = drawn_by(monkeypatch, rows, "timeline")
    for entry in raw["cases"]:
        if entry["variant"] == "csrl":
            entry["timeline"] = [
                {"lane": "copy", "name": "upload 0", "begin_s": 0, "end_s": 0.001},
                {"lane": "compute", "name": "kernel 0", "begin_s": 0.001, "end_s": 0.003},
            ]
    said, _ = draw("timeline", "csrl", AT_FEM3, result=raw)
    assert "figures/demo-serial.svg" in said
    assert given[0].spans[1] == Span("compute", "kernel 0", 0.001, 0.003)
    with pytest.raises(UserError, match="csrl at 20 points, expected one: narrow where="):
        draw("timeline", "csrl", result=raw)
    with pytest.raises(UserError, match="would be empty: nothing was measured for it"):
        draw("timeline", "textbook", AT_FEM3, result=raw)


def test_a_roofline_has_the_named_ceilings(draw: Draw, raw: Json,
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    given = drawn_by(monkeypatch, curves, "roofline")
    raw["ceilings"] += [
        {**probe, "name": "fma", "bytes": 0, "flops": 1e9} for probe in raw["ceilings"]
        if probe["name"] == "read"
    ]
    draw("roofline", AT_FEM3, ["textbook", "csrl"], ["read", "fma"], result=raw)
    data = given[0]
    assert [(c.name, c.moves_bytes) for c in data.ceilings] == [("read", True), ("fma", False)]
    assert data.ceilings[0].rate == pytest.approx(17.9e9, rel=0.01)
    assert [spot.name for spot in data.spots] == ["textbook", "csrl"]
    work = synthetic.case(raw, "csrl", 3)["work"]
    assert data.spots[1].intensity == work["flops"] / work["bytes"]
    with pytest.raises(UserError, match='no ceiling "copy"'):
        draw("roofline", AT_FEM3, ["textbook"], ["copy"], result=raw)


def test_pairs_have_a_line_each(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    given = drawn_by(monkeypatch, curves, "lines")
    pairs = {"four sums": ["unroll4", "textbook"], "lists": ["csrl", "textbook"]}
    draw("pairs", x="threads", y="speedup", pairs=pairs, times=10,
         called={"x": "tens of threads", "one": "the textbook"},
         where={"matrix": "fem3", "precision": "fp64"})
    data = given[0]
    assert [series.name for series in data.series] == list(pairs)
    assert data.categories == (10, 20)
    assert (data.category_label, data.limits, data.limit_label) == (
        "tens of threads", (1.0, 1.0), "the textbook")
    assert data.series[0].values[0].value == pytest.approx(1.25, abs=0.01)


def test_sizes_are_those_that_end_names(draw: Draw, raw: Json,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    given = drawn_by(monkeypatch, curves, "lines")
    for old, new in {"textbook": "chase_16_KiB", "csrl": "chase_256_MiB"}.items():
        for entry in raw["cases"]:
            if entry["variant"] == old:
                entry["variant"] = new
    draw("sizes", y="median", called={"line": "a load", "cache": "cache", "y": "its time"},
         where={**AT_FEM3, "variant": ["chase_16_KiB", "chase_256_MiB"]}, result=raw)
    data = given[0]
    assert data.categories == (2.0**14, 2.0**28)
    assert [name for name, _ in data.marks] == ["cache 1: 32 KiB", "cache 2: 1 MiB"]
    assert data.value_label == "its time (µs)"
