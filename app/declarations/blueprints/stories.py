"""Visibility presets to choose from: keys of a phase's `visibility`, and whether its items are divided.

The first preset has a live board and a private part of the items, because scores on a live board reveal gold. The
consequences of a preset or a custom combination are computed by the same rule that decides visibility on boards.
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from app.base.times import parse_moment
from app.competitions.calendar import Dates
from app.competitions.visibility import CLOSE, NEVER, View, decide, declared_of
from app.declarations.blueprints.build import without_plain_gold
from app.declarations.model import HIDDEN_GOLD_PER_DAY, HIDDEN_GOLD_TOTAL
from app.declarations.revisions.documents import Document
from app.models import BoardShown, EntryRule, OwnScores, Phase, PhaseTask, RegistrationMode, Slices
from evergold.moments import deadline_words
from evergold.scoring.halves import SEED_CHARACTERS
from evergold.scoring.tasks import TASKS

Keys = Mapping[str, Any]
OWN = "own"
#: Share of private items in stories with a private part.
HALF = 0.5
#: Stand-ins for missing or invalid dates: the picture shows before and after, without dates.
_SOME_START, _SOME_SPAN = datetime(2000, 1, 1, tzinfo=UTC), timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Story:
    """A preset of visibility.

    name: the form value. keys: the values that it sets, None for those that it removes. is_divided: whether each
    divisible task has a private part, None for either. mode: the registration mode that it sets.
    """

    name: str
    title: str
    words: str
    keys: Mapping[str, str | None]
    is_divided: bool | None = None
    mode: RegistrationMode | None = None

    def divides(self, is_divided: bool) -> bool:
        """Return whether items have a private part after this choice. is_divided: whether they have one now."""
        return is_divided if self.is_divided is None else self.is_divided


_CLASS = "class"
#: Keys of registration that belong to other modes.
_OF_OTHER_MODES = frozenset({"domains", "allowed"})
_LIVE: Mapping[str, str | None] = {"board": None, "public_from": None, "own_scores": None}
STORIES = (
    Story(
        "live",
        "Live board; a hidden half of the items decides",
        "Everybody sees scores on the public half at once. The private half, whose scores nobody has seen, ranks "
        "the board after the close. For contests.",
        _LIVE,
        is_divided=True,
    ),
    Story(
        "open",
        "The board is always open",
        "Everybody sees the ranking scores at once, the others at the end; scores reveal something about the gold. For "
        "practice, for teaching, and after a contest.",
        _LIVE,
        is_divided=False,
    ),
    Story(
        "until-close",
        "The board is hidden until the phase closes",
        "Teams see only the scores of their own submissions. At the end the board becomes public automatically.",
        {"board": BoardShown.HIDDEN.value, "public_from": CLOSE, "own_scores": None},
    ),
    Story(
        "sealed",
        "Everything is sealed until you publish",
        "Teams only see whether a file is valid: no score, no rank. You publish the board and the scores when you "
        "want.",
        {"board": BoardShown.HIDDEN.value, "public_from": None, "own_scores": OwnScores.NEVER.value},
    ),
    Story(
        _CLASS,
        "A class",
        "Students join with your code, without confirming an address, and see the board without each other's names. "
        "You see the names and can download grades.",
        {**_LIVE, "names_from": NEVER},
        is_divided=False,
        mode=RegistrationMode.CODE,
    ),
)
_SAID_ALIKE = {"board": BoardShown.PUBLIC.value, "own_scores": OwnScores.AT_ONCE.value}


def story_of(visibility: Keys, *, is_divided: bool = False) -> Story | None:
    """Return the preset with the same meaning as these keys; None for a custom combination.

    Slices and decimals do not matter, and names only if they are hidden for ever, as in a class.
    """
    meant = _meant(visibility)
    return next((one for one in STORIES if _meant(one.keys) == meant and one.is_divided in (None, is_divided)), None)


def is_phase_divided(document: Document, phase: Mapping[str, Any]) -> bool:
    """Return True if the phase has divisible tasks, and each of them has a private part."""
    tasks = _divisible(document, phase)
    return bool(tasks) and all(one.get("private_part") for one in tasks)


def with_story(document: Document, phase: int, name: str) -> Document:
    """Return a copy with the preset applied to the phase; other visibility keys are kept. Ignores unknown names."""
    chosen = next((one for one in STORIES if one.name == name), None)
    if chosen is None:
        return document
    changed = copy.deepcopy(document)
    visibility = changed["phases"][phase].setdefault("visibility", {})
    for key, value in chosen.keys.items():
        if value is None:
            visibility.pop(key, None)
        else:
            visibility[key] = value
    if chosen.name != _CLASS and visibility.get("names_from") == NEVER:
        del visibility["names_from"]
    if not visibility:
        del changed["phases"][phase]["visibility"]
    if chosen.mode is not None:
        registration = changed.get("registration")
        declared = registration if isinstance(registration, dict) else {}
        kept = {key: value for key, value in declared.items() if key not in _OF_OTHER_MODES}
        changed["registration"] = {**kept, "mode": chosen.mode.value}
    else:
        _without_class_mode(changed)
    for task in _divisible(changed, changed["phases"][phase]):
        if chosen.is_divided and not task.get("private_part"):
            task["private_part"] = {"share": HALF, "seed": secrets.token_hex(SEED_CHARACTERS)}
        elif chosen.is_divided is False:
            task.pop("private_part", None)
    return changed


def _without_class_mode(document: Document) -> None:
    """Remove the joining code of a class from registration if no phase is a class any more: the default mode applies
    again.
    """
    registration = document.get("registration")
    if not isinstance(registration, dict) or registration.get("mode") != RegistrationMode.CODE.value:
        return
    shown = [phase.get("visibility") for phase in document["phases"] if isinstance(phase, dict)]
    if any(isinstance(one, dict) and one.get("names_from") == NEVER for one in shown):
        return
    kept = {key: value for key, value in registration.items() if key != "mode"}
    if kept:
        document["registration"] = kept
    else:
        del document["registration"]


def _divisible(document: Document, phase: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tasks of the phase that can have a private part: with hidden gold, and a type that scores parts."""
    types = {one.get("name"): one.get("type") for one in document.get("tasks") or [] if isinstance(one, dict)}
    tasks = phase.get("tasks")
    entries = tasks.items() if isinstance(tasks, dict) else ()
    return [
        one
        for name, one in entries
        if isinstance(one, dict) and one.get("gold_is_public") is not True and _scores_parts(types.get(name))
    ]


