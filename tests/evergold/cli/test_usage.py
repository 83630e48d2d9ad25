"""Options that do not go together have an exit status of their own: 2 always means that a file was rejected."""

from __future__ import annotations

from pathlib import Path

import pytest

from evergold.cli import run
from evergold.cli.output import Code

CARD = "3f0c1a52-6d0e-4b1a-9a39-2f1c7b9a1d10"


@pytest.fixture(autouse=True)
def _nobody_is_logged_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the log-in: requests then go to a server of which nothing is known here."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("EVERGOLD_TOKEN", raising=False)


@pytest.mark.parametrize(
    "words",
    [
        ["registration", "demo", "--accept-terms"],
        ["registration", "demo", "--answer", "a=b"],
        ["registration", "demo", "--code", "x"],
        ["team", "merge", "demo", "--ask", "A", "--end", "B"],
        ["validate", "FILE", "--to", "demo/a/b", "--task", "table"],
        ["validate", "FILE", "--items", "FILE"],
        ["validate", "FILE", "--task", "table", "--items", "FILE", "--option", "none"],
        ["validate", "FILE", "--task", "table", "--items", "FILE", "--option", "a=1", "--option", "a=2"],
        ["invitations", "--accept", "1", "--decline", "2"],
        ["board", "demo/a/b", "--compare", "A", "--compare", "A"],
        ["board", "demo/a/b", "--compare", "A", "--csv"],
        ["board", "demo/a/b", "--decimals", "2"],
        ["card", CARD, "--from", "FILE", "--set", "code=x"],
    ],
    ids=" ".join,
)
def test_what_does_not_go_together_is_wrong_usage(tmp_path: Path, words: list[str]) -> None:
    file = tmp_path / "file.csv"
    file.write_text("ID,Label\n")
    assert run([str(file) if word == "FILE" else word for word in words]) == Code.USAGE


@pytest.mark.parametrize(
    "words",
    [
        ["registration", "demo"],
        ["registration", "demo", "--register", "--accept-terms"],
        ["team", "merge", "demo", "--ask", "A"],
        ["invitations", "--accept", "1"],
        ["invitations", "--decline", "1"],
        ["board", "demo/a/b"],
        ["board", "demo/a/b", "--compare", "A", "--compare", "B"],
        ["card", CARD, "--set", "code=x"],
    ],
    ids=" ".join,
)
def test_each_alone_is_sent(words: list[str]) -> None:
    assert run([*words, "--server", "http://127.0.0.1:9"]) not in (Code.OK, Code.USAGE)
