"""The place of the conformance data: beside the checkout, or where EVERGOLD_CONFORMANCE names it; without them tests
skip.

They are the organisers' own files and no part of this project, so they are optional: what they show is also tested with
similar files of our own (golden/, official_shapes.py). A line at the end of a test run reports whether they were
present.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ABSENT = "no conformance data: EVERGOLD_CONFORMANCE names their folder"
BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "conformance"


def conformance(*parts: str) -> Path:
    """Return the path of a conformance file or folder; skip the test if there are no such data, fail it if only this is
    missing.
    """
    path = folder().joinpath(*parts)
    if not path.exists():
        if folder().exists():
            pytest.fail(f"the conformance data lack {'/'.join(parts)}")
        pytest.skip(ABSENT)
    return path


def folder() -> Path:
    """Return the folder with the organisers' original files."""
    return Path(os.environ.get("EVERGOLD_CONFORMANCE") or BESIDE_CHECKOUT)


def summary(skipped: int) -> str:
    """Return a line for the end of a run in which so many tests were skipped because these data are missing."""
    if folder().exists():
        return f"conformance data: those in {folder()}"
    return f"conformance data: none, an extra; {skipped} tests with the organisers' own files were skipped"
