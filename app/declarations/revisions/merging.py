"""A three-way merge of a changed file with edits on the server, key by key; a pure function of three documents.

The base is the declaration that both sides started from. A key that one side changed gets that side's value; a key that
both changed to different values is a conflict. List elements are matched by their names; other lists are one value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import ValidationError
from sqlalchemy.orm import Session

from app.declarations.model import CompetitionDeclaration
from app.declarations.revisions.documents import (
    Difference,
    Document,
    Path,
    differences,
    dotted,
    fingerprint,
    value_text,
)
from app.declarations.revisions.kept import last_from_file, newest_revision
from app.models import Competition


class Side(StrEnum):
    """One of the two sides of a merge."""

    FILE = "file"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A value that both sides changed; None if a side removed it."""

    path: str
    before: Any
    file: Any
    server: Any

    def __str__(self) -> str:
        found = f"{value_text(self.file)} in the file, {value_text(self.server)} on the server"
        return f"{self.path} is {found}; it was {value_text(self.before)} before"


@dataclass(slots=True)
class Merge:
    """The result of a merge. kept: the server's values that the file lacks; conflicts get the preferred value."""

    document: Document = field(default_factory=dict)
    kept: list[Difference] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)


def merge_documents(base: Document, file: Document, server: Document, prefer: Side | None = None) -> Merge:
    """Return the merge of three declarations of a competition. prefer: the side that resolves conflicts; default: the
    server.
    """
    merge = Merge()
    sides = _Sides(*(_Value(one, _meaning(one)) for one in (base, file, server)))
    merge.document = _merged(sides, (), merge, prefer)
    return merge


def merge_files(
    base: Mapping[str, str], file: Mapping[str, str], server: Mapping[str, str], prefer: Side | None
) -> tuple[dict[str, Side], list[str]]:
    """Return the side whose content each file has, by path, and the paths whose content both sides changed.

    base, file, server: sha256 by path.
    """
    chosen, conflicts = {}, []
    for path in dict.fromkeys([*file, *server]):
        before, here, there = base.get(path), file.get(path), server.get(path)
        if here == there or there is None or (before == there and here is not None):
            chosen[path] = Side.FILE
        elif here is None or before == here:
            chosen[path] = Side.SERVER
        else:
            chosen[path] = prefer or Side.SERVER
            conflicts.append(path)
    return chosen, conflicts


#: Stands for a missing value, because None is a valid value in YAML.
_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class _Value:
    """A value as written, and as the model reads it: times in different zones may be equal."""

    written: Any
    meant: Any = _ABSENT

    def equals(self, other: _Value) -> bool:
        if self.written is _ABSENT or other.written is _ABSENT:
            return self.written is other.written
        return bool(self.written == other.written) or (self.meant is not _ABSENT and bool(self.meant == other.meant))

    @property
    def shown(self) -> Any:
        return None if self.written is _ABSENT else self.written


@dataclass(frozen=True, slots=True)
class _Sides:
    base: _Value
    file: _Value
    server: _Value


def _meaning(document: Document) -> Any:
    try:
        declared = CompetitionDeclaration.model_validate(document)
    except ValidationError:  # from another version of Evergold: compared as written
        return _ABSENT
    return declared.model_dump(mode="json", exclude_unset=True, by_alias=True)


def _merged(sides: _Sides, path: Path, merge: Merge, prefer: Side | None) -> Any:
    """Return the merged value; `_ABSENT` if there is none."""
    base, file, server = sides.base, sides.file, sides.server
    if file.equals(server) or base.equals(server):
        return file.written
    if base.equals(file):
        merge.kept += _differences(file.shown, server.shown, path)
        return server.written
    kinds = {
        type(one.written) for one in (base, file, server) if one is file or one is server or one.written is not _ABSENT
    }
    inside = [children for one in (base, file, server) if (children := _children(one)) is not None]
    if len(kinds) > 1 or len(inside) < 3:
        return _conflict(sides, path, merge, prefer)
    return _merged_inside(sides, inside, path, (merge, prefer))


