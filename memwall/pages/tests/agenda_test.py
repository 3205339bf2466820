"""`just claims`: what decides each claim."""

import json
from pathlib import Path

import pytest

from memwall.__main__ import main
from memwall.pages import agenda
from memwall.record import definition

REPOSITORY = Path(__file__).resolve().parents[3]


def test_lists_every_claim_once() -> None:
    experiments = definition.load_all(REPOSITORY)
    items = agenda.agenda(experiments)
    assert [item.claim for item in items] == [c.id for e in experiments for c in e.claims]
    assert all(item.command.startswith("just run ") and item.minutes >= 1 for item in items)


@pytest.mark.parametrize(("need", "words"), [
    ("cuda", "a GPU"), ("mpi", "MPI"), ("openmp", ""), ("matrices>=14", ""), ("rounds>=9", ""),
    ("threads>=8", "8 hardware threads"), ("gpus>=2", "2 GPUs"), ("avx512f", "avx512f"),
])
def test_hardware_in_words(need: str, words: str) -> None:
    assert agenda.hardware(need) == words


def test_prints_json_and_refuses_unknown_names(root: Path,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(root), "claims", "--json"]) == 0
    items = json.loads(capsys.readouterr().out)
    assert {"claim", "article", "says", "command", "minutes", "hardware"} == set(items[0])
    assert main(["--root", str(root), "claims"]) == 0
    assert f"{len(items)} claims" in capsys.readouterr().out
    assert main(["--root", str(root), "claims", "nothing"]) == 2