def _scores_parts(task_type: object) -> bool:
    return isinstance(task_type, str) and task_type in TASKS and TASKS[task_type].part is not None


def _meant(visibility: Keys) -> tuple[Any, ...]:
    opens_at = visibility.get("public_from") or None
    board = visibility.get("board") or (BoardShown.HIDDEN.value if opens_at else BoardShown.PUBLIC.value)
    hides_names = visibility.get("names_from") == NEVER
    return board, opens_at, visibility.get("own_scores") or _SAID_ALIKE["own_scores"], hides_names


# ------------------------------------------------------------------------------------------------------- who sees what


@dataclass(frozen=True, slots=True)
class VisibilityTable:
    """A table of who sees what when.

    spans: the periods; rows: a subject, and for each span a pair (how much, in words).
    """

    spans: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


#: How much is visible; also names in the stylesheet.
ALL, PART, NOTHING = "all", "part", "nothing"


def seen_when(phase: Mapping[str, Any], visibility: Keys, *, is_divided: bool = False) -> VisibilityTable:
    """Return the table of who sees what in which period.

    phase, visibility: as declared, even if invalid; is_divided: a private part is shown from the close.
    """
    start = _moment(phase.get("start")) or _SOME_START
    end = _moment(phase.get("end"))
    if end is None and phase.get("end"):  # typed, but not yet a valid moment
        end = start + _SOME_SPAN
    row = Phase(visibility=dict(_readable(visibility)), entry_rule=_entry(phase), starts_at=start, ends_at=end)
    part = {"share": HALF, "seed": ""} if is_divided else {}
    declared = declared_of(row, PhaseTask(visibility={}, entry={}, private_part=part))
    later = {one for one in (declared.public_from, declared.names_from, end) if one is not None and one > start}
    begins = [start, *sorted(later)]
    views = [decide(declared, moment) for moment in begins]
    rows = [
        ("Everybody: the board", tuple(_board(view) for view in views)),
        ("A team: its own scores", tuple(_own_scores(view) for view in views)),
    ]
    if is_divided:
        rows.append(("Everybody: the private half", tuple(_private(view) for view in views)))
    if declared.is_anonymous:
        rows.append(("Everybody: names of teams", tuple(_names(view) for view in views)))
    rows.append(("You: everything", tuple((ALL, "at any time") for _ in views)))
    return VisibilityTable(tuple(_span(moment, start, end) for moment in begins), tuple(rows))


def _span(moment: datetime, start: datetime, end: datetime | None) -> str:
    if moment == start:
        return "While it is open"
    return "After it has closed" if moment == end else f"From {deadline_words(moment)}"


def _board(view: View) -> tuple[str, str]:
    if view.board is BoardShown.PUBLIC and view.shows_ranking_scores_only:
        return PART, "with the scores that rank"
    return {
        BoardShown.PUBLIC: (ALL, "with scores"),
        BoardShown.RANKS_ONLY: (PART, "ranks alone"),
        BoardShown.HIDDEN: (NOTHING, "hidden"),
    }[view.board]


