"""Plain sentences for values that pydantic refuses, for people who do not know pydantic."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

Fault = Mapping[str, Any]


def fault_words(fault: Fault, field: FieldInfo | None = None, *, shows_value: bool = True) -> str:
    """Describe what is wrong with a value, as the continuation of a sentence after its name: `must be a whole number,
    but is 'ten'`.

    fault: one of `ValidationError.errors()`; field: the model's field, whose bounds are named if a number is expected;
    shows_value: False where values may be secrets.
    """
    words = _WORDS.get(fault["type"])
    if words is None:
        return f"is not right: {own_words(fault)}"
    wanted = words(fault, field)
    if not shows_value or not wanted.startswith("must be ") or wanted.endswith(" without quotes"):
        return wanted
    given = fault["input"] if fault["type"] in _BOUNDS else shown(fault["input"])
    return f"{wanted}, but is {given}{_hint(fault)}"


def own_words(fault: Fault) -> str:
    """Return the message of our own validators without pydantic's prefix."""
    return str(fault["msg"]).removeprefix("Value error, ")


def field_of(model: type[BaseModel], path: Iterable[str | int]) -> FieldInfo | None:
    """Return the model's field that a path of one step names; None for deeper paths and unknown names."""
    match list(path):
        case [str(name)]:
            return model.model_fields.get(name)
    return None


def shown(value: object) -> str:
    """Format a value for a sentence, with its type if that is not obvious."""
    if value is None or value == "":
        return "empty"
    if isinstance(value, str):
        return f"'{value[:60]}…'" if len(value) > 60 else f"'{value}'"
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    return "a list" if isinstance(value, list | tuple) else "a mapping (key: value)"


#: Number of names that a message lists.
NAMES_LISTED = 12


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` to append to a sentence about an unknown name; empty if none is close."""
    names = list(known)
    near = difflib.get_close_matches(name.lower().replace("_", "-"), names, n=1, cutoff=0.6)
    near = near or difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def listed(names: Iterable[str]) -> str:
    """List the names; of many, only the first and the number of others."""
    every = list(names)
    first = ", ".join(every[:NAMES_LISTED]) or "none"
    return f"{first} and {len(every) - NAMES_LISTED} more" if len(every) > NAMES_LISTED else first


# --------------------------------------------------------------------------------------------------- sentences by type

_Words = Callable[[Fault, FieldInfo | None], str]


def _must_be(wanted: str) -> _Words:
    return lambda fault, field: f"must be {wanted}"


def _number(noun: str) -> _Words:
    return lambda fault, field: f"must be {noun}{_bounds(field)}"


def _bounds(field: FieldInfo | None) -> str:
    """Return the bounds of a field's number: ` between 0 and 1`."""
    metadata = field.metadata if field else ()
    bounds = {type(one): one for one in metadata if isinstance(one, Ge | Gt | Le | Lt) and one != _DATABASE_S}
    low, high = bounds.get(Ge), bounds.get(Le)
    if isinstance(low, Ge) and isinstance(high, Le):
        return f" between {low.ge} and {high.le}"
    words = {Ge: "of at least {0.ge}", Gt: "above {0.gt}", Le: "of at most {0.le}", Lt: "below {0.lt}"}
    parts = [words[kind].format(one) for kind, one in bounds.items()]
    return f" {' and '.join(parts)}" if parts else ""


#: What a column holds: no bound that people need to know of.
_DATABASE_S = Le(2**31 - 1)


def _bound(words: str) -> _Words:
    """Return a function that fills a bound from the fault into the words: `at least {ge}`."""

    def filled(fault: Fault, field: FieldInfo | None) -> str:
        values = {name: f"{value:g}" if isinstance(value, float) else value for name, value in fault["ctx"].items()}
        return f"must be {words.format(**values)}"

    return filled


def _choice(fault: Fault, field: FieldInfo | None) -> str:
    names = _choices(fault)
    if str(fault["input"]) in names:
        return f"must be {fault['input']} without quotes"
    return f"must be {names[0] if len(names) == 1 else f'one of {listed(names)}'}"


def _choices(fault: Fault) -> list[str]:
    return [name.strip("'") for name in str(fault["ctx"]["expected"]).replace(" or ", ", ").split(", ")]


def _hint(fault: Fault) -> str:
    if fault["type"] in ("literal_error", "enum"):
        return did_you_mean(str(fault["input"]), _choices(fault))
    return "; put it in quotes" if fault["type"] == "string_type" and isinstance(fault["input"], int | float) else ""


def _too_few(words: str) -> _Words:
    return lambda fault, field: words.format(**fault["ctx"]) if fault["input"] else "must not be empty"


def _too_many(what: str) -> _Words:
    return lambda fault, field: f"has more than {fault['ctx']['max_length']} {what}"


_WHOLE, _REAL = _number("a whole number"), _number("a number")
_MAPPING, _LIST, _TRUTH = _must_be("a mapping (key: value)"), _must_be("a list"), _must_be("true or false")
_DAY, _MOMENT = (
    _must_be("a date, as 2027-01-31"),
    _must_be("a date and time with a time zone, such as 2027-01-31 12:00 UTC"),
)
_BOUNDS: dict[str, _Words] = {
    "greater_than_equal": _bound("at least {ge}"),
    "greater_than": _bound("above {gt}"),
    "less_than": _bound("below {lt}"),
    "less_than_equal": _bound("at most {le}"),
    "multiple_of": _bound("a multiple of {multiple_of}"),
}
_WORDS: dict[str, _Words] = {
    "missing": lambda fault, field: "is needed",
    "string_type": _must_be("text"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), _WHOLE),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number", "decimal_type", "decimal_parsing"), _REAL),
    **dict.fromkeys(("bool_type", "bool_parsing"), _TRUTH),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type"), _LIST),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"), _MAPPING),
    **dict.fromkeys(("date_type", "date_parsing", "date_from_datetime_parsing", "date_from_datetime_inexact"), _DAY),
    **dict.fromkeys(("datetime_type", "datetime_parsing", "datetime_from_date_parsing", "timezone_aware"), _MOMENT),
    **dict.fromkeys(("uuid_type", "uuid_parsing"), _must_be("an id such as 0b6c0a34-5d7e-4f9d-9a55-0d6a4f0f2f11")),
    "string_unicode": lambda fault, field: "is not text in UTF-8",
    "string_pattern_mismatch": lambda fault, field: f"must match the pattern {fault['ctx']['pattern']}",
    "json_invalid": lambda fault, field: "is not valid JSON",
    "extra_forbidden": lambda fault, field: "is unknown",
    "literal_error": _choice,
    "enum": _choice,
    **_BOUNDS,
    "string_too_short": _too_few("has fewer than {min_length} characters"),
    "string_too_long": _too_many("characters"),
    "too_short": _too_few("needs at least {min_length} entries"),
    "too_long": _too_many("entries"),
}
