"""Preparation of a server at its start: folder, database, declaration, and the demo with its dates."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, make_url, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.base.config import InvalidSettings, Settings, get_settings
from app.base.db import get_engine, reading, writing
from app.base.errors import EvergoldError, NotFound
from app.base.permissions import prepare_folders
from app.base.queue import send_runs
from app.base.storage import Storage, storage_of, store_file
from app.base.text import readable_size
from app.competitions.find import find_competition, find_phase_task
from app.competitions.limits import phase_state
from app.declarations.apply.apply import apply_phases
from app.declarations.apply.changes import Change
from app.declarations.apply.precedence import OnEdits
from app.declarations.check import InvalidPhases, LoadedCompetition, load_competitions
from app.declarations.edits.effects import Plan, plan_phases
from app.declarations.model import CompetitionDeclaration
from app.gold.sealing import list_as_public
from app.models import Competition, CompetitionTask, PhaseTask, Role, ScoringRun, Stage, Submission, User
from app.operations.database_revision import OtherRevision, check_revision
from app.operations.migrate import AppliedRevision, DatabaseTooNew, Report, upgrade
from app.people import audit
from app.people.auth import NewAccount, make_account
from app.people.rights import grant_role
from app.runs.sweep import mark_sent
from app.server.datadir import ServeError
from app.submissions.accept import Sender, SubmissionForm, accept_submission, find_replay
from evergold.scoring.tasks import needs_gpu

COMPETITION = "demo"
DEMO = Path(__file__).resolve().parents[2] / "demo"


@dataclass(frozen=True)
class DemoTeam:
    """An account of the demo. methods: by task in which it takes part."""

    username: str
    display_name: str
    password: str
    methods: dict[str, str]

    @property
    def email(self) -> str:
        return f"{self.username}@demo.invalid"


#: The demo's teams. Their files are demo/submissions/PHASE/TASK/USERNAME.csv (or .zip); see demo/README.md.
TEAMS = (
    DemoTeam(
        "magpie",
        "Magpie",
        "magpie-demo",
        {
            "idiom-detection": "Naive Bayes",
            "idiom-similarity": "Character n-grams; ridge regression",
            "idiom-paraphrase": "Dictionary lookup",
        },
    ),
    DemoTeam(
        "saudade-lab",
        "Saudade Lab",
        "saudade-lab-demo",
        {
            "idiom-detection": "Logistic regression over cues",
            "idiom-similarity": "tf-idf; ridge regression",
            "idiom-paraphrase": "A phrase that fits",
        },
    ),
    DemoTeam(
        "loureiro",
        "Loureiro",
        "loureiro-demo",
        {"idiom-detection": "Nearest example", "idiom-paraphrase": "A phrase that fits, and synonyms"},
    ),
)


#: The organiser's account of the demo.
ORGANISER = DemoTeam("organiser", "The organisers", "organiser-demo", {})


def logins() -> list[dict[str, str]]:
    """Return the log-ins to print at the start: of a participant with submissions, and of an organiser."""
    who = {"Participant": TEAMS[0], "Organiser": ORGANISER}
    return [{"title": title, "username": one.username, "password": one.password} for title, one in who.items()]


def install_gold(gold_dir: Path) -> None:
    """Copy the demo's gold to the workers' folder, except for files that are already there unchanged."""
    for source in sorted(path for path in (DEMO / "gold").rglob("*") if path.is_file()):
        target = gold_dir / "demo" / source.relative_to(DEMO / "gold")
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_suffix(".unfinished")
        shutil.copyfile(source, unfinished)
        unfinished.replace(target)
    list_as_public(gold_dir, ["demo/practice"])


def check_demo_allowed(session: Session) -> None:
    """Raise ServeError on a server with an administrator, because the passwords of demo accounts are public."""
    if not DEMO.is_dir():
        raise ServeError(
            "--demo needs the files of the demo, which only a checkout of Evergold has: use `make run` there."
        )
    try:
        find_competition(session, COMPETITION)
    except NotFound:
        raise ServeError(
            f"--demo needs the competition '{COMPETITION}' of Evergold's own phases.yaml; this server does not have it."
        ) from None
    if session.scalar(select(User.id).where(User.is_administrator).limit(1)) is not None:
        raise ServeError("This is a real server, with an administrator: start it without --demo.")


def add_accounts(session: Session, now: datetime) -> None:
    """Create the missing accounts of the demo's teams and organiser."""
    grant_role(session, find_competition(session, COMPETITION), _account(session, ORGANISER, now), Role.ORGANISER, now)
    for team in TEAMS:
        _account(session, team, now)


