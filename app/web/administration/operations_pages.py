"""The pages of administrators about the running server: queue, storage, mails, limits, health, moderation."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Response
from fastapi.responses import RedirectResponse

from app.administration import mails, queue
from app.administration.health import health_now
from app.administration.refusals import list_refused
from app.administration.storage import count_unowned, storage_now
from app.base.db import writing
from app.base.errors import EvergoldError
from app.moderation.reports import REASON_WORDS, list_reports
from app.moderation.views import TextReportOut
from app.runs.failures import failed_runs
from app.runs.holds import REASON_CHARACTERS
from app.web.administration.access import AdminVisit, admin_form_of
from app.web.html.administration import ADMIN, render_section
from app.web.html.guards import FormSender, PageForm, Ticked, form_again
from app.web.http.routers import page_router
from app.web.http.visit import UserVisit

router = page_router()

QUEUE, STORAGE, MAILS, LIMITS, HEALTH, MODERATION = (
    f"{ADMIN}/{name}" for name in ("queue", "storage", "mails", "limits", "health", "moderation")
)
FromQueue = Annotated[FormSender, Depends(admin_form_of(QUEUE))]
FromMails = Annotated[FormSender, Depends(admin_form_of(MAILS))]
#: Number of failed runs and of refused requests on a page.
SHOWN = 200


class HoldForm(PageForm):
    """A place or a machine where scoring is to be paused or resumed."""

    place: str = ""
    host: str = ""
    reason: str = ""


class RunsForm(PageForm):
    """A failed run to queue again; empty: all failed runs."""

    run: int | None = None


class MailsForm(PageForm):
    """A failed mail to send again; empty: all failed mails."""

    mail: int | None = None


@router.get(QUEUE)
def read_queue(visit: AdminVisit) -> Response:
    return _queue(visit)


def _queue(visit: UserVisit, form: HoldForm | None = None, error: EvergoldError | None = None) -> Response:
    return render_section(
        visit,
        "administration/queue.html",
        found=queue.queue_now(visit.session, visit.server.settings, visit.now),
        failed=failed_runs(visit.session, limit=SHOWN),
        typed=form or HoldForm(),
        reason_characters=REASON_CHARACTERS,
        error=error,
    )


@router.post(f"{QUEUE}/hold")
@form_again(_queue, EvergoldError)
def send_hold(sender: FromQueue, form: Annotated[HoldForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        target = queue.target_at(session, form.place, form.host)
        queue.hold_scoring(sender.act(session), target, form.reason)
    return RedirectResponse(QUEUE, 303)


@router.post(f"{QUEUE}/resume")
@form_again(_queue, EvergoldError)
def send_resume(sender: FromQueue, form: Annotated[HoldForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        target = queue.target_at(session, form.place, form.host)
        queue.resume_scoring(sender.act(session), target)
    return RedirectResponse(QUEUE, 303)


@router.post(f"{QUEUE}/again")
def send_again(sender: FromQueue, form: Annotated[RunsForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        queue.run_again(sender.act(session), [form.run] if form.run else [])
    return RedirectResponse(QUEUE, 303)


@router.get(STORAGE)
def read_storage(visit: AdminVisit, unowned: Ticked = False) -> Response:
    """Show stored files; unreferenced files are counted only on request, because that lists the whole storage."""
    settings = visit.server.settings
    found = storage_now(visit.session, settings)
    counted = count_unowned(visit.server.engine, settings) if unowned else None
    return render_section(visit, "administration/storage.html", found=found, unowned=counted)


@router.get(MAILS)
def read_mails(visit: AdminVisit) -> Response:
    return render_section(visit, "administration/mails.html", found=mails.failed_mails(visit.session))


@router.post(f"{MAILS}/send-again")
def send_mails_again(sender: FromMails, form: Annotated[MailsForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        mails.try_again(sender.act(session), [form.mail] if form.mail else [])
    return RedirectResponse(MAILS, 303)


@router.get(LIMITS)
def read_limits(visit: AdminVisit) -> Response:
    return render_section(visit, "administration/limits.html", refused=list_refused(visit.session, SHOWN))


@router.get(HEALTH)
def read_health(visit: AdminVisit) -> Response:
    parts = health_now(visit.server.engine, visit.server.settings, visit.now)
    return render_section(visit, "administration/health.html", parts=parts)


@router.get(MODERATION)
def read_moderation(visit: AdminVisit) -> Response:
    found = list_reports(visit.session, None, also_closed=True)
    reports = [TextReportOut.of(one, names_reporter=True) for one in found]
    return render_section(visit, "administration/moderation.html", reports=reports, reasons=REASON_WORDS)
