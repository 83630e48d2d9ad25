"""Changes of the entries on a board change its statistics: rescoring, choices, entry rules, marks, the end."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.boards.freezing import freeze_due
from app.boards.rows import Leaderboard, LeaderboardRow
from app.boards.snapshots import find_official, official_board
from app.boards.statistics_work import PATIENCE
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import Viewer
from app.models import BoardStatistics, EntryRule, RowStatus, User
from tests.boards.marks import DISQUALIFIED, UNRANKED, clear, mark
from tests.boards.places import board
from tests.competitions.embargo import add_phase, declare
from tests.rescoring.rescored import name_gold, publish, runs_of, start
from tests.submissions.test_choices import choose
from tests.workers.test_board_statistics import ITEMS, _worker, by_team, computed, due, enter, first_board, three
from tests.world import COMPETITION, HOUR, NOW, PHASE, SECOND, TASK, add_user, the_phase_task, the_run
from workers.board_statistics import compute
from workers.score import score_submission

__all__ = ["_worker", "three"]


def ranges(shown: Leaderboard) -> dict[str, tuple[int, int] | None]:
    return {row.team: row.rank_range for row in shown.rows}


def bounds(row: LeaderboardRow) -> tuple[float, float]:
    """Return the bounds of the interval in the ranking column."""
    interval = row.cells[0].interval
    assert interval is not None
    return interval.low, interval.high


@pytest.fixture
def worse(engine: Engine, ada: User, three: dict[str, int]) -> int:
    """Ada sends another run, a half of it wrong: not the best, but the last."""
    return enter(engine, ada, range(ITEMS // 2), NOW + SECOND)


def test_the_rule_that_the_last_counts_moves_ranges(engine: Engine, three: dict[str, int], worse: int) -> None:
    computed(engine)
    assert ranges(board(engine)) == {"Ada": (1, 2), "Bea": (1, 2), "Cem": (3, 3)}
    declare(engine, entry_rule=EntryRule.LAST)
    assert board(engine).statistics == "pending"
    computed(engine)
    found = ranges(board(engine))
    assert found["Bea"] == (1, 1)
    assert found["Ada"] != (1, 2)


def test_a_choice_moves_them_and_taking_it_back_gives_the_old_ones(
    engine: Engine, ada: User, three: dict[str, int], worse: int
) -> None:
    declare(engine, entry_rule=EntryRule.CHOSEN, without_choice=EntryRule.BEST)
    computed(engine)
    before = board(engine)
    choose(engine, the_run(engine, worse).submission_id, ada)
    computed(engine)
    chosen = board(engine)
    assert (chosen.statistics, chosen.rows[0].team) == ("current", "Bea")
    assert bounds(by_team(chosen)["Ada"])[1] < bounds(by_team(before)["Ada"])[0]
    choose(engine, the_run(engine, three["ada"]).submission_id, ada)
    computed(engine)
    assert board(engine).rows == before.rows


@pytest.mark.parametrize("status", [DISQUALIFIED, UNRANKED])
def test_a_marked_row_has_no_range_and_corrects_nobody(
    engine: Engine, three: dict[str, int], status: RowStatus
) -> None:
    computed(engine)
    before = board(engine)
    number = mark(engine, the_run(engine, three["cem"]).submission_id, status, "sent late")
    computed(engine)
    marked = board(engine)
    assert (marked.statistics, ranges(marked)) == ("current", {"Ada": (1, 2), "Bea": (1, 2), "Cem": None})
    assert (by_team(marked)["Cem"].cells[0].interval is None) == (status == DISQUALIFIED)
    clear(engine, number)
    computed(engine)
    assert board(engine).rows == before.rows


def test_rescoring_moves_them_with_the_scores(engine: Engine, three: dict[str, int], workplace: Path) -> None:
    """Gold was wrong where Bea was right: with the better one she has all right, as Ada had before."""
    computed(engine)
    before = board(engine)
    labels = [number % 2 if number not in (0, 1) else 1 - number % 2 for number in range(ITEMS)]
    rows = "".join(f"{number},d{number},EN,{label}\n" for number, label in enumerate(labels))
    (workplace / "gold" / "better.csv").write_text(f"ID,DataID,Language,Label\n{rows}")
    name_gold(engine, "better.csv")
    number = start(engine)
    for run_id in runs_of(engine, number).values():
        score_submission(run_id)
    computed(engine)
    assert [row.cells for row in board(engine).rows] == [row.cells for row in before.rows], "nothing is published yet"
    publish(engine, number)
    assert board(engine).statistics == "pending"
    computed(engine)
    after = board(engine)
    assert (after.statistics, after.rows[0].team) == ("current", "Bea")
    assert bounds(by_team(after)["Bea"]) == bounds(by_team(before)["Ada"]), "all right, as Ada was"
    with reading(engine) as session:
        (kept,) = [one for one in session.scalars(select(BoardStatistics)) if one.document["pairs"]]
    assert set(kept.document["runs"]).isdisjoint(three.values())


def test_a_new_run_moves_the_boards_that_carry_it_over(engine: Engine, three: dict[str, int]) -> None:
    add_phase(engine, "post", starts_at=NOW - timedelta(days=1), carry_over=PHASE)
    with reading(engine) as session:
        first, later = (find_phase_task(session, COMPETITION, phase, TASK).id for phase in (PHASE, "post"))
    due(engine, NOW)
    for phase_task_id in (first, later):
        compute(engine, phase_task_id, 500)
    dan = enter(engine, add_user(engine, "dan"), (0, 1, 2))
    assert due(engine, NOW + HOUR) == []
    assert due(engine, NOW + HOUR + timedelta(minutes=1)) == [first, later]
    assert compute(engine, later, 500)
    with reading(engine) as session:
        kept = session.get_one(BoardStatistics, (later, first_board(session))).document
    assert dan in kept["runs"]
    assert len(kept["pairs"]) == 6


def frozen(engine: Engine, now: object) -> int:
    with writing(engine) as session:
        return len(freeze_due(session, now))  # type: ignore[arg-type]


def official(engine: Engine) -> Leaderboard:
    with reading(engine) as session:
        phase, found = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        return official_board(
            session, find_official(session, phase, found, None, Viewer(None, NOW)).snapshot, Viewer(None, NOW)
        )


def test_official_results_wait_for_their_statistics(engine: Engine, three: dict[str, int]) -> None:
    declare(engine, ends_at=NOW)
    closed = NOW + HOUR
    due(engine, closed)
    assert frozen(engine, closed) == 0
    with reading(engine) as session:
        assert compute(engine, the_phase_task(session).id, 500)
    assert frozen(engine, closed + SECOND) == 2
    assert (official(engine).statistics, ranges(official(engine))["Cem"]) == ("current", (3, 3))


def test_official_results_do_not_wait_for_ever_and_say_that_there_is_nothing(
    engine: Engine, three: dict[str, int]
) -> None:
    declare(engine, ends_at=NOW)
    closed = NOW + HOUR
    due(engine, closed)
    assert frozen(engine, closed + PATIENCE - SECOND) == 0
    assert frozen(engine, closed + PATIENCE) == 2
    assert (official(engine).statistics, set(ranges(official(engine)).values())) == ("none", {None})
