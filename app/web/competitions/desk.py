"""The organiser's desk: one page for the day's work of a competition, with a way to everything else there is to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup

from app.base.db import reading, writing
from app.boards.power import power_of
from app.competitions import desk
from app.competitions.desk_hours import HourCount, submissions_by_hour
from app.competitions.find import organised
from app.figures.hours import NARROW, WIDE, Hour, description, hours_svg
from app.messages.questions import questions_for
from app.models import RegistrationStatus, RescoringState, User
from app.people import audit, mail
from app.rescoring.sets import list_rescorings
from app.runs.failures import failed_runs
from app.runs.workers import live_workers, unserved_task_types
from app.submissions.climbing import climbing_teams
from app.teams.registration import list_registrations
from app.web.html.guards import PageUser, form_guard
from app.web.html.rendering import render
from app.web.html.workspace import workspace_of
from app.web.http.context import ServerHere
from app.web.http.routers import page_router
from app.web.http.viewer import Viewer

router = page_router()


@dataclass(frozen=True, slots=True)
class HoursShown:
    """Submissions per hour, drawn for a page and for a phone, and in words."""

    wide: Markup
    narrow: Markup
    description: str


DESK = "/competitions/{competition}/desk"
#: Of what may be many the desk shows the latest; all of them are a click away.
FAILURES_SHOWN = 5


@router.get(DESK)
def read_desk(request: Request, server: ServerHere, user: PageUser, competition: str) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        found = organised(session, user, competition)
        unserved = unserved_task_types(session, now)
        failures = failed_runs(session, [found.id], FAILURES_SHOWN + 1)
        questions = questions_for(session, found, user, sees_all=True)
        response = render(
            request,
            "competitions/desk.html",
            competition=found,
            workspace=workspace_of(session, found, Viewer(user, None), now, "desk"),
            today=desk.tasks_today(session, found, now),
            failures=failures[:FAILURES_SHOWN],
            more_failures=len(failures) > FAILURES_SHOWN,
            missing=desk.missing_teams(session, found, now),
            moments=desk.next_moments(found, now),
            embargoes=desk.embargoes(session, found, now),
            climbers=climbing_teams(session, found),
            registrations=list_registrations(session, found, status=RegistrationStatus.PENDING),
            questions=[one for one in questions if one.answered_at is None and one.closed_at is None],
            rescorings=[one for one in list_rescorings(session, found) if one.state == RescoringState.OPEN],
            workers=live_workers(session, now),
            power=power_of(session, found),
            undelivered=mail.given_up(session, found.id, also_accounts=user.is_administrator),
            unserved=[task.title for task in found.tasks if task.task_type in unserved],
            hours=_hours(submissions_by_hour(session, found, now)),
            long_wait=desk.LONG,
            now=now,
        )
    response.headers["Cache-Control"] = "no-store"
    return response


def _hours(counts: Sequence[HourCount]) -> HoursShown:
    hours = [Hour(one.start, one.received, one.in_vain) for one in counts]
    wide, narrow = (
        Markup(hours_svg("hours", "Submissions per hour", hours, width))  # noqa: S704 - escaped by ElementTree
        for width in (WIDE, NARROW)
    )
    return HoursShown(wide, narrow, description(hours))


@router.post(f"{DESK}/mail")
def send_mail_again(server: ServerHere, user: Annotated[User, Depends(form_guard(DESK))], competition: str) -> Response:
    """What could not be delivered, once more; administrators also what is about accounts."""
    now = server.clock()
    with writing(server.engine) as session:
        found = organised(session, user, competition)
        mails = mail.given_up(session, found.id, also_accounts=user.is_administrator)
        count = mail.send_again(session, mails, now)
        audit.record(session, user, "mail.send_again", f"competition {found.name}", {"mails": count}, now=now)
    return RedirectResponse(f"{DESK.format(competition=found.name)}#mail", 303)
