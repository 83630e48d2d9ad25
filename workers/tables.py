"""The database's tables as a worker or the sweep sees them: of another revision, they are left alone.

A worker that runs while somebody migrates the database takes no more work and says why; it neither ends nor writes by
rules of before. Who starts one on such tables reads why it does not.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.base.logs import log
from app.operations.database_revision import OtherRevision, Tables, check_revision

#: Between two looks, however much work there is.
LOOK_SECONDS = 2.0
_tables = Tables()


def tables_fit(engine: Engine) -> bool:
    """Whether there is work to do for this program; says so in the log when that changes."""
    before = str(_tables.misfit or "")
    misfit = str(_tables.look(engine, seconds=LOOK_SECONDS) or "")
    if misfit and misfit != before:
        log.error("no_work_taken", reason=misfit)
    elif before and not misfit:
        log.info("work_taken_again")
    return not misfit


def is_refused(engine: Engine) -> bool:
    """Whether a process must not start here, which it says to whoever started it. One that finds no database waits."""
    try:
        with suppress(SQLAlchemyError), engine.connect() as connection:
            check_revision(connection)
    except OtherRevision as other:
        sys.stderr.write(f"Error: {other}\n")
        return True
    finally:
        engine.dispose()
    return False
