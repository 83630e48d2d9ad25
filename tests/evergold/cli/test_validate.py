"""`evergold validate` run locally: exit codes, plain lines and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evergold.cli import run
from evergold.cli.output import Code

GOLDEN = Path(__file__).parents[2] / "golden" / "idiom-detection"
PREDICTION = GOLDEN / "prediction.csv"
HOME = ["--task", "idiom-detection", "--items", str(GOLDEN / "items.csv")]


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    """Return the golden prediction with labels that do not exist."""
    path = tmp_path / "wrong.csv"
    path.write_text(PREDICTION.read_text().replace("zero_shot,1", "zero_shot,7"))
    return str(path)


def test_a_file_in_order_leaves_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", str(PREDICTION), *HOME]) == Code.OK
    assert capsys.readouterr().out == "The file can be scored.\n"
    assert run(["validate", str(PREDICTION), *HOME, "--json"]) == Code.OK
    assert json.loads(capsys.readouterr().out) == {"valid": True, "problems": [], "warnings": []}


def test_a_wrong_file_leaves_with_2_and_its_problems(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", wrong, *HOME]) == Code.REJECTED
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" (")[0] for line in lines] == [
        f"line {number}, column Label: invalid label '7': expected 0 or 1" for number in (3, 5, 7)
    ]
    assert run(["validate", wrong, *HOME, "--json"]) == Code.REJECTED
    found = json.loads(capsys.readouterr().out)
    assert (found["valid"], [one["line"] for one in found["problems"]]) == (False, [3, 5, 7])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (HOME[:2], Code.USAGE),
        (HOME[2:], Code.USAGE),
        ([*HOME, "--to", "demo/dev/idioms"], Code.USAGE),
        ([*HOME, "--option", "labels"], Code.USAGE),
        ([*HOME[:3], str(PREDICTION)], Code.ERROR),
        (["--to", "demo/dev/idioms"], Code.ERROR),
    ],
)
def test_what_cannot_be_checked_is_no_rejected_file(
    arguments: list[str], code: Code, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check several faults; in the last case nobody is logged in."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert run(["validate", str(PREDICTION), *arguments]) == code
