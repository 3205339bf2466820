"""An independent evaluator of reports: it reads `report.json` and `report.md`, computes what each
statement says anew from raw samples, reads numbers and words out of the printed sentence, and tells
which are false.

It uses nothing of `memwall.analysis` and `memwall.pages`. What a predicate means it takes from
their docstrings; selections, medians, intervals, tests and verdicts are written again.
"""

import gzip
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from memwall.pages.tests.oracle_run import Absent, Case, Run, load, over_points
from memwall.pages.tests.oracle_verdicts import (
    DIRECTION,
    HOLDS,
    OPEN,
    REFUTED,
    Comparison,
    Found,
    judged,
    of_crossover,
    of_value,
    on_each,
    upper_tail,
    worst,
)

NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")
STALE, BARRED = "OUT OF DATE", "NOT ASKED"
#: Why a condition is not decided, or not what a number seems to say.
REASONS = {"crosses": "the interval crosses the threshold",
           "side": "the size does not hold, and the interval crosses 1",
           "wide": "an interval is too wide to tell", "noisy": "the machine is too noisy",
           "many open": "too many of the inputs are undecided",
           "split": "neither side has so many that chance would not do it",
           "few": "there are too few inputs", "alike": "the two are alike, within 5 % or the noise"}
ENDINGS = {"it holds": HOLDS, "the direction holds, the size does not": DIRECTION,
           "it does not hold": REFUTED, "it is not decided": OPEN}
SYMBOLS = {HOLDS: "✓", DIRECTION: "≈", REFUTED: "✗", OPEN: "?", STALE: "↻", BARRED: ""}
WORDS = {HOLDS: "is reproduced", DIRECTION: "is reproduced in direction, not in size",
         REFUTED: "is not reproduced", OPEN: "is undecided", STALE: "is out of date",
         BARRED: "cannot be asked"}
OWN_WORDS = {**WORDS, HOLDS: "holds", DIRECTION: "fails", REFUTED: "fails"}
#: Numbers that pages explain something with.
DEFINING = ("98.3 %", "1.23 (1.20–1.26)", "100 %")


class Lie(Exception):
    """What is wrong with a statement."""


def check(true: bool, why: str) -> None:
    """Raises `Lie` unless something is true."""
    if not true:
        raise Lie(why)


def lies(page: Path, evaluator: "Evaluator") -> list[str]:
    """Every statement of a report that is false, and every number in it that none stands for."""
    report = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    text = page.read_text(encoding="utf-8")
    found, place = [], 0
    covered = text
    for statement in report["statements"]:
        said = statement["text"]
        at = text.find(said, place)
        if at < 0:
            found.append(f"not in the page, or not there: {said[:200]}")
        else:
            place = at + len(said)
            covered = covered.replace(said, " ", 1)
        try:
            evaluator.verify(statement)
        except Lie as lie:
            found.append(f"{lie}: {said[:400]}")
        except (Absent, AssertionError, LookupError, ValueError, TypeError) as error:
            found.append(f"cannot be evaluated, {type(error).__name__} {error}: {said[:400]}")
    return found + list(evaluator.uncovered(covered))


