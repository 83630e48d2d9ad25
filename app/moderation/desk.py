"""Decisions of organisers about texts, each with the right that fits the kind of the text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.base.config import Settings
from app.competitions.visibility import Viewer
from app.models import Competition, HiddenText, Right, TextKind, TextReport, User
from app.moderation.hiding import find_hidden, hide, list_hidden, show_again
from app.moderation.reports import dismiss, find_report, list_reports, text_of
from app.moderation.texts import RIGHT_OF, find_text
from app.moderation.views import BlockOut, HiddenOut, TextReportOut
from app.people.competition_blocks import list_blocks
from app.people.rights import check_may_organise, rights_of


@dataclass(frozen=True, slots=True)
class Desk:
    """Reports, hidden texts and blocked people that an organiser decides about."""

    reports: list[TextReportOut]
    hidden: list[HiddenOut]
    blocked: list[BlockOut]
    may_block: bool


def kinds_of(session: Session, user: User, competition: Competition) -> list[TextKind]:
    """Return the kinds of texts that this organiser decides about."""
    rights = rights_of(session, user, competition)
    return [kind for kind, right in RIGHT_OF.items() if right in rights]


def desk_for(session: Session, competition: Competition, user: User) -> Desk:
    """Return what this organiser sees."""
    kinds = kinds_of(session, user, competition)
    may_block = Right.EDIT in rights_of(session, user, competition)
    names_reporter = user.is_administrator
    return Desk(
        [TextReportOut.of(one, names_reporter=names_reporter) for one in list_reports(session, competition, kinds)],
        [HiddenOut.of(one) for one in list_hidden(session, competition, kinds)],
        [BlockOut.of(one) for one in list_blocks(session, competition)] if may_block else [],
        may_block,
    )


def hide_as(
    session: Session,
    competition: Competition,
    user: User,
    kind: TextKind,
    which: str,
    reason: str,
    *,
    settings: Settings,
    now: datetime,
) -> HiddenText:
    """Hide a text that this organiser sees. Raises RightMissing, NotFound, InvalidForm, AlreadyHidden."""
    check_may_organise(session, user, competition, RIGHT_OF[kind])
    found = find_text(session, competition, kind, which, Viewer(user, now))
    return hide(session, competition, found, reason, actor=user, settings=settings, now=now)


def hide_reported(
    session: Session,
    competition: Competition,
    user: User,
    report_id: int,
    reason: str,
    settings: Settings,
    now: datetime,
) -> HiddenText:
    """Hide the text of a report. Raises as `hide_as`."""
    found = text_of(session, competition, _report_for(session, competition, user, report_id))
    return hide(session, competition, found, reason, actor=user, settings=settings, now=now)


def dismiss_as(session: Session, competition: Competition, user: User, report_id: int, now: datetime) -> None:
    """Dismiss a report, and others of the same text. Raises RightMissing, NotFound."""
    dismiss(session, competition, _report_for(session, competition, user, report_id), actor=user, now=now)


def show_as(session: Session, competition: Competition, user: User, hidden_id: int, now: datetime) -> None:
    """Show a hidden text again. Raises RightMissing, NotFound, Replaced."""
    hidden = find_hidden(session, competition, hidden_id)
    check_may_organise(session, user, competition, RIGHT_OF[TextKind(hidden.kind)])
    show_again(session, competition, hidden, actor=user, now=now)


def _report_for(session: Session, competition: Competition, user: User, report_id: int) -> TextReport:
    found = find_report(session, competition, report_id)
    check_may_organise(session, user, competition, RIGHT_OF[TextKind(found.kind)])
    return found