def _differences(file: Any, server: Any, path: Path) -> list[Difference]:
    if file is None or server is None:
        return [Difference(dotted(path), file, server)]
    return differences(file, server, path)


def _conflict(sides: _Sides, path: Path, merge: Merge, prefer: Side | None) -> Any:
    merge.conflicts.append(Conflict(dotted(path), sides.base.shown, sides.file.shown, sides.server.shown))
    return sides.file.written if prefer is Side.FILE else sides.server.written


def _merged_inside(
    sides: _Sides, inside: Sequence[dict[str, _Value]], path: Path, result: tuple[Merge, Side | None]
) -> Any:
    """Return mappings, or lists of named elements, merged child by child."""
    base, file, server = inside
    names = _ordered(list(base), list(file), list(server))
    if names is None:
        names = _conflict_of_order(inside, path, *result)
    absent = _Value(_ABSENT)
    merged = {
        name: _merged(
            _Sides(base.get(name, absent), file.get(name, absent), server.get(name, absent)), (*path, name), *result
        )
        for name in names
    }
    present = {name: value for name, value in merged.items() if value is not _ABSENT}
    return present if isinstance(sides.file.written, dict) else list(present.values())


def _conflict_of_order(inside: Sequence[dict[str, _Value]], path: Path, merge: Merge, prefer: Side | None) -> list[str]:
    base, file, server = (list(one) for one in inside)
    merge.conflicts.append(Conflict(f"{dotted(path)} (order)", base, file, server))
    return _with_others(file, server) if prefer is Side.FILE else _with_others(server, file)


def _ordered(base: list[str], file: list[str], server: list[str]) -> list[str] | None:
    """Return the order of all names, as changed by one side; None if both changed it differently."""
    shared = set(base) & set(file) & set(server)
    orders = [[name for name in names if name in shared] for names in (base, file, server)]
    if orders[0] == orders[1]:
        return _with_others(server, file)
    return _with_others(file, server) if orders[2] in (orders[0], orders[1]) else None


def _with_others(names: list[str], others: list[str]) -> list[str]:
    """Return the names, with those that only `others` has inserted after their predecessors."""
    found = list(names)
    for place, name in enumerate(others):
        if name not in found:
            found.insert(found.index(others[place - 1]) + 1 if place else 0, name)
    return found


def _children(value: _Value) -> dict[str, _Value] | None:
    """Return the children of a mapping or of a list of named elements, by name; None for other values."""
    written, meant = value.written, value.meant
    if written is _ABSENT:
        return {}
    if isinstance(written, dict):
        known = meant if isinstance(meant, dict) else {}
        return {name: _Value(one, known.get(name, _ABSENT)) for name, one in written.items()}
    named = _by_name(written)
    if named is None:
        return None
    known = _by_name(meant) or {}
    return {name: _Value(one, known.get(name, _ABSENT)) for name, one in named.items()}


def _by_name(value: Any) -> dict[str, Any] | None:
    """Return the elements of a list by name; None unless every element has a unique name."""
    if not isinstance(value, list) or not value:
        return None
    names = [one.get("name") if isinstance(one, dict) else None for one in value]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        return None
    return dict(zip([str(name) for name in names], value, strict=True))


def is_as_applied(session: Session, competition: Competition, declared: CompetitionDeclaration) -> bool:
    """Return whether a file declares the same as the last applied file or the current revision, without files."""
    known = (last_from_file(session, competition), newest_revision(session, competition))
    documents = [one.document for one in known if one is not None]
    return any(_means(document) == fingerprint(declared, {}) for document in documents)


def _means(document: Document) -> str | None:
    try:
        return fingerprint(CompetitionDeclaration.model_validate(document), {})
    except ValidationError:  # from another version of Evergold
        return None
