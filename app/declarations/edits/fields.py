"""Values that organisers may edit on the server: their paths, names and fields.

These are dates, limits, visibility, entry rules, texts, citation, and whether gold is public. Everything else is
declared only in phases.yaml, above all the name of the gold, by which one competition could score against another's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Any

from app.competitions.visibility import FULL, HIDDEN_GOLD_DECIMALS
from app.declarations.findings import Finding
from app.declarations.model import HIDDEN_GOLD_PER_DAY, HIDDEN_GOLD_TOTAL
from app.declarations.revisions.documents import Document, Path as ValuePath, dotted, name_of, value_at
from app.models import BoardShown, EntryRule, OwnScores, Slices
from app.teams.questions import QuestionKind, ready_questions
from evergold.value_words import did_you_mean
from evergold.yaml_lines import Node, read_yaml

#: A value of a declaration; invalid texts are left to the check, which reports them.
Value = str | int | float | bool | list[str] | None


class Kind(StrEnum):
    """The type of a field, which determines its control and how its text is parsed."""

    LINE = "line"
    TEXT = "text"
    LINES = "lines"  # a list, one element per line
    MOMENT = "moment"
    NUMBER = "number"
    DECIMAL = "decimal"
    CHOICE = "choice"


class YesNo(StrEnum):
    """A boolean as written in phases.yaml."""

    TRUE = "true"
    FALSE = "false"


@dataclass(frozen=True, slots=True)
class Field:
    """An editable value, with its path and label."""

    path: ValuePath
    label: str
    kind: Kind
    choices: tuple[str, ...] = ()
    hint: str = ""
    is_required: bool = False

    @property
    def name(self) -> str:
        """The name in forms, in the API and on the command line: `phases.evaluation.end`."""
        return dotted(self.path)


@dataclass(frozen=True, slots=True)
class Part:
    """Fields that belong together. is_open: shown without unfolding."""

    title: str
    fields: tuple[Field, ...]
    is_open: bool = True


_WHEN = "2027-01-31 23:59 AoE, 2027-01-31 12:00 UTC, 2027-01-31 12:00 +02:00"
_WITHOUT = "Empty: no limit."
_USUAL = "Empty: {} if gold is hidden, otherwise no limit."


def parts(document: Document) -> list[Part]:
    """Return everything that can be edited in this declaration, in the order of the page."""
    return [*rule_parts(document), *text_parts(document)]


def rule_parts(document: Document) -> list[Part]:
    """Return dates, limits, visibility and entry rules of each phase and of each of its tasks."""
    found = []
    for phase in _named(document, "phases"):
        path = ("phases", phase["name"])
        found.append(Part(str(phase.get("title") or phase["name"]), (*_dates(path), *_rules(path, of_task=False))))
        for task in phase.get("tasks") or {}:
            below = (*path, "tasks", str(task))
            title = f"{phase.get('title') or phase['name']}: what differs for {_title(document, 'tasks', str(task))}"
            found.append(
                Part(title, (*_rules(below, of_task=True), _public_gold(below), *_private_part(below)), is_open=False)
            )
    return [*found, Part("Teams", _TEAMS, is_open=False), Part("Publication", _PUBLICATION, is_open=False)]


_TEAMS = (
    Field(("teams", "members_max"), "Members at most", Kind.NUMBER, hint="Empty: no limit."),
    Field(("teams", "rename_until"), "New names until", Kind.MOMENT, hint="Empty: until results are frozen."),
    Field(("teams", "merge_until"), "Two teams may merge until", Kind.MOMENT, hint="Empty: teams cannot merge."),
)

_PUBLICATION = (
    Field(
        ("registration", "publish_predictions"),
        "Request consent to publish predictions",
        Kind.CHOICE,
        tuple(YesNo),
        hint="true: you can export the predictions of teams that consent",
    ),
)


def text_parts(document: Document) -> list[Part]:
    """Return the editable fields with titles and descriptions."""
    competition = (
        Field(("title",), "Title", Kind.LINE, is_required=True),
        Field(("summary",), "Summary", Kind.LINE, hint="One or two sentences, for lists."),
        Field(("description",), "Description", Kind.TEXT, hint="Markdown."),
        Field(("website",), "Website", Kind.LINE, hint="http:// or https://"),
        Field(("contact",), "Contact", Kind.LINE, hint="An e-mail address, or how to reach you."),
        Field(
            ("registration", "terms"), "Terms", Kind.TEXT, hint="Markdown. Participants must accept a new text again."
        ),
    )
    found = [Part("The competition", competition), Part("How it is cited", _CITATION, is_open=False)]
    if questions := tuple(_questions(document)):
        found.append(Part("Questions at registration", questions, is_open=False))
    for key, what in (("tasks", "Task"), ("phases", "Phase"), ("boards", "Board")):
        for one in _named(document, key):
            path = (key, one["name"])
            fields = (
                Field((*path, "title"), "Title", Kind.LINE, is_required=True),
                Field((*path, "description"), "Description", Kind.TEXT, hint="Markdown."),
            )
            found.append(Part(f"{what}: {one.get('title') or one['name']}", fields, is_open=False))
    return found


_NAMES = "One name per line, as in BibTeX: Silva, Ana."
_CITATION = (
    Field(("citation", "authors"), "Authors", Kind.LINES, hint=f"{_NAMES} Empty: the organisers, without names."),
    Field(("citation", "licence"), "Licence of the data", Kind.LINE, hint="A name such as CC-BY-4.0, or an address."),
    Field(("citation", "paper", "title"), "Overview paper: title", Kind.LINE, hint="Needed if there is a paper."),
    Field(("citation", "paper", "authors"), "Its authors", Kind.LINES, hint=f"{_NAMES} Empty: the authors above."),
    Field(("citation", "paper", "venue"), "Where it was published", Kind.LINE, hint="Proceedings or journal."),
    Field(("citation", "paper", "year"), "Year", Kind.NUMBER),
    Field(("citation", "paper", "url"), "Address", Kind.LINE, hint="http:// or https://"),
    Field(("citation", "paper", "doi"), "DOI", Kind.LINE, hint="As 10.18653/v1/2027.semeval-1.1."),
)


def _questions(document: Document) -> Iterator[Field]:
    """Yield the fields of declared questions; new questions and other kinds can only be edited elsewhere."""
    words = "true: an answer is needed to take part"
    for one in _named(value_at(document, ("registration",)) or {}, "questions"):
        name = str(one["name"])
        path, is_ready = ("registration", "questions", name), name in ready_questions()
        hint = "Empty: the default text." if is_ready else ""
        yield Field((*path, "title"), f"{name}: question", Kind.LINE, hint=hint, is_required=not is_ready)
        yield Field((*path, "help"), f"{name}: help", Kind.LINE, hint="One or two sentences, shown below the field.")
        yield Field((*path, "required"), f"{name}: required", Kind.CHOICE, tuple(YesNo), words)
        if one.get("kind") == QuestionKind.CHOICE:
            yield Field((*path, "choices"), f"{name}: choices", Kind.LINES, hint="A choice a line.", is_required=True)


def _dates(path: ValuePath) -> tuple[Field, ...]:
    return (
        Field((*path, "start"), "Start", Kind.MOMENT, hint=_WHEN, is_required=True),
        Field((*path, "end"), "End", Kind.MOMENT, hint="The phase closes at this moment. Empty: always open."),
    )


def _rules(path: ValuePath, *, of_task: bool) -> Iterator[Field]:
    """Yield the fields of the rules. of_task: of a task, where each key overrides that of the phase."""
    limits, visibility = (*path, "limits"), (*path, "visibility")
    rules = tuple(EntryRule)
    yield Field((*path, "entry"), "Entry rule", Kind.CHOICE, rules, "Which of a team's submissions counts.")
    yield Field((*path, "choose_until"), "Choose until", Kind.MOMENT, hint="For 'chosen': a moment, or close.")
    yield Field((*path, "without_choice"), "Without a choice", Kind.CHOICE, (EntryRule.LAST, EntryRule.BEST))
    yield Field((*path, "ladder_step"), "Step of the ladder", Kind.DECIMAL, hint="For 'ladder': 0.01 is one point.")
    per_day, total = ("", "") if of_task else map(_USUAL.format, (HIDDEN_GOLD_PER_DAY, HIDDEN_GOLD_TOTAL))
    yield Field((*limits, "per_day"), "Submissions a day", Kind.NUMBER, hint=per_day)
    yield Field((*limits, "per_week"), "Submissions a week", Kind.NUMBER, hint="" if of_task else _WITHOUT)
    yield Field((*limits, "per_month"), "Submissions a month", Kind.NUMBER, hint="" if of_task else _WITHOUT)
    yield Field((*limits, "total"), "Submissions in total", Kind.NUMBER, hint=total)
    yield Field((*limits, "rejected_per_hour"), "Rejected or failed uploads per hour", Kind.NUMBER)
    yield Field((*limits, "upload_bytes"), "Largest upload, in bytes", Kind.NUMBER)
    yield Field((*visibility, "board"), "Board", Kind.CHOICE, tuple(BoardShown))
    yield Field((*visibility, "public_from"), "Board public from", Kind.MOMENT, hint="A moment, or close.")
    yield Field((*visibility, "own_scores"), "Own scores", Kind.CHOICE, tuple(OwnScores))
    yield Field((*visibility, "names_from"), "Names from", Kind.MOMENT, hint="A moment, close, or never.")
    slices = (
        "Empty: if gold is hidden, the ranking scores, and all scores after the phase has ended; otherwise all at once."
    )
    yield Field((*visibility, "slices"), "Slices", Kind.CHOICE, tuple(Slices), slices)
    decimals = f"A number, or {FULL}. Empty: {HIDDEN_GOLD_DECIMALS} if gold is hidden, otherwise all."
    yield Field((*visibility, "precision"), "Decimals", Kind.NUMBER, hint=decimals)


def _public_gold(path: ValuePath) -> Field:
    hint = "Whether the gold is public: teams then see which items they got right."
    return Field((*path, "gold_is_public"), "Gold is public", Kind.CHOICE, tuple(YesNo), hint)


def _private_part(path: ValuePath) -> Iterator[Field]:
    part = (*path, "private_part")
    yield Field((*part, "share"), "Private share of the items", Kind.DECIMAL, hint="0.7 is 70 %. Empty: none.")
    yield Field((*part, "seed"), "Seed of the private part", Kind.LINE, hint="At least 16 characters, hard to guess.")
    yield Field((*part, "shown_from"), "Private part shown from", Kind.MOMENT, hint="A moment, or close.")


def _named(document: Document, key: str) -> Sequence[Mapping[str, Any]]:
    return [one for one in document.get(key) or () if isinstance(one, dict) and isinstance(one.get("name"), str)]


def _title(document: Document, key: str, name: str) -> str:
    return str(value_at(document, (key, name, "title")) or name)


# -------------------------------------------------------------------------------------------------------------- values


def format_value(document: Document, field: Field) -> str:
    """Return the value as text for a form; "" if it is not declared."""
    value = value_at(document, field.path)
    if isinstance(value, bool):
        return YesNo.TRUE if value else YesNo.FALSE
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)


def typed_values(document: Document, fields: Sequence[Field], typed: Mapping[str, str]) -> dict[str, Value]:
    """Return the values of fields whose text differs from the document; empty text becomes None."""
    changed: dict[str, Value] = {}
    for field in fields:
        text = typed.get(field.name)
        if text is not None and _tidy(field, text) != _tidy(field, format_value(document, field)):
            changed[field.name] = _value(field, _tidy(field, text))
    return changed


def sorted_values(document: Document, values: Mapping[str, Value]) -> tuple[dict[ValuePath, Value], dict[str, str]]:
    """Return two mappings: the valid values by path, and, by name of the field, why the others cannot be set."""
    known = {field.name: field for part in parts(document) for field in part.fields}
    faults = {name: fault for name, value in values.items() if (fault := _fault(name, value, known))}
    good = {name: value for name, value in values.items() if name not in faults}
    return {known[name].path: _as_declared(known[name], value) for name, value in good.items()}, faults


def _fault(name: str, value: Value, known: Mapping[str, Field]) -> str | None:
    if name not in known:
        hint = did_you_mean(name, known)
        return f"This cannot be edited here{hint or ': what can is dates, limits, visibility, texts and the citation.'}"
    if known[name].is_required and (value is None or str(value).strip() == ""):
        return "This is needed."
    if known[name].kind is not Kind.LINES and isinstance(value, list):
        return "Write one value, not a list."
    if any(_UNKEPT.search(text) for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)):
        return "This has a character that cannot be stored (NUL or an unpaired surrogate)."
    return None


_UNKEPT = re.compile("[\0\ud800-\udfff]")


def _as_declared(field: Field, value: Value) -> Value:
    """Return a value for the document; texts from the command line are parsed like those of a form."""
    return _value(field, _tidy(field, value)) if isinstance(value, str) else value


def _tidy(field: Field, text: str) -> str:
    """Return the text without surrounding spaces, and with normalised line ends, which browsers send as CR LF."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if field.kind is Kind.LINES:
        return "\n".join(line.strip() for line in text.splitlines() if line.strip())
    return text if field.kind is Kind.TEXT else text.strip()


