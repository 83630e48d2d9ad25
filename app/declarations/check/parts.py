"""Checks of the smaller parts of a declaration: registration, tracks, method cards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.declarations.check.shape import text_of
from app.declarations.findings import Findings
from app.models import RegistrationMode
from app.teams.questions import ready_questions
from evergold.value_words import did_you_mean, listed
from evergold.yaml_lines import Node

#: Keys that each mode needs, and those allowed in other modes.
_NEEDS = {RegistrationMode.DOMAIN: "domains", RegistrationMode.LIST: "allowed"}
_ALSO = {(RegistrationMode.APPROVAL, "domains")}


def check_registration(competition: Node, findings: Findings) -> None:
    """Check registration. competition: as declared; values of the wrong type are reported elsewhere."""
    declared = competition.entries.get("registration")
    if declared is None:
        return
    declared_mode = declared.entries.get("mode")
    mode = declared_mode.text if declared_mode else None
    for one, needed in _NEEDS.items():
        names = declared.entries.get(needed)
        if mode == one and (names is None or names.value == []):
            findings.error(declared_mode or declared, f"with mode '{one}', 'registration' needs '{needed}'")
        if (
            mode != one
            and (mode, needed) not in _ALSO
            and names is not None
            and (mode is None or mode in list(RegistrationMode))
        ):
            here = f"the mode is '{mode}'" if mode else "there is no mode"
            findings.error(names, f"'{needed}' belongs to mode '{one}'; here {here}")
        _check_twice(names, findings)
    questions = declared.entries.get("questions")
    _check_fields(questions, "question", findings)
    for question in questions.elements if questions else ():
        _check_question(question, findings)


def _check_question(question: Node, findings: Findings) -> None:
    name = text_of(question, "name")
    if name not in ready_questions():
        if name is not None and "title" not in question.entries:
            ready = listed(ready_questions())
            findings.error(question, f"the question '{name}' needs a title; without one there are {ready}")
        _check_choices(question, "question", findings)
        return
    for key in ("kind", "choices"):
        if key in question.entries:
            findings.error(
                question.entries[key], f"'{name}' has its own '{key}'; choose another name for another question"
            )


def _check_twice(names: Node | None, findings: Findings) -> None:
    first: dict[str, Node] = {}
    for name in names.elements if names else []:
        text = (name.text or "").lower()
        before = first.setdefault(text, name)
        if before is not name and text:
            findings.error(name, f"'{text}' is listed twice; first on line {before.line}")


def check_tracks(
    tracks: Sequence[Node], *, boards: Sequence[Node], baselines: Iterable[Node], findings: Findings
) -> None:
    """Check tracks. tracks, boards, baselines: as declared; values of the wrong type are reported elsewhere."""
    names = [name for track in tracks if (name := text_of(track, "name")) is not None]
    for node in (*boards, *baselines):
        _check_known(node, names, findings)
    shown = {text_of(board, "track") for board in boards}
    for track in tracks:
        name = text_of(track, "name")
        if name is not None and boards and not shown & {name, None}:
            findings.warning(track, f"no board shows the track '{name}', so its submissions are not on any board")


def _check_known(node: Node, names: Sequence[str], findings: Findings) -> None:
    name = text_of(node, "track")
    if name is None or name in names:
        return
    known = f"the tracks are {listed(names)}" if names else "the competition has no tracks"
    findings.error(node.entries["track"], f"there is no track '{name}'{did_you_mean(name, names)}; {known}")


def check_method_card(competition: Node, findings: Findings) -> None:
    """Report contradictions under `method_card`; values of the wrong type are reported elsewhere."""
    card = competition.entries.get("method_card")
    fields = card.entries.get("fields") if card else None
    _check_fields(fields, "field", findings)
    for field in fields.elements if fields else ():
        _check_choices(field, "field", findings)


def _check_fields(fields: Node | None, what: str, findings: Findings) -> None:
    """Report duplicate names. what: the kind of field, for the message."""
    first: dict[str, Node] = {}
    for field in fields.elements if fields else ():
        name = text_of(field, "name")
        before = first.setdefault(name, field) if name is not None else field
        if before is not field:
            message = f"the {what} '{name}' is declared twice; first on line {before.line}"
            findings.error(field.entries["name"], message)


def _check_choices(field: Node, what: str, findings: Findings) -> None:
    kind = field.entries["kind"].text if "kind" in field.entries else "text"
    choices = field.entries.get("choices")
    if kind != "choice":
        if choices is not None and choices.elements:
            findings.error(choices, "'choices' need the kind 'choice'; answers of this kind are free text")
        return
    if choices is None or not choices.elements:
        findings.error(choices or field, f"a {what} of the kind 'choice' needs 'choices'")
        return
    first: dict[str, Node] = {}
    for choice in choices.elements:
        if choice.text is None:
            continue
        before = first.setdefault(choice.text, choice)
        if before is not choice:
            findings.error(choice, f"the choice '{choice.text}' is listed twice; first on line {before.line}")
