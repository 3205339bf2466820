"""Rules of lessons that a program can check; whether one teaches, readers judge.

What stands between `{{` and `}}` in a template came through a verb. How long a lesson is, the page
tells.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memwall.pages import lesson, rounding
from memwall.record import files
from memwall.record.definition import Experiment

WORDS = (1200, 2200)
CODE_LINES = 15
NUMBERS_A_SENTENCE, NUMBERS_A_PARAGRAPH = 2, 4
HEADINGS = ("by hand", "how fast could it be", "what a programmer can do", "try it")
NEEDED = ("*You need:*", "*Time:*", "*Machine:*", "](report.md", "rticle ")
EXERCISES = 5
ITEM = re.compile(r"\d+\. ")

CODE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
#: Names for what was rounded already, and for ways to round.
SET, MACRO = re.compile(r"\{% set (\w+) =(.*?)%\}", re.DOTALL), re.compile(r"\{% macro (\w+)\(")
LEFT_OUT = re.compile(rf"\{{#.*?#\}}|\{{% set .*?%\}}|\{{% macro .*?endmacro %\}}|{CODE.pattern}",
                      CODE.flags)
SPLIT = re.compile(r"\{[%{].*?[%}]\}", re.DOTALL)  # its lines may be indented, and are prose
#: What a verb said, in a text without verbs: a number, or something else.
NUMBER, OTHER = "⟦#⟧", "⟦·⟧"
VERB = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
TAG = re.compile(r"\{%-?\s*(\w+).*?%\}", re.DOTALL)
FILTERS = "|".join([*(one.__name__ for one in rounding.FILTERS), "round", "int", "format"])
ROUNDED = re.compile(rf"\|\s*(?:{FILTERS})\b")
UNIT = r"(?:ns|µs|us|ms|s|seconds?|minutes?|[kMGT]?i?B/s|[GT]FLOP/s|%|x)(?![\w/])"
COUNT = "(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|fifty|a hundred)"
PART = "(?:third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|half|thirds|quarters|fifths|tenths)"
#: Numbers with a unit of measurement, and those that people say in words.
MEASURED = re.compile(
    rf"(?<![\w⟦])\d[\d.,]*\s?{UNIT}|\b(?:{COUNT}|\d[\d.,]*|and a half) times\b|\btwice\b|\bthrice\b"
    rf"|\b(?:an?|one|two|three|four|nine|seven) {PART}\b|\bhalf (?:as|of|its|the)\b"
    rf"|\b{COUNT}fold\b|\bdoubled?\b(?! prec)|\bhalved?\b", re.IGNORECASE)
EDGE = r"(?:\d[\d.]*|⟦#⟧)\s?[\w%/]*"
INTERVAL = re.compile(rf"\({EDGE}\s?(?:–|-|to)\s?{EDGE}\)")
CAUSE = re.compile(r"\b(?:because|due to|owing to|thanks to|that is why|which is why|the reason"
                   r"|caused by|explains|comes from|the cause)\b", re.IGNORECASE)
#: Sections whose causes are arithmetic, predictions, or the reader's to find; as the opening is.
REASONED = ("by hand", "how fast could it be", "suspects", "try it")
#: What a teacher would not say, and what to say instead.
AVOID = (
    (r"\basks? (?:for )?[\w` ]{1,20}early\b", "prefetches"),
    (r"\bhas paid\b|\bpays? below\b|\bpays? (?!for)", "pays for itself"),
    (r"\bquestions? about edges\b", "bounds checks"),
    (r"\b(?:costs?|numbers?|times?) (?:asks?|loses?|tells?|pays?)\b", "name who does it"),
    (r"\bstop to be\b", "stop being"),
    (r"\bis lost\b|\bare lost\b", "name who loses"),
    (r"\bspeaks? (?:for|against)\b", "points to"),
    (r"\bkin\b|\baskable\b|\bdealt with\b", "a word of the field"),
    (r"\d(?:\.\d+)?x\b", "say how many times"),
    (r"\bour own target\b", "what was expected"),
)


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of prose, with marks in place of verbs."""

    line: int
    section: str  # its heading; empty in what stands before the first
    text: str
    given: frozenset[str]  # parts of the text that stand under a `given`
    shows: bool  # whether it names a study, or is given by a verdict


def lint(experiment: Experiment, page: str) -> list[str]:
    """Every broken rule of an experiment's lesson and of the page that is woven from it, as
    `file:line: what`."""
    path, answers = (experiment.folder / name for name in (lesson.TEMPLATE, lesson.ANSWERS))
    if not path.exists():
        return []
    shown = f"experiments/{experiment.name}"
    text = files.read(path, f"{shown}/{path.name}")
    found = {path.name: [*problems(text), *problems_of_page(page)],
             answers.name: problems_of_answers(files.read(answers, f"{shown}/{answers.name}"))}
    return [f"{shown}/{name}:{line}: {what}" for name, of_file in found.items()
            for line, what in sorted(of_file)]


def problems_of_answers(template: str) -> Iterator[tuple[int, str]]:
    """An answer calculates as it goes, but names no measured number by hand either."""
    for paragraph in paragraphs(template):
        yield from _by_hand(paragraph)


