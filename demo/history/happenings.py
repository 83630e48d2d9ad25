"""What else happened in the demo's past: a corrected gold, a team with another name, marks, messages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from app.base.config import Settings, get_settings
from app.base.db import reading, writing
from app.boards.marks import list_marks, mark_row
from app.competitions.find import find_competition, find_phase_task
from app.messages.announcements import AnnouncementForm, announcements_of, publish
from app.messages.questions import QuestionForm, answer, ask, find_question_by_key
from app.models import Announcement, Competition, PhaseTask, Rescoring, RowStatus, Team, User
from app.people.act import Act, UserAct
from app.rescoring.publishing import publish_rescoring
from app.rescoring.sets import list_rescorings, progress_of, start_rescoring
from app.server.prepare import COMPETITION, ORGANISER
from app.teams.membership import rename_team
from demo.history import draw, texts
from demo.history.cast import DISQUALIFIED, RENAMED, UNRANKED
from demo.history.clock import CORRECTED, MARKED, RENAMED as RENAMED_DAYS, Event, before
from demo.history.uploads import claimed, score, waiting_runs

FAULTY, CORRECT = "demo/evaluation/idiom-detection-first.csv", "demo/evaluation/idiom-detection.csv"
PHASE, TASK = "evaluation", "idiom-detection"
#: A worker that is quicker with some of the runs may take so long.
PATIENCE_SECONDS = 120.0


def happenings(engine: Engine, settings: Settings, start: datetime) -> Iterator[Event]:
    """Everything that is no upload."""

    def event(days: float, name: str, happen: Callable[[datetime], None]) -> Event:
        return Event(before(start, days), name, happen)

    yield event(RENAMED_DAYS, "rename", partial(_rename, engine))
    yield event(CORRECTED, "correct", partial(_correct, engine, settings))
    yield event(MARKED, "mark", partial(_mark, engine))
    for days, title, text, is_pinned in texts.ANNOUNCEMENTS:
        form = AnnouncementForm(title, text, is_pinned=is_pinned)
        yield event(days, f"announce {title}", partial(_announce, engine, settings, form))
    for question in texts.QUESTIONS:
        yield event(question.days, f"ask {question.title}", partial(_ask, engine, settings, question))


def put_faulty_gold(engine: Engine, gold_dir: Path) -> None:
    """The gold that the evaluation began with, unless it was corrected already."""
    path = gold_dir / FAULTY
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(draw.faulty_detection_gold())
    with writing(engine) as session:
        if not list_rescorings(session, find_competition(session, COMPETITION)):
            _use_gold(session, FAULTY)


def _use_gold(session: Session, name: str) -> None:
    mine = find_phase_task(session, COMPETITION, PHASE, TASK)
    session.execute(update(PhaseTask).where(PhaseTask.id == mine.id).values(gold=name))


def _correct(engine: Engine, settings: Settings, at: datetime) -> None:
    """The correct gold, every submission scored against it beside the old scores, and the set published."""
    with reading(engine) as session:
        if any(one.ended_at for one in list_rescorings(session, find_competition(session, COMPETITION))):
            return
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        open_sets = list_rescorings(session, competition)
        _use_gold(session, CORRECT)
        session.expire_all()
        rescoring_id = open_sets[0].id if open_sets else _start(session, competition, at)
    with reading(engine) as session:
        runs = waiting_runs(session, rescoring_id)
    for place, run_id in enumerate(runs):
        moment = at + timedelta(seconds=2 * place)
        with writing(engine) as session:
            claim = claimed(session, run_id, moment)
        score(engine, claim, moment)
    _wait_for(engine, rescoring_id)
    with writing(engine) as session:
        publish_rescoring(
            Act(session, _organiser(session), at + timedelta(hours=1), settings),
            find_competition(session, COMPETITION),
            rescoring_id,
        )


def _start(session: Session, competition: Competition, at: datetime) -> int:
    place = f"{PHASE}/{TASK}"
    made: Rescoring = start_rescoring(
        Act(session, _organiser(session), at, get_settings()), competition, [place], note=texts.CORRECTION
    )
    return made.id


def _wait_for(engine: Engine, rescoring_id: int) -> None:
    """Until runs that a worker was quicker with are done."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with reading(engine) as session:
            if progress_of(session, session.get_one(Rescoring, rescoring_id)).is_ready:
                return
        time.sleep(0.2)


def _rename(engine: Engine, at: datetime) -> None:
    with writing(engine) as session:
        user = _user(session, RENAMED[0])
        if session.scalar(select(Team.id).where(Team.name == RENAMED[1])) is None:
            rename_team(UserAct(session, user, at, get_settings()), find_competition(session, COMPETITION), RENAMED[1])


def _mark(engine: Engine, at: datetime) -> None:
    wanted = ((UNRANKED, RowStatus.UNRANKED), (DISQUALIFIED, RowStatus.DISQUALIFIED))
    with writing(engine) as session:
        phase_task = find_phase_task(session, COMPETITION, PHASE, TASK)
        if list_marks(session, phase_task):
            return
        for (username, note), status in wanted:
            name = _user(session, username).display_name
            organiser = _organiser(session)
            mark_row(Act(session, organiser, at, get_settings()), phase_task, team=name, status=status, note=note)


def _announce(engine: Engine, settings: Settings, form: AnnouncementForm, at: datetime) -> None:
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        there: list[Announcement] = announcements_of(session, competition)
        if all(one.title != form.title for one in there):
            author = _organiser(session)
            publish(UserAct(session, author, at, settings), competition, form, group=None, key=None)


def _ask(engine: Engine, settings: Settings, question: texts.Asked, at: datetime) -> None:
    key = f"demo-history-{question.days}"
    with writing(engine) as session:
        competition, asker = find_competition(session, COMPETITION), _user(session, question.username)
        if find_question_by_key(session, asker, key) is not None:
            return
        form = QuestionForm(question.title, question.text)
        made = ask(UserAct(session, asker, at, settings), competition, form, key=key)
        if question.answer:
            answer(
                UserAct(session, _organiser(session), at + timedelta(hours=5), settings),
                competition,
                made.id,
                question.answer,
                is_public=question.is_public,
            )


def _organiser(session: Session) -> User:
    return _user(session, ORGANISER.username)


def _user(session: Session, username: str) -> User:
    return session.scalars(select(User).where(User.username == username)).one()
