"""Parses numbers and times typed into forms, and values in the addresses of filtered lists."""

from __future__ import annotations

from datetime import datetime

from pydantic import ValidationError, ValidatorFunctionWrapHandler

from app.base.text import whole_number
from app.base.times import parse_moment


def typed_number(name: str, text: str, wrong: dict[str, str], most_digits: int = 9) -> int | None:
    """Return the whole number in a field; None if it is empty or invalid. An invalid one is added to `wrong`."""
    number = whole_number(text.strip(), most_digits)
    if number is None and text.strip():
        wrong[name] = "Write a whole number, or leave it empty."
    return number


def typed_moment(name: str, text: str, wrong: dict[str, str]) -> datetime | None:
    """Return the time in a field; None if it is empty or invalid. An invalid one is added to `wrong`."""
    try:
        return parse_moment(text.strip()) if text.strip() else None
    except ValueError as error:
        wrong[name] = f"{error}."
        return None


def none_if_invalid(value: object, read: ValidatorFunctionWrapHandler) -> object:
    """Validate a filter of a list; None if the value is invalid, so that it filters nothing."""
    try:
        return read(value)
    except ValidationError:
        return None
