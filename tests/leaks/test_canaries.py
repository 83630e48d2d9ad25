"""Recognisable words in gold are looked for wherever a scoring leaves a trace: answers, logs, rows, files, backups.

Gold is sealed, plain, and broken in both ways; files are good, bad, and such that scoring them breaks while it holds a
gold text. Names of gold files are for organisers with the right to it alone.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy import Engine, select, update

from app.base.config import get_settings
from app.base.db import Base, get_engine, reading, writing
from app.base.storage import CHECKS, sealed_storage_of, storage_of, store_upload
from app.models import Board, CompetitionTask, GoldVersion, PhaseTask, RunStatus, ScoringRun
from app.operations.backup import make_backup
from evergold.scoring.tasks import TASKS
from tests import world
from tests.canary import MARK
from tests.competitions.embargo import add_phase
from tests.leaks import place
from tests.leaks.news import told_to
from tests.leaks.place import OTHERS, ROLES, Place
from tests.s3 import SECRET
from tests.sealed import call_right, files_with, make_key
from tests.web.routes import Address, addresses
from tests.web.site import Client, Site, run_of
from tests.world import DAY, NOW, PHASE, TASK
from workers import gold as gold_of_worker
from workers.score import read_outcomes, score_submission
from workers.version_check import check_gold_version

#: In names of gold files and folders; the rows that name them have to hold it.
NAME = "HIDEOUT"
BLIND = "id,source\n1,one\n2,two\n3,three\n"
GOLD = f"id,text,{MARK}column\n1,{MARK}first sentence,a\n2,{MARK}second,{MARK}b\n3,plain,c\n"
#: An id twice, an id that is nowhere, a row with too few cells: the reader quotes all of them.
BROKEN = f"id,text\n1,{MARK}one\n1,{MARK}two\n{MARK}id,{MARK}three\n{MARK}cell\n"
CRASH = "crash"
#: Who asks with each commit; in soak everybody does.
EACH_COMMIT = ("anonymous", "participant", "other team", "organiser", "gold alone")

GOOD = b"id,text\n1,one\n2,two\n3,plain\n"
FILES = {
    "good": GOOD,
    "ids missing": b"id,text\n1,one\n",
    "unknown ids": b"id,text\n1,one\n2,two\n3,three\n4,four\n9,nine\n",
    "twice": b"id,text\n1,one\n1,one\n2,two\n3,three\n",
    "other columns": b"ID;Text\n1;one\n",
    "no text": b"id,text\n1,\n2,\n3,\n",
    "not a table": b"\x00\xff\xfe\x00PK\x03\x04",
    "crash": b"id,text\n1,crash\n2,two\n3,three\n",
}


@pytest.fixture
def planted(
    kept_in: str, empty_site: Site, cheap_passwords: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Place]:
    """A task of texts whose gold is sealed; workers are functions of this process."""
    engine = empty_site.engine
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", engine.url.render_as_string(hide_password=False))
    get_settings.cache_clear()
    gold_of_worker._cache.clear()
    world.add_competition(engine, per_day=None, gold=None)
    add_phase(engine, "practice", starts_at=NOW - DAY, gold=f"{NAME}/gold.csv")
    _ask_for_texts(engine)
    _break_when_asked(monkeypatch)
    secrets = place.add_people(engine)
    world.add_competition(engine, name=OTHERS)
    place.appoint(engine)
    make_key(engine)
    yield Place(empty_site, secrets, {})
    get_engine(get_settings().database_address).dispose()


def _ask_for_texts(engine: Engine) -> None:
    items = store_upload([BLIND.encode()], storage_of(get_settings()), 10**6).sha256
    column = {"metric": "exact_match", "split": "all", "title": "Exact", "decimals": 2, "percent": True}
    with writing(engine) as session:
        options = {"metrics": ["exact_match"], "value": "text"}
        session.execute(update(CompetitionTask).values(task_type="table", options=options))
        session.execute(update(Board).values(columns=[column], rank_metric="exact_match", rank_split="all"))
        session.execute(update(PhaseTask).values(items_sha256=items))


def _break_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cause a fault of ours that quotes what it was working on, also outcomes: no file can provoke one
    that we know of.
    """
    task = TASKS["table"]

    def score(gold: Any, prediction: Any, options: Any) -> Any:
        if CRASH in repr(prediction):
            raise ZeroDivisionError(f"while comparing {gold!r}")
        return task.score(gold, prediction, options)

    def outcomes(gold: Any, prediction: Any, options: Any) -> dict[str, Any]:
        return {"gold": repr(gold)}

    broken = dataclasses.replace(task, score=score, outcomes=outcomes, score_with_outcomes=None)
    monkeypatch.setitem(TASKS, "table", broken)


