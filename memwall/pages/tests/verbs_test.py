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
        ('speedup("unroll4", over="textbook", where=W)', "1.25x (1.24–1.25)"),
        ('speedup("avx512", over="textbook")', "skipped: this CPU has no AVX-512"),
        (
            'speedup("unroll4", over="avx512")',
            "nothing to compare with, `avx512` skipped: this CPU has no AVX-512",
        ),
        (
            'speedup("broken", over="textbook", where=W)',
            "failed: exact check: y[3] is 0, not 7, error"
            " 12.5 times the bound (at fem3 fp64 threads=1)",
        ),
        ('value("median", "textbook", where=W)', "177 µs (174–178)"),
        ('value("gbps", "csrl", where=W)', "16.3 GB/s (16.2–16.5)"),
        ('value("of_ceiling", "textbook", where=W)', "41 % (41–42 %)"),
        ('value("setup", "csrl", where=W)', "3.06 ms"),
        ('value("bytes", where=W)', "1.24 MiB"),
        ('ratio("stored_bytes", "csrl", over="csrl", where=W)', "1.00x"),
        ('ratio("stored_bytes", "csrl", over="csrl")', "1.00x"),
        ("predicted(where=W)", "72.3 µs"),
        ('predicted("bound_gflops", where=W, ceiling="triad")', "1.74 GFLOP/s"),
        ('ceiling("read", where=W)', "17.9 GB/s (17.9–18.0)"),
        ('compare("csrl", than="textbook", where=W)', "far faster"),
        ('compare("textbook", than="csrl", where=W)', "far slower"),
        ('compare("restrict", than="textbook", where=W)', "alike"),
        (
            'compare("avx512", than="textbook")',
            "not compared (`avx512` was skipped: this CPU has no AVX-512)",
        ),
        ('speedup("textbook", over={"best_of": "formats"}, where=W)', "0.45x"),
        ('speedup("csrl", over={"best_of": ["unroll4", "avx512"]}, where=W)', "1.78x (1.77–1.79)"),
        (
            'compare("textbook", than={"best_of": ["unroll4", "restrict"]}, where=W)',
            "clearly slower",
        ),
        ('speedup("csrl", over={"best_of": ["avx512"]}, where=W)', "nothing to compare with,"
         " `avx512` skipped: this CPU has no AVX-512"),
        ('wins("csrl", over="textbook")', "5 of 5 matrices"),
        ('wins("textbook", over={"best_of": ["unroll4", "restrict"]})', "0 of 5 matrices"),
        ('article("1.4x", machine="Kunpeng 920")', "1.4x (the article, on Kunpeng 920)"),
        ('verdict("1.unroll")', "REPRODUCED"),
        ('holds("csrl", "textbook", expect="several")', "False"),
        ('machine("cpu")', "Example CPU @ 2.00GHz"),
        ('machine("last_level_cache")', "64.0 MiB"),
        ("title", "Serial SpMV: what does each step gain?"),
    ],
)
def test_sentences(template: str, said: str, say: Say) -> None:
    assert say("{{ " + template.replace("W", FEM3) + " }}") == said


ERRORS = {
    'speedup("unrol4", over="textbook")': 'no variant "unrol4" in the result, which has: textbook',
    'speedup("unroll4", over="textbok")': 'no variant "textbok" in the result',
    'speedup("unroll4", over="textbook", where={"matrix": "fem4"})': "no case where matrix = fem4",
    'speedup("unroll4", over="textbook", where={"matrx": "fem3"})': 'no axis "matrx"',
    'value("mean", "textbook")': 'no metric "mean", expected one of median',
    'value("median", "textbook")': '"median" has no mean over points, found 20 of them',
    'value("median")': '"median" differs between variants',
    'value("speedup", "unroll4")': "found no over=",
    'value("bytes", where={"matrix": "fem4"})': "nothing was measured where matrix = fem4",
    'predicted("median")': 'predicted: "median" is measured',
    'predicted(ceiling="copy")': 'no ceiling "copy" in the result, which has: read, triad',
    'ceiling("copy")': 'no ceiling "copy"',
    'ratio("median", "csrl", over="textbook", where={"matrix": "fem3", "precision": "fp64",'
    ' "threads": 1})': "use speedup",
    'code("unrol4")': 'no source text "unrol4" in the result',
    'diff("textbook", "unrol4")': 'no source text "unrol4"',
    'verdict("1.unrol")': 'no claim "1.unrol"',
    'holds("csrl", "textbook", expect="much")': 'expect="much", expected a number or one of faster',
    'machine("color")': 'machine: found "color", expected one of summary',
    'article("1.4x", machine="")': "article: expected a figure and the machine",
    'article("1.4x")': "missing 1 required positional argument: 'machine'",
    'speedup("unroll4")': "missing 1 required positional argument: 'over'",
    'speeedup("unroll4")': "'speeedup' is undefined",
    "unknown": "'unknown' is undefined",
}


