"""Scores that an organiser confirms before an imported competition is visible: what is refused, what is valid, what is
stored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, delete, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm
from app.competitions.confirmation import (
    CONFIRM_SCORES,
    BaselineScore,
    Confirmation,
    NotConfirmed,
    Verdict,
    confirm_scores,
    confirmation_of,
    decline_scores,
)
from app.competitions.find import find_competition, find_phase_task
from app.competitions.life import Life, change_life
from app.models import (
    AuditEntry,
    Revision,
    RevisionSource,
    RunStatus,
    ScoreRow,
    ScoringRun,
    Stage,
    Submission,
    Team,
    TeamKind,
)
from app.people.act import Act
from app.people.audit import record
from app.people.rights import find_user
from tests.beside import add_other_task
from tests.competitions.embargo import add_phase
from tests.rich_world import NEIGHBOURS, OTHER_TASK, fresh, leave_alone_what_is_prepared
from tests.world import COMPETITION, NOW, PHASE, TASK, add_competition, add_team, add_user, the_phase_task

WHY = "The environment is a guess: Python 3.9 with numpy==1.22.4"
WAITS = "not scored yet"
ONE = BaselineScore(PHASE, TASK, "Zeros", "accuracy", "all", 0.5)
WHOSE = f"Baseline 'Zeros' of '{TASK}' in phase '{PHASE}'"
NONE = replace(ONE, value=None, reason="no items")


@pytest.fixture
def draft(sqlite_engine: Engine) -> Engine:
    """Return a draft with a scored baseline, whose first revision requires a confirmation."""
    leave_alone_what_is_prepared(sqlite_engine)
    add_competition(sqlite_engine)
    add_user(sqlite_engine, "ada")
    with writing(sqlite_engine) as session:
        find_competition(session, COMPETITION).stage = Stage.DRAFT
    declare(sqlite_engine, 1, {CONFIRM_SCORES: [WHY]})
    return sqlite_engine


def declare(engine: Engine, number: int, more: dict[str, Any], scores: dict[str, float] | None = None) -> None:
    baseline = {"name": "Zeros", "file": "zeros.csv", **({"scores": scores} if scores else {})}
    document = {"phases": [{"name": PHASE, "tasks": {TASK: {"baselines": [baseline]}}}], **more}
    with writing(engine) as session:
        session.add(
            Revision(
                competition_id=find_competition(session, COMPETITION).id,
                number=number,
                source=RevisionSource.FILE,
                made_at=NOW,
                author="ada",
                document=document,
                fingerprint=str(number),
                changes=[],
            )
        )


def score(engine: Engine, value: float | None) -> None:
    """Score the baseline, as a worker would, with an accuracy."""
    user = add_user(engine, "zeros")
    team = add_team(engine, name="Zeros", kind=TeamKind.BASELINE)
    with writing(engine) as session:
        submission = Submission(
            team_id=team.id,
            user_id=user.id,
            phase_task_id=the_phase_task(session).id,
            sha256="0" * 64,
            size_bytes=1,
            submitted_at=NOW,
        )
        session.add(submission)
        session.flush()
        run = ScoringRun(submission_id=submission.id, status=RunStatus.SCORED, gold="g", queued_at=NOW, finished_at=NOW)
        session.add(run)
        session.flush()
        reason = None if value is not None else "no items"
        session.add(ScoreRow(run_id=run.id, metric="accuracy", split="all", value=value, reason=reason, signature="s"))


def found(engine: Engine) -> Confirmation:
    with reading(engine) as session:
        confirmation = confirmation_of(session, find_competition(session, COMPETITION))
    assert confirmation is not None
    return confirmation


def publish(engine: Engine, stage: Stage = Stage.PUBLISHED) -> None:
    with writing(engine) as session:
        change_life(session, find_competition(session, COMPETITION), Life(stage), actor=None, now=NOW)


def confirm(engine: Engine) -> None:
    with writing(engine) as session:
        confirm_scores(
            Act(session, find_user(session, "ada"), NOW, get_settings()), find_competition(session, COMPETITION)
        )


def decline(engine: Engine, why: str) -> None:
    with writing(engine) as session:
        decline_scores(
            Act(session, find_user(session, "ada"), NOW, get_settings()), find_competition(session, COMPETITION), why
        )


@pytest.mark.parametrize("stage", [Stage.PRIVATE, Stage.PUBLISHED])
def test_nobody_else_sees_it_before_its_scores_are_confirmed(draft: Engine, stage: Stage) -> None:
    score(draft, 0.5)
    with pytest.raises(NotConfirmed, match="not confirmed yet: The environment is a guess"):
        publish(draft, stage)
    confirm(draft)
    publish(draft, stage)
    verdict = found(draft).verdict
    assert verdict is not None
    assert (verdict.is_confirmed, verdict.by, verdict.reason) == (True, "ada", "")


def test_whoever_edits_the_key_away_still_has_to_decide(draft: Engine) -> None:
    declare(draft, 2, {})
    with pytest.raises(NotConfirmed):
        publish(draft)


def test_a_baseline_without_a_score_confirms_nothing(draft: Engine) -> None:
    assert [(one.metric, one.reason) for one in found(draft).scores] == [("", "not scored yet")]
    with pytest.raises(NotConfirmed, match="'Zeros' .* has no score to compare: not scored yet"):
        confirm(draft)
    score(draft, None)
    with pytest.raises(NotConfirmed, match="No baseline has a score to compare"):
        confirm(draft)


@pytest.mark.parametrize(
    ("value", "declared", "agrees"),
    [(0.33333333, 0.3333, True), (0.33336, 0.3333, False), (-0.999999, 0.333333, False), (0.5, 0.5, True)],
)
def test_a_score_that_is_declared_has_to_be_the_same(
    draft: Engine, value: float, declared: float, agrees: bool
) -> None:
    score(draft, value)
    declare(draft, 2, {CONFIRM_SCORES: [WHY]}, {"accuracy all": declared})
    (one,) = found(draft).scores
    assert (one.value, one.declared, one.agrees) == (value, declared, agrees)
    if agrees:
        confirm(draft)
    else:
        with pytest.raises(NotConfirmed, match=f"scores {value:.10g} in accuracy, not {declared:.10g}"):
            confirm(draft)


def test_each_score_is_that_of_its_own_baseline_task_and_phase(draft: Engine) -> None:
    """Check it next to a team of this name, another phase, another competition, and runs that are replaced or older."""
    add_other_task(draft)
    add_phase(draft, "practice", starts_at=NOW)
    places = [("practice", TASK, "Zeros"), (PHASE, OTHER_TASK, "Zeros"), (PHASE, TASK, "Ones"), (PHASE, TASK, "Zeros")]
    document: dict[str, Any] = {"phases": []}
    for phase in ("practice", PHASE):
        tasks: dict[str, Any] = {}
        for place, task, name in places:
            if place == phase:
                tasks.setdefault(task, {"baselines": []})["baselines"].append({"name": name, "file": "x.csv"})
        document["phases"].append({"name": phase, "tasks": tasks})
    declare(draft, 2, {CONFIRM_SCORES: [WHY], **document})
    user, team = add_user(draft, "zeros"), {}
    for name in ("Zeros", "Ones"):
        team[name] = add_team(draft, name=name, kind=TeamKind.BASELINE).id
    team["Ones, a team"] = add_team(draft, user, name="Ones, a team").id
    elsewhere = add_team(draft, name="Ones", kind=TeamKind.BASELINE, competition=NEIGHBOURS).id

    def enter(phase: str, task: str, team_id: int, *values: float, place: str = COMPETITION) -> None:
        """A submission with as many runs, the current one last."""
        with writing(draft) as session:
            submission = Submission(team_id=team_id, user_id=user.id, sha256="0" * 64, size_bytes=1, submitted_at=NOW)
            submission.phase_task_id = find_phase_task(session, place, phase, task).id
            session.add(submission)
            session.flush()
            for number, value in enumerate(values, start=1):
                run = ScoringRun(submission_id=submission.id, status=RunStatus.SCORED, gold="g", queued_at=NOW)
                run.is_current = number == len(values)
                session.add(run)
                session.flush()
                for metric in ("accuracy", "macro_f1"):
                    shown = value if metric == "accuracy" else value / 2
                    row = ScoreRow(run_id=run.id, metric=metric, split="all", value=shown, signature="s")
                    session.add(row)

    for number, (phase, task, name) in enumerate(places[:3], start=1):
        enter(phase, task, team[name], number / 10)
    enter(PHASE, TASK, team["Zeros"], 0.8)
    enter(PHASE, TASK, team["Zeros"], 0.9, 0.7)
    with writing(draft) as session:
        session.get_one(Team, team["Ones, a team"]).name = "Twos"
    enter(PHASE, TASK, team["Ones, a team"], 0.99)
    enter(PHASE, TASK, elsewhere, 0.98, place=NEIGHBOURS)
    scores = found(draft).scores
    assert [(one.phase, one.task, one.baseline, one.metric, one.value) for one in scores] == [
        (phase, task, name, metric, value / part)
        for (phase, task, name), value in zip(places, (0.1, 0.2, 0.3, 0.7), strict=True)
        for metric, part in (("accuracy", 1), ("macro_f1", 2))
    ]


def test_a_rejected_or_failed_baseline_says_so(draft: Engine) -> None:
    score(draft, 0.5)
    for status, words in ((RunStatus.REJECTED, "rejected"), (RunStatus.FAILED, "failed"), (RunStatus.RUNNING, WAITS)):
        with writing(draft) as session:
            run = session.scalars(fresh(ScoringRun)).one()
            session.execute(delete(ScoreRow).where(ScoreRow.run_id == run.id))
            run.status = status
        assert [(one.metric, one.reason) for one in found(draft).scores] == [("", words)]


def test_the_last_verdict_on_this_competition_holds(draft: Engine) -> None:
    """Check that verdicts on another competition, and other entries on this one, do not count."""
    score(draft, 0.5)
    with writing(draft) as session:
        for name in (NEIGHBOURS, f"{COMPETITION}-2"):
            record(session, "eve", "competition.scores_confirmed", f"competition {name}", {"reason": ""}, now=NOW)
        record(session, "eve", "competition.keep", f"competition {COMPETITION}", now=NOW)
    assert found(draft).verdict is None
    decline(draft, "gone")
    confirm(draft)
    with writing(draft) as session:
        record(session, "eve", "competition.keep", f"competition {COMPETITION}", now=NOW)
    verdict = found(draft).verdict
    assert verdict == Verdict(True, "ada", NOW, "")
    decline(draft, "gone again")
    assert found(draft).verdict == Verdict(False, "ada", NOW, "gone again")


def test_the_first_and_the_newest_declaration_are_asked_in_the_order_of_their_numbers(draft: Engine) -> None:
    """Check that an import in between, and an edit of it, decide nothing; the scores are those of the newest."""
    declare(draft, 3, {})
    declare(draft, 2, {CONFIRM_SCORES: ["Another reason"]}, {"accuracy all": 0.9})
    score(draft, 0.5)
    assert found(draft).reasons == (WHY,)
    assert [one.declared for one in found(draft).scores] == [None]
    declare(draft, 4, {CONFIRM_SCORES: ["The newest"]}, {"accuracy all": 0.4, "accuracy other": 0.5})
    assert found(draft).reasons == ("The newest",)
    assert [one.declared for one in found(draft).scores] == [0.4]


@pytest.mark.parametrize(
    ("scores", "fault"),
    [
        ((), "The competition has no baseline whose score could be compared: add one."),
        ((ONE, NONE), ""),
        ((ONE, replace(NONE, metric="")), f"{WHOSE} has no score to"),
        ((ONE, replace(NONE, declared=0.5)), f"{WHOSE} has no score to"),
        ((NONE, NONE), "No baseline has a score to compare."),
        ((ONE, replace(ONE, declared=0.4, metric="mcc")), f"{WHOSE} scores 0.5 in mcc, not 0.4."),
        ((replace(ONE, declared=0.5), ONE), ""),
    ],
)
def test_why_scores_cannot_be_confirmed(scores: tuple[BaselineScore, ...], fault: str) -> None:
    said = Confirmation((WHY,), scores, None).fault
    assert said.startswith(fault)
    assert bool(said) == bool(fault)


def test_it_is_declined_with_a_sentence_that_is_kept_with_the_scores(draft: Engine) -> None:
    score(draft, 0.25)
    for nothing in ("", "  ", "x" * 301):
        with pytest.raises(InvalidForm) as refused:
            decline(draft, nothing)
        assert "why" in refused.value.fields
    decline(draft, "the other  system is gone")
    publish(draft)
    verdict = found(draft).verdict
    assert verdict is not None
    assert (verdict.is_confirmed, verdict.reason) == (False, "the other system is gone")
    with reading(draft) as session:
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "competition.scores_declined")).one()
    assert [(one["baseline"], one["metric"], one["value"]) for one in entry.details["scores"]] == [
        ("Zeros", "accuracy", "0.25")
    ]


def test_a_verdict_on_a_deleted_competition_of_the_name_does_not_hold(draft: Engine) -> None:
    score(draft, 0.5)
    confirm(draft)
    with writing(draft) as session:
        find_competition(session, COMPETITION).created_at = NOW.replace(year=NOW.year + 1)
    assert found(draft).verdict is None


def test_nothing_is_to_be_confirmed_where_nothing_declares_it(sqlite_engine: Engine) -> None:
    leave_alone_what_is_prepared(sqlite_engine)
    add_competition(sqlite_engine)
    add_user(sqlite_engine, "ada")
    with reading(sqlite_engine) as session:
        assert confirmation_of(session, find_competition(session, COMPETITION)) is None
    with pytest.raises(NotConfirmed, match="This competition has no scores to confirm"):
        confirm(sqlite_engine)
