"""`evergold baseline`: the list of a task type's baselines, and the file that one of them writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evergold.cli import run
from evergold.cli.output import Code

GOLDEN = Path(__file__).parents[2] / "golden"
ITEMS = str(GOLDEN / "idiom-detection" / "items.csv")


def test_baselines_of_a_task_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["baseline", "mwe-identification", "--json"]) == Code.OK
    found = json.loads(capsys.readouterr().out)["baselines"]
    assert [(one["name"], one["learns"]) for one in found] == [("lexicon", True), ("nothing", False)]


def test_submission_is_written_with_the_options_of_the_competition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = tmp_path / "mine.csv"
    line = ["baseline", "idiom-detection", "idiomatic", "--items", ITEMS, "--into", str(into)]
    assert run([*line, "--option", 'settings=["one_shot"]', "--option", 'labels=["0", "1"]']) == Code.OK
    assert "a valid submission" in capsys.readouterr().out
    assert into.read_text(encoding="utf-8").splitlines()[:2] == ["ID,Language,Setting,Label", "3,EN,one_shot,0"]
    assert run(line) == Code.ERROR
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["idiom-detection", "idiomatic"], Code.USAGE, "Give --items"),
        (["idiom-detection", "oracle", "--items", ITEMS], Code.USAGE, "it has idiomatic, not-idiomatic"),
        (["idioms"], Code.USAGE, "idioms"),
        (["idiom-detection", "majority", "--items", ITEMS], Code.GOLD, "this baseline learns"),
        (["idiom-similarity", "trigrams", "--items", ITEMS], Code.GOLD, "the column sentence1 is missing"),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: Code,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["baseline", *arguments]) == code
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
