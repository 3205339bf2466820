"""What is printed, whoever wrote it: no terminal does anything but show it."""

import io
import unicodedata
from pathlib import Path

import pytest

from memwall.record import errors, terminal
from memwall.record.console import Console
from memwall.record.errors import UserError
from memwall.run.launches import Launch
from memwall.run.programs import Program
from memwall.run.watch import Watch

#: A clear screen, a title of the window, a colour of eight bits, bells and returns, a turned name.
HOSTILE = ["a\x1b[2Jb", "a\x1b]0;owned\x07", "a\x9b31m", "a\b\b\r\x00", "a\u202egpj.exe",
           "a\u2028b", "a\udcff"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("text", HOSTILE)
def test_controls_are_spelled(text: str) -> None:
    shown = terminal.one_line(text)
    assert shown.startswith("a\\")
    assert not [letter for letter in shown
                if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert terminal.one_line(shown) == shown
    assert terminal.harmless(f"{text}\nb") == f"{shown}\nb"


def test_no_letter_becomes_a_line() -> None:
    assert terminal.harmless("eve\ue00a2 of 3 bob: 0 points") == "eve\\ue00a2 of 3 bob: 0 points"


def test_errors_are_shown_so(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise UserError("a\x1b[2J: found 2")

    assert errors.exit_code(fail) == 2
    assert capsys.readouterr().err == "a\\x1b[2J: found 2\n"


def test_what_people_write_stays() -> None:
    for text in ("", "fem3d-mid", "Löwe 獅子 ×\u00a02", "C:\\n"):
        assert terminal.one_line(text) == text
    assert terminal.one_line("a\nb\tc") == "a\\nb\\tc"


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("TERM", ""), ("TERM", None),
                                             ("NO_COLOR", "1")])
def test_terminals_without_escape_codes_get_plain_lines(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str | None
) -> None:
    stream = Terminal()
    console = Console(stream)
    console.step("begins")
    assert "\x1b[K" in stream.getvalue()
    monkeypatch.delenv(name, raising=False)
    if value is not None:
        monkeypatch.setenv(name, value)
    stream = Terminal()
    console = Console(stream)
    console.step("begins")
    console.status("goes on")
    console.line("ends")
    assert stream.getvalue() == "begins\nends\n"


@pytest.mark.parametrize(("columns", "shown"), [
    ("1", ""), ("2", "a"), ("4", "a獅"), ("5", "a獅"), ("6", "a獅子"), ("9", "a獅子e\u0301nd"),
    ("0", "a獅子e\u0301nd"), ("-3", "a獅子e\u0301nd"), ("many", "a獅子e\u0301nd")])
def test_a_status_never_wraps(monkeypatch: pytest.MonkeyPatch, columns: str, shown: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    stream = Terminal()
    Console(stream).step("a獅子e\u0301nd")
    assert stream.getvalue() == f"\r\x1b[K{shown}"


@pytest.mark.parametrize("text", [*HOSTILE, "a\nb"])
@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_labels_of_points_are_names(text: str, stream: type[io.StringIO], tmp_path: Path) -> None:
    out = stream()
    watch = Watch(Console(out), "[1/1] alpha", None)
    program = Program(["alpha"], Launch(1), tmp_path / "alpha.json")
    watch(program, {"event": "plan", "points": 1, "rounds": 1})
    watch(program, {"event": "point", "point": 0, "points": 1, "label": f"matrix={text}"})
    said = out.getvalue().replace("\r\x1b[K", "").removesuffix("\n")
    assert said.startswith("[1/1] alpha  point 1 of 1: matrix=a\\")
    assert "\x1b" not in said and "\n" not in said
