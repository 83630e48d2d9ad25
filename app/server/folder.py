"""`evergold init`: creates the folder of a new server, with an administrator and without demo data."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine, inspect, select
from sqlalchemy.exc import SQLAlchemyError

from app.base.db import make_engine, writing
from app.models import User
from app.operations.migrate import DatabaseTooNew, upgrade
from app.people.auth import NewAccount, make_account
from app.server.datadir import ServeError
from app.server.prepare import printable, reason_of

PHASES = """\
# The competitions of this server. `evergold check` reports errors here, by line; `evergold apply` applies it.
# The guide, which your server shows under /guide/phases-yaml, explains every key.
version: 1

# One file for each competition: copy the example below to competitions/my-task/competition.yaml, or write it here.
include: ["competitions/*/competition.yaml"]

# competitions:
#   - name: my-task                          # stands in addresses: /competitions/my-task
#     title: "My shared task"
#     summary: "One or two sentences for the list of competitions."
#     tasks:
#       - name: detection
#         type: idiom-detection              # `evergold tasks` lists the types
#         title: "Idiom detection"
#         options: {languages: [en, pt]}
#     boards:
#       - name: zero-shot
#         title: "Zero-shot"
#         task: detection
#         columns:                           # the first one ranks, unless rank_by names another
#           - {metric: macro_f1, split: zero_shot/all, title: "All"}
#           - {metric: macro_f1, split: zero_shot/en, title: "English"}
#           - {metric: macro_f1, split: zero_shot/pt, title: "Portuguese"}
#     phases:
#       - name: evaluation
#         title: "Evaluation"
#         start: "2027-01-10 12:00 UTC"      # included; '… +02:00' and '… AoE' are understood, too
#         end: "2027-01-31 23:59 AoE"        # excluded; leave it out, and the phase is always open
#         entry: best                        # which of a team's submissions stands on the board: best, last or all
#         limits: {per_day: 5, total: 50}    # rejected and failed submissions do not count
#         tasks:
#           detection:
#             gold: my-task/detection.csv    # in var/gold, which only workers open; leave it out until you have it
#             items: detection.blind.csv     # beside this file
#             downloads:
#               - {file: detection.blind.csv, title: "Blind input"}
"""

ENVIRONMENT = """\
# Settings of this server: rename to .env, and remove the # before those that you change. docs/running.md explains all.

# EVERGOLD_DATA_DIR=var
# EVERGOLD_PHASES_FILE=phases.yaml

# PostgreSQL and Redis, instead of the embedded SQLite and Valkey:
# EVERGOLD_DATABASE_URL=postgresql+psycopg://user:password@localhost/evergold
# EVERGOLD_BROKER_URL=redis://localhost:6379/0

# Where workers find gold; the web process never learns it.
# EVERGOLD_GOLD_DIR=var/gold

# Behind a proxy with HTTPS; whose X-Forwarded-For to believe:
# EVERGOLD_BASE_URL=https://scores.example.org
# EVERGOLD_TRUSTED_PROXIES=127.0.0.1

# Without this, mail becomes files in var/mail:
# EVERGOLD_SMTP_URL=smtps://user:password@mail.example.org
# EVERGOLD_MAIL_FROM=scores@example.org
"""

IGNORED = "# Data, gold and secrets stay out of version control.\nvar/\n.env\n"


def init_server(
    folder: Path,
    administrator: NewAccount,
    now: datetime,
    *,
    database_url: str = "",
    data_dir: Path = Path("var"),
) -> list[Path]:
    """Create the folder's files, database and administrator; return the files.

    Raises ServeError for a folder that already has a server. database_url: "" for SQLite in data_dir, which is inside
    the folder unless it is absolute.
    """
    phases, data_dir = folder / "phases.yaml", folder / data_dir
    database = data_dir / "evergold.db"
    for path in (phases, *(() if database_url else (database,))):
        if path.exists():
            raise ServeError(f"This folder already has a server: {path} exists. Nothing was changed.")
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    (data_dir / "gold").mkdir(exist_ok=True, mode=0o700)
    (folder / "competitions").mkdir(parents=True, exist_ok=True)
    if database_url:
        _make_in_server(database_url, administrator, now)
    else:
        _make_in_file(database, administrator, now)
    written = {phases: PHASES, folder / ".env.example": ENVIRONMENT, folder / ".gitignore": IGNORED}
    for path, text in written.items():
        if not path.exists():
            path.write_text(text, encoding="utf-8")
    return list(written)


def _make_in_file(database: Path, administrator: NewAccount, now: datetime) -> None:
    """Create the database under a temporary name until it is complete, so that a failed `init` leaves no partial
    server.
    """
    unfinished = database.with_name(f"{database.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    engine = make_engine(f"sqlite:///{unfinished}")
    try:
        _make_administrator(engine, administrator, now)
    finally:
        engine.dispose()  # closing the last connection merges SQLite's write-ahead log into the file to be renamed
    unfinished.rename(database)


def _make_in_server(database_url: str, administrator: NewAccount, now: datetime) -> None:
    """Create tables and administrator in a database without accounts.

    A failed `init` leaves only empty tables, so it can be repeated.
    """
    try:
        engine = make_engine(database_url)
        try:
            if _has_accounts(engine):
                raise ServeError(
                    f"There is already a server: the database ({printable(database_url)}) has accounts. "
                    "Nothing was changed."
                )
            _make_administrator(engine, administrator, now)
        finally:
            engine.dispose()
    except DatabaseTooNew as error:
        raise ServeError(str(error)) from None
    except SQLAlchemyError as error:
        raise ServeError(f"The database ({printable(database_url)}) cannot be used: {reason_of(error)}") from None


def _has_accounts(engine: Engine) -> bool:
    with engine.connect() as connection:
        has_table = inspect(connection).has_table(User.__tablename__)
        return has_table and connection.scalar(select(User.id).limit(1)) is not None


def _make_administrator(engine: Engine, administrator: NewAccount, now: datetime) -> None:
    upgrade(engine)
    with writing(engine) as session:
        make_account(session, administrator, now, is_administrator=True)