@pytest.mark.parametrize("template", ERRORS)
def test_errors_name_the_line(template: str, say: Say) -> None:
    with pytest.raises(UserError) as caught:
        say("# Title\n\n{{ " + template + " }}\n")
    assert str(caught.value).startswith("lesson.md.in:3: ")
    assert ERRORS[template] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_syntax_errors_name_the_line(say: Say) -> None:
    with pytest.raises(UserError, match="^lesson.md.in:2: "):
        say("text\n{{ speedup( }}\n")


def test_a_variant_that_failed_somewhere_is_not_ranked_anywhere_near(say: Say, raw: Json) -> None:
    entry = synthetic.case(raw, "csrl", 3)
    entry.update(samples_s=[], iterations=0)
    entry["verdict"] = {"status": "failed", "reason": "bounded check: y[7] is NaN"}
    assert say('{{ speedup("csrl", over="textbook") }}', raw).startswith("failed: bounded check")


def test_launches_are_compared_in_the_same_rounds(say: Say) -> None:
    where = '{"matrix": "fem3", "precision": "fp64", "threads": 2}'
    text = say('{{ speedup("csrl", over={"threads": 1}, where=%s) }}' % where)
    assert text.startswith("2.0")


def test_a_variant_may_be_compared_with_another_one_of_another_launch(say: Say) -> None:
    where = '{"matrix": "fem3", "precision": "fp64", "threads": 1}'
    over = '{"variant": "textbook", "threads": "max"}'
    slower = say('{{ speedup("csrl", over=%s, where=%s) }}' % (over, where))
    same = say('{{ speedup("csrl", over="textbook", where=%s) }}' % where)
    assert 2 * float(slower.split("x")[0]) == pytest.approx(float(same.split("x")[0]), rel=0.02)


def test_workers_are_threads_of_all_ranks(say: Say, raw: Json) -> None:
    raw["launches"][0]["ranks"] = 3
    assert say('{{ value("gflops", "csrl", where={"workers": "max"}) }}', raw) == say(
        '{{ value("gflops", "csrl", where={"ranks": 3}) }}', raw)


def test_counts_are_metrics(say: Say, raw: Json) -> None:
    for number, entry in enumerate(e for e in raw["cases"] if e["variant"] == "csrl"):
        entry["setup"]["counts"] = {"messages_8": number}
    where = '{"matrix": "pois2d", "precision": "fp32", "threads": 1}'
    assert say('{{ value("count:messages_8", "csrl", where=%s) }}' % where, raw) == "0"


def test_what_the_bytes_of_a_format_allow(say: Say, raw: Json) -> None:
    """The compulsory bytes less the matrix of `over` are what every format reads besides."""
    for entry in raw["cases"]:
        setup, compulsory = entry["setup"], entry["work"]["bytes"]
        if entry["variant"] == "textbook":
            setup["operand_bytes"] = 0.8 * compulsory
        if entry["variant"] == "csrl":
            setup["stored_bytes"] = 0.3 * compulsory
    gain = '{{ value("byte_gain", "%s", over="textbook", where={"matrix": "fem3"}) }}'
    assert say(gain % "csrl", raw) == "2.00x"
    assert say(gain % "textbook", raw) == "1.00x"
    bound = '{{ value("of_own_bound", "%s", over="textbook", where=%s) }}'
    assert say(bound % ("textbook", FEM3), raw) == "41 % (41–42 %)"
    assert say(bound % ("csrl", FEM3), raw) == "45 % (45–46 %)"
    assert say(gain % "unroll4", raw) == "unroll4 records no bytes of its format"


def test_diff_shows_only_what_changed(say: Say) -> None:
    text = say('{{ diff("textbook", "unroll4") }}')
    assert "-    y[i] = sum(i);\n+    y[i] = sum4(i);" in text
    assert text.startswith("```diff\n")
    assert "@@" not in text and "---" not in text


def test_diff_of_equal_texts_says_so(say: Say) -> None:
    assert "have the same text" in say('{{ diff("textbook", "textbook") }}')


def test_long_code_is_folded(say: Say, raw: Json) -> None:
    raw["excerpts"]["csrl"]["text"] = "line;\n" * 80
    assert say('{{ code("csrl") }}', raw).startswith("<details>")
    assert "<details>" not in say('{{ code("csrl", fold=false) }}', raw)


