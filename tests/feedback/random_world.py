"""Random competitions with everything on which an entry depends: rules, marks, baselines, choices, a second phase that
carries entries over, hidden digits, changed gold, statistics, replaced runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from uuid import UUID

from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from app.base.db import writing
from app.boards.rows import Interval
from app.boards.statistics import Statistics, statistics_document
from app.competitions.find import find_competition, find_phase_task
from app.models import (
    Board,
    BoardStatistics,
    Competition,
    EntryChoice,
    EntryRule,
    Phase,
    PhaseTask,
    Right,
    Role,
    RowMark,
    RowStatus,
    ScoringRun,
    Submission,
    Team,
    TeamKind,
    User,
)
from app.people.rights import grant_role
from app.standings.renew import renew_all
from evergold.scoring.resampling.pairs import Difference
from evergold.scoring.task import Score
from tests import world
from tests.beside import add_old_run
from tests.competitions.embargo import add_phase
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, SECOND, TASK

POST = "post"
PEOPLE, SUBMISSIONS = 6, 34
LATER = NOW + HOUR


@dataclass(frozen=True, slots=True)
class RandomWorld:
    """The people who look, and the submissions in order."""

    people: list[User]
    organiser: User
    submissions: list[UUID]
    now: datetime


def add_random_world(engine: Engine, seed: int) -> RandomWorld:
    """Fill a database."""
    dice = Random(seed)
    rule = dice.choice(list(EntryRule))
    world.add_competition(engine, per_day=None, entry_rule=rule, ends_at=NOW + DAY)
    add_phase(
        engine,
        POST,
        starts_at=NOW - DAY,
        carry_over=PHASE,
        entry_rule=dice.choice([rule, EntryRule.BEST, EntryRule.LAST]),
    )
    people = [world.add_user(engine, f"person-{number}") for number in range(PEOPLE)]
    organiser = world.add_user(engine, "olga")
    teams = [world.add_team(engine, one, name=f"Team {one.username}") for one in people]
    bots = [world.add_user(engine, f"bot-{number}") for number in range(2)]
    teams += [world.add_team(engine, one, name=f"Bot {one.username}", kind=TeamKind.BASELINE) for one in bots]
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        grant_role(session, competition, organiser, Role.ORGANISER, NOW, actor=None)
        competition.neutral_salt = "salt"
        phases = list(
            session.scalars(select(Phase).where(Phase.competition_id == competition.id, Phase.name.in_((PHASE, POST))))
        )
        common = _visibility(dice)
        for phase in phases:
            phase.ladder_step = 0.05
            phase.without_choice = dice.choice([EntryRule.BEST, EntryRule.LAST])
            phase.visibility = common if dice.random() < 0.6 else _visibility(dice)
        is_divided = dice.random() < 0.2
        for asked in _tasks(session):
            asked.gold_is_public = dice.random() < 0.3
            asked.ranked_baselines = [teams[-1].id] if dice.random() < 0.5 else []
            asked.private_part = {"share": 0.5, "shown_from": (NOW - HOUR).isoformat()} if is_divided else {}
    submissions = _submissions(engine, dice, [*people, *bots])
    for number, one in enumerate(submissions[seed % 5 :: 5]):
        add_old_run(engine, one, 0.95 if number % 2 else 0.02)
    with writing(engine) as session:
        _change(session, dice, teams, submissions)
        _statistics(session, dice)
        renew_all(session, [one.id for one in _tasks(session)])
    return RandomWorld([*people, bots[0]], organiser, submissions, LATER)


def _tasks(session: Session) -> list[PhaseTask]:
    return [find_phase_task(session, COMPETITION, phase, TASK) for phase in (PHASE, POST)]


def _visibility(dice: Random) -> dict[str, object]:
    found: dict[str, object] = {"precision": dice.choice(["full", "full", 1, 2, 4]), "slices": "all"}
    board = dice.choice(["public", "public", "public", "ranks_only", "hidden"])
    found |= {"board": board}
    if dice.random() < 0.2:
        found["names_from"] = (NOW + 2 * DAY).isoformat()
    if dice.random() < 0.1:
        found["own_scores"] = dice.choice(["never", "after_close"])
    return found


def _submissions(engine: Engine, dice: Random, senders: list[User]) -> list[UUID]:
    found = []
    for number in range(SUBMISSIONS):
        at = NOW - HOUR + number * dice.choice([1, 20]) * SECOND + number * timedelta(microseconds=7)
        sender = dice.choice(senders)
        accepted = world.submit(engine, sender, NOW, content=f"{number}")
        values = [
            None if dice.random() < 0.1 else dice.choice([0.1, 0.3, 0.55, 0.549, 0.5501, 0.7, dice.random()])
            for _ in "ab"
        ]
        held = world.sure(world.claim(engine, accepted.run_id))
        scores = [
            *world.scores_of(world.ZERO_SHOT, values[0], "undefined" if dice.random() < 0.5 else "not entered"),
            *world.scores_of(world.ONE_SHOT, values[1]),
        ]
        world.finish(engine, held, scores, private=[Score("macro_f1", world.ZERO_SHOT, dice.random(), None, "private")])
        found.append(accepted.submission.id)
        with writing(engine) as session:
            task = dice.choice(_tasks(session)[: 1 if dice.random() < 0.6 else 2])
            sent = {"submitted_at": at, "phase_task_id": task.id, "is_late": dice.random() < 0.1}
            session.execute(update(Submission).where(Submission.id == found[-1]).values(**sent))
    return found


def _change(session: Session, dice: Random, teams: list[Team], submissions: list[UUID]) -> None:
    """Let organisers mark some, teams withdraw and choose some, and some be scored against other gold."""
    chosen_on = list(session.scalars(select(Board).join(Competition).where(Competition.name == COMPETITION)))
    has_other_gold = dice.random() < 0.3
    choices: dict[tuple[int, int, int], EntryChoice] = {}
    for submission_id in submissions:
        submission = session.get_one(Submission, submission_id)
        event = dice.random()
        if event < 0.1:
            mark = dice.choice(list(RowStatus))
            session.add(
                RowMark(
                    phase_task_id=submission.phase_task_id,
                    team_id=submission.team_id,
                    submission_id=submission.id,
                    status=mark,
                    note="why",
                    set_at=NOW,
                )
            )
        elif event < 0.2:
            submission.withdrawn_at = NOW
        elif event < 0.5:
            board = dice.choice(chosen_on)
            key = submission.team_id, submission.phase_task_id, board.id
            choices[key] = EntryChoice(
                team_id=key[0],
                phase_task_id=key[1],
                board_id=key[2],
                submission_id=submission.id,
                user_id=submission.user_id,
                chosen_at=submission.submitted_at + dice.choice([1, 600]) * SECOND,
            )
        elif event < 0.7 and has_other_gold:
            other = update(ScoringRun).where(ScoringRun.submission_id == submission_id)
            session.execute(other.values(gold="other.csv"))
    session.add_all(choices.values())
    for asked in _tasks(session):
        for team in teams:
            if dice.random() < 0.1:
                mark = dice.choice(list(RowStatus))
                session.add(RowMark(phase_task_id=asked.id, team_id=team.id, status=mark, note="why", set_at=NOW))


def _statistics(session: Session, dice: Random) -> None:
    """Let some boards have intervals, and comparisons of every two runs."""
    session.flush()
    for asked in _tasks(session):
        if dice.random() < 0.5:
            continue
        runs = sorted(
            session.scalars(
                select(ScoringRun.id)
                .join(Submission)
                .where(Submission.phase_task_id == asked.id, ScoringRun.is_current)
            )
        )
        pairs = {
            (a, b): Difference(0.2, 0.3, 0.1, 0.05, 0.15, dice.choice([1e-5, 0.6]), 0, 10_000, 0.95, "paired:1")
            for a in runs
            for b in runs
            if a < b and dice.random() < 0.9
        }
        intervals = {one: {("macro_f1", world.ZERO_SHOT): Interval(one % 7 / 20, 0.6, 0.95, "basic:1")} for one in runs}
        document = statistics_document(Statistics("key", frozenset(runs), intervals, pairs))
        boards = session.scalars(select(Board).where(Board.task_id == asked.task_id)).all()
        for board in boards:
            session.add(BoardStatistics(phase_task_id=asked.id, board_id=board.id, document=document))


__all__ = ["LATER", "RandomWorld", "Right", "add_random_world"]
