"""Values that pydantic refuses, in plain words: every type of fault has a sentence without pydantic's own."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from evergold.value_words import fault_words, field_of


class Entry(StrEnum):
    BEST = "best"
    LATEST = "latest"


class Everything(BaseModel):
    share: Annotated[float, Field(ge=0, le=1)] = 0.5
    above: Annotated[float, Field(gt=0)] = 1
    per_day: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1
    even: Annotated[int, Field(multiple_of=2)] = 2
    text: Annotated[str, Field(min_length=2, max_length=3)] = "ab"
    yes: bool = True
    many: Annotated[list[int], Field(min_length=1, max_length=2)] = [1]
    pair: tuple[int, ...] = ()
    names: dict[str, int] = {}
    kind: Literal["text", "number"] = "text"
    entry: Entry = Entry.BEST
    day: date = date(2027, 1, 31)
    moment: AwareDatetime = datetime.fromisoformat("2027-01-31T12:00:00Z")
    id: UUID | None = None


def words(name: str, value: object, **more: Any) -> str:
    with pytest.raises(ValidationError) as invalid:
        Everything.model_validate({name: value})
    [fault] = invalid.value.errors()
    return fault_words(fault, field_of(Everything, fault["loc"]), **more)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("share", "half", "must be a number between 0 and 1, but is 'half'"),
        ("share", 1.5, "must be at most 1, but is 1.5"),
        ("above", "x", "must be a number above 0, but is 'x'"),
        ("above", 0, "must be above 0, but is 0"),
        ("per_day", "many", "must be a whole number of at least 1, but is 'many'"),
        ("per_day", 1.5, "must be a whole number of at least 1, but is the number 1.5"),
        ("even", 3, "must be a multiple of 2, but is 3"),
        ("text", 1984, "must be text, but is the number 1984; put it in quotes"),
        ("text", "a", "has fewer than 2 characters"),
        ("text", "", "must not be empty"),
        ("text", "abcd", "has more than 3 characters"),
        ("yes", "perhaps", "must be true or false, but is 'perhaps'"),
        ("many", "1,2", "must be a list, but is '1,2'"),
        ("many", [], "must not be empty"),
        ("many", [1, 2, 3], "has more than 2 entries"),
        ("many", ["one"], "must be a whole number, but is 'one'"),
        ("pair", 1, "must be a list, but is the number 1"),
        ("names", ["a"], "must be a mapping (key: value), but is a list"),
        ("kind", "numbr", "must be one of text, number, but is 'numbr'; did you mean 'number'?"),
        ("entry", "lates", "must be one of best, latest, but is 'lates'; did you mean 'latest'?"),
        ("day", "31.1.2027", "must be a date, as 2027-01-31, but is '31.1.2027'"),
        ("moment", "noon", "must be a date and time with a time zone, such as 2027-01-31 12:00 UTC, but is 'noon'"),
        (
            "moment",
            "2027-01-31 12:00",
            "must be a date and time with a time zone, such as 2027-01-31 12:00 UTC, but is '2027-01-31 12:00'",
        ),
        ("id", "7", "must be an id such as 0b6c0a34-5d7e-4f9d-9a55-0d6a4f0f2f11, but is '7'"),
    ],
)
def test_each_fault_says_what_is_wanted_and_what_is_there(name: str, value: object, expected: str) -> None:
    assert words(name, value) == expected


def test_values_that_may_be_secrets_are_not_repeated() -> None:
    assert words("share", "half", shows_value=False) == "must be a number between 0 and 1"
    assert words("kind", "numbr", shows_value=False) == "must be one of text, number"
