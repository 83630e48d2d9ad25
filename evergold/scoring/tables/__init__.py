"""Tables: reading them, with every problem reported by line, and scoring their columns. Plug-ins import from here."""

from __future__ import annotations

from evergold.scoring.tables.reading import (
    Table as Table,
    TableLimits as TableLimits,
    decode_text as decode_text,
    read_table as read_table,
    wide_encoding as wide_encoding,
)