def submit_demo(session: Session, storage: Storage, now: datetime) -> list[int]:
    """Create accounts and submit the files that are not submitted yet; return the ids of new runs."""
    runs = []
    add_accounts(session, now)
    for team in TEAMS:
        user = _account(session, team, now)
        for path in sorted((DEMO / "submissions").glob(f"*/*/{team.username}.*")):
            runs += _submit(session, user, team, path, storage, now)
    return runs


def _account(session: Session, team: DemoTeam, now: datetime) -> User:
    user = session.scalar(select(User).where(User.username == team.username))
    return user or make_account(session, NewAccount(team.username, team.email, team.password, team.display_name), now)


def _submit(session: Session, user: User, team: DemoTeam, path: Path, storage: Storage, now: datetime) -> list[int]:
    phase, task = path.parts[-3:-1]
    try:
        phase_task = find_phase_task(session, COMPETITION, phase, task)
    except NotFound:
        return []  # the organiser of this demo has removed the phase or the task
    if phase_task.gold is None or phase_state(phase_task.phase, now) != "open":
        return []
    key = f"demo-{phase}-{task}-{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"
    if find_replay(session, user, key):
        return []
    accepted = accept_submission(
        session,
        phase_task,
        store_file(path, storage),
        Sender(user, now, key),
        SubmissionForm(filename=path.name, method=team.methods[task]),
    )
    return [accepted.run_id]


_FILE = "demo.json"
#: Days from the first start to the start and the end of each phase; None: always open.
DAYS: dict[str, tuple[float, float | None]] = {
    "practice": (-60, None),
    "evaluation": (-39, 12),
    "blind-test": (-9, 12),
    "post-evaluation": (12, None),
}


def note_first_start(data_dir: Path, now: datetime) -> None:
    """Store the time of the first start with `--demo`; later calls change nothing."""
    if not (data_dir / _FILE).exists():
        _write(data_dir, {"first_start": now.isoformat(timespec="seconds"), "history_told": False})


def note_told(data_dir: Path) -> None:
    """Record that the demo history was generated, so that it is not generated again."""
    _write(data_dir, {**_read(data_dir), "history_told": True})


def is_told(data_dir: Path) -> bool:
    return bool(_read(data_dir).get("history_told"))


def first_start(data_dir: Path) -> datetime:
    return datetime.fromisoformat(_read(data_dir)["first_start"])


def evaluation_start(start: datetime) -> datetime:
    return _moment(start, DAYS["evaluation"][0])


def dated(loaded: Sequence[LoadedCompetition], data_dir: Path) -> list[LoadedCompetition]:
    """Return the competitions, with the demo's dates relative to its first start; as declared if it never started."""
    kept = _read(data_dir)
    if "first_start" not in kept:
        return list(loaded)
    start = datetime.fromisoformat(kept["first_start"])
    return [_moved(one, start) if one.declaration.name == COMPETITION else one for one in loaded]


def _moved(loaded: LoadedCompetition, start: datetime) -> LoadedCompetition:
    document = deepcopy(loaded.document)
    for phase in document.get("phases", ()):
        if phase["name"] in DAYS:
            begins, ends = DAYS[phase["name"]]
            phase["start"] = _text(start, begins)
            if ends is not None:
                phase["end"] = _text(start, ends)
    return replace(loaded, declaration=CompetitionDeclaration.model_validate(document), document=document)


def _moment(start: datetime, days: float) -> datetime:
    """Return a time counted from midnight after the first start, so that pages show 12 days all of the first day."""
    midnight = start.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return midnight + timedelta(days=days)


def _text(start: datetime, days: float) -> str:
    return f"{_moment(start, days):%Y-%m-%d %H:%M} UTC"


