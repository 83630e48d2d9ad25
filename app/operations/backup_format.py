"""The format of backups: a manifest, the tables as JSON lines, and the stored files by their sha256.

Values are independent of the database, and the manifest has the kind of each column, so that a backup of SQLite can be
restored to PostgreSQL, and rows of an old version can be read when its models no longer exist.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    Integer,
    LargeBinary,
    String,
    Uuid,
    column,
    null,
    table as named_table,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql.expression import ColumnClause, TableClause
from sqlalchemy.types import TypeEngine

from app.base.db import UtcDateTime

MANIFEST = "manifest.json"

Folder = Literal["storage", "sealed"]
Kind = Literal["plain", "moment", "uuid", "bytes", "json"]
_DIGEST = r"^[0-9a-f]{64}$"
_NAME = r"^[a-z][a-z0-9_]*$"


class BackupError(Exception):
    """A backup cannot be created or restored; the message is for the administrator."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BackupColumn(_Part):
    name: str = Field(pattern=_NAME)
    kind: Kind


class BackupTable(_Part):
    """A table; its rows are the lines of `database/NAME.jsonl`, each a list of values in column order."""

    name: str = Field(pattern=_NAME)
    columns: list[BackupColumn]
    rows: int = Field(ge=0)
    sha256: str = Field(pattern=_DIGEST)
    size_bytes: int = Field(ge=0)

    @property
    def file(self) -> str:
        return f"database/{self.name}.jsonl"


class BackupFile(_Part):
    """A stored file. folder: `storage` for uploads and public files, `sealed` for files that only workers can open."""

    folder: Folder
    sha256: str = Field(pattern=_DIGEST)
    size_bytes: int = Field(ge=0)

    @property
    def file(self) -> str:
        return f"{self.folder}/{self.sha256[:2]}/{self.sha256}"


class Manifest(_Part):
    """The contents of a backup.

    tables: in an order in which each refers only to earlier ones.
    missing: referenced files that were not available.
    """

    format: Literal[1]
    made_at: datetime
    app_version: str
    revision: str = Field(description="revision of the database's tables")
    tables: list[BackupTable]
    files: list[BackupFile]
    missing: list[str] = Field(default_factory=list)


# -------------------------------------------------------------------------------------------------------------- values


def kind_of(declared: Column[Any]) -> Kind:
    """Return the kind of a column, which determines how values are written. Raises BackupError for unknown types."""
    kinds: tuple[tuple[type[TypeEngine[Any]], Kind], ...] = (
        (UtcDateTime, "moment"),
        (Uuid, "uuid"),
        (LargeBinary, "bytes"),
        (JSON, "json"),
    )
    for known, kind in kinds:
        if isinstance(declared.type, known):
            return kind
    if isinstance(declared.type, String | Integer | BigInteger | Boolean | Float):
        return "plain"
    raise BackupError(f"backups know no column like {declared}: {declared.type!r}")


def written(columns: Sequence[BackupColumn], row: Sequence[Any], are_null: Sequence[bool]) -> str:
    """Return a row as a line. are_null: marks NULL in the database, as opposed to null in JSON."""
    values = [
        None if is_null else _written(one.kind, value)
        for one, value, is_null in zip(columns, row, are_null, strict=True)
    ]
    return json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def read_row(columns: Sequence[BackupColumn], line: str) -> dict[str, Any]:
    """Return the values in a line by column, in the format for `insertable`. Raises ValueError if it is malformed."""
    values = json.loads(line)
    if not isinstance(values, list) or len(values) != len(columns):
        raise ValueError("not as many values as columns")
    return {
        one.name: None if value is None else _read(one.kind, value) for one, value in zip(columns, values, strict=True)
    }


def insertable(described: BackupTable) -> TableClause:
    """Return the table for inserting restored rows."""
    columns: list[ColumnClause[Any]] = [column(one.name, _TYPES[one.kind]) for one in described.columns]
    return named_table(described.name, *columns)


def _written(kind: Kind, value: Any) -> Any:
    if kind == "moment":
        return value.isoformat()
    if kind == "uuid":
        return str(value)
    if kind == "bytes":
        return b64encode(value).decode()
    return [value] if kind == "json" else value  # in a list: null inside it is JSON null, outside it NULL


def _read(kind: Kind, value: Any) -> Any:
    if kind == "moment":
        return datetime.fromisoformat(value)
    if kind == "uuid":
        return UUID(value)
    if kind == "bytes":
        return b64decode(value, validate=True)
    if kind == "json":
        (document,) = value
        return JSON.NULL if document is None else document
    return value


_TYPES: dict[Kind, TypeEngine[Any]] = {
    "plain": null().type,
    "moment": UtcDateTime(),
    "uuid": Uuid(),
    "bytes": LargeBinary(),
    "json": JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql"),
}
