"""The records of a set: who started and published it, which gold came into use, how many boards were frozen."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm
from app.boards.freezing import AFTER_CLOSE
from app.competitions.find import find_competition
from app.models import AuditEntry
from app.people.act import Act
from app.rescoring.publishing import publish_rescoring
from app.rescoring.sets import drop_rescoring, start_rescoring
from tests.competitions.embargo import add_phase, declare, enter, freeze
from tests.rescoring.rescored import NOTE, score_set
from tests.sealed import make_key, seal_gold
from tests.world import COMPETITION, HOUR, NOW, PHASE, add_competition, add_user

DUE = NOW + HOUR + AFTER_CLOSE


@pytest.mark.parametrize("is_frozen", [True, False])
def test_who_published_what_stands_in_the_log(sqlite_engine: Engine, is_frozen: bool) -> None:
    add_competition(sqlite_engine, per_day=None, ends_at=NOW + 9 * HOUR)
    olga, ada = (add_user(sqlite_engine, name) for name in ("olga", "ada"))
    make_key(sqlite_engine)
    seal_gold(sqlite_engine, b"gold")
    sent = enter(sqlite_engine, ada, 0.9)
    seal_gold(sqlite_engine, b"better gold")
    if is_frozen:
        declare(sqlite_engine, ends_at=NOW + HOUR)
        assert freeze(sqlite_engine, DUE) == 2
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        number = start_rescoring(Act(session, olga, DUE, get_settings()), here, [PHASE], note=NOTE).id
    score_set(sqlite_engine, number, {sent: 0.5})
    with writing(sqlite_engine) as session:
        publish_rescoring(Act(session, olga, DUE, get_settings()), here, number, tell_teams=False)
    recorded = entries(sqlite_engine, "olga")
    assert [(one.action, one.at) for one in recorded] == [
        ("rescoring.start", DUE),
        ("gold.publish", DUE),
        ("rescoring.publish", DUE),
    ]
    assert recorded[-1].subject == f"rescoring {number}"
    assert recorded[-1].details == {
        "competition": COMPETITION,
        "note": NOTE,
        "runs": 1,
        "moved": 1,
        "official_boards": 2 if is_frozen else 0,
        "mails": 0,
    }


def test_who_dropped_a_set_stands_in_the_log(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine, per_day=None)
    olga, ada = (add_user(sqlite_engine, name) for name in ("olga", "ada"))
    enter(sqlite_engine, ada, 0.9)
    with writing(sqlite_engine) as session:
        here = find_competition(session, COMPETITION)
        number = start_rescoring(Act(session, olga, NOW, get_settings()), here, [PHASE], note=NOTE).id
        drop_rescoring(Act(session, olga, NOW + HOUR, get_settings()), here, number)
    dropped = entries(sqlite_engine, "olga")[-1]
    assert (dropped.action, dropped.at, dropped.details) == (
        "rescoring.drop",
        NOW + HOUR,
        {"competition": COMPETITION},
    )


def entries(engine: Engine, actor: str) -> list[AuditEntry]:
    with reading(engine) as session:
        return list(session.scalars(select(AuditEntry).where(AuditEntry.actor == actor).order_by(AuditEntry.id)))


def test_tasks_that_there_are_are_told_in_the_order_of_their_phases(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine, per_day=None)
    add_phase(sqlite_engine, "rehearsal", starts_at=NOW, position=0)
    declare(sqlite_engine, position=1)
    with writing(sqlite_engine) as session, pytest.raises(InvalidForm) as refused:
        start_rescoring(
            Act(session, None, NOW, get_settings()), find_competition(session, COMPETITION), ["x"], note=NOTE
        )
    assert refused.value.details["fields"] == {
        "tasks": "There is no 'x' here; there are rehearsal/detection, evaluation/detection, earlier/detection."
    }
