"""`evergold serve --demo`: accounts with printed passwords, and the demo teams' files, submitted like any others.

Nothing is scored in advance: the worker scores these files at the first start. Repeating it changes nothing.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.base.storage import Storage, store_file
from app.competitions.find import find_competition, find_phase_task
from app.competitions.limits import phase_state
from app.gold.plain import list_as_public
from app.models import Role, User
from app.people.administrators import make_account
from app.people.roles import grant_role
from app.server.datadir import ServeError
from app.submissions.accept import accept_submission, find_replay

COMPETITION = "demo"
DEMO = Path(__file__).resolve().parents[2] / "demo"


@dataclass(frozen=True)
class DemoTeam:
    """An account of the demo; methods: by task in which it takes part."""

    username: str
    display_name: str
    password: str
    methods: dict[str, str]

    @property
    def email(self) -> str:
        return f"{self.username}@demo.invalid"


#: Their files are demo/submissions/PHASE/TASK/USERNAME.csv (or .zip); demo/README.md describes how they were made.
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
    """Return the log-ins to print at the start: a participant with submissions, and an organiser."""
    who = {"Participant": TEAMS[0], "Organiser": ORGANISER}
    return [{"title": title, "username": one.username, "password": one.password} for title, one in who.items()]


def install_gold(gold_dir: Path) -> None:
    """Copy the demo's gold to the workers' folder, except files that are there and identical."""
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
    """Refuse demo accounts, whose passwords are public, on a server with an administrator."""
    if not DEMO.is_dir():
        raise ServeError("--demo needs the files of the demo, which a checkout of Evergold has: `make run` there.")
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
    """Create accounts and submit the files not submitted yet; return the ids of new runs."""
    runs = []
    add_accounts(session, now)
    for team in TEAMS:
        user = _account(session, team, now)
        for path in sorted((DEMO / "submissions").glob(f"*/*/{team.username}.*")):
            runs += _submit(session, user, team, path, storage, now)
    return runs


def _account(session: Session, team: DemoTeam, now: datetime) -> User:
    user = session.scalar(select(User).where(User.username == team.username))
    return user or make_account(
        session,
        username=team.username,
        email=team.email,
        password=team.password,
        display_name=team.display_name,
        now=now,
    )


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
        user=user,
        phase_task=phase_task,
        upload=store_file(path, storage),
        filename=path.name,
        method=team.methods[task],
        idempotency_key=key,
        now=now,
    )
    return [accepted.run_id]
