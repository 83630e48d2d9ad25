"""The benchmark of BERTScore runs, or reports that torch is missing."""

from __future__ import annotations

import json

import pytest

from bench import bertscore


def test_the_benchmark_runs_and_agrees_with_upstream(capsys: pytest.CaptureFixture[str]) -> None:
    """Run it; it ends with an error where an F1 differs by more than 1e-5."""
    bertscore.main(["--smoke", "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert "not installed" in figures.get("skipped", "") or figures["worst"] < 1e-5
