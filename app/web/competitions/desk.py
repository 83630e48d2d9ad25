"""The organisers' desk: one page for the daily work on a competition, with links to all other tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.base.db import writing
from app.boards.leaks import leaks_in
from app.boards.power import power_of
from app.charts.hours import Hour, description, draw_hours
from app.competitions import desk
from app.competitions.desk import submissions_by_hour
from app.competitions.find import organised
from app.messages.questions import questions_for
from app.messages.views import QuestionOut
from app.models import (
    Competition,
    OutgoingMail,
    Registration,
    RegistrationStatus,
    Rescoring,
    RescoringState,
    Right,
    User,
)
from app.people import audit, mail
from app.people.rights import ANY_RIGHT, rights_of
from app.rescoring.sets import list_rescorings
from app.runs.failures import FailedRun, failed_runs
from app.runs.workers import live_workers, unserved_task_types
from app.submissions.climbing import Climber, climbing_teams
from app.teams.registration import list_registrations
from app.web.html.guards import FormSender, PageUserVisit, form_guard
from app.web.html.rendering import render_page
from app.web.html.workspace import workspace_of
from app.web.http.routers import page_router

router = page_router()


@dataclass(frozen=True, slots=True)
class HoursShown:
    """Submissions per hour, drawn for desktop and phone, and described in words."""

    wide: Markup
    narrow: Markup
    description: str


@dataclass(frozen=True, slots=True)
class Sent:
    """Submissions of teams and their results, for organisers with permission to see submissions."""

    today: list[desk.TaskToday]
    failures: Sequence[FailedRun]
    more_failures: bool
    missing: list[desk.MissingTeams]
    climbers: list[Climber]
    rescorings: list[Rescoring]
    hours: HoursShown


DESK = "/competitions/{competition}/desk"
#: The desk shows only the latest of long lists, and links to all of them.
FAILURES_SHOWN = 5
#: Subjects of mails reveal results of submissions, too.
MAILS = (Right.MESSAGES, Right.SUBMISSIONS)


@router.get(DESK)
def read_desk(visit: PageUserVisit, competition: str) -> Response:
    session, user, now = visit.session, visit.user, visit.now
    found = organised(session, user, competition, ANY_RIGHT)
    rights = rights_of(session, user, found)
    unserved = unserved_task_types(session, now)
    return render_page(
        visit,
        "competitions/desk.html",
        may_store=False,
        competition=found,
        workspace=workspace_of(session, found, visit.viewer, "desk"),
        sent=_sent(session, found, now) if Right.SUBMISSIONS in rights else None,
        moments=desk.next_moments(found, now),
        embargoes=desk.embargoes(session, found, now),
        registrations=_waiting_registrations(session, found) if Right.EDIT in rights else [],
        questions=_open_questions(session, found, user) if Right.MESSAGES in rights else [],
        workers=live_workers(session, now),
        gold=[(phase, phase_task) for phase in found.phases for phase_task in phase.phase_tasks],
        power=power_of(session, found) if Right.GOLD in rights else [],
        leaks=leaks_in(session, found) if Right.GOLD in rights else [],
        undelivered=_undelivered(session, found, user) if rights.issuperset(MAILS) else [],
        unserved=[task.title for task in found.tasks if task.task_type in unserved],
        long_wait=desk.LONG,
        now=now,
    )


def _sent(session: Session, competition: Competition, now: datetime) -> Sent:
    failures = failed_runs(session, [competition.id], FAILURES_SHOWN + 1)
    return Sent(
        today=desk.tasks_today(session, competition, now),
        failures=failures[:FAILURES_SHOWN],
        more_failures=len(failures) > FAILURES_SHOWN,
        missing=desk.missing_teams(session, competition, now),
        climbers=climbing_teams(session, competition),
        rescorings=[one for one in list_rescorings(session, competition) if one.state == RescoringState.OPEN],
        hours=_hours(submissions_by_hour(session, competition, now)),
    )


def _waiting_registrations(session: Session, competition: Competition) -> Sequence[Registration]:
    return list_registrations(session, competition, status=RegistrationStatus.PENDING)


def _open_questions(session: Session, competition: Competition, user: User) -> list[QuestionOut]:
    questions = questions_for(session, competition, user, sees_all=True)
    return [one for one in questions if one.answered_at is None and one.closed_at is None]


def _undelivered(session: Session, competition: Competition, user: User) -> list[OutgoingMail]:
    """Return undelivered mails; administrators also see those about accounts."""
    return mail.given_up(session, competition.id, also_accounts=user.is_administrator)


def _hours(hours: Sequence[Hour]) -> HoursShown:
    drawn = draw_hours("hours", "Submissions per hour", hours)
    wide, narrow = Markup(drawn.wide), Markup(drawn.narrow)  # noqa: S704 - escaped by ElementTree
    return HoursShown(wide, narrow, description(hours))


@router.post(f"{DESK}/mail")
def send_mail_again(sender: Annotated[FormSender, Depends(form_guard(DESK))], competition: str) -> Response:
    """Send undelivered mails again."""
    now = sender.server.clock()
    with writing(sender.server.engine) as session:
        found = organised(session, sender.user, competition, MAILS)
        mails = _undelivered(session, found, sender.user)
        count = mail.send_again(session, mails, now)
        audit.record(session, sender.user, "mail.send_again", f"competition {found.name}", {"mails": count}, now=now)
    return RedirectResponse(f"{DESK.format(competition=found.name)}#mail", 303)
