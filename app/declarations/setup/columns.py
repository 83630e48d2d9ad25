"""Columns of an organiser's table: their names and values, and their roles in a declaration.

Items may be read here, in the helper. Columns of gold are read in the organiser's browser, which sends only their
roles, names of groups and labels; the declaration makes all of these public anyway.
"""

from __future__ import annotations

import codecs
import copy
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Any

from app.base.errors import InvalidForm
from app.declarations.revisions.documents import Document
from app.declarations.setup.kinds import Kind
from app.helper.process import Job, TooMuchWork, run
from app.helper.wire import Message

_PLAIN = Job("app.declarations.setup.columns:made_plain", processor_seconds=20, seconds=40, mebibytes=1024, waiting=6)
_READ = Job("app.declarations.setup.columns:columns_read", processor_seconds=20, seconds=40, mebibytes=1024, waiting=6)
#: Values of a column with more different ones are not listed.
MOST_VALUES = 200
#: Values of a group that are worth scores of their own.
MOST_GROUPS = 40
_SHOWN_CHARACTERS = 100
_ID_NAMES = ("id", "ids", "item", "item_id", "sent_id", "sentence_id", "guid", "uid")
_GROUP_NAMES = ("language", "languages", "lang", "group", "domain", "genre", "split")


class Role(StrEnum):
    """The role of a column."""

    ID = "id"
    ANSWER = "answer"
    GROUP = "group"
    HIDDEN_GROUP = "hidden-group"
    SHOWN = "shown"
    LEFT_OUT = "left-out"


ROLE_WORDS = {
    Role.ID: "the item's id",
    Role.ANSWER: "the answer",
    Role.GROUP: "a group to score by",
    Role.HIDDEN_GROUP: "a group that teams do not see",
    Role.SHOWN: "shown to teams",
    Role.LEFT_OUT: "left out",
}


@dataclass(frozen=True, slots=True)
class ColumnRead:
    """A column of a table.

    different: number of distinct values; values: each with its number of rows, most frequent first, empty if there are
    more than `MOST_VALUES`.
    """

    name: str
    different: int
    rows: int
    values: tuple[tuple[str, int], ...] = ()
    #: The lowest and the highest number and the mean, where all values of an answer are numbers.
    numbers: tuple[float, float, float] | None = None

    @property
    def words(self) -> str:
        """The values of the column, summarised in a few words."""
        if self.values and len(self.values) <= 12 and self.different < self.rows:
            return " · ".join(f"{value or '(empty)'} {count}" for value, count in self.values)
        return f"{self.different:,} different"


@dataclass(frozen=True, slots=True)
class Roles:
    """Roles of columns as chosen by an organiser.

    groups: the values of each grouping column; labels: of the answer, empty if any is allowed.
    """

    id: str
    answer: str
    groups: Mapping[str, Sequence[str]]
    labels: Sequence[str] = ()


def read_columns(path: Path) -> list[ColumnRead]:
    """Return the columns of a stored table, read in the helper; empty if it is not a table."""
    try:
        answer, _ = run(_READ, {"path": str(path.absolute())})
    except TooMuchWork:
        return []
    return [
        ColumnRead(name, different, rows, tuple((value, count) for value, count in values))
        for name, different, rows, values in answer["columns"]
    ]


def columns_read(head: dict[str, Any], _: bytes) -> Message:
    """Return `columns` as [name, number of distinct values, rows, [[value, count], …]]. A job of the helper."""
    try:
        header, rows = table_of(Path(head["path"]).read_bytes())
    except (csv.Error, ValueError):
        return {"columns": []}, b""
    return {"columns": [_described(name, [row[place] for row in rows]) for place, name in enumerate(header)]}, b""


@dataclass(frozen=True, slots=True)
class Description:
    """Columns of sealed gold as reported by a worker. is_plain: whether a scorer can read the file unchanged."""

    columns: tuple[ColumnRead, ...]
    is_plain: bool


def description_of(data: bytes) -> str | None:
    """Return the columns of a table as JSON, for `read_description`; None if it is not a table.

    Values are listed with counts only if they are few and repeated, like labels and groups; rows are never identified.
    """
    try:
        header, rows = table_of(data)
        text, is_utf8 = _decoded(data)
    except (csv.Error, ValueError):
        return None
    if len(header) < 2 or not rows:
        return None
    is_plain = is_utf8 and (_is_json_lines(text) or _separator_of(text) in _READ_AS_IT_IS)
    columns = [_reported(name, [row[place] for row in rows]) for place, name in enumerate(header)]
    return json.dumps({"columns": columns, "is_plain": is_plain}, ensure_ascii=False)


def _reported(name: str, cells: Sequence[str]) -> list[Any]:
    _, different, rows, values = _described(name, cells)
    repeats = different <= MOST_GROUPS and 2 * different <= rows
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        numbers = []
    bounds = [min(numbers), max(numbers), sum(numbers) / len(numbers)] if numbers else None
    return [name, different, rows, values if repeats else [], bounds if all(map(isfinite, numbers)) else None]


