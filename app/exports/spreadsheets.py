"""What keeps a spreadsheet from taking a text for a formula: the one place for every CSV that we write."""

from __future__ import annotations

#: What spreadsheets take for the beginning of a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def spreadsheet_safe(text: str) -> str:
    """Text that no spreadsheet takes for a formula: what looks like one is marked as text by an apostrophe."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA_STARTS) or text.startswith(_FORMULA_STARTS) else text
