"""Decisions of organisers about texts, which require the right for the kind of the text."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.competitions.visibility import Viewer
from app.models import Competition, HiddenText, Right, TextKind, TextReport, User
from app.moderation.hiding import find_hidden, hide, list_hidden, unhide
from app.moderation.reports import dismiss, find_report, list_reports, text_of
from app.moderation.texts import RIGHT_OF, find_text
from app.moderation.views import BlockOut, HiddenOut, TextReportOut
from app.people.act import UserAct
from app.people.competition_blocks import list_blocks
from app.people.rights import check_may_organise, rights_of


@dataclass(frozen=True, slots=True)
class Desk:
    """The reports, hidden texts and blocked people on which an organiser decides."""

    reports: list[TextReportOut]
    hidden: list[HiddenOut]
    blocked: list[BlockOut]
    may_block: bool


def kinds_of(session: Session, user: User, competition: Competition) -> list[TextKind]:
    """Return the kinds of texts on which this organiser may decide."""
    rights = rights_of(session, user, competition)
    return [kind for kind, right in RIGHT_OF.items() if right in rights]


def desk_for(session: Session, competition: Competition, user: User) -> Desk:
    """Return the reports, hidden texts and blocked people that this organiser may see."""
    kinds = kinds_of(session, user, competition)
    may_block = Right.EDIT in rights_of(session, user, competition)
    names_reporter = user.is_administrator
    return Desk(
        [TextReportOut.of(one, names_reporter=names_reporter) for one in list_reports(session, competition, kinds)],
        [HiddenOut.of(one) for one in list_hidden(session, competition, kinds)],
        [BlockOut.of(one) for one in list_blocks(session, competition)] if may_block else [],
        may_block,
    )


def hide_as(act: UserAct, competition: Competition, kind: TextKind, which: str, reason: str) -> HiddenText:
    """Hide a text that this organiser may see, and return it. Raises RightMissing, NotFound, InvalidForm,
    AlreadyHidden.
    """
    check_may_organise(act.session, act.user, competition, RIGHT_OF[kind])
    found = find_text(act.session, competition, kind, which, Viewer(act.user, act.now))
    return hide(act, competition, found, reason)


def hide_reported(act: UserAct, competition: Competition, report_id: int, reason: str) -> HiddenText:
    """Hide the text of a report, and return it. Raises the errors of `hide_as`."""
    found = text_of(act.session, competition, _report_for(act, competition, report_id))
    return hide(act, competition, found, reason)


def dismiss_as(act: UserAct, competition: Competition, report_id: int) -> None:
    """Dismiss a report, and others of the same text. Raises RightMissing, NotFound."""
    dismiss(act, competition, _report_for(act, competition, report_id))


def show_as(act: UserAct, competition: Competition, hidden_id: int) -> None:
    """Show a hidden text again. Raises RightMissing, NotFound, Replaced."""
    hidden = find_hidden(act.session, competition, hidden_id)
    check_may_organise(act.session, act.user, competition, RIGHT_OF[TextKind(hidden.kind)])
    unhide(act, competition, hidden)


def _report_for(act: UserAct, competition: Competition, report_id: int) -> TextReport:
    found = find_report(act.session, competition, report_id)
    check_may_organise(act.session, act.user, competition, RIGHT_OF[TextKind(found.kind)])
    return found