def read_description(text: str | None) -> Description | None:
    """Return the columns in a text from `description_of`; None for None."""
    if text is None:
        return None
    document = json.loads(text)
    columns = [
        ColumnRead(name, different, rows, tuple((value, count) for value, count in values), bounds and tuple(bounds))
        for name, different, rows, values, bounds in document["columns"]
    ]
    return Description(tuple(columns), document["is_plain"])


def roles_of(read: Sequence[ColumnRead], options: Mapping[str, Any], answer: str) -> dict[str, Role]:
    """Return the role of each column: as declared, or else guessed. answer: the declared name of its column."""
    return {
        one.name: Role.ID
        if one.name == options.get("id")
        else Role.GROUP
        if one.name in (options.get("groups") or {})
        else guessed_role(one, answer)
        for one in read
    }


def are_chosen(roles: Mapping[str, Role]) -> bool:
    """Return whether one column is the id and another one the answer."""
    return {Role.ID, Role.ANSWER} <= set(roles.values())


def roles_of_gold(read: Sequence[ColumnRead], answer_kind: str, known: Mapping[str, Role]) -> dict[str, Role]:
    """Return the known roles, with guesses for id and answer if gold has columns with other names."""
    roles = dict(known)
    free = [one for one in read if roles[one.name] is Role.SHOWN]
    if Role.ID not in roles.values() and (ids := [one for one in free if one.different == one.rows]):
        roles[ids[0].name] = Role.ID
        free.remove(ids[0])
    if Role.ANSWER not in roles.values() and free:
        likely = [one for one in free if _looks_like_answer(one, answer_kind)]
        roles[(likely or free)[-1].name] = Role.ANSWER
    return roles


def _looks_like_answer(column: ColumnRead, answer_kind: str) -> bool:
    if answer_kind == "text":
        return True
    return column.numbers is not None if answer_kind == "number" else bool(column.values)


def with_reported_facts(form: Mapping[str, str], kind: Kind) -> dict[str, str]:
    """Return a form with labels, usual answer and bounds from a worker's report on the answer's column.

    A form that already has labels or the usual answer, such as one filled in by a script, is unchanged.
    """
    place = 0
    while (role := form.get(f"column.{place}.role")) is not None and role != Role.ANSWER:
        place += 1
    if role is None or form.get("labels") or form.get("usual"):
        return dict(form)
    values = _lines(form.get(f"column.{place}.values", ""))
    facts = {name: form.get(f"column.{place}.{name}", "") for name in ("low", "high", "usual")}
    if kind.answer == "labels":
        values = list(dict.fromkeys(one for value in values for one in value.split("|") if one))
    if kind.answer in ("label", "labels"):
        facts = {"labels": "\n".join(sorted(values)), "usual": values[0] if values else ""}
    return {**form, **facts}


def plain_table(path: Path) -> bytes | None:
    """Return a stored spreadsheet table in the format of scorers, with commas and in UTF-8, converted in the helper.

    None if it has that format already, or is not a table; every row is kept, even with a different number of cells than
    the header.
    """
    try:
        _, content = run(_PLAIN, {"path": str(path.absolute())})
    except TooMuchWork:
        return None
    return content or None


def made_plain(head: dict[str, Any], _: bytes) -> Message:
    """Return the table with commas and in UTF-8, or nothing if it is unchanged. A job of the helper."""
    data = Path(head["path"]).read_bytes()
    try:
        text, is_utf8 = _decoded(data)
        if is_utf8 and (_is_json_lines(text) or _separator_of(text) in _READ_AS_IT_IS):
            return {}, b""
        rows = _rows_of(text)
    except (csv.Error, ValueError):
        return {}, b""
    if not rows or len(rows[0]) < 2 or _is_json_lines(text):
        return {}, b""
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(rows)
    return {}, made.getvalue().encode()


#: Separators that a scorer reads; a spreadsheet may write others.
_READ_AS_IT_IS = ",\t"
_SEPARATORS = "\t;,|"
_NAMED_SEPARATOR = re.compile(r"sep=(.)\r?\n")


def _decoded(data: bytes) -> tuple[str, bool]:
    """Return a text, decoded and without byte-order mark, and whether it is UTF-8 rather than another encoding."""
    for mark, codec in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if data.startswith(mark):
            return data.decode(codec), False
    try:
        return data.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace"), False


def _is_json_lines(text: str) -> bool:
    return text.lstrip().startswith("{")


def _separator_of(text: str) -> str:
    """Return the separator that splits the first line into most cells.

    If the text begins with Excel's line `sep=;`, return that whole line instead: a scorer cannot read such a text, even
    if it declares a comma or a tab, so the result must not be one of these.
    """
    if named := _NAMED_SEPARATOR.match(text):
        return named[0]
    first = next((line for line in text.splitlines() if line.strip()), "")
    return max(_SEPARATORS, key=lambda one: (len(next(csv.reader([first], delimiter=one), [])), one == ","))


