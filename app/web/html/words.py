"""Wording of pages: times, numbers, states and errors as text. No rule is decided here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from markupsafe import Markup, escape

from app.competitions.columns import BoardColumn
from app.models import (
    Competition,
    EntryRule,
    Halt,
    RegistrationMode,
    RegistrationStatus,
    RescoringState,
    RevisionSource,
    RunStatus,
    Severity,
    Stage,
    ValidationStatus,
)
from app.teams.registration import MISSING_WORDS
from evergold.moments import aoe_words, moment_words, other_clock_words
from evergold.split_titles import (
    LANGUAGE_NAMES as LANGUAGE_NAMES,
    language_name as language_name,
    split_title as split_title,
)

#: Letters of Hebrew, Arabic (Persian, Urdu), Syriac, Thaana, N'Ko and related scripts.
_LETTER = r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
#: A right-to-left phrase: from its first such letter to its last, with everything in between.
_PHRASE = re.compile(rf"{_LETTER}(?:[^\S\n]*[\w\u200c\u200d'\u2019.-]*[^\S\n]*{_LETTER})*")


def isolated(text: str) -> Markup:
    """Return the sentence, escaped, with each right-to-left phrase in a <bdi>."""
    parts, end = [], 0
    for found in _PHRASE.finditer(text):
        parts += [escape(text[end : found.start()]), Markup("<bdi>{}</bdi>").format(found[0])]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


PHASE_STATES = {"upcoming": "Upcoming", "open": "Open", "closed": "Closed"}
STAGES = {
    Stage.DRAFT: ("Draft", "Visible to organisers and testers only."),
    Stage.PRIVATE: ("Private", "Also visible to guests and participants."),
    Stage.PUBLISHED: ("Published", "Visible to everybody, and listed on the front page."),
}
SEVERITIES: dict[str, str] = {Severity.INFO: "Note", Severity.WARNING: "Warning", Severity.URGENT: "Urgent"}
#: The severities, with an empty title for the empty value, so that a select box has no empty option.
SEVERITY_CHOICES: dict[str, str] = {"": "", **SEVERITIES}
HALTS = {
    Halt.NONE: ("Running", "Phases decide what can be uploaded."),
    Halt.PAUSED: ("Paused", "No uploads, even in open phases; everything else continues."),
    Halt.ARCHIVED: (
        "Archived",
        "Read-only, and not listed on the front page.",
    ),
}


def life_words(competition: Competition) -> str:
    """Return the status of a competition: `draft`, or `private, paused`."""
    stage = STAGES[Stage(competition.stage)][0].lower()
    halt = Halt(competition.halt)
    return stage if halt is Halt.NONE else f"{stage}, {HALTS[halt][0].lower()}"


RUN_STATES = {
    RunStatus.QUEUED: "Queued",
    RunStatus.RUNNING: "Scoring",
    RunStatus.SCORED: "Scored",
    RunStatus.REJECTED: "Rejected",
    RunStatus.FAILED: "Failed",
}
REVISION_SOURCES = {
    RevisionSource.FILE: "phases.yaml",
    RevisionSource.EDIT: "edited on the server",
    RevisionSource.UNDO: "an earlier revision restored",
    RevisionSource.MERGE: "phases.yaml and edits, merged",
}
RESCORING_STATES = {
    RescoringState.OPEN: "Open",
    RescoringState.PUBLISHED: "Published",
    RescoringState.DROPPED: "Dropped",
}
#: Maximum number of changed scores of a rescored submission, before and after.
CHANGES_SHOWN = 12
CHECK_STATES = {
    ValidationStatus.QUEUED: "Queued",
    ValidationStatus.RUNNING: "Checking",
    ValidationStatus.VALID: "Valid",
    ValidationStatus.INVALID: "Has errors",
    ValidationStatus.FAILED: "Failed",
}
ENTRY_RULES = {
    EntryRule.BEST: "Each team is ranked by its best scored submission.",
    EntryRule.LAST: "Each team is ranked by its latest scored submission.",
    EntryRule.ALL: "Every scored submission is listed.",
    EntryRule.CHOSEN: "Each team is ranked by the submission that it chose.",
    EntryRule.LADDER: "A Ladder: each team is ranked by its record, which only clear improvements change.",
}
ENTRY_SHORT = {
    EntryRule.BEST: "The best submission counts",
    EntryRule.LAST: "The latest valid submission counts",
    EntryRule.ALL: "Every valid submission counts",
    EntryRule.CHOSEN: "Each team chooses which submission counts",
    EntryRule.LADDER: "The record counts, shown in steps (a Ladder)",
}
REGISTRATION_MODES = {
    RegistrationMode.OPEN: "Everybody may take part.",
    RegistrationMode.CONFIRMED: "Everybody who has confirmed their e-mail address may take part.",
    RegistrationMode.APPROVAL: "Participants need the organisers' approval.",
    RegistrationMode.DOMAIN: "Participants need an e-mail address of one of these domains:",
    RegistrationMode.LIST: "Participants must be on the organisers' list.",
    RegistrationMode.CODE: "Participants need a code from the organisers.",
}
REGISTRATION_STATES = {
    RegistrationStatus.UNCONFIRMED: "address not confirmed",
    RegistrationStatus.PENDING: "waiting for you",
    RegistrationStatus.APPROVED: "approved",
    RegistrationStatus.REFUSED: "refused",
}
MISSING = MISSING_WORDS
#: Titles of the numbers that a measure has, see `Metric.aspect`.
ASPECTS = {"mean": "Mean", "sd": "sd", "rho": "ρ", "p": "p", "all": "All"}
ROW_KINDS = {"team": "Teams", "baseline": "Baselines", "historic": "Published results"}
#: (title, advice) by HTTP status, or by error code if that is more specific.
ERROR_WORDS: dict[int | str, tuple[str, str]] = {
    400: ("That request was not complete", "Please go back and try again."),
    401: ("Please log in", "This page is for people who are logged in."),
    403: ("That is not allowed", ""),
    404: ("Page not found", "The link may be wrong, or you may not have access."),
    405: ("Not possible here", "Please go back and try again."),
    413: ("That is too large", "Please check that you chose the right file; a zip of it may be small enough."),
    429: ("Please wait a little", ""),
    500: ("Something went wrong on our side", "Nothing you did caused this. Please try again in a moment."),
    503: ("The server is busy", "Please try again in a little while. Nothing was lost."),
    "being_upgraded": ("Being upgraded", "Nothing is lost."),
    507: (
        "The server's disk is full",
        "Nothing was stored. The people who run the server have to make room; please try again later.",
    ),
}
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
#: A shorter time would be shown as 0.0 s.
_SHOWN_SECONDS = 0.05


def moment(when: datetime) -> Markup:
    """Return a `<time>` element for a past event: `10 Jan 2026, 12:00 UTC`."""
    date, _, clock = moment_words(when).rpartition(", ")
    # Digits and names of months need no escaping, which would take most of the time of a long list.
    unbroken = (
        f'<time datetime="{_iso(when)}"><span class="nowrap">{date},</span> <span class="nowrap">{clock}</span></time>'
    )
    return Markup(unbroken)  # noqa: S704


def deadline(when: datetime) -> Markup:
    """Return a `<time>` element for a declared date: `Sat 10 Jan 2026, 00:00 AoE (10 Jan, 12:00 UTC)`.

    A script replaces the time in brackets with the viewer's local time; `data-room` reserves the width for it.
    """
    date, _, clock = aoe_words(when).rpartition(", ")
    other = other_clock_words(when)
    element = Markup(
        '<time class="deadline" datetime="{}"><span class="nowrap">{},</span> <span class="nowrap">{}</span> '
        '<span class="other-clock" data-room="({} your time)"><span>({})</span></span></time>'
    )
    return element.format(_iso(when), date, clock, other.removesuffix(" UTC"), other)


def _iso(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="seconds")


def took(span: timedelta) -> str:
    """Return a duration as `0.3 s`, or `2 min 5 s`."""
    return took_seconds(span.total_seconds())


def took_seconds(seconds: float) -> str:
    """Return a duration as `0.3 s`, `2 min 5 s`, or `less than 0.1 s`."""
    if seconds < _SHOWN_SECONDS:
        return "less than 0.1 s"
    return f"{seconds:.1f} s" if seconds < _MINUTE else f"{seconds // _MINUTE:.0f} min {seconds % _MINUTE:.0f} s"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 team`, or `3 teams`; irregular plurals are handled by callers."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def ordinal(number: int) -> str:
    """Return an ordinal number: `1st`, `2nd`, or `11th`."""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def format_score(value: float, column: BoardColumn) -> str:
    """Return the value in the format of its column, with a real minus sign; `9/14` for counts out of a total."""
    return score_format(column)(value)


def score_format(column: BoardColumn) -> Callable[[float], str]:
    """Return `format_score` for one column, for use on thousands of values."""
    if column.out_of is not None:
        return lambda value: f"{value:.0f}/{column.out_of}"
    scale, digits = 100 if column.percent else 1, f".{column.decimals}f"
    return lambda value: format(scale * value, digits).replace("-", "\N{MINUS SIGN}")


def format_difference(value: float, column: BoardColumn) -> str:
    """Return a difference as `+1.20`, with a real minus sign; `±0` if it rounds to zero."""
    if column.out_of is not None:
        text = f"{value:+.0f}"
    else:
        text = f"{100 * value if column.percent else value:+.{column.decimals}f}"
    return "±0" if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def how_many_problems(problems: Sequence[Mapping[str, Any]], omitted: int) -> str:
    """Return `3 problems`, or, if all occurrences of repeated mistakes are known, `1 kind of problem on 434 lines`."""
    kinds = len({(problem["code"], problem["column"], problem["file"]) for problem in problems})
    total = omitted + sum(problem.get("lines", 1) for problem in problems)
    if omitted or total == len(problems) or any(problem["line"] is None for problem in problems):
        return f"{total} problem{'s' if total != 1 else ''}"
    return f"{kinds} kind{'s' if kinds != 1 else ''} of problem on {total} lines"
