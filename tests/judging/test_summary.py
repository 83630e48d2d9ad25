"""The summary of a round: whose scores, by which run, under which name, and how they agree with the automatic ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.boards.marks import mark_row
from app.competitions.find import find_phase_task
from app.competitions.visibility import Viewer
from app.judging.rounds import publish_round
from app.judging.selection import choose_submissions
from app.judging.summary import ALL_EQUAL, results_for
from app.judging.views import CorrelationOut, JudgedOut, RoundResults
from app.models import Judgement, RowMark, RowStatus, Submission, TeamKind, User
from app.people.act import Act, UserAct
from evergold.scoring.task import NOT_ENTERED, Score
from tests import world
from tests.boards.places import board
from tests.competitions.embargo import add_phase, hide
from tests.judging import judged as judging
from tests.judging.test_imports import bring
from tests.rescoring.rescored import runs_of, start as start_set
from tests.world import COMPETITION, NOW, PHASE, TASK

ROUND = "paper"


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


@pytest.fixture
def systems(engine: Engine) -> dict[str, UUID]:
    world.add_competition(engine, per_day=None)
    judging.add_task(engine)
    return judging.enter_three(engine)


@pytest.fixture
def olga(engine: Engine) -> User:
    return world.add_user(engine, "olga", is_administrator=True)


def mark(engine: Engine, olga: User, systems: Mapping[str, UUID], english: Mapping[str, str]) -> None:
    """Import one mark of each system: english by name, three digits; all Portuguese ones are the best."""
    rows = [f"{systems[name]},en-1,A1,{','.join(digits)}" for name, digits in english.items()]
    portuguese = [f"{systems[name]},pt-1,A1,3,3,3" for name in english if name != "gamma"]
    bring(engine, olga, *rows, *portuguese, name=ROUND)


def score_an_open_set(engine: Engine) -> None:
    """Score every system again, with other scores."""
    scores = [Score("bertscore", split, 0.1, None, "s") for split in ("en", "pt", "macro")]
    for run_id in runs_of(engine, start_set(engine)).values():
        assert world.finish(engine, world.sure(world.claim(engine, run_id)), scores)


def summary(engine: Engine, viewer: User | None) -> RoundResults:
    with reading(engine) as session:
        competition, _ = judging.places(session)
        return results_for(session, competition, judging.the_round(session, ROUND), Viewer(viewer, NOW))


def automatic(found: RoundResults, split: str = "en") -> dict[str, float | None]:
    return {system.team: system.automatic[split].value for system in found.systems}


def publish(engine: Engine, olga: User) -> None:
    with writing(engine) as session:
        competition, _ = judging.places(session)
        publish_round(UserAct(session, olga, NOW, get_settings()), competition, judging.the_round(session, ROUND))


def test_human_scores_stand_beside_the_automatic_ones_best_first(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    mark(engine, olga, systems, {"alpha": "333", "beta": "300", "gamma": "000"})
    found = summary(engine, olga)
    assert found.splits == ["macro", "en", "pt"]
    assert [(one.team, one.human["en"].value, one.automatic["en"].value) for one in found.systems] == [
        ("Alpha", 1.0, 0.9),
        ("Beta", 0.5, 0.7),
        ("Gamma", 0.0, 0.5),
    ]
    assert (found.systems[2].human["pt"].reason, found.systems[2].automatic["pt"].reason) == (NOT_ENTERED,) * 2
    one, both = JudgedOut(judged=1, items=1), JudgedOut(judged=2, items=2)
    assert found.systems[0].judged == {"macro": both, "en": one, "pt": one}


def test_a_run_of_an_open_set_is_not_what_people_are_compared_with(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    mark(engine, olga, systems, {"alpha": "333", "beta": "300", "gamma": "000"})
    before = automatic(summary(engine, olga))
    score_an_open_set(engine)
    assert automatic(summary(engine, olga)) == before == {"Alpha": 0.9, "Beta": 0.7, "Gamma": 0.5}


def test_another_metric_of_the_same_languages_is_not_compared(engine: Engine, olga: User) -> None:
    world.add_competition(engine, per_day=None)
    judging.add_task(engine)
    others = [Score("diversity", split, 0.01, None, "s") for split in ("en", "pt", "macro")]
    user = world.add_user(engine, "alpha")
    alpha = judging.enter(engine, user, judging.ALPHA, {"en": 0.9, "pt": 0.8}, more=others)
    bring(engine, olga, f"{alpha},en-1,A1,3,3,3", name=ROUND)
    assert automatic(summary(engine, olga)) == {"Alpha": 0.9}


def test_scores_that_rise_together_correlate(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    mark(engine, olga, systems, {"alpha": "333", "beta": "300", "gamma": "000"})
    found = summary(engine, olga).correlations["en"]
    assert (found.systems, found.reason) == (3, None)
    assert found.pearson == pytest.approx(1.0)
    assert (found.spearman, found.kendall) == (1.0, 1.0)


def test_equal_scores_correlate_with_nothing(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    mark(engine, olga, systems, {"alpha": "300", "beta": "300", "gamma": "300"})
    reason = ALL_EQUAL.format("human")
    nothing = CorrelationOut(systems=3, pearson=None, spearman=None, kendall=None, reason=reason)
    assert summary(engine, olga).correlations["en"] == nothing


def test_only_baselines_keep_their_name_where_names_are_hidden(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    robot = world.add_user(engine, "robot")
    world.add_team(engine, robot, name="Copy", kind=TeamKind.BASELINE)
    systems["copy"] = judging.enter(engine, robot, judging.BETA, {"en": 0.4, "pt": 0.4})
    mark(engine, olga, systems, {"alpha": "333", "beta": "300", "gamma": "000", "copy": "100"})
    hide(engine, names_from="close")
    publish(engine, olga)
    systems_shown = summary(engine, None).systems
    assert {one.team for one in systems_shown} == {row.team for row in board(engine).rows}, "as the boards name them"
    shown = {one.automatic["en"].value: (one.team, one.method, one.is_baseline) for one in systems_shown}
    assert shown[0.4] == ("Copy", "method of robot", True)
    name, method, is_baseline = shown[0.9]
    assert ("Alpha" in name, method, is_baseline) == (False, "", False)


def test_who_is_disqualified_or_hidden_stands_in_no_summary_but_an_organisers(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    """Check marks of the team and of the submission; a row without a rank stays, and so does one marked elsewhere."""
    mark(engine, olga, systems, {"alpha": "333", "beta": "300", "gamma": "000"})
    publish(engine, olga)

    def shown(viewer: User | None = None) -> list[str]:
        return sorted(one.team for one in summary(engine, viewer).systems)

    def put(status: RowStatus, **whose: Any) -> None:
        with writing(engine) as session:
            asked = find_phase_task(session, COMPETITION, PHASE, TASK)
            mark_row(Act(session, olga, NOW, get_settings()), asked, status=status, note="why", **whose)

    add_phase(engine, "post", starts_at=NOW)
    with writing(engine) as session:
        team = session.get_one(Submission, systems["alpha"]).team_id
        elsewhere = find_phase_task(session, COMPETITION, "post", TASK).id
        row = RowMark(phase_task_id=elsewhere, team_id=team, status=RowStatus.HIDDEN, note="why", set_at=NOW)
        row.user_id = olga.id
        session.add(row)
    put(RowStatus.UNRANKED, team="Beta")
    assert shown() == ["Alpha", "Beta", "Gamma"]
    put(RowStatus.DISQUALIFIED, team="Beta")
    assert shown() == ["Alpha", "Gamma"]
    put(RowStatus.HIDDEN, submission_id=systems["gamma"])
    assert shown() == ["Alpha"]
    assert shown(olga) == ["Alpha", "Beta", "Gamma"]


def test_what_was_published_stays_whatever_becomes_of_the_marks_until_boards_are_hidden(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    mark(engine, olga, systems, {"alpha": "333", "beta": "300", "gamma": "000"})
    publish(engine, olga)
    viewers = (None, olga)
    before = [summary(engine, viewer) for viewer in viewers]
    with writing(engine) as session:
        session.execute(update(Judgement).values(mwe_sense=1))
    assert [summary(engine, viewer) for viewer in viewers] == before
    shown = [{system.submission for system in found.systems} for found in before]
    assert shown == [{None}, set(systems.values())], "ids of submissions are for organisers"
    hide(engine, board="hidden")
    assert summary(engine, olga) == before[1]
    with pytest.raises(NotFound):
        summary(engine, None)


def test_a_round_that_is_not_published_is_its_organisers_alone(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    mark(engine, olga, systems, {"alpha": "333", "beta": "300", "gamma": "000"})
    with pytest.raises(NotFound):
        summary(engine, world.add_user(engine, "ada"))


def test_a_round_begins_with_each_system_once_though_a_set_scored_it_again(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    score_an_open_set(engine)
    with reading(engine) as session:
        competition, phase_task = judging.places(session)
        chosen = choose_submissions(session, competition, phase_task, [], Viewer(olga, NOW))
    assert sorted(str(one.id) for one in chosen) == sorted(map(str, systems.values()))
