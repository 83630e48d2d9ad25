"""A worker computes the certainty of a board's numbers: from sealed outcomes, of the current runs; known
results stay.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, delete, select, update
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.boards.rows import Leaderboard, LeaderboardRow
from app.boards.snapshots import freeze, official_board
from app.boards.statistics_work import (
    LEASE,
    LONGEST_WAIT,
    QUIET,
    RESEND,
    begin_statistics,
    renew_statistics,
    statistics_due,
)
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import (
    Board,
    BoardStatistics,
    Competition,
    Phase,
    PhaseTask,
    RunStatistics,
    ScoringRun,
    StatisticsWork,
    User,
)
from evergold.scoring.resampling import pairs
from tests.boards.marks import HIDDEN, mark
from tests.boards.places import board
from tests.competitions.embargo import add_phase
from tests.sealed import make_key
from tests.workers.files import upload
from tests.world import (
    COMPETITION,
    EARLIER_PHASE,
    NOW,
    PHASE,
    SECOND,
    add_user,
    board_version_number,
    the_phase_task,
    the_run,
)
from workers import gold, samples, score
from workers.apart import Apart, Lost
from workers.board_statistics import compute
from workers.keys import key_file
from workers.score import score_submission

ITEMS = 60
#: Enough for a p below 0.05 / 6, and quick.
RESAMPLES = 500


@pytest.fixture(autouse=True)
def _worker(workplace: Path, engine: Engine, ada: User) -> None:
    """A worker with its key; every second item of gold is of class 1."""
    gold._cache.clear()
    make_key(engine)
    rows = [f"{number},d{number},EN,{number % 2}\n" for number in range(ITEMS)]
    (workplace / "gold" / "gold.csv").write_text("ID,DataID,Language,Label\n" + "".join(rows))


def enter(engine: Engine, user: User, wrong: Collection[int] = (), now: datetime = NOW) -> int:
    """A scored run that has these items wrong."""
    labels = [number % 2 if number not in wrong else 1 - number % 2 for number in range(ITEMS)]
    rows = [f"{number},EN,zero_shot,{label}\n" for number, label in enumerate(labels)]
    run_id = upload(engine, user, "ID,Language,Setting,Label\n" + "".join(rows), now)
    score_submission(run_id)
    return run_id


def computed(engine: Engine, when: Any = NOW) -> bool:
    """The sweep finds it, and a worker does it."""
    with writing(engine) as session:
        phase_task_id = the_phase_task(session).id
        statistics_due(session, when, attempts=3)
    return compute(engine, phase_task_id, RESAMPLES)


def due(engine: Engine, when: Any) -> list[int]:
    with writing(engine) as session:
        return statistics_due(session, when, attempts=3)


def here(engine: Engine) -> int:
    with reading(engine) as session:
        return the_phase_task(session).id


def first_board(session: Session) -> int:
    place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
    return place[1].id


def by_team(shown: Leaderboard) -> dict[str, LeaderboardRow]:
    return {row.team: row for row in shown.rows}


@pytest.fixture
def three(engine: Engine, ada: User) -> dict[str, int]:
    """Ada has all right, Bea two wrong (one of each class), Cem every third."""
    users = {"bea": add_user(engine, "bea"), "cem": add_user(engine, "cem")}
    return {
        "ada": enter(engine, ada),
        "bea": enter(engine, users["bea"], (0, 1)),
        "cem": enter(engine, users["cem"], range(0, ITEMS, 3)),
    }


def test_a_board_says_whom_its_items_tell_apart(engine: Engine, three: dict[str, int]) -> None:
    """Ada and Bea differ in two items: of the four ways to swap these, two are as far apart, p is a half. Cem differs
    from both in 18 and more: of 2^18 ways next to none."""
    assert computed(engine)
    shown = board(engine)
    assert shown.statistics == "current"
    assert [(row.rank, row.rank_range, row.cluster) for row in shown.rows] == [
        (1, (1, 2), 1),
        (2, (1, 2), 1),
        (3, (3, 3), 2),
    ]
    for row in shown.rows:
        for cell in row.cells:
            assert cell.interval is not None
            assert cell.value is not None
            assert 0 <= cell.interval.low <= cell.value <= cell.interval.high <= 1
            assert (cell.interval.level, "units:item,60" in cell.interval.method) == (0.95, True)
    ada, bea, cem = shown.rows
    near, far = shown.pair_test(ada, bea), shown.pair_test(cem, ada)
    assert near is not None
    assert far is not None
    assert near.difference == pytest.approx(2 / 60)
    assert near.p == pytest.approx(0.5, abs=0.07)
    assert not near.is_significant
    assert (far.difference < -0.3, far.is_significant, far.high is not None and far.high < 0) == (True, True, True)
    assert board(engine, "one-shot").rows == ()


def test_outcomes_of_an_earlier_version_of_the_task_type_are_not_read(engine: Engine, three: dict[str, int]) -> None:
    """Check that what another version wrote, in whatever form, is compared with nothing on a board."""
    with writing(engine) as session:
        session.get_one(ScoringRun, three["cem"]).task_version = 0
    computed(engine)
    rows = by_team(board(engine))
    intervals = {team: [cell.interval is not None for cell in row.cells] for team, row in rows.items()}
    assert intervals == {"Ada": [True, True], "Bea": [True, True], "Cem": [False, False]}


def test_a_new_run_costs_its_own_pairs_and_its_own_interval(
    engine: Engine, three: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    computed(engine)
    asked: list[tuple[int, int]] = []
    opened: list[int] = []
    count(monkeypatch, asked, opened)
    new = enter(engine, add_user(engine, "dan"), (0, 1, 2))
    before = board(engine)
    assert (before.statistics, {row.rank_range for row in before.rows}) == ("pending", {None})
    assert by_team(before)["Ada"].cells[0].interval is not None, "an interval belongs to its run"
    assert by_team(before)["Dan"].cells[0].interval is None
    assert computed(engine)
    assert len(asked) == len(three), asked
    assert opened.count(new) == 1
    assert board(engine).statistics == "current"
    assert {row.rank_range is not None for row in board(engine).rows} == {True}


def count(monkeypatch: pytest.MonkeyPatch, asked: list[tuple[int, int]], opened: list[int]) -> None:
    whole: Callable[..., Any] = pairs.compare_all
    read: Callable[..., Any] = score.read_outcomes

    def compare_all(some: Any, names: Any, draws: Any, wanted: Any) -> Any:
        asked.extend(wanted)
        return whole(some, names, draws, wanted)

    def read_outcomes(session: Any, run_id: int, *half: Any) -> Any:
        opened.append(run_id)
        return read(session, run_id, *half)

    monkeypatch.setattr(samples, "compare_all", compare_all)
    monkeypatch.setattr(samples, "read_outcomes", read_outcomes)


def test_what_was_computed_is_a_new_board_once_and_then_rests(engine: Engine, three: dict[str, int]) -> None:
    before = board_version_number(engine)
    assert computed(engine)
    assert board_version_number(engine) == before + 1
    assert due(engine, NOW + timedelta(hours=1)) == []
    assert not computed(engine)
    assert board_version_number(engine) == before + 1


def test_numbers_are_the_same_whatever_was_computed_before(engine: Engine, ada: User, three: dict[str, int]) -> None:
    computed(engine)
    enter(engine, add_user(engine, "dan"), (0, 1, 2))
    computed(engine)
    grown = board(engine)
    with writing(engine) as session:
        session.execute(update(StatisticsWork).values(computed_for=None))
        session.execute(delete(BoardStatistics))
    computed(engine)
    assert board(engine).rows == grown.rows


def test_a_run_without_outcomes_is_told_apart_from_nobody(engine: Engine, three: dict[str, int]) -> None:
    key_file().rename(key_file().with_name("aside"))
    enter(engine, add_user(engine, "dan"), range(ITEMS // 2))
    key_file().with_name("aside").rename(key_file())
    computed(engine)
    rows = by_team(board(engine))
    assert (rows["Dan"].rank_range, rows["Dan"].cells[0].interval) == ((1, 4), None)
    assert rows["Cem"].rank_range == (3, 4)


def test_a_row_that_is_hidden_is_compared_with_nobody(engine: Engine, three: dict[str, int]) -> None:
    mark(engine, the_run(engine, three["cem"]).submission_id, HIDDEN)
    computed(engine)
    with reading(engine) as session:
        (kept,) = [one for one in session.scalars(select(BoardStatistics)) if one.document["pairs"]]
    assert [pair[:2] for pair in kept.document["pairs"]] == [sorted((three["ada"], three["bea"]))]
    assert [row.rank_range for row in board(engine).rows] == [(1, 2), (1, 2)]


def test_workers_are_told_when_boards_are_quiet_or_have_waited_for_long(engine: Engine, three: dict[str, int]) -> None:
    assert due(engine, NOW) == []
    assert due(engine, NOW + QUIET - SECOND) == []
    assert due(engine, NOW + QUIET) == [here(engine)]
    assert due(engine, NOW + QUIET + SECOND) == [], "they were told"
    assert due(engine, NOW + QUIET + RESEND) == [here(engine)]
    moment = NOW + QUIET + RESEND
    for _ in range(3):  # it changes all the time
        enter(engine, add_user(engine, f"user{_}"), (5,))
        moment += SECOND
        assert due(engine, moment) == [here(engine)], "the first change was long ago"
    assert moment - NOW > LONGEST_WAIT


def test_a_worker_that_dies_over_it_leaves_it_to_another_and_not_for_ever(
    engine: Engine, three: dict[str, int]
) -> None:
    due(engine, NOW)
    for attempt in range(3):
        with writing(engine) as session:
            begun = begin_statistics(session, the_phase_task(session).id, NOW + attempt * LEASE, attempts=3)
            again = begin_statistics(session, the_phase_task(session).id, NOW + attempt * LEASE + SECOND, attempts=3)
        assert (begun is not None, again) == (True, None)
    with writing(engine) as session:
        assert begin_statistics(session, the_phase_task(session).id, NOW + 4 * LEASE, attempts=3) is None
        assert statistics_due(session, NOW + 4 * LEASE, attempts=3) == []
    enter(engine, add_user(engine, "dan"), (0,))
    assert due(engine, NOW + 4 * LEASE) == [here(engine)], "another board is another try, and it has waited for long"


def test_a_worker_that_stops_renewing_its_lease_is_replaced_as_soon_as_it_ends(
    engine: Engine, three: dict[str, int]
) -> None:
    asked = here(engine)
    due(engine, NOW)
    assert due(engine, NOW + QUIET) == [asked]
    with writing(engine) as session:
        begin_statistics(session, asked, NOW + QUIET, attempts=3)
        assert renew_statistics(session, asked, NOW + QUIET + SECOND)
    assert due(engine, NOW + QUIET + LEASE) == [], "it was renewed"
    assert due(engine, NOW + QUIET + LEASE + SECOND) == [here(engine)]
    assert due(engine, NOW + QUIET + LEASE + 2 * SECOND) == [], "another was told"
    with writing(engine) as session:
        assert not renew_statistics(session, asked, NOW + QUIET + LEASE), "nobody is at it"


@pytest.mark.parametrize(
    ("lost", "attempts", "failure"),
    [
        (Lost("its worker was stopped", is_stopped=True), 0, None),
        (Lost("its process was killed"), 1, "its process was killed"),
    ],
)
def test_work_that_was_lost_is_told_of_again_at_once_and_a_stop_costs_no_attempt(
    engine: Engine, three: dict[str, int], lost: Lost, attempts: int, failure: str | None
) -> None:
    due(engine, NOW)
    assert due(engine, NOW + QUIET) == [here(engine)]
    assert not compute(engine, here(engine), RESAMPLES, run=lambda _: lambda: lost)
    with reading(engine) as session:
        work = session.get_one(StatisticsWork, here(engine))
    assert (work.attempts, work.lease_expires_at, work.failure) == (attempts, None, failure)
    assert due(engine, NOW + QUIET + SECOND) == [here(engine)]
    assert computed(engine, NOW + QUIET + SECOND)


def test_another_process_computes_the_same(engine: Engine, three: dict[str, int]) -> None:
    asked = here(engine)
    due(engine, NOW)
    assert compute(engine, here(engine), RESAMPLES, run=Apart(threading.Event(), engine).run)
    with reading(engine) as session:
        apart = [(kept.board_id, kept.document) for kept in session.scalars(select(BoardStatistics))]
    with writing(engine) as session:
        session.execute(delete(BoardStatistics))
        session.get_one(StatisticsWork, asked).computed_for = None
    assert compute(engine, here(engine), RESAMPLES)
    with reading(engine) as session:
        assert apart == [(kept.board_id, kept.document) for kept in session.scalars(select(BoardStatistics))]


def test_a_worker_without_the_key_leaves_it_to_others(engine: Engine, three: dict[str, int]) -> None:
    aside = key_file().rename(key_file().with_name("aside"))
    assert not computed(engine)
    assert board(engine).statistics == "none"
    with reading(engine) as session:
        work = session.get_one(StatisticsWork, the_phase_task(session).id)
    assert (work.attempts, "key" in (work.failure or "")) == (0, True)
    aside.rename(key_file())
    assert computed(engine)


def test_nothing_is_computed_where_no_outcomes_are_kept(engine: Engine, ada: User) -> None:
    assert computed(engine, NOW) is False, "what its gold can tell apart is known then"
    key_file().unlink()
    enter(engine, ada)
    assert due(engine, NOW) == []
    assert due(engine, NOW + QUIET) == []


def test_entries_that_are_carried_over_are_compared_where_they_stand(engine: Engine, three: dict[str, int]) -> None:
    add_phase(engine, "post", starts_at=NOW - timedelta(days=1), carry_over="evaluation")
    with reading(engine) as session:
        own_phases = select(Phase.name, PhaseTask.id).join(PhaseTask).join(Competition)
        wanted = own_phases.where(Competition.name == COMPETITION, Phase.name != EARLIER_PHASE)
        ids = dict(session.execute(wanted).all())
    due(engine, NOW)
    assert due(engine, NOW + QUIET) == sorted(ids.values())
    for phase_task_id in sorted(ids.values()):
        assert compute(engine, phase_task_id, RESAMPLES)
    # The evaluation's board is another than when the other phase was looked at only if it came later.
    assert due(engine, NOW + QUIET + SECOND) == []
    with reading(engine) as session:
        kept = session.get_one(BoardStatistics, (ids["post"], first_board(session))).document
    assert sorted(three.values()) == kept["runs"]
    assert len(kept["pairs"]) == 3


def test_another_ranking_score_makes_other_numbers(engine: Engine, three: dict[str, int]) -> None:
    computed(engine)
    with writing(engine) as session:
        session.execute(update(Board).values(rank_metric="accuracy"))
        the_phase_task(session).board_version += 1
    assert computed(engine)
    with reading(engine) as session:
        kept = session.get_one(BoardStatistics, (the_phase_task(session).id, first_board(session))).document
    first = next(pair for pair in kept["pairs"] if pair[:2] == [three["ada"], three["bea"]])
    assert first[2:5] == pytest.approx([1.0, 58 / 60, -2 / 60])


@pytest.mark.parametrize(
    "versions",
    [
        ["evergold.scoring.resampling.intervals.VERSION"],
        ["workers.board_statistics.METHOD_VERSION", "workers.board_statistics.METHOD_VERSION"],
    ],
)
def test_what_an_older_method_computed_is_computed_again(
    engine: Engine, three: dict[str, int], monkeypatch: pytest.MonkeyPatch, versions: list[str]
) -> None:
    """Pairs of a board, and the interval of every run."""

    def asked_again() -> tuple[int, dict[int, str]]:
        asked.clear()
        with writing(engine) as session:
            the_phase_task(session).board_version += 1
        computed(engine)
        with reading(engine) as session:
            return len(asked), dict(session.execute(select(RunStatistics.run_id, RunStatistics.key)).all())

    asked: list[tuple[int, int]] = []
    count(monkeypatch, asked, [])
    computed(engine)
    pairs_then, of_runs = asked_again()
    assert (pairs_then, set(of_runs)) == (0, set(three.values()))
    for name in versions:
        monkeypatch.setattr(name, 99)
    pairs_now, anew = asked_again()
    assert (pairs_now, set(anew)) == (3, set(of_runs))
    assert not set(anew.values()) & set(of_runs.values())


def test_official_results_keep_the_statistics_of_their_day(engine: Engine, three: dict[str, int]) -> None:
    computed(engine)
    before = board(engine)
    with writing(engine) as session:
        phase, of_board = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        snapshot = freeze(session, phase, of_board, NOW)
    enter(engine, add_user(engine, "dan"), (0, 1, 2))
    with reading(engine) as session:
        frozen = official_board(session, snapshot, Viewer(None, NOW))
    assert (frozen.statistics, board(engine).statistics) == ("current", "pending")
    assert [(row.team, row.rank_range, row.cluster) for row in frozen.rows] == [
        (row.team, row.rank_range, row.cluster) for row in before.rows
    ]
    assert [row.cells for row in frozen.rows] == [row.cells for row in before.rows]
