"""The form for any part of a declaration, generated from its pydantic model: fields with explanations, parsed to
values.

A part is named by its steps in the document: `phases/0/tasks/detection`. Input is stored as typed, however invalid:
`app.declarations.blueprints.build` reports the problems.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.base.errors import NotFound
from app.base.text import many_lines
from app.declarations.blueprints.schemas import (
    Kind,
    Schema,
    Steps,
    is_position,
    kind_of,
    known_keys,
    part_at,
    plain,
    properties_of,
    schema_at,
)
from app.declarations.blueprints.wording import EXAMPLES, fits_metrics, hint_of, label_of
from app.declarations.edits.texts import read_values
from app.declarations.revisions.documents import Document, dotted, name_of
from evergold.scoring.errors import ScoringError
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS, table

YES, NO = "yes", "no"
#: Empty rows at the end of a table.
_MORE_ROWS = 3
#: The text of an empty list, which differs from a missing one: for example, an environment without packages.
_NO_LINES = "[]"
_SEPARATOR = "."
_OF_LINES = ("text", "lines", "ticks", "groups", "numbers", "data")


@dataclass(frozen=True, slots=True)
class Field:
    """A key of the declaration.

    value: the text in the form; columns, rows: of a table; parts: (title, steps) of parts with a separate page; path:
    the name used in findings; ticked: the selected `choices`.
    """

    name: str
    label: str
    hint: str
    kind: Kind
    path: str
    is_required: bool = False
    value: str = ""
    default: str = ""
    choices: tuple[str, ...] = ()
    columns: tuple[Field, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    example: str = ""
    ticked: tuple[str, ...] = ()


def steps_of(text: str) -> Steps:
    """Return the steps in a text such as `phases/0/tasks/detection`; empty for the whole document."""
    return tuple(step for step in text.split("/") if step)


def fields_of(document: Document, steps: Steps) -> list[Field]:
    """Return the form of a part that is a mapping. Raises NotFound."""
    schema, values = schema_at(document, steps), part_at(document, steps)
    values = values if isinstance(values, dict) else {}
    required = set(schema.get("required", ()))
    if "properties" not in schema:
        raise NotFound("There is no form at this address.")
    return [
        _field(document, (*steps, name), inner, values.get(name), name in required)
        for name, inner in properties_of(schema, document, steps)
        if name in values or not _is_table_option(document, steps) or fits_metrics(name, values.get("metrics"))
    ]


def _is_table_option(document: Document, steps: Steps) -> bool:
    """Return whether the part is the options of a task of the type `table`."""
    task = part_at(document, steps[:-1]) if steps[-1:] == ("options",) and steps[0] == "tasks" else None
    return isinstance(task, dict) and task.get("type") == table.NAME


def title_of(document: Document, steps: Steps) -> str:
    """Return the display title of a part."""
    if not steps:
        return "Competition"
    part, last = part_at(document, steps), steps[-1]
    if isinstance(part, dict) and (part.get("title") or part.get("name")):
        return str(part.get("title") or part.get("name"))
    if is_position(last):
        return f"{steps[-2].replace('_', ' ')} {int(last) + 1}"
    return last.replace("_", " ").capitalize()


def path_of(document: Document, steps: Steps) -> str:
    """Return the path used in findings, with list elements by name."""
    named = []
    for place, step in enumerate(steps):
        is_place = isinstance(part_at(document, steps[:place]), list) and is_position(step)
        named.append(name_of(part_at(document, steps[: place + 1]), int(step)) if is_place else step)
    return dotted(tuple(named))


def in_words(path: str, sentence: str) -> str:
    """Return the sentence of a finding without the key at its beginning, because pages show the key's label."""
    key = f"'{path.rsplit(_SEPARATOR, 1)[-1]}' "
    return f"It {sentence.removeprefix(key)}" if sentence.startswith(key) else sentence


def located(document: Document, path: str) -> tuple[str, str]:
    """Return the place of a finding: titles of the parent parts and its label, and the steps of the page that has it.

    path: as from `path_of`; for a path that leads nowhere, the place is the whole document.
    """
    steps: Steps = ()
    titles: list[str] = []
    page: Steps = ()
    for name in filter(None, path.split(_SEPARATOR)):
        above = part_at(document, steps)
        place = next((at for at, one in enumerate(above) if name_of(one, at) == name), None) if _list(above) else None
        steps = (*steps, name if place is None else str(place))
        titles.append(title_of(document, steps) if place is not None else label_of(name))
        try:
            if "properties" in schema_at(document, steps) and isinstance(part_at(document, steps), dict):
                page = steps
        except NotFound:
            break
    return " › ".join(titles), "/".join(page)


# ---------------------------------------------------------------------------------------------------------- changing


