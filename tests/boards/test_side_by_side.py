"""Why a place of the results of all phases is empty, and the gold and versions that boards have of their own."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.boards.leaderboard import board_version
from app.boards.rows import CommittedGold
from app.boards.side_by_side import build_results
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import EntryRule, HistoricRow, User
from evergold.scoring.task import NOT_ENTERED
from tests.boards.places import board, enter
from tests.competitions.embargo import add_phase, declare
from tests.sealed import make_key, seal_gold
from tests.world import COMPETITION, EARLIER_PHASE, HOUR, NOW, PHASE


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


def reasons(engine: Engine, team: str) -> dict[str, str | None]:
    """Why this team has no score, by phase; None where it has one."""
    with reading(engine) as session:
        competition = find_competition(session, COMPETITION)
        found = build_results(session, competition, competition.tasks[0], Viewer(None, NOW))
        row = next(row for row in found.rows if row.team == team)
        cells = zip(found.columns, row.cells, strict=True)
        return {column.phase.name: cell.reason for column, cell in cells if column.board.name == "zero-shot"}


def test_a_hidden_board_and_one_not_entered_are_empty_for_their_own_reasons(engine: Engine, people: list[User]) -> None:
    add_phase(engine, "post", starts_at=NOW - HOUR, visibility={"board": "hidden"})
    enter(engine, people[0], 0.9)
    found = reasons(engine, "Ada")
    assert (found[PHASE], found[EARLIER_PHASE]) == (None, NOT_ENTERED)
    assert found["post"] == "hidden until the organisers show it"


def test_of_several_rows_of_a_team_the_best_stands_there_and_published_systems_are_told_apart_by_their_source(
    engine: Engine, people: list[User]
) -> None:
    declare(engine, entry_rule=EntryRule.ALL)
    for minute, value in enumerate((0.5, 0.9, 0.7)):
        enter(engine, people[0], value, minute=minute)
    with writing(engine) as session:
        phase, first = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        for source, value in (("A paper", 0.4), ("Another", 0.3)):
            scores = {"macro_f1 zero_shot/all": value}
            session.add(HistoricRow(phase_id=phase.id, board_id=first.id, team="Old", scores=scores, source=source))
    with reading(engine) as session:
        competition = find_competition(session, COMPETITION)
        found = build_results(session, competition, competition.tasks[0], Viewer(None, NOW))
    place = next(n for n, one in enumerate(found.columns) if (one.phase.name, one.board.name) == (PHASE, "zero-shot"))
    told = {(row.team, row.source): row.cells[place].value for row in found.rows if row.team in ("Ada", "Old")}
    assert told == {("Ada", None): 0.9, ("Old", "A paper"): 0.4, ("Old", "Another"): 0.3}


def test_boards_of_one_score_share_a_column_unless_they_are_of_two_tracks(engine: Engine, people: list[User]) -> None:
    def columns() -> list[str]:
        with reading(engine) as session:
            competition = find_competition(session, COMPETITION)
            found = build_results(session, competition, competition.tasks[0], Viewer(None, NOW)).columns
        return [one.board.name for one in found if one.phase.name == PHASE]

    for track, names in ((None, ["zero-shot"]), ("open", ["zero-shot", "one-shot"])):
        with writing(engine) as session:
            first, other = find_competition(session, COMPETITION).boards
            other.rank_split, other.columns, other.track = first.rank_split, first.columns, track
        assert columns() == names


def test_a_board_names_the_gold_in_use_of_its_own_phase_and_task(engine: Engine, people: list[User]) -> None:
    make_key(engine)
    gold = seal_gold(engine, b"gold")
    assert board(engine).sealed_gold == (CommittedGold(1, gold.commitment),)


def test_boards_that_show_ranks_alone_have_versions_of_their_own(engine: Engine, people: list[User]) -> None:
    """Check two boards that are both empty."""
    declare(engine, visibility={"board": "ranks_only"})
    add_phase(
        engine, "post", starts_at=NOW - HOUR, visibility={"board": "ranks_only", "precision": "full", "slices": "all"}
    )

    def version(phase: str) -> str:
        with reading(engine) as session:
            return board_version(
                session, *find_board(find_competition(session, COMPETITION), phase, "zero-shot"), Viewer(None, NOW)
            )

    assert version(PHASE) != version("post")
