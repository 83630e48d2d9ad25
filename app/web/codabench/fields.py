"""Fields of a request, as a form or as JSON: clients of Codabench send either."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qs
from uuid import UUID

from fastapi import Depends, Request

from app.base.errors import InvalidForm
from app.base.text import PLEASE_CORRECT, whole_number

_LARGEST_ROW_ID = 2**31 - 1
Fields = Mapping[str, Sequence[str]]


async def sent_fields(request: Request) -> Fields:
    """Return the values of each field as strings. Raises InvalidForm."""
    body = await request.body()
    try:
        text = body.decode()
        if "json" not in request.headers.get("content-type", ""):
            return parse_qs(text, keep_blank_values=True, max_num_fields=200)
        document = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        raise InvalidForm(PLEASE_CORRECT, fields={"body": "This is neither a form nor JSON."}) from None
    if not isinstance(document, dict):
        raise InvalidForm(PLEASE_CORRECT, fields={"body": "This is not a JSON object."})
    return {name: _texts(value) for name, value in document.items()}


SentFields = Annotated[Fields, Depends(sent_fields)]


def text_of(fields: Fields, name: str) -> str:
    """Return the last value of a field; "" if there is none."""
    values = fields.get(name)
    return values[-1] if values else ""


def row_ids(fields: Fields, name: str) -> list[int]:
    """Return the numbers in a field that may be repeated, without duplicates. Raises InvalidForm."""
    values = [value for value in fields.get(name, ()) if value]
    numbers = [number for value in values if (number := whole_number(value, 10)) is not None]
    if len(numbers) < len(values) or max(numbers, default=0) > _LARGEST_ROW_ID:
        raise InvalidForm(PLEASE_CORRECT, fields={name: "This must be a number."})
    return list(dict.fromkeys(numbers))


def row_id(fields: Fields, name: str) -> int:
    """Return the only number in a field. Raises InvalidForm."""
    found = row_ids(fields, name)
    if len(found) != 1:
        raise InvalidForm(PLEASE_CORRECT, fields={name: "This must be one number."})
    return found[0]


def key_in(fields: Fields, name: str) -> UUID:
    """Return the key in a field. Raises InvalidForm."""
    try:
        return UUID(text_of(fields, name))
    except ValueError:
        raise InvalidForm(PLEASE_CORRECT, fields={name: "This must be a key (a UUID)."}) from None


def _texts(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [] if value is None else [str(value)]
