"""Versions of gold as organisers read them: each moment and state in its own place, of its own version."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from app.base.db import reading, writing
from app.competitions.find import find_phase_task
from app.gold.versions import list_gold
from app.gold.views import GoldVersionOut, describe_gold
from app.models import GoldCheck, GoldVersion
from tests import rich_rows
from tests.beside import add_other_task
from tests.rich_world import OTHER_TASK, fresh
from tests.world import COMPETITION, HOUR, NOW, PHASE, TASK, add_competition, add_user

#: When a version was put, told to workers, checked, and put in use.
PUT, SENT, CHECKED, USED = (NOW + hours * HOUR for hours in range(4))
WRONG = {"code": "bad-label", "sentence": "label 7", "file": None, "line": 3, "text": "7"}


def put(engine: Engine, task: str, **values: Any) -> None:
    rich_rows.add_gold(engine, COMPETITION, PHASE, task, PUT, in_use=False)
    with writing(engine) as session:
        version = session.scalars(fresh(GoldVersion).order_by(GoldVersion.id.desc()).limit(1)).one()
        for name, value in {"check_sent_at": SENT, "checked_at": CHECKED, **values}.items():
            setattr(version, name, value)


def described(engine: Engine, task: str) -> list[GoldVersionOut]:
    with reading(engine) as session:
        asked = find_phase_task(session, COMPETITION, PHASE, task)
        found = describe_gold(session, asked, list_gold(session, asked))
    assert (found.competition, found.phase, found.task) == (COMPETITION, PHASE, task)
    assert found.page == f"/competitions/{COMPETITION}/phases/{PHASE}/tasks/{task}/gold"
    return found.versions


def test_each_version_is_told_with_its_own_moments_state_and_author(sqlite_engine: Engine) -> None:
    engine = sqlite_engine
    add_competition(engine)
    add_other_task(engine)
    olga = add_user(engine, "olga")
    put(engine, OTHER_TASK, published_at=USED, is_public=True)
    put(engine, TASK, published_at=USED, is_public=True, created_by_id=olga.id)
    put(engine, TASK, check_state=GoldCheck.WAITING, checked_at=None, publish_when_valid=True, check_failure="no key")
    put(engine, TASK, check_state=GoldCheck.INVALID, problems=[WRONG], problems_omitted=5)
    seen = [
        (one.version, one.check, one.put_by, one.is_public, one.used_when_valid, one.waits_because)
        for one in described(engine, TASK)
    ]
    assert seen == [
        (1, GoldCheck.VALID, "olga", True, False, None),
        (2, GoldCheck.WAITING, None, False, True, "no key"),
        (3, GoldCheck.INVALID, None, False, False, None),
    ]
    moments: list[tuple[datetime | None, ...]] = [
        (one.put_at, one.checked_at, one.in_use_since) for one in described(engine, TASK)
    ]
    assert moments == [(PUT, CHECKED, USED), (PUT, None, None), (PUT, CHECKED, None)]
    first, _, wrong = described(engine, TASK)
    assert (first.problems, first.filename, first.content_bytes) == ([], "gold-1.csv", 900)
    assert [(one.code, one.sentence, one.line) for one in wrong.problems] == [("bad-label", "label 7", 3)]
    assert (wrong.problems_omitted, wrong.explanation) == (5, None)
    (other,) = described(engine, OTHER_TASK)
    assert other.version == 1
    assert other.commitment != first.commitment
