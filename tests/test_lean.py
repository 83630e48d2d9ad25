"""LEAN=1: tests that need torch are skipped with a reason; with CI=true that is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import lean

ROOT = Path(__file__).resolve().parent.parent
NEEDS_TORCH = "tests/evergold/scoring/test_bertscore_vectors.py"


def run_pytest(file: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """pytest on one file in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", file]
    kept = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**kept, **settings})


def test_what_needs_torch_is_skipped_with_the_reason() -> None:
    run = run_pytest(NEEDS_TORCH, EVERGOLD_TEST_LEAN="1")
    assert "without torch, transformers, bert_score" in run.stdout
    assert "BERTScore is tested where the extra 'bertscore' is installed" in run.stdout
    assert "1 skipped" in run.stdout
    assert "passed" not in run.stdout


def test_ci_skips_nothing() -> None:
    run = run_pytest(NEEDS_TORCH, EVERGOLD_TEST_LEAN="1", CI="true")
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert "CI=true, and torch, transformers, bert_score" in run.stderr
    assert "Traceback" not in run.stderr


def test_everything_else_is_found_as_ever() -> None:
    code = "from tests import lean; lean.hide_torch(); import importlib.util as u; print(u.find_spec('numpy').name)"
    found = subprocess.run(
        [sys.executable, "-c", f"{code}; print(u.find_spec('torch'))"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "EVERGOLD_TEST_LEAN": "1"},
    )
    assert found.stdout.split() == ["numpy", "None"]


def test_header_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lean, "missing_packages", lambda: ["torch"])
    assert lean.header() == "without torch: tests that need them are skipped"
    monkeypatch.setattr(lean, "missing_packages", lambda: [])
    assert lean.header() == "with torch"
