"""`evergold admin looks`: shows the looks, and changes all that is given or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine

from evergold.cli import run
from tests.looks.test_logos import SVG, png


@pytest.fixture(autouse=True)
def _here(sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", sqlite_engine.url.render_as_string(hide_password=False))
    (tmp_path / "logo.svg").write_bytes(SVG)
    (tmp_path / "dark.png").write_bytes(png())
    (tmp_path / "front.md").write_text("Größe\n", encoding="utf-8")


def test_looks_are_changed_shown_and_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--logo", str(tmp_path / "logo.svg"), "--logo-dark", str(tmp_path / "dark.png")]
    assert run(["admin", "looks", "--name", "Ours", "--front", str(tmp_path / "front.md"), *files, "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (found["name"], found["front"], found["logo_dark"]["media_type"]) == ("Ours", "Größe", "image/png")
    assert "Line 1: onload of <path>" in printed.err
    assert run(["admin", "looks", "--no-logo", "--logo", str(tmp_path / "dark.png")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[1] for line in lines[1:4]] == ["Ours", "image/png, 64 × 64", "–"]


def test_nothing_is_changed_if_something_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [
        ["--name", "New", "--accent", "#ffcc00", "--logo", str(tmp_path / "logo.svg")],
        ["--name", "New", "--logo", str(tmp_path / "front.md")],
    ]
    for arguments in wrong:
        assert run(["admin", "looks", *arguments]) == 1
    said = capsys.readouterr().err
    assert "the nearest that passes is #" in said
    assert "not an SVG or PNG" in said
    assert run(["admin", "looks", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["logo"]) == ("Evergold", None)