def _read(data_dir: Path) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = json.loads((data_dir / _FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return kept


def _write(data_dir: Path, kept: dict[str, Any]) -> None:
    unfinished = data_dir / f"{_FILE}.unfinished"
    unfinished.write_text(json.dumps(kept) + "\n", encoding="utf-8")
    unfinished.replace(data_dir / _FILE)


#: The audit log gets at most this many sentences of one `apply`, but always their number.
CHANGES_RECORDED = 200


def migrate(report: Report | None = None) -> list[AppliedRevision]:
    """Migrate the tables to this version; report each applied revision, and return all. Raises ServeError."""
    settings, applied = get_settings(), list[AppliedRevision]()

    def note(revision: AppliedRevision) -> None:
        applied.append(revision)
        if report is not None:
            report(revision)

    try:
        prepare_folders(settings)
        upgrade(get_engine(settings.database_address), note)
        return applied
    except DatabaseTooNew as error:
        raise ServeError(str(error)) from None
    except OSError as error:
        raise ServeError(f"Cannot write to the data directory: {_words(error)}") from None
    except SQLAlchemyError as error:
        raise ServeError(f"The database ({printable_address(settings)}) cannot be used: {reason_of(error)}") from None


def check_migrated() -> None:
    """Raise ServeError unless the tables match this version."""
    settings = get_settings()
    try:
        with get_engine(settings.database_address).connect() as connection:
            check_revision(connection)
    except OtherRevision as other:
        raise ServeError(str(other)) from None
    except SQLAlchemyError as error:
        raise ServeError(f"The database ({printable_address(settings)}) cannot be used: {reason_of(error)}") from None


def apply(*, on_edits: OnEdits = OnEdits.ASK, stage: Stage = Stage.PUBLISHED, only: Path | None = None) -> list[Change]:
    """Apply phases.yaml, wake the workers for new runs, and return the changes. Raises ServeError with all findings by
    line.

    A file is merged with edits made on the server since; on_edits: the treatment of conflicts.
    stage: of new competitions. only: the included file whose competition is applied, without the others.
    """
    settings, now = get_settings(), datetime.now(UTC)
    engine = get_engine(settings.database_address)
    with _in_words(settings):
        loaded = dated(load_competitions(settings.phases_file, only), settings.data_dir)
        with writing(engine) as session:
            storage = storage_of(settings)
            changes = apply_phases(
                session,
                loaded,
                storage=storage,
                now=now,
                on_edits=on_edits,
                stage=stage,
                is_whole=only is None,
            )
            made = [str(change) for change in changes if change.counts]
            if made:
                details = {"changes": made[:CHANGES_RECORDED], "count": len(made)}
                audit.record(session, None, "phases.apply", settings.phases_file.name, details, now=now)
    wake_workers(engine, [change.run_id for change in changes if change.run_id is not None], now)
    return [*changes, *_above_limit(loaded, settings.upload_limit_bytes)]


def _above_limit(loaded: Sequence[LoadedCompetition], limit_bytes: int) -> Iterator[Change]:
    """Yield warnings for declared upload limits above the server's; `evergold check` reports the same by line."""
    for competition in loaded:
        for phase in competition.declaration.phases:
            limits = [phase.limits, *(task.limits for task in phase.tasks.values() if task.limits)]
            declared = max(one.upload_bytes for one in limits)
            if declared > limit_bytes:
                yield Change(
                    f"phase '{phase.name}' of '{competition.declaration.name}' declares uploads of "
                    f"{readable_size(declared)}, but this server takes none above {readable_size(limit_bytes)}: raise "
                    "EVERGOLD_UPLOAD_LIMIT_BYTES, or declare a lower limit",
                    counts=False,
                )


def plan(*, on_edits: OnEdits = OnEdits.ASK) -> Plan:
    """Return what `apply` would do and whom it would affect, without changes. Raises the errors of `apply`."""
    settings, now = get_settings(), datetime.now(UTC)
    with _in_words(settings):
        return plan_phases(
            get_engine(settings.database_address),
            dated(load_competitions(settings.phases_file), settings.data_dir),
            storage=storage_of(settings),
            now=now,
            on_edits=on_edits,
        )


@contextmanager
def _in_words(settings: Settings) -> Iterator[None]:
    """Turn problems of phases.yaml or the database into ServeError."""
    try:
        yield
    except InvalidPhases as error:
        raise ServeError(_listed(settings, error)) from None
    except (EvergoldError, OSError) as error:
        raise ServeError(f"{settings.phases_file} cannot be applied: {_words(error)}") from None
    except SQLAlchemyError as error:
        raise ServeError(f"The database ({printable_address(settings)}) cannot be used: {reason_of(error)}") from None


def add_demo(gold_dir: Path, *, submits: bool = True) -> list[dict[str, str]]:
    """Create what is missing of the demo's gold, accounts and, if requested, submissions; return the log-ins."""
    pass

    settings, now = get_settings(), datetime.now(UTC)
    engine = get_engine(settings.database_address)
    try:
        with writing(engine) as session:
            check_demo_allowed(session)
            install_gold(gold_dir)
            add_accounts(session, now)
            runs = submit_demo(session, storage_of(settings), now) if submits else []
    except (EvergoldError, OSError) as error:
        raise ServeError(f"The demo cannot be set up: {_words(error)}") from None
    wake_workers(engine, runs, now)
    return logins()


def wake_workers(engine: Engine, runs: Sequence[int], now: datetime) -> None:
    """Announce new, committed runs to workers; the sweep announces those that cannot be sent now."""
    if not runs:
        return
    query = (
        select(ScoringRun.id, CompetitionTask.task_type)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(ScoringRun.id.in_(runs))
        .order_by(ScoringRun.id)
    )
    with reading(engine) as session:
        waiting = session.execute(query).all()
    sent = send_runs([(run_id, needs_gpu(task_type)) for run_id, task_type in waiting])
    with writing(engine) as session:
        mark_sent(session, sent, now)


def encodes() -> bool:
    """Return whether any task on this server needs a worker with torch."""
    from evergold.scoring.tasks import gpu_types

    types = gpu_types()
    with reading(get_engine(get_settings().database_address)) as session:
        return (
            session.scalar(select(CompetitionTask.id).where(CompetitionTask.task_type.in_(types)).limit(1)) is not None
        )


def printable_address(settings: Settings) -> str:
    """Return the database's address without its password."""
    return printable(settings.database_address)


def printable(database_address: str) -> str:
    """Return a database's address without its password."""
    address = make_url(database_address)
    return f"SQLite, {address.database}" if address.drivername == "sqlite" else address.render_as_string()


# ------------------------------------------------------------------------------------------------------------- words


def _listed(settings: Settings, error: InvalidPhases) -> str:
    errors = [str(finding) for finding in error.findings if finding.severity == "error"]
    if not settings.phases_file.exists():
        return (
            f"There is no {settings.phases_file}. Create a server's folder with `evergold init`, or name the file "
            "with --phases or EVERGOLD_PHASES_FILE."
        )
    if len(errors) == 1:
        return errors[0]
    return "\n".join([f"{settings.phases_file} has {len(errors)} errors:", *(f"  {line}" for line in errors)])


def _words(error: EvergoldError | OSError) -> str:
    if isinstance(error, EvergoldError):
        return error.message
    named = f"{error.filename}: " if error.filename else ""
    return f"{named}{error.strerror or error}."


def reason_of(error: SQLAlchemyError) -> str:
    """Return the database's own message on one line."""
    original = getattr(error, "orig", None) or error
    return " ".join(str(original).split()).rstrip(".") + "."


# ------------------------------------------------------------------------------------------------------------- child


def main() -> int:
    """Prepare the server, when started by `evergold serve`; return the exit code."""
    parser = argparse.ArgumentParser(prog="app.server.prepare")
    parser.add_argument("report", type=Path)
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--history", action="store_true")
    arguments = parser.parse_args()
    try:
        document = _prepare(arguments.demo, arguments.history)
        sys.stdout.writelines(f"{line}\n" for line in document["changes"] + document["edits"])  # the log
    except (ServeError, InvalidSettings) as error:
        document = {"error": str(error)}
    unfinished = arguments.report.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(document), encoding="utf-8")
    unfinished.replace(arguments.report)
    return 1 if "error" in document else 0


def _prepare(with_demo: bool, with_history: bool = False) -> dict[str, Any]:
    """Prepare the server and return a report of the changes.

    with_history: generate the demo history in a separate process if it does not exist.
    """
    migrated = migrate()
    is_new, data_dir = _is_empty(), get_settings().data_dir
    if with_demo:
        note_first_start(data_dir, datetime.now(UTC))
    tells = with_demo and with_history and not is_told(data_dir)
    changes = apply()
    logins = add_demo(Path(os.environ["EVERGOLD_GOLD_DIR"]), submits=not tells) if with_demo else []
    return {
        "changes": [f"migrated the database, revision {revision}" for revision in migrated]
        + [str(change) for change in changes if not change.keeps_edits],
        "edits": [str(change) for change in changes if change.keeps_edits],
        "is_new": is_new,
        "logins": logins,
        "tells_history": tells,
        "database": printable_address(get_settings()),
        "encodes": encodes(),
    }


def _is_empty() -> bool:
    """Return whether there is no competition yet, so that everything applied is new."""
    with reading(get_engine(get_settings().database_address)) as session:
        return session.scalar(select(Competition.id).limit(1)) is None


if __name__ == "__main__":
    sys.exit(main())