def problems_of_page(page: str) -> Iterator[tuple[int, str]]:
    """What is too long for its reader, who sees what verbs have said. All lines count but code,
    tables and headings, and in them what has a letter or digit."""
    for code in CODE.finditer(page):
        if (lines := code[0].count("\n") - 1) > CODE_LINES:
            yield 1, f"found {lines} lines of code in the page, expected at most {CODE_LINES}"
    read = [line for line in CODE.sub("", page).splitlines() if not line.startswith(("|", "#"))]
    count = len(re.findall(r"\S*\w\S*", " ".join(read)))
    if not WORDS[0] <= count <= WORDS[1]:
        yield 1, f"found {count} words in the page, expected {WORDS[0]} to {WORDS[1]}"


def problems(template: str) -> Iterator[tuple[int, str]]:
    """Lines of a template and what is wrong there."""
    yield from _shape(template)
    for paragraph in paragraphs(template):
        yield from _numbers(paragraph)
        yield from _words(paragraph)


def _shape(template: str) -> Iterator[tuple[int, str]]:
    headings = [line.strip("# ").lower() for line in template.splitlines() if line.startswith("#")]
    for wanted in HEADINGS:
        if not any(wanted in heading for heading in headings):
            yield 1, f'found no heading with "{wanted}", expected one'
    for wanted in NEEDED:
        if wanted not in template:
            yield 1, f'found no "{wanted}", expected it'
    exercises = [line for line in template.splitlines() if ITEM.match(line)]
    if len(exercises) != EXERCISES:
        yield 1, f"found {len(exercises)} exercises, expected {EXERCISES}"


def paragraphs(template: str) -> Iterator[Paragraph]:
    """Its prose, paragraph by paragraph and exercise by exercise: no code, tables, calculations,
    drawings or comments."""
    text = LEFT_OUT.sub(lambda left: "\n" * left[0].count("\n"), template)
    text = SPLIT.sub(lambda tag: re.sub(r"\n +", "\n", tag[0]), text)
    names = (rf"\b{name}\b" for name in _named(template))
    rounded = re.compile("|".join([ROUNDED.pattern, *names]))
    section, first, block = "", 0, list[str]()
    for number, line in enumerate([*text.splitlines(), ""], 1):
        ends = not line.strip() or line.startswith("#")
        if block and (ends or ITEM.match(line)):
            yield _paragraph(first, section, "\n".join(block), rounded)
            first, block = 0, []
        if line.startswith("## "):
            section = line.strip("# ").lower()
        elif not ends and _is_prose(line):
            first = first or number
            block.append(line)


def _is_prose(line: str) -> bool:
    return not re.match(r" {4,}\S|\||!\[|<!--|\*You need:\*", line)


def _named(template: str) -> list[str]:
    """What a template calls numbers that are rounded already, and its own ways to round."""
    return [*MACRO.findall(template),
            *(name for name, value in SET.findall(template) if ROUNDED.search(value))]


def _paragraph(line: int, section: str, text: str, rounded: re.Pattern[str]) -> Paragraph:
    def marked(text: str) -> str:
        """A text with marks in place of verbs, without tags."""
        return TAG.sub("", VERB.sub(lambda v: NUMBER if rounded.search(v[1]) else OTHER, text))

    passages = re.findall(r"\{%-? given .*?%\}(.*?)\{%-? endgiven", text, re.DOTALL)
    by_verdict = re.search(r'\{%-? given "', text) is not None
    return Paragraph(line, section, marked(text), frozenset(map(marked, passages)),
                     by_verdict or "shown(" in text)


def _numbers(paragraph: Paragraph) -> Iterator[tuple[int, str]]:
    text = paragraph.text
    for interval in INTERVAL.finditer(text):
        yield paragraph.line, f'found the interval "{interval[0]}" in prose, expected none'
    yield from _by_hand(paragraph)
    count = _count(text)
    if count > NUMBERS_A_PARAGRAPH:
        yield paragraph.line, (f"found {count} measured numbers in a paragraph, expected at most"
                               f" {NUMBERS_A_PARAGRAPH}")
    for sentence in sentences(text):
        if (count := _count(sentence)) > NUMBERS_A_SENTENCE:
            yield paragraph.line, (f'found {count} measured numbers in "{sentence[:40]}...",'
                                   f" expected at most {NUMBERS_A_SENTENCE}")


def _by_hand(paragraph: Paragraph) -> Iterator[tuple[int, str]]:
    """Numbers of measurements that no verb gave, and nothing guards."""
    loose = paragraph.text
    for passage in paragraph.given:
        loose = loose.replace(passage, "")
    for measured in MEASURED.finditer(loose):
        yield paragraph.line, (f'found "{measured[0]}", expected a measured number to come'
                               " through a verb, or to stand under a given")


def _count(text: str) -> int:
    return text.count(NUMBER) + len(MEASURED.findall(text))


def sentences(text: str) -> Sequence[str]:
    """The sentences of a paragraph."""
    return re.split(r"(?<=[.!?:])\s+(?=[A-Z⟦*`(])", text.strip())


def _words(paragraph: Paragraph) -> Iterator[tuple[int, str]]:
    for pattern, better in AVOID:
        if found := re.search(pattern, paragraph.text, re.IGNORECASE):
            yield paragraph.line, f'found "{found[0]}", expected plainer words: {better}'
    is_reasoned = not paragraph.section or any(one in paragraph.section for one in REASONED)
    if paragraph.shows or is_reasoned:
        return
    for sentence in sentences(paragraph.text):
        cause = CAUSE.search(sentence)
        if cause and _count(paragraph.text):
            yield paragraph.line, (f'found "{cause[0]}" where no study is named, expected'
                                   " shown(...) or a given verdict in the paragraph")