def test_no_word_of_gold_is_found_anywhere(
    planted: Place,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
    pytestconfig: pytest.Config,
) -> None:
    others = {one.name for one in storage_of(get_settings()).listed(f"{CHECKS}/")}  # of other tests in the same bucket
    roles = ROLES if pytestconfig.getoption("--soak") else EACH_COMMIT
    answers: list[tuple[str, httpx.Response]] = []
    with planted.client("organiser") as olga, planted.client("participant") as ada:
        answers.append(("organiser puts gold", put_gold(olga, GOLD, "1")))
        ended = {what: submitted(planted, ada, content) for what, content in FILES.items()}
        answers.append(("organiser puts gold", put_gold(olga, BROKEN, "2")))
        answers.append(("organiser has it checked", checked_again(planted, olga)))
        ended["good, sealed gold broken"] = submitted(planted, ada, GOOD)
        ended["good, plain gold missing"] = submitted(planted, ada, GOOD, "practice")
        write_plain_gold(BROKEN)
        ended["good, plain gold broken"] = submitted(planted, ada, GOOD, "practice")
    check_scenario(planted, ended)
    answers += crawl(planted, roles, {what: submission for what, (submission, _) in ended.items()})
    planted.submitted = {team: (UUID(ended[what][0]), ended[what][1]) for team, what in _TOLD.items()}
    messages = [(role, what, text) for role in roles for what, text in told_to(planted, role).items()]
    logs = capfd.readouterr()

    assert [where for where, answer in answers if MARK in everything(answer)] == []
    assert [(role, what) for role, what, text in messages if MARK in text or SECRET in text] == []
    assert {"submission.scored", "run.failed", "gold.checked"} <= {
        what.split()[3] for _, what, text in messages if text
    }
    told = [where for where, answer in answers if NAME in everything(answer)]
    assert [where for where in told if not where.startswith(("organiser ", "administrator ", "gold alone "))] == []
    assert told, "organisers are shown what their file was called"
    assert MARK not in f"{logs.out}{logs.err}{caplog.text}"
    assert [where for where, answer in answers if SECRET in everything(answer)] == [], "of the bucket's key"
    assert SECRET not in f"{logs.out}{logs.err}{caplog.text}"
    assert stored_with(MARK.encode(), without=others) == []
    assert columns_with(planted.site.engine, MARK.encode()) == []
    assert files_with(get_settings().data_dir, MARK.encode()) == [f"gold/{NAME}/gold.csv"]
    assert files_with(Path(planted.site.engine.url.database or "").parent, MARK.encode()) == []
    make_backup(get_settings(), tmp_path / "backup", now=NOW)
    assert files_with(tmp_path / "backup", MARK.encode()) == []


#: Of whom news is told: one that is good, one that broke.
_TOLD = {"alpha": "good", "gamma": CRASH}


def stored_with(planted: bytes, without: Collection[str]) -> list[str]:
    """Return every other public or sealed file that contains these bytes, wherever the server keeps them."""
    found, kept = [], 0
    for storage in (storage_of(get_settings()), sealed_storage_of(get_settings())):
        names = [one.name for one in storage.listed() if one.name not in without]
        kept += len(names)
        found += [name for name in names if planted in storage.path(name, Path(name).name).read_bytes()]
    assert kept > 3, "what was sent, and sealed"
    return found


