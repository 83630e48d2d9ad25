"""Tables: read them with every problem by line, and score their columns. Task types of others import from here."""

from __future__ import annotations

from evergold.scoring.tables.reading import (
    Table as Table,
    TableLimits as TableLimits,
    decode_text as decode_text,
    read_table as read_table,
    wide_encoding as wide_encoding,
)
