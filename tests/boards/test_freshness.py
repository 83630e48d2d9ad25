"""The fingerprint of what is public: it changes with what its own pages could show, and with nothing else."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine

from app.base.db import writing
from app.boards.freshness import freshness
from app.competitions.find import find_competition, find_phase_task
from app.models import Competition, CompetitionTask, PublicFile, Stage, User, Worker
from app.runs.workers import SILENT_SECONDS
from evergold.scoring.tasks import gpu_types
from tests.beside import add_other_task, submit_other
from tests.competitions.embargo import INSTANT, declare, enter, hide
from tests.rich_world import LATER_PHASE, NEIGHBOURS, OTHER_TASK
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, SECOND, TASK, submit

LISTENS, SILENT = NOW, NOW - timedelta(seconds=SILENT_SECONDS)


def fresh(engine: Engine, competition: str | None = COMPETITION, now: datetime = NOW) -> str | None:
    return freshness(engine, competition, now)


def test_a_competition_changes_with_its_own_boards_and_the_server_with_any(
    sqlite_engine: Engine, people: list[User]
) -> None:
    here, everywhere = fresh(sqlite_engine), fresh(sqlite_engine, None)
    with writing(sqlite_engine) as session:
        find_phase_task(session, NEIGHBOURS, LATER_PHASE, TASK).board_version += 1
    assert fresh(sqlite_engine) == here
    changed = fresh(sqlite_engine, None)
    assert changed != everywhere
    enter(sqlite_engine, people[0], 0.5)
    assert fresh(sqlite_engine) != here
    assert fresh(sqlite_engine, None) != changed
    assert fresh(sqlite_engine, "nowhere") is None


def test_what_is_not_published_is_as_if_it_were_not_there(sqlite_engine: Engine, people: list[User]) -> None:
    with writing(sqlite_engine) as session:
        find_competition(session, COMPETITION).stage = Stage.DRAFT
    assert fresh(sqlite_engine) is None
    with writing(sqlite_engine) as session:
        for one in session.query(Competition):
            one.stage = Stage.DRAFT
    assert fresh(sqlite_engine, None) is not None, "a server has pages without any competition, too"


def test_it_changes_at_each_declared_moment_and_not_between(sqlite_engine: Engine, people: list[User]) -> None:
    """Check that words among the declarations, such as a precision, are no moments."""
    hide(sqlite_engine, names_from=NOW + 2 * HOUR, public_from=NOW + HOUR)
    moments = (NOW + HOUR, NOW + 2 * HOUR, NOW + DAY)
    for moment in moments:
        assert fresh(sqlite_engine, now=moment - INSTANT) != fresh(sqlite_engine, now=moment)
        assert fresh(sqlite_engine, now=moment) == fresh(sqlite_engine, now=moment + SECOND)
    assert fresh(sqlite_engine) == fresh(sqlite_engine, now=NOW + HOUR - INSTANT)


@pytest.fixture
def encoding(sqlite_engine: Engine, people: list[User]) -> Engine:
    """The other task of the phase needs a worker that can encode; a submission to the first one waits."""
    add_other_task(sqlite_engine)
    with writing(sqlite_engine) as session:
        asked = find_phase_task(session, COMPETITION, PHASE, OTHER_TASK)
        session.get_one(CompetitionTask, asked.task_id).task_type = gpu_types()[0]
    submit(sqlite_engine, people[1])
    return sqlite_engine


def add_worker(engine: Engine, name: str, queues: list[str], seen_at: datetime) -> None:
    with writing(engine) as session:
        worker = Worker(name=name, host="h", processes=1, queues=queues, versions={}, models=[], self_check_words=[])
        worker.started_at = worker.seen_at = seen_at
        session.add(worker)


def test_boards_say_that_submissions_wait_for_a_worker_that_can_encode(encoding: Engine, people: list[User]) -> None:
    before = fresh(encoding)
    submit(encoding, people[2], content="to the first task")
    assert fresh(encoding) == before, "any worker takes it"
    submit_other(encoding, people[0])
    waits = fresh(encoding)
    assert waits != before
    add_worker(encoding, "cpu", ["cpu"], LISTENS)
    add_worker(encoding, "gone", ["cpu", "gpu"], SILENT)
    assert fresh(encoding) == waits
    add_worker(encoding, "gpu", ["gpu"], LISTENS)
    assert fresh(encoding) == before, "one listens"


def test_files_and_official_results_change_it_though_no_board_changes(
    sqlite_engine: Engine, people: list[User]
) -> None:
    before = fresh(sqlite_engine)
    declare(sqlite_engine, ends_at=NOW + DAY)
    assert fresh(sqlite_engine) != before
    before = fresh(sqlite_engine)
    with writing(sqlite_engine) as session:
        asked = find_phase_task(session, COMPETITION, PHASE, TASK)
        session.add(PublicFile(phase_task_id=asked.id, name="blind.csv", title="", sha256="0" * 64, size_bytes=3))
    assert fresh(sqlite_engine) != before