_WHOLE, _FRACTION = re.compile(r"[-+]?[0-9]{1,18}"), re.compile(r"[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]{1,3})?")


def _value(field: Field, text: str) -> Value:
    if text.strip() == "":
        return None
    if field.kind is Kind.LINES:
        return text.splitlines()
    if field.choices == tuple(YesNo) and text in field.choices:
        return text == YesNo.TRUE
    if field.kind in (Kind.NUMBER, Kind.DECIMAL) and _WHOLE.fullmatch(text):
        return int(text)
    if field.kind is Kind.DECIMAL and _FRACTION.fullmatch(text) and isfinite(float(text)):
        return float(text)
    return text


def findings_by_path(main: Path, findings: Sequence[Finding]) -> dict[str, str]:
    """Return messages by dotted path, with all messages of a path joined; `declaration` is the whole document."""
    places = _places(main)
    by_path: dict[str, list[str]] = {}
    for finding in findings:
        path = places.get((finding.line, finding.column), ())
        by_path.setdefault(dotted(path) or "declaration", []).append(_sentence(finding.message))
    return {path: " ".join(dict.fromkeys(sentences)) for path, sentences in by_path.items()}


def _sentence(message: str) -> str:
    if "_" in message.split(" ", 1)[0]:  # the name of a value
        return f"{message}{'' if message.endswith('.') else '.'}"
    return f"{message[:1].upper()}{message[1:]}{'' if message.endswith('.') else '.'}"


def _places(main: Path) -> dict[tuple[int, int], ValuePath]:
    """Return the path of every value by line and column; the outermost if several share a position."""
    document, _ = read_yaml(main, str(main))
    competitions = document.entries.get("competitions") if document else None
    found: dict[tuple[int, int], ValuePath] = {}
    for competition in competitions.elements if competitions else ():
        for path, node in _walk(competition, ()):
            found.setdefault((node.line, node.column), path)
    return found


def _walk(node: Node, path: ValuePath) -> Iterator[tuple[ValuePath, Node]]:
    yield path, node
    for name, child in node.entries.items():
        yield from _walk(child, (*path, name))
    for place, child in enumerate(node.elements):
        yield from _walk(child, (*path, name_of(child.plain(), place)))
