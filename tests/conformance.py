"""Where the conformance data lie: beside the checkout, or where EVERGOLD_CONFORMANCE says; without them tests skip.

They are the organisers' own files and no part of this project, so they are an extra: what they show is also tested in
kind with files of our own (golden/, official_shapes.py). The end of a test run says in a line whether they were there.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ABSENT = "no conformance data: EVERGOLD_CONFORMANCE names their folder"
BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "conformance"


def conformance(*parts: str) -> Path:
    """The path of one conformance file or folder; skips the test where there are none, fails it where some lack it."""
    path = folder().joinpath(*parts)
    if not path.exists():
        if folder().exists():
            pytest.fail(f"the conformance data lack {'/'.join(parts)}")
        pytest.skip(ABSENT)
    return path


def folder() -> Path:
    """Of all of them."""
    return Path(os.environ.get("EVERGOLD_CONFORMANCE") or BESIDE_CHECKOUT)


def summary(skipped: int) -> str:
    """One line for the end of a run, in which so many tests were skipped for want of them."""
    if folder().exists():
        return f"conformance data: those in {folder()}"
    return f"conformance data: none, an extra; {skipped} tests with the organisers' own files were skipped"
