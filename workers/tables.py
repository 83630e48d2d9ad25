"""Checks of the database revision by workers and the sweep, which do not use tables of another revision.

A worker that runs during a migration pauses and logs the reason. A worker started on such tables prints the reason and
exits.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.base.logs import log
from app.operations.database_revision import OtherRevision, Tables, check_revision

#: Minimum interval between checks, however much work there is.
LOOK_SECONDS = 2.0
_tables = Tables()


def tables_fit(engine: Engine) -> bool:
    """Return True if the tables fit this program; logs every change."""
    before = str(_tables.misfit or "")
    misfit = str(_tables.look(engine, seconds=LOOK_SECONDS) or "")
    if misfit and misfit != before:
        log.error("no_work_taken", reason=misfit)
    elif before and not misfit:
        log.info("work_taken_again")
    return not misfit


def is_refused(engine: Engine) -> bool:
    """Return True, and print the reason, if a process must not start here. Without a database it waits instead."""
    try:
        with suppress(SQLAlchemyError), engine.connect() as connection:
            check_revision(connection)
    except OtherRevision as other:
        sys.stderr.write(f"Error: {other}\n")
        return True
    finally:
        engine.dispose()
    return False