def _rows_of(text: str) -> list[list[str]]:
    """Return the non-empty rows of a text, including the header."""
    separator = _separator_of(text)
    if named := _NAMED_SEPARATOR.match(text):
        separator, text = named[1], text[named.end() :]
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quoting=csv.QUOTE_NONE if separator == "\t" else csv.QUOTE_MINIMAL,
    )
    return [row for row in reader if any(row)]


def table_of(data: bytes) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a table or of JSON lines, without rows whose length differs from the header's."""
    text, _ = _decoded(data)
    if _is_json_lines(text):
        objects = [one for line in text.splitlines() if line.strip() and isinstance(one := json.loads(line), dict)]
        names = list(dict.fromkeys(name for one in objects for name in one))
        return names, [[_cell(one.get(name)) for name in names] for one in objects]
    rows = _rows_of(text)
    header = rows[0] if rows else []
    return header, [row for row in rows[1:] if len(row) == len(header)]


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _described(name: str, cells: Sequence[str]) -> list[Any]:
    counts = Counter(cells)
    is_short = len(counts) <= MOST_VALUES and all(len(value) <= _SHOWN_CHARACTERS for value in counts)
    return [name, len(counts), len(cells), counts.most_common() if is_short else []]


def guessed_role(column: ColumnRead, answer: str) -> Role:
    """Return the guessed role of a column of items. answer: the name of the answer's column."""
    if column.name == answer:
        return Role.ANSWER
    if column.name.lower() in _ID_NAMES and column.different == column.rows:
        return Role.ID
    is_group = column.name.lower() in _GROUP_NAMES and 2 <= len(column.values) <= MOST_GROUPS
    return Role.GROUP if is_group else Role.SHOWN


def roles_sent(form: Mapping[str, str]) -> Roles:
    """Return the roles in a form, from fields such as `column.0.role`; raise InvalidForm for an invalid choice.

    The values of a column are sent one per line.
    """
    names: dict[Role, list[str]] = {role: [] for role in Role}
    values: dict[str, list[str]] = {}
    place = 0
    while (name := form.get(f"column.{place}.name")) is not None:
        role = form.get(f"column.{place}.role", "")
        if role in list(Role):
            names[Role(role)].append(name)
        values[name] = _lines(form.get(f"column.{place}.values", ""))
        place += 1
    answers = names[Role.ANSWER] or [form.get("answer", "").strip()]
    _check_roles(names[Role.ID], answers)
    typed = _lines(form.get("labels", ""))
    groups = {name: values[name] for name in (*names[Role.GROUP], *names[Role.HIDDEN_GROUP])}
    if empty := [name for name, found in groups.items() if not 1 <= len(found) <= MOST_GROUPS]:
        raise _impossible(f"A group needs 1 to {MOST_GROUPS} different values. Choose another role for {empty[0]}.")
    return Roles(names[Role.ID][0], answers[0], groups, typed)


def _check_roles(ids: Sequence[str], answers: Sequence[str]) -> None:
    if len(ids) != 1:
        raise _impossible("Choose one column that is the item's id.")
    if len(answers) != 1 or not answers[0]:
        raise _impossible("Choose one column that is the answer.")


def _impossible(sentence: str) -> InvalidForm:
    return InvalidForm("Please check the columns again.", fields={"columns": sentence})


def _lines(text: str) -> list[str]:
    return list(dict.fromkeys(line for line in (line.strip("\r") for line in text.split("\n")) if line))


def with_roles(document: Document, kind: Kind, roles: Roles) -> Document:
    """Return a copy whose first task reads these columns; columns of its board that no longer exist are replaced."""
    changed = copy.deepcopy(document)
    task = changed["tasks"][0]
    options = dict(task.get("options") or {})
    options |= {"id": roles.id, "value": roles.answer}
    options.pop("gold_value", None)
    _set(options, "labels", list(roles.labels) if kind.answer in ("label", "labels") else [])
    if kind.answer != "labels":
        _set(options, "groups", {name: list(values) for name, values in roles.groups.items()})
    task["options"] = options
    return changed


def _set(options: dict[str, Any], name: str, value: Any) -> None:
    if value:
        options[name] = value
    else:
        options.pop(name, None)


def answer_of(document: Document) -> str:
    """Return the name of the first task's answer column."""
    options = document["tasks"][0].get("options") or {}
    return str(options.get("gold_value") or options.get("value") or "label")


def places_of(document: Document) -> Iterable[dict[str, Any]]:
    """Yield the first task in each phase that has it, for modification."""
    name = document["tasks"][0]["name"]
    for phase in document["phases"]:
        if name in phase["tasks"]:
            yield phase["tasks"][name]