def put_gold(olga: Client, content: str, number: str, *, public: bool = False) -> httpx.Response:
    """Put gold as an organiser does over the API."""
    path = f"/api/v1/competitions/idioms/phases/{PHASE}/tasks/{TASK}/gold"
    said = {"public": str(public)}
    sent = olga.send("POST", path, files={"file": (f"{NAME}-{number}.csv", content.encode())}, data=said)
    assert sent.status_code == 201, sent.text
    call_right(get_engine(get_settings().database_address))  # also what is broken: options may change after a check
    published = olga.send("POST", f"{path}/{number}/publish")
    assert published.status_code == 200, published.text
    return sent


def checked_again(planted: Place, olga: Client) -> httpx.Response:
    """Return a worker's verdict on the broken version, as the organiser sees it."""
    path = f"/api/v1/competitions/idioms/phases/{PHASE}/tasks/{TASK}/gold"
    assert olga.send("POST", f"{path}/2/check").status_code == 202
    with reading(planted.site.engine) as session:
        version_id = session.scalars(select(GoldVersion.id).order_by(GoldVersion.id.desc())).first()
    assert version_id is not None
    check_gold_version(version_id)
    listed = olga.send("GET", path)
    assert [version["check"] for version in listed.json()["versions"]] == ["valid", "invalid"]
    assert listed.json()["versions"][1]["problems"], "what is wrong is told"
    return listed


def write_plain_gold(content: str) -> None:
    path = get_settings().data_dir / "gold" / NAME / "gold.csv"
    path.parent.mkdir(parents=True)
    path.write_text(content)


def submitted(planted: Place, ada: Client, content: bytes, phase: str = PHASE) -> tuple[str, int]:
    """Submit over the API and work until it ends; return the ids of the submission and of its run."""
    path = f"/api/v1/competitions/idioms/phases/{phase}/tasks/{TASK}/submissions"
    accepted = ada.send("POST", path, files={"file": ("predictions.csv", content)})
    assert accepted.status_code == 202, accepted.text
    run_id = run_of(planted.site, accepted.json())
    for _ in range(get_settings().attempts):
        score_submission(run_id)
    return accepted.json()["id"], run_id


def check_scenario(planted: Place, ended: dict[str, tuple[str, int]]) -> None:
    """Check that gold was opened, and every way to fail was taken: otherwise nothing was searched."""
    with reading(planted.site.engine) as session:
        statuses = {what: session.get_one(ScoringRun, run_id).status for what, (_, run_id) in ended.items()}
        outcomes = read_outcomes(session, ended["good"][1])
    assert MARK in repr(outcomes), "the worker's own outcomes quote gold"
    assert statuses.pop("good") == RunStatus.SCORED
    ours = {what for what in statuses if what == CRASH or what.startswith("good, ")}
    assert {what for what, status in statuses.items() if status == RunStatus.FAILED} == ours
    assert {statuses[what] for what in statuses if what not in ours} == {RunStatus.REJECTED}


def crawl(planted: Place, roles: Iterable[str], submissions: dict[str, str]) -> Iterator[tuple[str, httpx.Response]]:
    """Yield each request and its answer: every GET route by these roles, and every page of a submission by those who
    see it.
    """
    for role in roles:
        with planted.client(role) as visitor:
            for what, submission in submissions.items():
                planted.names = place.names_of(planted.site.engine, submission)
                for address in addresses(planted.site.app):
                    if address.method == "GET" and (what == "good" or _shows_it(address, role)):
                        path = planted.fill(address)
                        yield f"{role} {path} ({what})", visitor.send("GET", path)


def _shows_it(address: Address, role: str) -> bool:
    shown = ("{submission_id}", "{submission_number}")
    return any(name in address.template for name in shown) and role in ("participant", "organiser")


def everything(answer: httpx.Response) -> str:
    return f"{answer.headers!r}{answer.text}"


def columns_with(engine: Engine, planted: bytes) -> list[str]:
    """Return the columns that contain the word, also compressed."""
    found = set()
    with engine.connect() as connection:
        for table in Base.metadata.sorted_tables:
            for row in connection.execute(select(table)).mappings():
                found |= {f"{table.name}.{name}" for name, value in row.items() if planted in _bytes_of(value)}
    return sorted(found)


def _bytes_of(value: Any) -> bytes:
    if not isinstance(value, bytes):
        return str(value).encode()
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value
