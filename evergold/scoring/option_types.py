"""Types of options that several task types share: names that become parts of splits, and lists of texts."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from evergold.scoring.errors import quoted

#: Ten pages. Metrics that compare texts word by word take time quadratic in their length.
USUAL_CHARACTERS = 10_000
#: The csv module reads no longer cell.
MOST_CHARACTERS = 131_072

#: The option, of the same name in all task types.
MaxCharacters = Annotated[int, Field(ge=1, le=MOST_CHARACTERS)]

TOO_LONG = "too-long"


def length_fault(text: str, limit: int, noun: str = "text") -> str | None:
    """Return the fault of a text that has more characters than the limit; None for any other text."""
    if len(text) <= limit:
        return None
    return f"the {noun} has {len(text):,} characters, at most {limit:,} are allowed"


#: The name of the split that pools all languages, and that of their mean, which no language may have.
ALL, MACRO = "all", "macro"
#: Pattern of the name of a split.
SPLIT_NAME = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")


def _separate(value: object) -> object:
    """Split text like `en,pt` from the command line into a tuple; turn numbers into text (labels are often 0, 1)."""
    parts = value.split(",") if isinstance(value, str) else value
    if isinstance(parts, int | float) and not isinstance(parts, bool):
        parts = [parts]
    if isinstance(parts, list | tuple):
        return tuple(str(part) if isinstance(part, int) and not isinstance(part, bool) else part for part in parts)
    return parts


def _lower(value: object) -> object:
    parts = _separate(value)
    return tuple(p.lower() if isinstance(p, str) else p for p in parts) if isinstance(parts, tuple) else parts


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(values)) < len(values):
        raise ValueError(f"a name occurs twice: {', '.join(values)}")
    return values


def _split_names(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not SPLIT_NAME.fullmatch(value) or value == ALL:
            raise ValueError(f"{quoted(value)} cannot be the name of a split: a-z, 0-9, - and _, and not {ALL!r}")
    return _distinct(values)


def without_macro(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of languages; raise ValueError if one of them is `macro`, the name of their mean."""
    if MACRO in values:
        raise ValueError(f"{MACRO!r} is the mean over languages, not a language")
    return values


def split_below(root: str, split: str) -> str:
    """Return the name of a split within `root`, a language or the mean over languages; its split `all` is called `root`
    itself.
    """
    return root if split == ALL else f"{root}/{split}"


#: Several names that become parts of splits, in lower case; a text is separated at commas.
SettingNames = Annotated[tuple[str, ...], BeforeValidator(_separate), AfterValidator(_split_names), Field(min_length=1)]
LanguageNames = Annotated[tuple[str, ...], BeforeValidator(_lower), AfterValidator(_split_names), Field(min_length=1)]
#: Languages of a task type that also has their mean.
AveragedLanguages = Annotated[LanguageNames, AfterValidator(without_macro)]
#: Several distinct texts of any kind.
Texts = Annotated[tuple[str, ...], BeforeValidator(_separate), AfterValidator(_distinct)]
