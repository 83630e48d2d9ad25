"""Types of single values in phases.yaml: names, lines, times, paths, addresses; and the base class of its models."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict, WithJsonSchema

from app.base.times import MOMENT_PATTERN, parse_moment
from app.competitions.visibility import CLOSE, FULL, NEVER
from app.models import EntryRule
from evergold.scoring.characters import can_be_name
from evergold.scoring.halves import SEED_CHARACTERS

#: Values of the time from which a file is available: at the start of the phase, even if that is moved; at once.
START, NOW = "start", "now"
#: Names are part of URLs: lower-case letters, digits, single hyphens.
NAME_PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=60)]


def _one_line(text: str) -> str:
    if not can_be_name(text):
        raise ValueError("this must be one line of text, and not empty")
    return text


Line = Annotated[str, AfterValidator(_one_line)]
Title = Annotated[Line, Field(max_length=200)]
Markdown = Annotated[str, Field(max_length=50_000)]
Moment = Annotated[
    datetime, BeforeValidator(parse_moment), WithJsonSchema({"type": "string", "pattern": MOMENT_PATTERN})
]


def _moment_or_close(value: object) -> datetime | str:
    return CLOSE if value == CLOSE else parse_moment(value)


MomentOrClose = Annotated[
    datetime | Literal["close"],
    BeforeValidator(_moment_or_close),
    WithJsonSchema({"anyOf": [{"const": CLOSE}, {"type": "string", "pattern": MOMENT_PATTERN}]}),
]


def _moment_close_or_never(value: object) -> datetime | str:
    return NEVER if value == NEVER else _moment_or_close(value)


MomentCloseOrNever = Annotated[
    datetime | Literal["close", "never"],
    BeforeValidator(_moment_close_or_never),
    WithJsonSchema({"anyOf": [{"enum": [CLOSE, NEVER]}, {"type": "string", "pattern": MOMENT_PATTERN}]}),
]


def _moment_or_word(value: object) -> datetime | str:
    return value if value in (START, NOW) else parse_moment(value)


FileMoment = Annotated[
    datetime | Literal["start", "now"],
    BeforeValidator(_moment_or_word),
    WithJsonSchema({"anyOf": [{"enum": [START, NOW]}, {"type": "string", "pattern": MOMENT_PATTERN}]}),
]

Whole = Annotated[int, Strict()]
_DECIMALS_MOST = 10


def _decimals(value: object) -> int | str:
    if value == FULL:
        return FULL
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _DECIMALS_MOST:
        return value
    raise ValueError(f"this must be a whole number from 0 to {_DECIMALS_MOST}, or 'full' for all decimals")


Precision = Annotated[
    int | Literal["full"],
    BeforeValidator(_decimals),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": _DECIMALS_MOST}, {"const": FULL}]}),
]
#: Largest limit of a competition; fits every database column.
LARGEST = 2**31 - 1


def _inside_folder(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\\" in path or not can_be_name(path):
        raise ValueError("a path stays inside the folder of its file: no leading '/', no '..', no backslash")
    return path


RelativePath = Annotated[str, Field(max_length=300), AfterValidator(_inside_folder)]


#: A mail domain: `uni.edu`, or `*.uni.edu` for all subdomains.
_DOMAIN = re.compile(r"(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+")
#: An e-mail address or a user name, as accounts have them.
_LISTED = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+|[a-z0-9](?:[a-z0-9._-]{1,38}[a-z0-9])")


def _domain(text: str) -> str:
    if not _DOMAIN.fullmatch(text.lower()):
        raise ValueError(f"'{text[:60]}' is not a domain; write 'uni.edu', or '*.uni.edu' for everything below it")
    return text.lower()


def _listed(text: str) -> str:
    if not _LISTED.fullmatch(text.lower()):
        raise ValueError(f"'{text[:60]}' is neither an e-mail address nor a user name")
    return text.lower()


Domain = Annotated[str, Field(max_length=250), AfterValidator(_domain)]
Listed = Annotated[str, Field(max_length=320), AfterValidator(_listed)]
Web = Annotated[str, Field(max_length=500, pattern=r"^https?://\S+$")]
Author = Annotated[Line, Field(max_length=120)]
#: The step of a ladder in the unit of the ranking score, a fraction: 0.01 is one percentage point.
LadderStep = Annotated[float, Field(gt=0, le=1)]
#: Reveals which items are private.
Seed = Annotated[str, Field(min_length=SEED_CHARACTERS, max_length=200), AfterValidator(_one_line)]
#: The rule for teams that made no choice.
WithoutChoice = Literal[EntryRule.BEST, EntryRule.LAST]


class Declaration(BaseModel):
    """The base class of everything declared: unknown keys are errors, so that typing errors are noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