def _own_scores(view: View) -> tuple[str, str]:
    return (ALL, "seen") if view.own_scores or view.board is BoardShown.PUBLIC else (NOTHING, "hidden")


def _private(view: View) -> tuple[str, str]:
    return (ALL, "ranks the board") if view.private else (NOTHING, "hidden")


def _names(view: View) -> tuple[str, str]:
    return (ALL, "their own") if view.names else (NOTHING, "neutral")


def _readable(visibility: Keys) -> Iterator[tuple[str, Any]]:
    """Yield the valid keys with their values as in the database."""
    for key in ("public_from", "names_from"):
        value = visibility.get(key)
        if value in (CLOSE, NEVER):
            yield key, value
        elif moment := _moment(value):
            yield key, moment.isoformat()
    for name, kind in (("board", BoardShown), ("own_scores", OwnScores), ("slices", Slices)):
        if visibility.get(name) in [one.value for one in kind]:
            yield name, visibility[name]


def _entry(phase: Mapping[str, Any]) -> EntryRule:
    value = phase.get("entry")
    return EntryRule(value) if value in [one.value for one in EntryRule] else EntryRule.BEST


def _moment(value: object) -> datetime | None:
    try:
        return parse_moment(value)
    except ValueError:
        return None


#: Duration of the first phase of a new blueprint.
_LASTS = timedelta(days=14)


def first_document(name: str, title: str, task_type: str, now: datetime) -> Document:
    """Return a declaration with one task of this type, one phase, and a board with the task's first scores.

    Its visibility is the first preset: a live board, with a private part if the task type can score parts.
    """
    try:
        columns = TASKS[task_type].columns(TASKS[task_type].options())
        shown = [{"metric": one.metric, "split": one.split} for one in columns[:2]]
    except (KeyError, ValueError):  # the task type has no scores without further options
        shown = []
    start = (now.astimezone(UTC) + timedelta(days=7)).replace(hour=12, minute=0)
    document = {
        "name": name,
        "title": title,
        "tasks": [{"name": "main", "type": task_type, "title": title}],
        "boards": [{"name": "main", "title": title, "task": "main", "columns": shown}],
        "phases": [
            {
                "name": "evaluation",
                "title": "Evaluation",
                "start": f"{start:%Y-%m-%d %H:%M} UTC",
                "end": f"{start + _LASTS:%Y-%m-%d} 23:59 AoE",
                "limits": {"per_day": HIDDEN_GOLD_PER_DAY, "total": HIDDEN_GOLD_TOTAL},
                "tasks": {"main": {}},
            }
        ],
    }
    return with_story(document, 0, STORIES[0].name)


def copied_document(document: Document, name: str, title: str) -> Document:
    """Return another competition's declaration under a new name; gold cannot be copied."""
    return {**without_plain_gold(document), "name": name, "title": title}


def dates_of(document: Document) -> tuple[list[Dates], list[str]]:
    """Return the phases that can be drawn, in the order of the document, and the titles of the others."""
    found: list[Dates] = []
    others: list[str] = []
    phases = document.get("phases")
    for place, phase in enumerate(phases if isinstance(phases, list) else ()):
        declared = phase if isinstance(phase, dict) else {}
        title = str(declared.get("title") or declared.get("name") or f"Phase {place + 1}")
        try:
            start = parse_moment(declared.get("start"))
            end = parse_moment(declared["end"]) if declared.get("end") not in (None, "") else None
        except ValueError:
            others.append(title)
            continue
        if end is not None and end <= start:
            others.append(title)
        else:
            found.append(Dates(title, start, end, _published(declared, start, end)))
    return found, others


def _published(phase: Mapping[str, Any], start: datetime, end: datetime | None) -> tuple[datetime, ...]:
    """Return the times at which boards of the phase become public, other than its start and its end."""
    seen, tasks = phase.get("visibility"), phase.get("tasks")
    row = Phase(visibility=_visibility(seen), entry_rule=_entry(phase), starts_at=start, ends_at=end)
    own = [one.get("visibility") for one in tasks.values() if isinstance(one, dict)] if isinstance(tasks, dict) else []
    declared = [
        declared_of(row, PhaseTask(visibility=_visibility(one), entry={}, private_part={})) for one in own or [None]
    ]
    moments = {one.public_from for one in declared if one.public_from is not None and one.public_from > start}
    return tuple(sorted(moments - {end}))


def _visibility(declared: object) -> dict[str, Any]:
    return dict(_readable(declared)) if isinstance(declared, Mapping) else {}
