"""The pages of settings that change while the server runs, and of announcements to everybody."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated

from fastapi import Depends, Form, Response
from fastapi.responses import RedirectResponse

from app.administration import settings
from app.administration.announcements import TEXT_CHARACTERS, NewAnnouncement, announce, end_announcement
from app.administration.live import list_announcements
from app.base.db import writing
from app.base.errors import EvergoldError
from app.base.live_settings import LOOKS
from app.base.text import refuse
from app.models import Severity
from app.web.administration.access import AdminVisit, admin_form_of
from app.web.html.administration import ADMIN, render_section
from app.web.html.guards import FormSender, PageForm, form_again
from app.web.html.typed import typed_moment
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import UserVisit

router = page_router()

SETTINGS, ANNOUNCEMENTS = f"{ADMIN}/settings", f"{ADMIN}/announcements"
FromSettings = Annotated[FormSender, Depends(admin_form_of(SETTINGS))]
FromAnnouncements = Annotated[FormSender, Depends(admin_form_of(ANNOUNCEMENTS))]


class SettingForm(PageForm):
    """The new value of a setting."""

    value: str = ""


@router.get(SETTINGS)
def read_settings(visit: AdminVisit) -> Response:
    return _settings(visit)


def _settings(
    visit: UserVisit, setting: str = "", form: SettingForm | None = None, error: EvergoldError | None = None
) -> Response:
    listed = settings.list_settings(visit.session, visit.server.environment)
    groups = [(group, list(found)) for group, found in groupby(listed, key=lambda one: one.group) if group != LOOKS]
    typed = {setting: form.value} if form else {}
    return render_section(visit, "administration/settings.html", groups=groups, typed=typed, error=error)


@router.post(f"{SETTINGS}/{{setting}}")
@form_again(_settings)
def send_setting(sender: FromSettings, setting: str, form: Annotated[SettingForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        settings.change_setting(sender.act(session), setting, form.value, environment=sender.server.environment)
    sender.server.live.look(sender.server.engine)
    return RedirectResponse(f"{SETTINGS}#{setting}", 303)


@router.post(f"{SETTINGS}/{{setting}}/reset")
def send_reset(sender: FromSettings, setting: str) -> Response:
    with writing(sender.server.engine) as session:
        settings.reset_setting(sender.act(session), setting, environment=sender.server.environment)
    sender.server.live.look(sender.server.engine)
    return RedirectResponse(f"{SETTINGS}#{setting}", 303)


# ------------------------------------------------------------------------------------------------------ announcements


class AnnouncementForm(PageForm):
    """An announcement to everybody. starts, ends: dates and times as typed."""

    text: str = ""
    severity: Severity = Severity.INFO
    starts: str = ""
    ends: str = ""

    def wanted(self) -> NewAnnouncement:
        """Return the announcement; raise InvalidForm for dates that cannot be parsed."""
        wrong: dict[str, str] = {}
        starts_at = typed_moment("starts", self.starts, wrong)
        ends_at = typed_moment("ends", self.ends, wrong)
        refuse(wrong)
        return NewAnnouncement(self.text, self.severity, starts_at, ends_at)


@router.get(ANNOUNCEMENTS)
def read_announcements(visit: AdminVisit) -> Response:
    return _announcements(visit)


def _announcements(
    visit: UserVisit, form: AnnouncementForm | None = None, error: EvergoldError | None = None
) -> Response:
    return render_section(
        visit,
        "administration/announcements.html",
        announced=list_announcements(visit.session, visit.now),
        severities=[str(one) for one in Severity],
        text_characters=TEXT_CHARACTERS,
        typed=form or AnnouncementForm(),
        error=error,
        now=visit.now,
    )


@router.post(ANNOUNCEMENTS)
@form_again(_announcements)
def send_announcement(sender: FromAnnouncements, form: Annotated[AnnouncementForm, Form()]) -> Response:
    with writing(sender.server.engine) as session:
        announce(sender.act(session), form.wanted())
    sender.server.live.look(sender.server.engine)
    return RedirectResponse(ANNOUNCEMENTS, 303)


@router.post(f"{ANNOUNCEMENTS}/{{announcement_id}}/end")
def send_end(sender: FromAnnouncements, announcement_id: RowId) -> Response:
    with writing(sender.server.engine) as session:
        end_announcement(sender.act(session), announcement_id)
    sender.server.live.look(sender.server.engine)
    return RedirectResponse(ANNOUNCEMENTS, 303)