def with_form(document: Document, steps: Steps, form: Mapping[str, str]) -> Document:
    """Return a copy with the typed values in the part; keys that the form does not show are unchanged."""
    changed = copy.deepcopy(document)
    part = _opened(changed, steps)
    fields = fields_of(document, steps)
    data = data_values(_data_texts(fields, form))
    for field in fields:
        if field.kind in ("part", "list", "named"):
            continue
        value = _sent(field, form, data)
        if value is None:
            part.pop(field.name, None)
        else:
            part[field.name] = value
    if not part and steps and isinstance(above := part_at(changed, steps[:-1]), dict) and _is_own_key(changed, steps):
        del above[steps[-1]]
    return changed


def _sent(field: Field, form: Mapping[str, str], data: Mapping[str, Any]) -> Any:
    """Return the value of a field in a form; None if it is empty."""
    if field.kind == "rows":
        return _rows_typed(field, form, data)
    if field.kind == "ticks" and field.name not in form:
        known = [one for one in field.choices if form.get(_SEPARATOR.join((field.name, one)))]
        return [*known, *(one for one in field.ticked if one not in field.choices)] or None
    return typed(field, form.get(field.name, ""), data)


def _opened(document: Document, steps: Steps) -> dict[str, Any]:
    """Return the part for writing, created if it is an undeclared mapping of the model."""
    part = part_at(document, steps)
    if part is None and steps and _is_own_key(document, steps):
        part = _opened(document, steps[:-1])[steps[-1]] = {}
    if not isinstance(part, dict):
        raise NotFound("There is nothing at this address.")
    return part


def _is_own_key(document: Document, steps: Steps) -> bool:
    """Return True if the last step is a key of its model, not an element or a name chosen by organisers."""
    return steps[-1] in schema_at(document, steps[:-1]).get("properties", {})


def with_new(document: Document, steps: Steps, name: str) -> Document:
    """Return a copy with another list element, or with another named part."""
    changed = copy.deepcopy(document)
    schema_at(document, steps)
    if not steps:
        raise NotFound("There is nothing at this address.")
    above = _opened(changed, steps[:-1])
    is_list = kind_of(schema_at(document, steps)) in ("list", "rows")
    inside = above.setdefault(steps[-1], [] if is_list else {})
    if isinstance(inside, list):
        inside.append({"name": name} if name else {})
    elif name and name not in inside:
        inside[name] = {}
    return changed


def without(document: Document, steps: Steps) -> Document:
    """Return a copy without the part."""
    changed = copy.deepcopy(document)
    above = part_at(changed, steps[:-1])
    if isinstance(above, list) and is_position(steps[-1]) and int(steps[-1]) < len(above):
        del above[int(steps[-1])]
    elif isinstance(above, dict):
        above.pop(steps[-1], None)
    return changed


def typed(field: Field, text: str, data: Mapping[str, Any]) -> Any:
    """Convert the text typed into a form field to its value in the document; None if it is empty.

    An invalid number stays as typed and is reported. data: see `data_values`.
    """
    text = _tidy(field, text)
    if not text:
        return None
    if field.kind == "number":
        return _number(text)
    if field.kind == "choice" and field.choices == (YES, NO):
        return text == YES
    if field.kind == "lines" and text == _NO_LINES:
        return []
    if field.kind in ("groups", "numbers"):
        return _by_name(text, field.kind)
    if field.kind in ("lines", "ticks"):
        return [line.strip() for line in text.split("\n") if line.strip()]
    return data[text] if field.kind == "data" else text


def _by_name(text: str, kind: Kind) -> dict[str, Any] | str:
    """Return the values by name from text with one pair per line; the text itself if a line has no name."""
    found: dict[str, Any] = {}
    for line in filter(None, map(str.strip, text.split("\n"))):
        name, separator, value = line.partition(":")
        if not separator:
            return text
        values = [one.strip() for one in value.strip(" []").split(",") if one.strip()]
        found[name.strip()] = values if kind == "groups" else _number(value.strip())
    return found


def _tidy(field: Field, text: str) -> str:
    return many_lines(text) if field.kind in _OF_LINES else text.strip()


def _number(text: str) -> int | float | str:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text


def data_values(texts: Iterable[str]) -> dict[str, Any]:
    """Return the values of texts in fields of the kind `data`, parsed as YAML like declarations; invalid YAML stays a
    text.
    """
    wanted = list(dict.fromkeys(texts))
    return dict(zip(wanted, read_values(wanted), strict=True))


def _data_texts(fields: Iterable[Field], form: Mapping[str, str]) -> Iterator[str]:
    for field in fields:
        if field.kind == "data":
            yield _tidy(field, form.get(field.name, ""))
        for place in range(len(field.rows)):
            for column in field.columns:
                if column.kind == "data":
                    yield _tidy(column, form.get(_cell_name(field, place, column), ""))


def _cell_name(field: Field, place: int, column: Field) -> str:
    return f"{field.name}{_SEPARATOR}{place}{_SEPARATOR}{column.name}"


