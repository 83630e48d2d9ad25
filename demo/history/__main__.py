"""`python -m demo.history`: tells the demo's past to a server that `evergold serve --demo` has just started.

What was told already is not told again, so that a start after an interrupted one completes it.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.config import Settings, get_settings
from app.base.db import get_engine, writing
from app.base.logs import configure_logging, log
from app.base.storage import storage_of
from app.models import User
from app.server import prepare
from app.server.prepare import wake_workers
from demo.history.cast import ANNOTATORS, TEAMS
from demo.history.clock import play
from demo.history.happenings import happenings, put_faulty_gold
from demo.history.judging import judge_paraphrases
from demo.history.uploads import uploads
from workers.keys import ensure_key, key_file


def main() -> int:
    """Everything, in the order in which it happened; then the demo teams' own files, as of now."""
    configure_logging()
    os.nice(5)  # somebody is already looking at the pages
    settings = get_settings()
    engine = get_engine(settings.database_address)
    tell(engine, settings, Path(os.environ["EVERGOLD_GOLD_DIR"]))
    with writing(engine) as session:
        runs = prepare.submit_demo(session, storage_of(settings), datetime.now(UTC))
    wake_workers(engine, runs, datetime.now(UTC))
    is_judged = judge_paraphrases(engine, settings, datetime.now(UTC))
    if is_judged:
        prepare.note_told(settings.data_dir)
    log.info("demo_history_told", judged=is_judged)
    return 0


def tell(engine: Engine, settings: Settings, gold_dir: Path) -> None:
    """The past itself."""
    start = prepare.first_start(settings.data_dir)
    ensure_key(engine, key_file(), datetime.now(UTC))  # outcomes are kept for intervals, as a worker keeps them
    with writing(engine) as session:
        _add_people(session, prepare.evaluation_start(start))
    put_faulty_gold(engine, gold_dir)
    play([*uploads(engine, settings, start), *happenings(engine, settings, start)])


def _add_people(session: Session, at: datetime) -> None:
    """Accounts that nobody can log in with."""
    known = set(session.scalars(select(User.username)))
    wanted = {team.username: team.name for team in TEAMS}
    wanted |= {name: name.partition("-")[0].title() for names in ANNOTATORS.values() for name in names}
    for username, name in wanted.items():
        if username not in known:
            session.add(User(username=username, email=f"{username}@demo.invalid", display_name=name, created_at=at))


if __name__ == "__main__":
    sys.exit(main())
