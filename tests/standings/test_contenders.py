"""The runs that may be an entry yield the same choice as all runs, whatever marks and rules there are."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.models import ScoringRun, Submission
from app.standings import renew
from app.standings.check import check_task
from app.standings.choose import choose
from app.standings.contenders import contenders_of, needs_all_tries
from app.standings.renew import places_of, renew_team
from app.standings.tries import RunFilter, choices_of, scored_runs
from tests.feedback.random_world import add_random_world
from tests.world import NOW, SECOND, ZERO_SHOT, add_competition, add_team, add_user, score, submit, the_phase_task


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.soak] if seed > 11 else []) for seed in range(60)]
)
def test_contenders_are_as_good_as_all_tries(engine: Engine, seed: int) -> None:
    found = add_random_world(engine, seed)
    compared = 0
    with reading(engine) as session:
        submissions = session.scalars(select(Submission).where(Submission.id.in_(found.submissions))).all()
        teams = sorted({one.team_id for one in submissions})
        moments = [None, *(one.submitted_at + SECOND / 1_000_000 for one in submissions[::7])]
        tasks = sorted({one.phase_task_id for one in submissions})
        for task in tasks:
            for place in places_of(session, task):
                rules = place.rules
                assert rules is not None
                if needs_all_tries(rules):
                    continue
                for until in moments:
                    bounds = RunFilter(teams=teams, until=until)
                    every = scored_runs(session, task, [rules], bounds)[rules]
                    choices = choices_of(session, task, [(place.board_id, rules)], bounds)[place.board_id]
                    some = contenders_of(session, task, place.board_id, rules, bounds)
                    for one in choose(every, rules, choices):
                        chosen = choose(some[one.team_id].tries, rules, choices)[0]
                        assert chosen._replace(entries=some[one.team_id].entries) == one
                        golds = {run.gold for run in every if run.team_id == one.team_id}
                        assert some[one.team_id].gold == (golds.pop() if len(golds) == 1 else None)
                        compared += 1
    assert compared > 9 or not any_choice(engine, tasks)


def any_choice(engine: Engine, tasks: Collection[int]) -> bool:
    """Return whether any board chooses by single runs."""
    with reading(engine) as session:
        rules = [one.rules for task in tasks for one in places_of(session, task)]
    return any(one is not None and not needs_all_tries(one) for one in rules)


@pytest.mark.parametrize("seed", range(3))
def test_a_long_past_leaves_the_standings_that_follow_from_all_runs(
    engine: Engine, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = add_random_world(engine, seed)
    monkeypatch.setattr(renew, "READ_AT_ONCE", 0)
    with writing(engine) as session:
        submissions = session.scalars(select(Submission).where(Submission.id.in_(found.submissions))).all()
        last = submissions[-1]
        run = session.scalars(
            select(ScoringRun).where(ScoringRun.submission_id == last.id, ScoringRun.is_current)
        ).one()
        last.withdrawn_at = run.finished_at  # something changes
        for task, team in sorted({(one.phase_task_id, one.team_id) for one in submissions}):
            renew_team(session, task, team)
        assert [check_task(session, task) for task in sorted({one.phase_task_id for one in submissions})] == [[], []]


def test_of_tries_with_one_value_three_are_read_at_most(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    team = add_team(engine, ada, name="Ada")
    values = [0.5, 0.7, 0.7, 0.2, 0.2, 0.7, 0.7, 0.7]
    runs = []
    for number, value in enumerate(values):
        run = submit(engine, ada, NOW + number * SECOND).run.id
        score(engine, run, value)
        runs.append(run)
    with reading(engine) as session:
        task = the_phase_task(session).id
        (place,) = (one for one in places_of(session, task) if one.rules is not None and one.rules.split == ZERO_SHOT)
        assert place.rules is not None
        found = contenders_of(session, task, place.board_id, place.rules, RunFilter(teams=[team.id]))[team.id]
        assert [one.run_id for one in found.tries] == [runs[0], runs[1], runs[-1]]  # the first, the best, the last
        assert found.entries == len(values)
