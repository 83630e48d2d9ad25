"""Where the conformance data lies: beside the checkout, or where EVERGOLD_CONFORMANCE says; without it tests skip."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "conformance"


def conformance(*parts: str) -> Path:
    """The path of one conformance file or folder; skips the test where there is none, fails it with CI=true."""
    path = Path(os.environ.get("EVERGOLD_CONFORMANCE") or BESIDE_CHECKOUT).joinpath(*parts)
    if not path.exists():
        message = f"no conformance data at {'/'.join(parts)}: set EVERGOLD_CONFORMANCE to run this test"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return path