class Evaluator:
    """Tells whether statements about the runs of an experiment, by their ids, are true."""

    def __init__(self, root: Path, experiment: str, runs: Mapping[str, Run]) -> None:
        self.runs = runs
        self.true: set[str] = set()  # statements that were verified
        self.definition = tomllib.loads((root / f"experiments/{experiment}/experiment.toml")
                                        .read_text(encoding="utf-8"))
        self.claims = {claim["id"]: claim for claim in self.definition.get("claim", [])}
        self.known: dict[tuple[int, str, int], Found] = {}
        self.judged: dict[tuple[int, str], str] = {}

    def verify(self, statement: Mapping[str, Any]) -> None:
        """Raises `Lie` if a statement is false."""
        whole = json.dumps(statement)
        if whole in self.true:
            return
        runs = [self.runs[run] for run in statement["runs"]]
        for run, machine in zip(runs, statement["machines"], strict=True):
            check(run.raw["machine"]["slug"] == machine, f"the run is not one of {machine}")
        by_predicate: dict[str, Callable[[Mapping[str, Any], Sequence[Run]], None]] = {
            "verdict": self.verdict, "tally": self.tally, "verdicts": self.verdicts,
            "measurements": self.measurements, "ratios": self.ratios, "ceilings": self.ceilings,
            "chosen": self.chosen, "skipped": self.skipped, "runs": self.table_of_runs,
            "facts": self.facts, "same data": self.same_data,
            "stale": self.stale, "doubtful": self.doubtful}
        verify = by_predicate.get(statement["predicate"], self.condition)
        verify(statement, runs)
        self.true.add(whole)

    def uncovered(self, text: str) -> Iterator[str]:
        """Measured numbers that stand outside of every statement, of listings, of what the
        definition says and of what explains a word."""
        text = text.partition("\n### Notes of who measured\n")[0]  # by hand, and it says so
        text = re.sub(r"^(`{3,})[^\n]*\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
        text = re.sub(r"<summary>.*?</summary>|!\[.*?\]\(.*?\)|^> .*$|^\| .*$|^Compile flags:.*$",
                      "", text, flags=re.MULTILINE)
        for known in (*DEFINING, self.definition["question"].strip(), self.definition["title"],
                      *(claim[name].strip() for claim in self.claims.values()
                        for name in ("says", "sentence", "short", "removes") if name in claim),
                      *(condition["label"] for claim in self.claims.values()
                        for condition in claim["condition"] if "label" in condition),
                      *(figure["caption"] for figure in self.definition.get("figure", [])),
                      *(run.raw["machine"]["slug"] for run in self.runs.values())):
            text = text.replace(known, "")
        units = r"(?:%|(?<=\d)x\b|times\b|[µmn]?s\b|GB/s|GFLOP/s)"
        for match in re.finditer(rf"\d[\d.,]* ?{units}", text):
            yield f"a number that no statement stands for: {match[0]}"

    # --- claims ----------------------------------------------------------------------------------

    def verdict(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        text, claim = statement["text"], self.claims[statement["operands"]["claim"]]
        names = re.findall(r"`([^`]+)`", text.partition(" it ")[0])
        check(names == statement["machines"], "other machines are named")
        for run in runs:
            found = self.of_claim(run, claim)
            words = (WORDS if claim["article"] else OWN_WORDS)[found]
            said = text.partition(" it ")[2].partition(":")[0].removesuffix(".")
            check(said == words, f"the verdict is {found}")
            check(statement["operands"]["verdict"] == found, f"the verdict is {found}")
            for least, what, has in re.findall(
                    r"needs at least (\d+) (\w+), this (?:run|machine) has (\d+)", text):
                check(f"{what}>={least}" in claim.get("needs", []), "another need")
                check(int(has) == self.has(run, what, claim), f"it has no {has} {what}")

    def tally(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        claim = self.claims[statement["operands"]["claim"]]
        found = [self.decided(run, claim) for run in runs]
        decided = [one for one in found if one]
        holding = decided.count(HOLDS)
        said, _, partly = statement["text"].partition(", in direction alone on ")
        numbers = [int(number) for number in NUMBER.findall(said)]
        check(partly.removesuffix(".") == (str(decided.count(DIRECTION))
                                           if DIRECTION in decided else ""), "in direction")
        if not decided:
            check("as no machine could tell" in statement["text"] and not numbers, "nobody could")
        elif holding == len(decided):
            check("every machine" in statement["text"] and numbers == [holding], "not on every one")
        else:
            wanted = [holding, len(decided)] if holding else [len(decided)]
            check(numbers == wanted, f"{holding} of {len(decided)}")
            no = "on none (1 machine" if len(decided) == 1 else "none of the"
            check(bool(holding) or no in said, "on none")
        operands = statement["operands"]
        check((operands["holding"], operands["decided"]) == (holding, len(decided)), "operands")

    def decided(self, run: Run, claim: Mapping[str, Any]) -> str:
        """What was decided, if anything was: a target that is missed in size is missed."""
        found = self.of_claim(run, claim)
        if found == DIRECTION and not claim["article"]:
            return REFUTED
        return found if found in (HOLDS, DIRECTION, REFUTED) else ""

    def verdicts(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        head, rows = table(statement["text"])
        claims = [self.claims[id] for id in statement["operands"]["claims"]]
        check(head[-len(runs):] == statement["machines"], "other machines")
        check(len(rows) == len(claims), "as many rows as claims")
        for claim, row in zip(claims, rows, strict=True):
            short = claim.get("short", claim["says"]).strip().removesuffix(".")
            check(short in row[0], f"the row is not that of {claim['id']}")
            if len(head) > 1 + len(runs):
                check(row[1] == claim["removes"], "another suspect")
            for run, cell in zip(runs, row[-len(runs):], strict=True):
                symbol, _, told = cell.partition(" ")
                found = self.of_claim(run, claim)
                check(symbol == SYMBOLS[self.decided(run, claim) or found], f"{found}, not {cell}")
                self.numbers_beside(run, claim, found, told)

    def numbers_beside(self, run: Run, claim: Mapping[str, Any], verdict: str, told: str) -> None:
        """The numbers that stand beside a symbol."""
        told, _, which = told.partition(" (")
        conditions = [] if verdict in (BARRED, STALE) else [
            self.of_condition(run, claim, i) for i in range(len(claim["condition"]))]
        if told and verdict != HOLDS and len(conditions) > 1:
            at = next(i for i, one in enumerate(conditions) if one.verdict == verdict
                      and (one.number or one.kind == "most"))
            check(which == f"{at + 1})", f"it is the number of condition {at + 1}")
        else:
            check(not which, "it is of no condition alone")
        decided = [one for one in conditions if one.number or one.kind == "most"]
        if verdict != HOLDS:
            decided = [one for one in decided if one.verdict == verdict][:1]
        texts = told.split(", ") if told else []
        check(len(texts) == min(2, len(decided)), f"{len(decided)} numbers decided, not {told}")
        for text, one in zip(texts, decided, strict=False):
            unit = re.search(r" (?:%|[nµm]s)$", text)
            scale = unit_of(unit[0]) if unit else 1.0
            text = text.removesuffix(unit[0] if unit else "").removeprefix("at ")
            if one.kind == "most":
                check(text == f"{one.counts['wins']} of {one.counts['units']}", "other counts")
            elif one.kind == "crossover" and ("beyond" in text or "below" in text):
                continue  # an end of what was measured, which the sentence tells
            elif one.number and verdict == OPEN and "–" in text:
                low, high = (part.strip() for part in text.split("–"))
                rounds_to(low, one.number.low * scale)
                rounds_to(high, one.number.high * scale)
            elif one.number:
                rounds_to(NUMBER.search(text)[0], one.number.value * scale)  # type: ignore[index]

    def condition(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        """The sentence of one condition, of whatever kind."""
        operands, text = statement["operands"], statement["text"]
        claim = self.claims[operands["claim"]]
        condition = claim["condition"][operands["condition"]]
        for run in runs:
            found = self.of_condition(run, claim, operands["condition"])
            if statement["predicate"] == "missing":
                check(found.is_missing or found.is_few, "it was measured")
                check(not re.search(r"\d\.\d", text), "a number of what was not measured")
                self.lacking(run, condition, text)
                continue
            check(not found.is_missing, "it was not measured")
            self.words(run, condition, text, operands)
            said, _, why = text.rpartition(": ")[2].removesuffix(".").partition(", as ")
            check(why == REASONS.get(found.why, ""), f"the reason is {found.why}")
            ending = next((verdict for words, verdict in ENDINGS.items() if said == words), "")
            check(ending == found.verdict, f"the condition is {found.verdict}")
            check(operands["verdict"] == found.verdict, "the verdict of the operands")
            self.numbers(statement, found, text.partition(" Claimed is ")[0])

    def lacking(self, run: Run, condition: Mapping[str, Any], text: str) -> None:
        """Whether what was not measured is told of a variant, or of a region alone."""
        missing = r"`([^`]+)`(?::| was) not measured in this run( with )?"
        for name, place in re.findall(missing, text):
            names = {case["variant"] for case in run.cases} | run.variants
            check((name in names) == bool(place), f"{name} was measured elsewhere, or nowhere")
            where = {**condition.get("where", {}), "variant": name}
            check(not run.select(where), f"{name} was measured there")

    def present(self, run: Run, condition: Mapping[str, Any], text: str) -> None:
        """Of rivals of which the best one counts, who was there."""
        rivals = run.rivals(condition["than"])
        moved = {name: value for name, value in condition["than"].items()
                 if name not in ("variant", "best_of")}
        there = [name for name in rivals
                 if run.asked_points(name, {**condition.get("where", {}), **moved}, timed=True)]
        told = re.search(r" \(here ((?:`[^`]+`(?:, | and )?)+)\)| \((\d+) of them were there\)",
                         text)
        if len(there) == len(rivals):
            check(told is None, "all were there")
        elif told and told[2]:
            check(int(told[2]) == len(there) > 3, f"{len(there)} were there")
        else:
            check(told is not None and re.findall(r"`([^`]+)`", told[1]) == there,
                  f"{there} were there")

    def words(self, run: Run, condition: Mapping[str, Any], text: str,
              operands: Mapping[str, Any]) -> None:
        """Who is compared with whom, where, and what is claimed."""
        faster = condition.get("faster", condition.get("less", condition.get("more")))
        faster = condition["of"] if "value" in condition else faster
        first = run.first(faster, condition.get("where", {}))
        named = re.findall(r"`([^`]+)`", text)
        than = condition.get("than")
        if isinstance(than, (str, list)):
            second = run.first(than, condition.get("where", {}))
            turned = "less" in condition and text.startswith("The ")
            wanted = [second, first] if turned else [first, second]
            alone = [name for name in named if name in run.variants]
            check(alone[:2] == wanted or first == second, "other variants")
        else:
            check(first in named, f"nothing is said of {first}")
        if isinstance(than, Mapping) and "best_of" in than:
            self.present(run, condition, text)
        axes = operands.get("axes", ())
        for name, of in condition.get("where", {}).items():
            if name not in axes:
                self.place(run, condition, name, of, text)
        claimed = text.rpartition(" Claimed is ")[2].rpartition(": ")[0]
        edges = [abs(edge) for edge in claimed_edges(condition)]
        printed = [float(match[0].replace(",", "")) / seconds(claimed[match.end():])
                   for match in NUMBER.finditer(claimed)]
        check(len(printed) == len(edges) and all(map(math.isclose, printed, edges)),
              f"claimed is {edges}")
        better = "less" if "less" in condition else "more" if "more" in condition else "faster"
        others = {"faster", "less", "more"} - {better}
        check(not any(re.search(rf"\b{word}\b", claimed) for word in (*others, "slower")),
              f"claimed is {better}")
        if "less" in condition and "less" in claimed:
            check(f"less for `{first}`" in claimed, "less for the other one")
        if condition.get("on") in ("any", "every"):
            check(("on at least one" in claimed) == (condition["on"] == "any"), "on how many")

    def place(self, run: Run, condition: Mapping[str, Any], name: str, of: Any, text: str) -> None:
        """What a region asks of a name stands in the text: all that it lists, or of names and
        patterns those that there are."""
        text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
        values = list(_flat([of]))
        plain = [str(value).lstrip("!<>= ") for value in values if value != "max"]
        is_choice = all(isinstance(value, str) and value[:1] not in "!<>" and value != "max"
                        for value in values)
        if "value" not in condition and is_choice and (len(values) > 1 or "*" in values[0]):
            compared = Comparison.of(run, condition).points
            there = {str(run.facts(case)[name]) for case, _, _ in compared}
            if len(there) <= max(3, len(values)):
                absent = [one for one in plain if one not in there
                          and not any(one in other for other in there)]
                check(not any(one in text for one in absent), "a value that was not measured")
                plain = sorted(there)
        for value in plain:
            check(value in text, f"it is about {value}")

    def numbers(self, statement: Mapping[str, Any], found: Found, text: str) -> None:
        """The numbers of a condition's sentence."""
        kind, operands = found.kind, statement["operands"]
        check(kind == statement["predicate"], f"it is a statement of {kind}")
        for name, true in found.counts.items():
            if name in operands:
                check(operands[name] == true, f"{name} is {true}")
        for name in ("value", "low", "high") if found.number and kind != "most" else ():
            close = math.isclose(operands[name], getattr(found.number, name), rel_tol=1e-9)
            check(close, f"{name} is {getattr(found.number, name)}")
        if kind == "most":
            told = re.search(r"is (\w+) than .* on (\d+) of (\d+) .*?, alike on (\d+), (\w+) on"
                             r" (\d+), undecided on (\d+)", text)
            assert told is not None
            check((told[1], told[5]) in (("faster", "slower"), ("less", "more"), ("more", "less")),
                  "the sides are turned")
            names = ("wins", "units", "alike", "losses", "open")
            check([int(told[i]) for i in (2, 3, 4, 6, 7)] == [found.counts[n] for n in names],
                  f"{found.counts}")
            p = float(re.search(r"p = ([\d.]+)", text)[1])  # type: ignore[index]
            chance = upper_tail(found.counts["wins"], found.counts["units"])
            check(math.isclose(p, chance, rel_tol=0.06), f"p is {chance}")
            return
        if kind == "each":
            told = re.search(r"as claimed on (\d+|none) of (\d+) \S+?"
                             r"(?:, in direction only on (\d+))?(?:, not on (\d+))?"
                             r"(?:, undecided on (\d+))?\. (Open|What decides) is (.*) with", text)
            assert told is not None
            names = ("reproduced", "units", "direction", "refuted", "undecided")
            check([int((told[i] or "0").replace("none", "0")) for i in range(1, 6)]
                  == [found.counts[n] for n in names], f"{found.counts}")
            check((told[6] == "Open") == (found.verdict == OPEN), "whether it is open")
        if kind == "value" and "units" in found.counts:
            told = re.search(r"it holds at (\d+) of (\d+)\.", text)
            assert told is not None
            check([int(told[1]), int(told[2])] == [found.counts["holding"], found.counts["units"]],
                  f"{found.counts}")
        if "points" in found.counts:
            told = re.search(r"(\d+) points?\b", text)
            check(told is not None and int(told[1]) == found.counts["points"],
                  f"points: {found.counts['points']}")
        if "below" in found.counts:
            told = re.search(r"; at (\d+|none) it is wholly below", text)
            check(told is not None and told[1] == (str(found.counts["below"] or "none")),
                  f"below: {found.counts['below']}")
            told = re.search(r", at (\d+) the interval is too wide", text)
            check(int(told[1] if told else 0) == found.counts["wide"],
                  f"too wide: {found.counts['wide']}")
        if kind in ("ratio", "lowest", "each", "crossover"):
            told = re.search(r"noise floor (?:of )?([\d.]+) %", text)
            check((told is not None) == (found.noise > 1), "whether a noise floor is told")
            if told:
                rounds_to(told[1], 100 * (found.noise - 1))
        told = re.search(r"; at (\d+) of them it is the other way round", text)
        check(int(told[1] if told else 0) == found.opposed, f"{found.opposed} the other way round")
        if found.unmeasured is not None:
            told = re.search(r"; (\d+) more lacks? one of the two", text)
            check(int(told[1] if told else 0) == found.unmeasured,
                  f"{found.unmeasured} points lack one")
        assert found.number is not None
        pattern = {"value": r" (?:reaches|takes) ([\d.]+)", "crossover": r" at ([\d.]+) \("}.get(
            kind, r" ([\d.]+) times")
        printed = re.search(pattern, text)
        if kind == "crossover" and printed is None:
            check("nowhere" in text, "there is such a place")
            return
        assert printed is not None
        scale = unit_of(text[printed.end():])
        rounds_to(printed[1], found.number.value * scale)
        ends = re.search(r"[(;] ?(?:below )?([\d.]+)–([\d.]+)", text[printed.end():])
        if ends:
            rounds_to(ends[1], found.number.low * scale)
            rounds_to(ends[2], found.number.high * scale)

    def of_claim(self, run: Run, claim: Mapping[str, Any]) -> str:
        """The verdict of a claim on a run, each found once."""
        key = id(run), claim["id"]
        if key not in self.judged:
            self.judged[key] = self._of_claim(run, claim)
        return self.judged[key]

    def _of_claim(self, run: Run, claim: Mapping[str, Any]) -> str:
        cpu, needs = run.raw["machine"]["cpu"], claim.get("needs", [])
        for need in needs:
            what, _, least = need.partition(">=")
            if least and what in ("threads", "ranks", "cores", "numa_nodes", "gpus"):
                if machine_has(run, what) < int(least):
                    return BARRED
            elif (need == "cuda" and not run.raw["machine"]["gpus"]) \
                    or (need == "bare-metal" and run.raw["machine"]["virtual"]) \
                    or (need in ("x86_64", "aarch64") and cpu["architecture"] != need) \
                    or (need.startswith(("avx", "neon", "sve", "fma", "amx"))
                        and need not in cpu["instruction_sets"]):
                return BARRED
        conditions = claim["condition"]
        if any(self.is_stale(run, condition) for condition in conditions):
            return STALE
        if any(self.lacks(run, need, claim) for need in needs):
            return OPEN
        found = [self.of_condition(run, claim, i) for i in range(len(conditions))]
        if run.is_partial and any(one.is_missing for one in found):
            return BARRED
        return worst({one.verdict for one in found}, is_own=not claim["article"])

    def lacks(self, run: Run, need: str, claim: Mapping[str, Any]) -> bool:
        what, _, least = need.partition(">=")
        if least and what in ("matrices", "rounds", "threads", "ranks"):
            return self.has(run, what, claim) < int(least)
        return (need == "mkl" and run.raw["machine"]["cpu"]["architecture"] == "x86_64"
                and "mkl" not in run.raw["libraries"])

    def has(self, run: Run, what: str, claim: Mapping[str, Any]) -> int:
        """How many of something a run has."""
        if what == "matrices":
            names = set(_flat([c.get("faster", c.get("less", c.get("more", c.get("of"))))
                               for c in claim["condition"]]))
            return len({case["parameters"]["matrix"] for case in run.cases
                        if "matrix" in case["parameters"] and case["variant"] in names})
        if what == "rounds":
            return int(run.raw["run"]["rounds"])
        if what in ("threads", "ranks") and machine_has(run, what):
            return max(launch[what] for launch in run.raw["launches"])
        return machine_has(run, what)

    def is_stale(self, run: Run, condition: Mapping[str, Any]) -> bool:
        where = condition.get("where", {})
        faster = condition.get("faster", condition.get("less", condition.get("more",
                               condition.get("of"))))
        than = condition.get("than", "")
        names = [run.first(faster, where)]
        if isinstance(than, Mapping):
            names += run.rivals(than)
        elif than:
            names.append(run.first(than, where))
        late = [] if "value" in condition else [
            name for name in (condition.get("of"), condition.get("than_of", condition.get("of")))
            if name in run.definition.get("since", {})
            and all(name not in case["setup"].get("counts", {}) for case in run.cases)]
        moved = {name: value for name, value in than.items()
                 if name not in ("variant", "best_of")} if isinstance(than, Mapping) else {}
        return bool(late) or any(
            name in run.stale or (name not in run.variants and not run.is_partial)
            or run.is_elsewhere(name, where if at == 0 else {**where, **moved})
            for at, name in enumerate(names))

    def of_condition(self, run: Run, claim: Mapping[str, Any], number: int) -> Found:
        """What a condition comes to, each once."""
        key = id(run), claim["id"], number
        if key not in self.known:
            try:
                self.known[key] = self._of_condition(run, claim["condition"][number],
                                                     is_own=not claim["article"])
            except Absent:
                self.known[key] = Found(OPEN, is_missing=True)
        return self.known[key]

    def _of_condition(self, run: Run, condition: Mapping[str, Any], is_own: bool) -> Found:
        where = condition.get("where", {})
        if "value" in condition:
            return of_value(run, condition, run.first(condition["of"], where), where)
        comparison = Comparison.of(run, condition)
        if "along" in condition:
            return of_crossover(comparison, condition)
        expect = condition.get("expect", "less" if "less" in condition else "more"
                               if "more" in condition else "faster")
        if condition.get("on", "all") == "all":
            return judged(comparison, expect)
        return on_each(comparison, expect, condition["on"], is_own)

    # --- tables ----------------------------------------------------------------------------------

    def measurements(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        operands, (run,) = statement["operands"], runs
        head, rows = table(statement["text"])
        unit = re.search(r"\[(\w+)\]", head[0])
        scale = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}[unit[1]] if unit else 1.0
        check(scale == operands["scale"], "the unit")
        check([plain(name) for name in head[1:]]
              == [plain_value(value) or "value" for value in operands["columns"]], "the columns")
        check([plain(row[0]) for row in rows]
              == [plain_value(value) for value in operands["rows"]], "the rows")
        for value, row, told in zip(operands["rows"], rows, operands["values"], strict=True):
            for column, cell, number in zip(operands["columns"], row[1:], told, strict=True):
                where = {**operands["where"], operands["down"]: value}
                where |= {operands["across"]: column} if column != "" else {}
                self.measured_cell(run, operands["metric"], where, scale, cell, number)

    def measured_cell(self, run: Run, metric: str, where: Mapping[str, Any], scale: float,
                      cell: str, told: float | None) -> None:
        variant = where["variant"]
        cases = [case for case in run.select(where, run.all_firsts) if case["variant"] == variant]
        if not cell:
            check(not cases or any(not case["passed"] for case in cases)
                  or all(run.tells_noise(case) for case in cases), "it was measured")
            return
        check(bool(cases) and all(case["passed"] for case in cases), "it was not measured")
        true = median(over_points([run.metric(metric, case) for case in cases]))
        check(told is not None and math.isclose(told, true, rel_tol=1e-9), f"the value is {true}")
        number, _, share = cell.partition(" (")
        rounds_to(number, true / scale)
        if share:
            names = bounding(run, cases[0])
            value = median(over_points([run.metric("of_ceiling", case, names) for case in cases]))
            rounds_to(share.removesuffix(" %)"), 100 * value)

    def ratios(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        operands = statement["operands"]
        condition = self.claims[operands["claim"]]["condition"][operands["condition"]]
        head, rows = table(statement["text"])
        check(head[1:] == operands["kinds"], "the columns")
        named = [plain(re.split(r"[: ]", row[0])[0]) for row in rows]
        check(named == statement["machines"], "the machines")
        for run, row in zip(runs, rows, strict=True):
            stale = self.of_claim(run, self.claims[operands["claim"]]) == STALE
            check(stale == (" ↻" in row[0]), "whether it is out of date")
            where = condition.get("where", {})
            faster = condition.get("faster", condition.get("less", condition.get("more")))
            if others := re.findall(r"`([^`]+)`", row[0])[1:]:
                check(run.first(faster, where) in others, "another variant")
            parts = Comparison.of(run, condition).by_kind(operands["axes"])
            for kind, cell in zip(operands["kinds"], row[1:], strict=True):
                check(bool(cell) == (kind in parts), f"{kind} was {'' if cell else 'not '}told")
                if cell:
                    rounds_to(cell, parts[kind].overall.value)

    def ceilings(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        head, rows = table(statement["text"])
        names = [re.search(r"`(.*)`", cell)[1] for cell in head[1:]]  # type: ignore[index]
        check([row[0].split("`")[1] for row in rows] == statement["machines"], "the machines")
        for run, row in zip(runs, rows, strict=True):
            workers = max(one["threads"] * one["ranks"] for one in run.raw["launches"])
            is_few = workers < run.raw["machine"]["cpu"]["cores"] and any(
                probe.get("target", "host") == "host" for probe in run.raw["ceilings"])
            told = re.search(r"`, (\d+) threads?$", row[0])
            check((int(told[1]) if told else None) == (workers if is_few else None),
                  f"{workers} threads")
            launches = range(len(run.raw["launches"]))
            for name, cell in zip(names, row[1:], strict=True):
                rates = [run.probes(at)[name]["rate"].value for at in launches
                         if name in run.probes(at)]
                check(bool(rates) == bool(cell), "whether it was measured")
                if cell:
                    rounds_to(cell.rstrip("†"), max(rates) / 1e9)
                    older = any(run.probes(at)[name]["definition"] < 2 for at in launches
                                if name in run.probes(at))
                    check(older == cell.endswith("†"), "by which definition")

    def chosen(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        """What the notes of a variant begin with, and how often."""
        operands, (run,) = statement["operands"], runs
        text, variant = statement["text"], operands["variant"]
        took = [re.split("[;:,]", case["setup"]["notes"][0])[0] for case in run.all_firsts
                if case["study"] == operands["study"] and case["variant"] == variant
                and case["passed"] and case["setup"].get("notes")]
        wanted = {name: took.count(name) for name in took}
        check(operands["times"] == wanted, f"{variant} chose {wanted}")
        head = re.match(r"Of (\d+) points? `([^`]+)` chose ", text)
        check(head is not None and (int(head[1]), head[2]) == (len(took), variant), "of whom")
        told = re.findall(r"`([^`]+)` at (\d+)", text[head.end() if head else 0:])
        check({name: int(count) for name, count in told} == wanted, f"{variant} chose {wanted}")

    def skipped(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        """Where a study lacks variants: at as many points as it says, of as many at which each was
        asked, and for no other numbers than it tells."""
        operands, (run,) = statement["operands"], runs
        text, study = statement["text"], operands["study"]
        varying: dict[str, set[Any]] = {}
        for case in run.all_firsts:
            for name, value in run.coordinates(case).items():
                varying.setdefault(name, set()).add(value)

        def label(entry: Case) -> Any:
            return tuple((name, value) for name, value in run.coordinates(entry).items()
                         if len(varying.get(name, ())) > 1)

        def digits(reason: str) -> str:
            return re.sub(r"\d+(?:\.\d+)*", "0", unmarked(reason))

        failures = [{**case, "reason": case["verdict"]["reason"]} for case in run.all_firsts
                    if case["study"] == study and not case["passed"]]
        entries = [entry for entry in run.raw["skipped"] if entry["study"] == study]
        is_failure = " failed" in text.partition(":")[0]
        reasons = [unmarked(reason) for reason in operands["reasons"]]
        for name in operands["variants"]:
            check(not name or f"`{name}`" in text, f"{name} is not named")
            its = [entry for entry in (failures if is_failure else entries)
                   if entry.get("variant", "") == name
                   and digits(entry["reason"]) == digits(reasons[0])]
            check({unmarked(entry["reason"]) for entry in its} == set(reasons), "another reason")
            at = {label(entry) for entry in its}
            check(len(at) == operands["points"], f"{name} lacks {len(at)} points")
            known = {label(case) for case in [*run.all_firsts, *entries] if case["study"] == study
                     and (not name or case.get("variant", "") == name)}
            check(len(known) == operands["of"], f"{name} was asked at {len(known)} points")
        named = re.findall(r"`([^`]+)`", text.partition(": ")[0])
        check(named == [name for name in operands["variants"] if name], "other variants")
        counts = re.search(r" at (\d+) of (\d+) points?", text.partition(": ")[0])
        wanted = (operands["points"], operands["of"])
        check(((int(counts[1]), int(counts[2])) == wanted) if counts
              else wanted[0] == wanted[1], f"{wanted} points")
        why = unmarked(text).partition(": ")[2]
        places = re.split(r"\d+(?:\.\d+)*", reasons[0].rstrip("."))
        slot = r"(\d+(?:\.\d+)*(?:(?:, | or | to )\d+(?:\.\d+)*)*)"
        told = re.fullmatch(slot.join(map(re.escape, places)) + r"\.", why)
        check(told is not None, "the reason")
        of_all = zip(*(re.findall(r"\d+(?:\.\d+)*", reason) for reason in reasons), strict=True)
        for slot, true in zip(told.groups() if told else (), of_all, strict=True):
            ordered = sorted(set(true), key=float)
            said = re.split(r", | or | to ", slot)
            ends = [ordered[0], ordered[-1]] if " to " in slot else ordered
            check(said == ends, f"the numbers are {ordered}")

    # --- runs ------------------------------------------------------------------------------------

    def table_of_runs(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        _, rows = table(statement["text"])
        for run, machine, row in zip(runs, statement["machines"], rows, strict=True):
            told = run.raw["run"]
            check(re.search(rf"(?<![\w-]){re.escape(machine)}(?![\w-])", row[0]) is not None,
                  "the machine")
            check(told["id"][:8] in row[1], "the id")
            check(row[2:4] == [told["utc"][:10], told["profile"]], "date and profile")
            looks = sum(told.get("looks", [0]))
            wanted = [told["rounds"], looks] if looks > told["rounds"] else [told["rounds"]]
            check([int(number) for number in NUMBER.findall(row[4])] == wanted, "the rounds")
            if run.equal_pairs:
                rounds_to(row[5].removesuffix(" %"), 100 * (run.noise() - 1))
            else:
                check(row[5] == "unknown", "the noise floor")
            if row[6] != "–":
                name, rate, *_ = row[6].split()
                rates = [run.probes(at)[name]["rate"].value
                         for at in range(len(run.raw["launches"])) if name in run.probes(at)]
                rounds_to(rate, max(rates) / 1e9)
            check(row[7] == (str(len(run.stale)) if run.stale else "–"), "what is out of date")
            if any("disturbed" in case for case in run.raw["cases"]):
                told = re.fullmatch(r"(\d+) of (\d+) rounds?, (\d+|none) left out", row[8])
                check(told is not None and tuple(int(told[i].replace("none", "0")) for i in
                      (1, 2, 3)) == run.disturbed_rounds(), "what was disturbed")
            else:
                check(row[8] == "not watched", "nobody watched")

    def facts(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        """What a run says of itself, as far as it is a number that was measured."""
        (run,) = runs
        head, rows = table(statement["text"])
        if head[0] == "data set":
            for row in rows:
                known = run.raw["datasets"][plain(row[0])]
                check(known["sha256"].startswith(plain(row[-1])), "the digest")
                true = list(known["features"].values())
                for cell in row[1:-1]:
                    check(not cell or any(nearly(cell, value) for value in true), f"no {cell}")
            return
        facts = {row[0]: row[1] for row in rows}
        check(run.raw["run"]["id"] in facts["run"] and run.raw["run"]["utc"] in facts["run"],
              "the run")
        rounds = re.search(r"(\d+) rounds?", facts["run"])
        check(rounds is not None and int(rounds[1]) == run.raw["run"]["rounds"], "the rounds")
        if run.equal_pairs:
            rounds_to(facts["noise floor"].partition(" %")[0], 100 * (run.noise() - 1))
            pairs = re.search(r"(\d+) A/A pair", facts["noise floor"])
            check(pairs is not None and int(pairs[1]) == len(run.equal_pairs), "the pairs")
        if "disturbances" in facts:
            told = re.match(r"(\d+) of (\d+) rounds were disturbed"
                            r"(?:; (\d+) of them do not count)?", facts["disturbances"])
            check(told is not None and tuple(int(told[i] or 0) for i in (1, 2, 3))
                  == run.disturbed_rounds(), "what was disturbed")

    def same_data(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        one, other = runs
        check(one.raw["datasets"] == other.raw["datasets"], "other data sets")
        check(f"those of `{statement['machines'][1]}`" in statement["text"], "another machine")

    def stale(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        (run,) = runs
        check(statement["operands"]["variant"] in run.stale, "it is fresh")
        check(f"`{statement['operands']['variant']}`" in statement["text"], "another variant")

    def doubtful(self, statement: Mapping[str, Any], runs: Sequence[Run]) -> None:
        (run,) = runs
        if "measured in two launches" in statement["text"]:
            return
        name = re.search(r"`([^`]+)`", statement["text"])
        cases = [case for case in run.doubtful.values() if name and case["variant"] == name[1]]
        check(bool(cases), "it is not doubtful")


def table(text: str) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of a table."""
    lines = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
             for line in text.splitlines()]
    return lines[0], lines[2:]


def plain(cell: str) -> str:
    """A cell without marks."""
    return unmarked(cell).replace(",", "")


def unmarked(text: str) -> str:
    return re.sub(r"`|</?code>|&#\d+;|\\(?=\|)", "", text)


def plain_value(value: Any) -> str:
    return unmarked(value) if isinstance(value, str) else f"{value:g}" if isinstance(
        value, float) else str(value)


def nearly(printed: str, true: float) -> bool:
    try:
        rounds_to(printed, true)
    except Lie:
        return False
    return True


def rounds_to(printed: str, true: float) -> None:
    """Raises `Lie` unless a number is printed as what is true is rounded."""
    printed = printed.replace(",", "")
    digits = len(printed.partition(".")[2])
    step = 10.0**-digits
    significant = printed.lstrip("0.").rstrip("0") or "0"
    if not digits and true >= 1000 and len(significant) <= 3:  # 1230 has three digits that count
        step = 10.0 ** (len(printed) - 3)
    check(abs(float(printed) - true) <= 0.501 * step, f"{printed} is {true}")


def unit_of(text: str) -> float:
    """By what a number is printed larger, by the unit behind it."""
    return {" %": 100.0, " ns": 1e9, " µs": 1e6, " ms": 1e3}.get(text[:3], 100.0
                                                             if text[:2] == " %" else 1.0)


def seconds(text: str) -> float:
    """How many of the unit of time behind a number are a second; 1 of any other unit."""
    unit = re.match(r" ([nµm])s\b", text)
    return {"n": 1e9, "µ": 1e6, "m": 1e3}[unit[1]] if unit else 1.0


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        elif value is not None:
            yield value


def claimed_edges(condition: Mapping[str, Any]) -> list[float]:
    """The numbers that what is claimed is said with."""
    if "value" in condition:
        scale = 100 if condition["value"].startswith("of_") else 1
        return [float(f"{scale * condition[name]:g}") for name in ("at_least", "at_most")
                if name in condition]
    if "along" in condition:
        return list(condition["between"])
    expect = condition.get("expect", "faster")
    if isinstance(expect, list):
        return [float(f"{edge:g}") for edge in expect]
    if isinstance(expect, (int, float)):
        return [float(f"{expect:g}")]
    return {"clearly": [1.2], "several": [3.0], "far": [2.0], "alike": [5.0], "keeps-up": [0.95],
            "never-below": [0.97]}.get(expect, [])


def machine_has(run: Run, what: str) -> int:
    cpu = run.raw["machine"]["cpu"]
    return int({"threads": cpu["hardware_threads"], "ranks": cpu["hardware_threads"],
                "cores": cpu["cores"], "numa_nodes": cpu["numa_nodes"],
                "gpus": len(run.raw["machine"]["gpus"])}[what])


def bounding(run: Run, case: Case) -> list[str]:
    """The probes that bound a case: those named that run where it does, else the fastest that
    moves bytes there and that of arithmetic in its precision."""
    there = {name: one for name, one in run.probes(case["launch"]).items()
             if one["target"] == case["target"]}
    if named := [name for name in run.named_ceilings if name in there]:
        own = {name: re.sub(r"_(fp16|bf16|fp32|fp64)$", f"_{case['parameters'].get('precision')}",
                            name) for name in named}
        return [own[name] if own[name] in there else name for name in named]
    moving = {name: one["rate"].value for name, one in there.items() if one["moves"]}
    fastest = max(moving, key=lambda name: moving[name], default="")
    suffix = f"_{case['parameters'].get('precision', '-')}"
    return [name for name, one in there.items()
            if name == fastest or (not one["moves"] and name.endswith(suffix))]


def of_committed(root: Path, experiment: str) -> Evaluator:
    """Knows all runs of an experiment that came with the tree."""
    listed = [line.split("#")[0].strip() for line in
              (root / "reports/machines.txt").read_text(encoding="utf-8").splitlines()]
    found = {}
    for machine in filter(None, listed):
        for path in sorted((root / f"reports/{machine}/results").glob(f"{experiment}*.json*")):
            name, at, _ = path.name.partition(".")[0].partition("@")
            if name == experiment:
                text = path.read_bytes()
                raw = json.loads(gzip.decompress(text) if path.suffix == ".gz" else text)
                found[raw["run"]["id"]] = load(root, experiment, raw, bool(at))
    return Evaluator(root, experiment, found)
