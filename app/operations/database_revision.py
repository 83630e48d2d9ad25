"""Which revision of the tables the database has: told without Alembic, which takes 7 MB in a process that only asks."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, inspect, text

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"
#: Where Alembic notes it.
_TABLE = "alembic_version"
_NAMED = re.compile(r"""^(revision|down_revision)\b[^=\n]*= ["'](\w+)["']$""", re.MULTILINE)


def newest_revision() -> str:
    """This code's: the one that no other follows."""
    return _newest_in(MIGRATIONS / "versions")


@cache
def _newest_in(folder: Path) -> str:
    scripts: list[dict[str, str]] = [dict(_NAMED.findall(path.read_text("utf-8"))) for path in folder.glob("*.py")]
    [newest] = {one["revision"] for one in scripts} - {one.get("down_revision") for one in scripts}
    return newest


def is_current(connection: Connection) -> bool:
    """Whether the database stands at this code's newest revision."""
    if not inspect(connection).has_table(_TABLE):
        return False
    return list(connection.scalars(text(f"SELECT version_num FROM {_TABLE}"))) == [newest_revision()]  # noqa: S608
