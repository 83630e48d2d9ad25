"""Packages that only some task types need, and numbers as people write them."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from evergold.scoring.numerals import finite_number
from evergold.scoring.optional import MissingPackage, load_package


def test_module_that_is_there_is_loaded() -> None:
    assert load_package("math") is math


def test_missing_package_says_what_to_install() -> None:
    sentence = r"^no_such_package is needed for this: pip install 'evergold\[metrics\]'$"
    with pytest.raises(MissingPackage, match=sentence):
        load_package("no_such_package.part")


def test_package_that_breaks_for_want_of_another_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_package.py").write_text("import no_such_package\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        load_package("broken_package")


@pytest.mark.parametrize(("text", "number"), [("0.5", 0.5), ("-1e-3", -0.001), ("7", 7.0), ("1.", 1.0)])
def test_finite_numbers(text: str, number: float) -> None:
    assert finite_number(text) == number


@pytest.mark.parametrize(
    "text", ["", "nan", "inf", "-Infinity", "1e999", "1_000", " 1", "1 ", "0,5", "٣", "0x1", "one"]
)
def test_what_is_no_finite_number(text: str) -> None:
    assert finite_number(text) is None
