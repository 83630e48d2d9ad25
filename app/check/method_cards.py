"""What method cards ask: each question once, and answers to choose from where there is a choice, nowhere else."""

from __future__ import annotations

from app.findings import Findings
from app.yaml_lines import Node


def check_method_card(competition: Node, found: Findings) -> None:
    """Everything that contradicts itself under `method_card`; what has the wrong shape is told elsewhere."""
    card = competition.entries.get("method_card")
    fields = card.entries.get("fields") if card else None
    first: dict[str, Node] = {}
    for field in fields.elements if fields else ():
        name = field.entries["name"].text if "name" in field.entries else None
        before = first.setdefault(name, field) if name is not None else field
        if before is not field:
            message = f"the field '{name}' is declared twice; first on line {before.line}"
            found.error(field.entries["name"], message)
        _check_choices(field, found)


def _check_choices(field: Node, found: Findings) -> None:
    kind = field.entries["kind"].text if "kind" in field.entries else "text"
    choices = field.entries.get("choices")
    if kind != "choice":
        if choices is not None and choices.elements:
            found.error(choices, "'choices' are for the kind 'choice': here answers are written freely")
        return
    if choices is None or not choices.elements:
        found.error(choices or field, "a field of the kind 'choice' needs 'choices'")
        return
    first: dict[str, Node] = {}
    for choice in choices.elements:
        if choice.text is None:
            continue
        before = first.setdefault(choice.text, choice)
        if before is not choice:
            found.error(choice, f"the choice '{choice.text}' is there twice; first on line {before.line}")