def _rows_typed(field: Field, form: Mapping[str, str], data: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    found = []
    for place in range(len(field.rows)):
        row = {
            column.name: value
            for column in field.columns
            if (value := typed(column, form.get(_cell_name(field, place, column), ""), data)) is not None
        }
        if row:
            found.append(row)
    return found or None


# ------------------------------------------------------------------------------------------------------------- fields


def _field(document: Document, steps: Steps, schema: Schema, value: Any, is_required: bool) -> Field:
    kind, name = kind_of(schema), steps[-1]
    default = schema.get("default")
    choices = _choices(document, steps, schema)
    if kind == "lines" and choices:
        kind = "ticks"
    return Field(
        name=name,
        label=label_of(name),
        hint=hint_of(name, schema.get("description", ""), known_keys()),
        kind=kind,
        path=path_of(document, steps),
        is_required=is_required,
        value=_shown(kind, value),
        default=_shown(kind, default) if default not in (None, "", [], {}) and kind not in ("part", "rows") else "",
        choices=choices,
        columns=_columns(document, steps, schema) if kind == "rows" else (),
        rows=_rows(_columns(document, steps, schema), value) if kind == "rows" else (),
        parts=tuple(_parts(document, steps, kind, value)),
        example=EXAMPLES.get(name, ""),
        ticked=tuple(map(str, _list(value) or _list(default))) if kind == "ticks" else (),
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _choices(document: Document, steps: Steps, schema: Schema) -> tuple[str, ...]:
    if steps[-2:] == ("options", "metrics") and steps[0] == "tasks":
        task = part_at(document, steps[:-2])
        type_ = TASKS.get(task.get("type", "")) if isinstance(task, dict) else None
        return tuple(type_.metrics) if type_ is not None and schema.get("items") == {"type": "string"} else ()
    if scores := _scores_offered(document, steps):
        return scores
    if schema.get("type") == "boolean":
        return (YES, NO)
    if steps[-1] == "type" and steps[0] == "tasks":
        return tuple(TASKS)
    return tuple(str(one) for one in schema.get("enum", ()))


def _scores_offered(document: Document, steps: Steps) -> tuple[str, ...]:
    """Return the metrics, or the splits, that the task of a board computes; empty for another key."""
    if steps[:1] != ("boards",) or steps[-1] not in ("metric", "split"):
        return ()
    board = part_at(document, steps[:2])
    name = board.get("task") if isinstance(board, dict) else None
    task = next((one for one in _list(document.get("tasks")) if isinstance(one, dict) and one.get("name") == name), {})
    type_ = TASKS.get(str(task.get("type")))
    try:
        columns = type_.columns(read_options(type_, task.get("options") or {})) if type_ is not None else ()
    except (ScoringError, ValueError, KeyError):
        return ()
    return tuple(dict.fromkeys(one.metric if steps[-1] == "metric" else one.split for one in columns))


def _columns(document: Document, steps: Steps, schema: Schema) -> tuple[Field, ...]:
    items = plain(schema["items"])
    return tuple(
        Field(
            name=name,
            label=label_of(name),
            hint=hint_of(name, inner.get("description", ""), known_keys()),
            kind="line" if kind_of(inner) == "text" else kind_of(inner),
            path=name,
            choices=_scores_offered(document, (*steps, name)) or _choices({}, ("", name), inner),
        )
        for name, one in items["properties"].items()
        for inner in (plain(one),)
    )


def _rows(columns: tuple[Field, ...], value: Any) -> tuple[tuple[str, ...], ...]:
    rows = [one if isinstance(one, dict) else {} for one in value] if isinstance(value, list) else []
    shown = [tuple(_shown(column.kind, row.get(column.name)) for column in columns) for row in rows]
    return (*shown, *(("",) * len(columns) for _ in range(_MORE_ROWS)))


def _parts(document: Document, steps: Steps, kind: Kind, value: Any) -> Iterator[tuple[str, str]]:
    if kind == "part":
        yield "", "/".join(steps)
    elif kind == "list" and isinstance(value, list):
        for place in range(len(value)):
            inner = (*steps, str(place))
            yield title_of(document, inner), "/".join(inner)
    elif kind == "named" and isinstance(value, dict):
        for name in value:
            yield name, "/".join((*steps, name))


def _shown(kind: Kind, value: Any) -> str:
    """Return a value formatted for the form."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return YES if value else NO
    if kind == "groups" and isinstance(value, dict):
        return "\n".join(f"{name}: {', '.join(map(str, _list(entry)))}" for name, entry in value.items())
    if kind == "numbers" and isinstance(value, dict):
        return "\n".join(f"{name}: {entry}" for name, entry in value.items())
    if kind in ("lines", "ticks") and isinstance(value, list):
        return "\n".join(str(one) for one in value) or (_NO_LINES if kind == "lines" else "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
