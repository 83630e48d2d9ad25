"""Standings that do not follow from the runs are found, reported and corrected; nothing else is changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine, delete, func, insert, select, update

from app.base.db import reading, writing
from app.models import KeptBoard, PhaseTask, ScoringRun, Standing, Submission, Tally, Team, User
from app.standings import check, choose, renew
from app.standings.check import START, TEAMS_OF_A_SLICE, check_slice, check_task
from app.standings.renew import renew_all
from evergold.cli import run
from evergold.cli.output import Code
from tests.boards.places import enter, shown
from tests.competitions.embargo import declare
from tests.rich_world import fresh, own
from tests.world import add_user, board_version_number, the_phase_task
from workers.sweep import check_standings


@pytest.fixture
def board(engine: Engine, people: list[User]) -> Engine:
    """Ada with 0.5 and then 0.7, Bob with 0.6."""
    enter(engine, people[0], 0.5)
    enter(engine, people[0], 0.7, minute=1)
    enter(engine, people[1], 0.6, minute=2)
    return engine


RIGHT = [(1, "Ada", 0.7), (2, "Bob", 0.6)]


def spoil(engine: Engine) -> None:
    """Let Ada count with her first run, as if the end of her second had been lost."""
    with writing(engine) as session:
        first = session.scalars(select(Team.id).where(Team.name == "Ada").order_by(Team.id.desc())).first()
        before = session.scalars(fresh(ScoringRun).order_by(ScoringRun.id).limit(1)).one().id
        facts = func.replace(Standing.facts, "[0.7,", "[0.5,")
        session.execute(update(Standing).where(Standing.team_id == first).values(run_id=before, entries=1, facts=facts))


def differences(engine: Engine) -> int:
    with reading(engine) as session:
        return len(check_task(session, the_phase_task(session).id))


@pytest.mark.both
def test_a_board_is_made_of_what_is_kept(board: Engine) -> None:
    assert shown(board) == RIGHT
    spoil(board)
    assert shown(board) == [(1, "Bob", 0.6), (2, "Ada", 0.5)]


def test_what_was_chosen_by_other_rules_is_not_believed(board: Engine) -> None:
    spoil(board)
    with writing(board) as session:
        session.execute(update(KeptBoard).values(rules="other"))
    assert shown(board) == RIGHT


def test_what_an_earlier_version_of_the_rules_chose_is_not_believed(
    board: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(board)
    monkeypatch.setattr(choose, "VERSION", choose.VERSION + 1)
    assert shown(board) == RIGHT


@pytest.mark.parametrize("declared", [{"entry_rule": "last"}, {"visibility": {"precision": 3}}])
def test_what_was_chosen_before_a_rule_was_changed_is_not_believed(board: Engine, declared: dict[str, Any]) -> None:
    spoil(board)
    declare(board, **declared)
    assert shown(board) == RIGHT


@pytest.mark.both
def test_the_sweep_finds_a_wrong_standing_and_puts_it_right(board: Engine) -> None:
    assert differences(board) == 0
    spoil(board)
    version = board_version_number(board)
    assert differences(board) == 1
    assert check_standings(board, START) == START
    assert shown(board) == RIGHT
    assert board_version_number(board) == version + 1, "answers that were kept are made anew"
    assert check_standings(board, START) == START
    assert board_version_number(board) == version + 1, "nothing is wrong any more"


@pytest.mark.both
def test_what_is_copied_of_a_run_is_compared_to_the_last_bit(board: Engine) -> None:
    with writing(board) as session:
        near = func.replace(Standing.facts, "[0.7,", "[0.7000000000000001,")
        session.execute(update(Standing).values(facts=near))
    assert differences(board) == 1
    check_standings(board, START)
    assert differences(board) == 0


def test_a_standing_of_nobody_is_found(board: Engine) -> None:
    with writing(board) as session:
        here = Standing.phase_task_id == the_phase_task(session).id
        (columns,) = session.execute(select(*Standing.__table__.columns).where(here).limit(1)).mappings()
        session.execute(insert(Standing).values({**columns, "id": 999, "is_whole": False, "gold": "other.csv"}))
    assert differences(board) == 1


def test_what_is_not_kept_yet_is_kept_after_a_sweep(board: Engine) -> None:
    with writing(board) as session:
        session.execute(delete(Standing))
        session.execute(delete(KeptBoard))
    assert shown(board) == RIGHT
    check_standings(board, START)
    with reading(board) as session:
        here = select(Standing).where(Standing.phase_task_id == the_phase_task(session).id)
        assert len(session.scalars(here).all()) == 2, "on the board that both entered"
    assert shown(board) == RIGHT


def test_the_sweep_looks_at_a_few_teams_at_a_time_and_begins_again(engine: Engine, people: list[User]) -> None:
    teams = TEAMS_OF_A_SLICE + 1
    for number in range(teams):
        enter(engine, add_user(engine, f"user{number}"), 0.5, minute=number)
    with writing(engine) as session:
        _, reached = check_slice(session, START)
        assert reached != START
        assert check_slice(session, reached) == ([], START)


@pytest.mark.parametrize(("runs", "is_end"), [(2, False), (3, True)])
def test_a_part_of_the_sweep_reads_no_more_runs_than_its_limit(
    board: Engine, monkeypatch: pytest.MonkeyPatch, runs: int, is_end: bool
) -> None:
    """Check Ada with two and Bob with one, whatever teams of other competitions have."""
    monkeypatch.setattr(check, "TRIES_OF_A_SLICE", runs)
    with writing(board) as session:
        ada = session.scalars(own(Team).where(Team.name == "Ada")).one().id
        assert check_slice(session, ada - 1) == ([], START if is_end else ada)


# ------------------------------------------------------------------------------------------------------ command line


@pytest.fixture
def command(
    board: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """`evergold standings …` on this database; exit code, stdout, stderr."""
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", board.url.render_as_string(hide_password=False))

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["standings", *arguments])
        return code, *capsys.readouterr()

    return call


def test_the_command_says_that_all_is_well(board: Engine, command: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = command("--check")
    with reading(board) as session:
        standings = session.scalars(select(func.count()).select_from(Standing)).one()
        tasks = session.scalars(select(func.count(Submission.phase_task_id.distinct()))).one()
    expected = f"{standings} standings in {tasks} tasks with submissions. All agree with the runs.\n"
    assert (code, out) == (Code.OK, expected)


def test_the_command_names_what_is_wrong_and_writes_it_anew(
    board: Engine, command: Callable[..., tuple[int, str, str]]
) -> None:
    spoil(board)
    code, _, errors = command("--check")
    assert code == Code.ERROR
    assert "Different from the runs: 1 standing." in errors
    code, out, _ = command("--check", "--json")
    assert code == Code.ERROR
    with reading(board) as session:
        task, first = the_phase_task(session), session.scalars(fresh(Standing).order_by(Standing.id)).first()
        assert first is not None
        place = f"board {first.board_id} of task {task.id}: team {first.team_id}"
    assert json.loads(out)["differences"] == [place]
    assert command("--rebuild", "--check")[0] == Code.OK
    assert shown(board) == RIGHT


@pytest.mark.both
@pytest.mark.parametrize("is_gone", [False, True], ids=["a wrong number", "no number"])
def test_a_wrong_number_of_runs_is_found_and_put_right(board: Engine, is_gone: bool) -> None:
    with writing(board) as session:
        here = Tally.phase_task_id == the_phase_task(session).id
        first = session.scalars(select(Tally.team_id).where(here).order_by(Tally.team_id)).first()
        wrong = delete(Tally) if is_gone else update(Tally).values(runs=5)
        session.execute(wrong.where(here, Tally.team_id == first))
    assert differences(board) == 1
    check_standings(board, START)
    assert differences(board) == 0
    with reading(board) as session:
        here = Tally.phase_task_id == the_phase_task(session).id
        assert session.scalars(select(Tally.runs).where(here).order_by(Tally.team_id)).all() == [2, 1]


def test_renewing_all_counts_all_anew(board: Engine) -> None:
    with writing(board) as session:
        session.execute(delete(Tally))
        renew_all(session, session.scalars(select(PhaseTask.id)).all())
    assert differences(board) == 0


# ----------------------------------------------------------------------------------------------------- a few at a time


def test_teams_are_looked_at_in_parts_that_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renew, "TEAMS_AT_A_TIME", 3)
    monkeypatch.setattr(renew, "SUBMISSIONS_AT_A_TIME", 10)
    submissions = {5: 1, 1: 4, 2: 6, 3: 1, 4: 30, 6: 0, 7: 2, 8: 1}
    assert list(renew.batches_of_teams(submissions)) == [[1, 2], [3], [4], [5, 6, 7], [8]]
    assert list(renew.batches_of_teams({})) == []


def test_a_long_check_says_how_far_it_is(
    command: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renew, "TEAMS_AT_A_TIME", 1)
    code, out, errors = command("--check", "--json")
    assert (code, json.loads(out)["differences"]) == (Code.OK, [])
    assert "1 of 2 teams are looked at." in errors.splitlines()
    assert "1 of 2 teams are looked at." in command("--check")[2].splitlines()
    assert "1 of 2 teams are written again." in command("--rebuild")[2].splitlines()
