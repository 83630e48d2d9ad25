"""Who may take part: whether a rule has what it needs, and nothing that it does not look at."""

from __future__ import annotations

from app.findings import Findings
from app.models import RegistrationMode
from app.yaml_lines import Node

#: What each mode rests on.
_NEEDS = {RegistrationMode.DOMAIN: "domains", RegistrationMode.LIST: "allowed"}


def check_registration(competition: Node, found: Findings) -> None:
    """competition: as declared; what has the wrong shape is told elsewhere."""
    declared = competition.entries.get("registration")
    if declared is None:
        return
    said = declared.entries.get("mode")
    mode = said.text if said else RegistrationMode.OPEN
    for one, needed in _NEEDS.items():
        names = declared.entries.get(needed)
        if mode == one and (names is None or names.value == []):
            found.error(said or declared, f"with mode '{one}', 'registration' needs '{needed}'")
        if mode != one and names is not None and mode in list(RegistrationMode):
            found.error(names, f"'{needed}' belongs to mode '{one}'; here the mode is '{mode}'")
        _check_twice(names, found)


def _check_twice(names: Node | None, found: Findings) -> None:
    first: dict[str, Node] = {}
    for name in names.elements if names else []:
        text = (name.text or "").lower()
        before = first.setdefault(text, name)
        if before is not name and text:
            found.error(name, f"'{text}' stands here twice; first on line {before.line}")
