"""Texts, limits and registration of a draft, with the defaults for empty fields."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from app.base.errors import InvalidForm
from app.base.text import many_lines, whole_number
from app.declarations.model import HIDDEN_GOLD_PER_DAY, HIDDEN_GOLD_TOTAL
from app.declarations.revisions.documents import Document
from app.declarations.setup.boards import rank_of, shown_metrics
from app.declarations.setup.columns import answer_of
from app.declarations.setup.kinds import kind_of, metrics_offered, rewards
from app.declarations.values import LARGEST
from app.models import RegistrationMode

#: Titles of the registration modes; modes that require a list are declared elsewhere.
MODES = {
    RegistrationMode.CONFIRMED: "Everybody with a confirmed e-mail address",
    RegistrationMode.OPEN: "Everybody with an account",
    RegistrationMode.APPROVAL: "People whom you approve",
}
LIMITS = {"per_day": HIDDEN_GOLD_PER_DAY, "total": HIDDEN_GOLD_TOTAL}


def with_texts(document: Document, form: Mapping[str, str]) -> Document:
    """Return a copy with title, summary, description and contact. Raises InvalidForm."""
    changed = copy.deepcopy(document)
    title = " ".join(form.get("title", "").split())
    if not title or len(title) > 200:
        raise InvalidForm("Please check the title.", fields={"title": "One line of at most 200 characters."})
    changed["title"] = title
    for name in ("summary", "contact"):
        _set(changed, name, " ".join(form.get(name, "").split()))
    _set(changed, "description", many_lines(form.get("description", "")))
    return changed


def with_rules(document: Document, form: Mapping[str, str]) -> Document:
    """Return a copy with limits of every phase, registration, terms and sizes of teams. Raises InvalidForm."""
    changed, faults = copy.deepcopy(document), dict[str, str]()
    limits = {name: _whole(form.get(name, "")) for name in LIMITS}
    members = _whole(form.get("members_max", ""))
    for name, value in {**limits, "members_max": members}.items():
        if (
            value == _NO_NUMBER
            or isinstance(value, int)
            and not 1 <= value <= (1000 if name == "members_max" else LARGEST)
        ):
            faults[name] = "Write a whole number from 1, or leave it empty."
    mode = form.get("mode", "")
    if mode not in list(MODES):
        faults["mode"] = "Choose who may take part."
    if faults:
        raise InvalidForm("Please check the marked fields.", fields=faults)
    for phase in changed["phases"]:
        kept = dict(phase.get("limits") or {})
        kept |= {name: value for name, value in limits.items() if value is not None}
        phase["limits"] = {
            name: value for name, value in kept.items() if name not in limits or limits[name] is not None
        }
        if not phase["limits"]:
            del phase["limits"]
    _set(changed, "teams", {**_without(changed.get("teams"), "members_max"), **_if_given("members_max", members)})
    registration = {**(changed.get("registration") or {}), "mode": mode}
    _set(registration, "terms", many_lines(form.get("terms", "")))
    changed["registration"] = registration
    return changed


_NO_NUMBER = "?"


def _whole(text: str) -> int | str | None:
    text = text.strip()
    if not text:
        return None
    number = whole_number(text)
    return _NO_NUMBER if number is None else number


def _without(part: Any, name: str) -> dict[str, Any]:
    return {key: value for key, value in (part or {}).items() if key != name}


def _if_given(name: str, value: object) -> dict[str, Any]:
    return {} if value is None else {name: value}


def _set(part: dict[str, Any], name: str, value: Any) -> None:
    if value:
        part[name] = value
    else:
        part.pop(name, None)


def proposed_description(document: Document) -> str:
    """Return a first description from the declaration: answers, format, metrics."""
    task = document["tasks"][0]
    kind, options = kind_of(task), task.get("options") or {}
    metrics = metrics_offered(task)
    rank, _ = rank_of(document)
    lines = []
    if kind is not None and kind.answer is not None:
        what = {"label": "one label", "labels": "any number of labels", "number": "one number", "text": "one text"}
        lines.append(f"Systems send {what[kind.answer]} for each item.")
        lines += ["", "## Format", ""]
        lines.append(
            f"A CSV file with the columns `{options.get('id', 'id')}` and `{answer_of(document)}`, one row per item."
        )
        if labels := options.get("labels"):
            lines.append(f"The labels are {', '.join(f'`{label}`' for label in labels)}.")
    named = [metrics[name] for name in shown_metrics(document) if name in metrics]
    if named:
        lines += ["", "## Scores", ""]
        lines += [f"- **{one.title}**: {rewards(one)}." for one in named]
        lines += ["", f"The board ranks by {metrics[rank].title}."] if rank in metrics else []
    return "\n".join(lines).strip() + "\n" if lines else ""
