"""Keys allowed in any part of a declaration, as JSON Schema generated from its pydantic models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Literal

from app.base.errors import NotFound
from app.base.text import whole_number
from app.declarations.model import CompetitionDeclaration
from app.declarations.revisions.documents import Document, value_at
from evergold.scoring.tasks import TASKS

Schema = dict[str, Any]
Steps = tuple[str, ...]
#: `groups`: lists of texts by name; `numbers`: numbers by name; one name per line. `ticks`: some of a few known names.
Kind = Literal[
    "line", "text", "number", "choice", "lines", "groups", "numbers", "ticks", "data", "rows", "part", "list", "named"
]

#: Texts that may be longer get a large field.
_LONG = 320
#: Tables are for a few short values per row.
_MOST_COLUMNS = 6


def schema_at(document: Document, steps: Steps) -> Schema:
    """Return the schema of the part. Raises NotFound for an impossible path."""
    schema = _root()
    for place, step in enumerate(steps):
        schema = _inside(schema, step, document, steps[:place])
    return schema


def is_position(step: str) -> bool:
    """Return True if this step can be an index of a list: ASCII digits, and not too large for a list."""
    return whole_number(step) is not None


def part_at(document: Document, steps: Steps) -> Any:
    """Return the declared value at these steps, None if there is none."""
    value: Any = document
    for step in steps:
        if isinstance(value, list):
            value = value[int(step)] if is_position(step) and int(step) < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


@cache
def _root() -> Schema:
    return CompetitionDeclaration.model_json_schema()


def plain(schema: Schema) -> Schema:
    """Return the schema with references resolved and without optional nulls; keys next to a reference are kept."""
    if reference := schema.get("$ref"):
        inner: Schema = _root()["$defs"][reference.rsplit("/", 1)[-1]]
        return plain({**inner, **{name: value for name, value in schema.items() if name != "$ref"}})
    if choices := schema.get("anyOf"):
        several = [plain(one) for one in choices if one.get("type") != "null"]
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        if len(several) == 1:
            return {**several[0], **rest}
        # A number or a keyword: typed text is a number if it can be parsed as one.
        return {"type": "integer" if any(one.get("type") == "integer" for one in several) else "string", **rest}
    return schema


def _inside(schema: Schema, step: str, document: Document, above: Steps) -> Schema:
    schema = plain(schema)
    if step == "options":
        return _options_schema(document, above)
    if schema.get("type") == "array" and is_position(step):
        return plain(schema["items"])
    if step in schema.get("properties", {}):
        return plain(schema["properties"][step])
    for inner in schema.get("patternProperties", {}).values():
        return plain(inner)
    raise NotFound("There is no form at this address.")


def properties_of(schema: Schema, document: Document, steps: Steps) -> Iterator[tuple[str, Schema]]:
    for name, inner in schema["properties"].items():
        if name == "options":
            options = _options_schema(document, steps)
            if options.get("properties"):
                yield name, options
        else:
            yield name, plain(inner)


def _options_schema(document: Document, above: Steps) -> Schema:
    """Return the schema of the task type's options; empty for an unknown type."""
    part = part_at(document, above)
    if above[:1] == ("phases",):
        part = value_at(document, ("tasks", above[-1]))
    task_type = part.get("type") if isinstance(part, dict) else None
    return _schema_of(task_type) if task_type in TASKS else {"type": "object", "properties": {}}


@cache
def _schema_of(task_type: str) -> Schema:
    """Return the schema of the options with references resolved, and descriptions from the docstring of the model."""
    schema = TASKS[task_type].options.model_json_schema()
    whole: Schema = _resolved(schema, schema.get("$defs", {}))
    explained = _explanations(str(schema.get("description", "")), whole.get("properties", {}))
    properties = {
        name: {"description": "", **one, **({"description": explained[name]} if name in explained else {})}
        for name, one in whole.get("properties", {}).items()
        if not one.get("readOnly")
    }
    return {**whole, "properties": properties, "description": f"of the task type '{task_type}'"}


@cache
def known_keys() -> frozenset[str]:
    """Return every key that a declaration or options may have."""
    return frozenset(_keys_in([_root(), *(_schema_of(name) for name in TASKS)]))


def _keys_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for one in schema:
            yield from _keys_in(one)
    elif isinstance(schema, dict):
        yield from schema["properties"] if isinstance(schema.get("properties"), dict) else ()
        for inner in schema.values():
            yield from _keys_in(inner)


def _resolved(schema: Any, named: Mapping[str, Any]) -> Any:
    """Return a schema with its references resolved, and its parts described by the docstrings of their models."""
    if isinstance(schema, list):
        return [_resolved(one, named) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return _resolved({**named[reference.rsplit("/", 1)[-1]], **rest}, named)
    found = {key: _resolved(value, named) for key, value in schema.items() if key != "$defs"}
    if isinstance(properties := found.get("properties"), dict):
        explained = _explanations(str(found.get("description", "")), properties)
        for name, words in explained.items():
            properties[name] = {**properties[name], "description": words}
    return found


def _explanations(text: str, names: Iterable[str]) -> dict[str, str]:
    """Return descriptions from a docstring such as `metrics: one or more of a kind; id, value: the columns' names`."""
    words = " ".join(text.split())
    one = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    heads = list(re.finditer(rf"(?:^|[;.] )((?:{one})(?:, (?:{one}))*): ", words)) if one else []
    ends = [head.start() for head in heads[1:]] + [len(words)] if heads else []
    found: dict[str, str] = {}
    for head, end in zip(heads, ends, strict=True):
        found |= dict.fromkeys(head[1].split(", "), words[head.end() : end].strip(" ;."))
    return found


def kind_of(schema: Schema) -> Kind:
    match schema.get("type"):
        case "boolean":
            return "choice"
        case "integer" | "number":
            return "number"
        case "array":
            return _kind_of_list(plain(schema.get("items", {})))
        case "object" if schema.get("properties"):
            return "part"
        case "object" if schema.get("patternProperties"):
            return "named"
        case "object":
            return _kind_of_mapping(schema.get("additionalProperties"))
    if "enum" in schema:
        return "choice"
    if schema.get("type") != "string":
        return "data"
    return "text" if schema.get("maxLength", 0) > _LONG and "pattern" not in schema else "line"


def _kind_of_mapping(values: Any) -> Kind:
    if not isinstance(values, dict):
        return "data"
    if values.get("type") == "array" and values.get("items") == {"type": "string"}:
        return "groups"
    return "numbers" if values.get("type") == "number" else "data"


def _kind_of_list(items: Schema) -> Kind:
    if items.get("type") == "string" or "enum" in items:
        return "lines"
    if items.get("type") != "object" or not items.get("properties"):
        return "data"
    kinds = {kind_of(plain(one)) for one in items["properties"].values()}
    is_flat = kinds <= {"line", "text", "number", "choice"} and len(items["properties"]) < _MOST_COLUMNS
    return "rows" if is_flat else "list"
