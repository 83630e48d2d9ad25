"""`evergold serve --demo`: accounts with printed passwords, and the demo teams' files, submitted as anybody would.

Nothing here is scored by hand: the worker scores these files at the first start. Doing it twice changes nothing.
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
    """An account of the demo; methods by task, for the tasks in which it takes part."""

    username: str
    display_name: str
    password: str
    methods: dict[str, str]

    @property
    def email(self) -> str:
        return f"{self.username}@demo.invalid"


#: Their files are demo/submissions/PHASE/TASK/USERNAME.csv (or .zip); demo/README.md tells how these were made.
TEAMS = (
    DemoTeam(
        "magpie",
        "Magpie",
        "magpie-demo",
        {
            "idiom-detection": "Naive Bayes",
            "idiom-similarity": "Character n-grams; ridge regression",
            "idiom-paraphrase": "What the dictionary says",
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


#: Who organises the demo, to see the other side of it.
ORGANISER = DemoTeam("organiser", "The organisers", "organiser-demo", {})


def logins() -> list[dict[str, str]]:
    """What is printed at the start: a participant with a past, and an organiser."""
    who = {"Participant": TEAMS[0], "Organiser": ORGANISER}
    return [{"title": title, "username": one.username, "password": one.password} for title, one in who.items()]


def install_gold(gold_dir: Path) -> None:
    """Put the demo's gold where workers look for it; a file that is there already and the same is left alone."""
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
    """Demo accounts have public passwords: they never come to a server that somebody administers."""
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
    """The accounts of the demo's teams and of its organiser, as far as they are not there yet."""
    grant_role(session, find_competition(session, COMPETITION), _account(session, ORGANISER, now), Role.ORGANISER, now)
    for team in TEAMS:
        _account(session, team, now)


def submit_demo(session: Session, storage: Storage, now: datetime) -> list[int]:
    """Accounts, and the files that were not submitted yet; returns the new runs' ids."""
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
        return []  # the organiser of this demo has taken the phase or the task out
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