def test_code_is_what_was_timed_not_what_the_tree_has(say: Say, raw: Json) -> None:
    raw["excerpts"]["csrl"]["text"] = "an_older_csrl(a, x, y);\n"
    text = say('{{ code("csrl") }}', raw)
    assert "an_older_csrl(a, x, y);" in text
    assert "out of date: `experiments/spmv-demo/main.cpp` has another text now" in text


def test_code_of_a_skipped_variant_is_the_trees(say: Say) -> None:
    text = say('{{ code("avx512") }}')
    assert "gather(a, x, y);" in text
    assert "not run here: this CPU has no AVX-512" in text


def test_stale_numbers_are_marked_wherever_they_stand(say: Say, raw: Json) -> None:
    raw["excerpts"]["unroll4"]["text"] = "older\n"
    marked = [
        '{{ speedup("unroll4", over="textbook") }}',
        '{{ speedup("csrl", over="unroll4") }}',
        '{{ value("gbps", "unroll4") }}',
        '{{ compare("unroll4", than="textbook") }}',
        '{{ wins("unroll4", over="textbook") }}',
        '{{ code("unroll4") }}',
    ]
    for template in marked:
        assert "out of date" in say(template, raw), template
    assert "out of date" not in say('{{ speedup("csrl", over="textbook") }}', raw)


def test_missing_from_a_stale_result_reads_so(say: Say, raw: Json) -> None:
    """The text is shared: a page that lacks a newer variant still weaves."""
    synthetic.drop(raw, "csrl")
    raw["excerpts"]["unroll4"]["text"] = "older\n"
    assert say('{{ speedup("csrl", over="textbook") }}', raw) == "not measured in this run"


def test_missing_from_a_fresh_result_stops_the_weave(say: Say, raw: Json, root: Path) -> None:
    synthetic.drop(raw, "csrl")
    main = root / "experiments" / synthetic.NAME / "main.cpp"
    lines = main.read_text().splitlines(keepends=True)
    main.write_text("".join(line for line in lines if "csrl" not in line))
    with pytest.raises(UserError, match='lesson.md.in:1: no variant "csrl" in the result'):
        say('{{ speedup("csrl", over="textbook") }}', raw)


def test_a_case_deleted_from_a_fresh_result_stops_the_weave(say: Say, raw: Json) -> None:
    raw["cases"].remove(synthetic.case(raw, "csrl", 0))
    with pytest.raises(UserError, match='"csrl" has no case where .*matrix = pois2d'):
        say(
            '{{ speedup("csrl", over="textbook", where={"matrix": "pois2d", "threads": 1,'
            ' "precision": "fp32"}) }}',
            raw,
        )


def test_a_narrowed_run_says_what_it_lacks(say: Say, raw: Json) -> None:
    synthetic.drop(raw, "csrl")
    template = '{{ speedup("csrl", over="textbook", where={"matrix": "other"}) }}'
    assert say(template, raw, partial=True) == "not measured in this run"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ('speedup("csrl", over="textbook", where={"bytes": 8})', "not measured in this run"),
        ('value("gbps", "csrl", where={"bytes": 8})', "not measured in this run"),
        ('predicted(where={"bytes": 8})', "not measured in this run"),
        ('ceiling(where={"bytes": 8})', "not measured in this run"),
        ('compare("csrl", than="textbook", where={"bytes": 8})',
         "not compared (`csrl` was not measured in this run)"),
        ('wins("csrl", over="textbook", where={"bytes": 8})',
         "none (`csrl` was not measured in this run)"),
        ('across("csrl", "textbook", {"bytes": 8})', "not measured in this run"),
    ],
)
def test_a_narrowed_run_may_lack_a_whole_study(template: str, said: str, say: Say) -> None:
    """Its axes too; a complete run must have what its chapter speaks of."""
    assert say("{{ " + template + " }}", partial=True) == said
    with pytest.raises(UserError, match="lesson.md.in:1: "):
        say("{{ " + template + " }}")


def test_conditional_sentences(say: Say) -> None:
    template = "{% if holds('csrl', 'textbook', expect='far') %}yes{% else %}no{% endif %}"
    assert say(template) == "yes"


def test_a_setup_that_never_pays(say: Say, raw: Json) -> None:
    synthetic.scale(raw, "csrl", 3.0)
    text = say('{{ value("break_even", "csrl", over="textbook", where=%s) }}' % FEM3, raw)
    assert text == "never"


def test_a_setup_in_calls_of_another_variant(say: Say, raw: Json) -> None:
    synthetic.scale(raw, "textbook", 2.0)
    verb = '{{ value("setup_calls", "csrl", over="textbook", where=%s) }}' % FEM3
    calls = int(say(verb, raw))
    synthetic.scale(raw, "textbook", 0.5)
    assert int(say(verb, raw)) == pytest.approx(2 * calls, abs=1)


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
