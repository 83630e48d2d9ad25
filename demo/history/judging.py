"""The judged round of the demo's past: two annotators for each language, who agree more often than not."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.config import Settings, get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition, find_phase_task
from app.judging.marks import save_marks, worksheet
from app.judging.organising import WantedRound, start_judging
from app.judging.rounds import RoundForm, find_round, list_rounds, publish_round
from app.judging.selection import newest_scored
from app.models import Competition, JudgedText, JudgingAnnotator, JudgingRound, RunStatus, ScoringRun, Submission, User
from app.people.act import UserAct
from app.server.prepare import COMPETITION, ORGANISER
from app.server.programs import has_torch
from demo.history import texts
from demo.history.cast import ANNOTATORS
from demo.source import digest
from evergold.scoring.judgement import HIGHEST, QUESTIONS

PLACE = (COMPETITION, "evaluation", "idiom-paraphrase")
ITEMS, SEED = 6, 7
#: Paraphrases are scored by a worker with torch, which takes its time to start; without one there is no round.
PATIENCE_SECONDS = 1800.0
LOOK_SECONDS = 2.0


def judge_paraphrases(engine: Engine, settings: Settings, now: datetime) -> bool:
    """Start the round once all is scored, have it judged, publish it; False: another start has to try again.

    Where nothing scores paraphrases, there is nothing to judge.
    """
    with reading(engine) as session:
        if list_rounds(session, find_competition(session, COMPETITION)):
            return True
    if settings.lean or not has_torch():
        return True
    if not _wait_for_scores(engine):
        return False
    with reading(engine) as session:
        organiser = _user(session, ORGANISER.username)
    appointed = tuple((language, name) for language, names in ANNOTATORS.items() for name in names)
    wanted = WantedRound(RoundForm(items=ITEMS, seed=SEED, guidelines=texts.GUIDELINES), annotators=appointed)
    name = start_judging(engine, settings, PLACE, wanted, user=organiser, now=now)
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        judging = find_round(session, competition, name)
        for annotator in session.scalars(select(JudgingAnnotator).where(JudgingAnnotator.round_id == judging.id)):
            _mark_all(session, judging, annotator, now)
        _publish(session, competition, judging, now + timedelta(minutes=1))
    return True


def _publish(session: Session, competition: Competition, judging: JudgingRound, now: datetime) -> None:
    organiser = _user(session, ORGANISER.username)
    publish_round(UserAct(session, organiser, now, get_settings()), competition, judging, unfinished=True)


def _mark_all(session: Session, judging: JudgingRound, annotator: JudgingAnnotator, now: datetime) -> None:
    for text_id in worksheet(session, judging, annotator).text_ids:
        text = session.get_one(JudgedText, text_id)
        answers = {question: _mark(question, text, annotator.name) for question in QUESTIONS}
        save_marks(session, judging, annotator, text_id, {"removed": "yes", **answers}, now)


def _mark(question: str, text: JudgedText, annotator: str) -> str:
    """What the paraphrase is like, and now and then a mark beside it."""
    name = f"{question} {text.item} {text.text_key}"
    step = (-1, 0, 0, 0, 1)[digest(f"{annotator} {name}") % 5]
    return str(min(max(digest(name) % (HIGHEST + 1) + step, 0), HIGHEST))


def _wait_for_scores(engine: Engine) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with reading(engine) as session:
            phase_task = find_phase_task(session, *PLACE)
            if newest_scored(session, phase_task) and not _open(session, phase_task.id):
                return True
        time.sleep(LOOK_SECONDS)
    return False


def _open(session: Session, phase_task_id: int) -> Sequence[int]:
    return session.scalars(
        select(ScoringRun.id)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .where(
            Submission.phase_task_id == phase_task_id,
            ScoringRun.status.in_((RunStatus.QUEUED, RunStatus.RUNNING)),
        )
    ).all()


def _user(session: Session, username: str) -> User:
    return session.scalars(select(User).where(User.username == username)).one()
