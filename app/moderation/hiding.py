"""Hiding of texts: a text is moved from its place to a separate table, so that nothing that reads the place can show
it.

Its author is notified by mail, without the text. A text is shown again only if its place is unchanged: a text that its
author has written there in the meantime is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from app.base import links
from app.base.addresses import public_address
from app.base.errors import EvergoldError, NotFound
from app.base.text import many_lines, refuse, wrong_text
from app.competitions.changed import boards_changed
from app.models import (
    Competition,
    HiddenText,
    OutgoingMail,
    Phase,
    PhaseTask,
    ReportOutcome,
    Submission,
    TextKind,
    TextReport,
    User,
)
from app.moderation.texts import TABLES, FoundText, places_of
from app.people.act import Act
from app.people.audit import actor_name
from app.people.mail import DROPPED, GIVEN_UP, WAITING, send_mail
from app.standings.renew import renew_team
from app.teams.find import is_name_taken

REASON_CHARACTERS = 500
#: Prefixes of the subjects of mails that contain a text, by its kind; such mails are not sent once it is hidden.
_SUBJECTS = {
    TextKind.QUESTION: ("Question: ", "Answer: "),
    TextKind.ANSWER: ("Answer: ",),
    TextKind.ANNOUNCEMENT: ("",),
}

_MAIL = """\
Hello {username},

the organisers of {competition} have hidden a text of yours ({kind}): {page}
Others no longer see it. Reply to this mail if you think that this is a mistake.

Their reason: {reason}
"""


class AlreadyHidden(EvergoldError):
    """The text is already hidden."""

    status = 409
    code = "already_hidden"


class Replaced(EvergoldError):
    """The text cannot be shown again: its author has written another one, or its name is taken."""

    status = 409
    code = "replaced"


def hide(act: Act, competition: Competition, found: FoundText, reason: str) -> HiddenText:
    """Hide a text from everybody, close its reports, and return it.

    Raises InvalidForm, AlreadyHidden.
    """
    session = act.session
    reason = many_lines(reason)
    refuse({"reason": wrong_text(reason, REASON_CHARACTERS)})
    places = places_of(session, found)
    kept = [
        [one.row.__tablename__, _plain(one.row.id), one.column, getattr(one.row, one.column), one.instead]
        for one in places
    ]
    hidden = HiddenText(
        competition_id=competition.id,
        kind=found.kind,
        subject_id=found.subject_id,
        team_id=found.team_id,
        author_id=found.author_id,
        places=kept,
        reason=reason,
        hidden_at=act.now,
        hidden_by=actor_name(act.user),
    )
    try:
        with session.begin_nested():
            session.add(hidden)
    except IntegrityError:
        raise AlreadyHidden("This text is hidden already.") from None
    for place in places:
        setattr(place.row, place.column, place.instead)
    session.flush()
    _drop_mails(act, competition, found)
    _shown_otherwise(session, competition, found.kind, found.subject_id)
    _close_reports(act, found)
    _notify(act, competition, found, reason)
    act.record(
        "moderation.hide",
        f"competition {competition.name}",
        {"text": found.subject, "reason": reason, "hidden": hidden.id},
    )
    return hidden


def unhide(act: Act, competition: Competition, hidden: HiddenText) -> None:
    """Restore a hidden text. Raises Replaced if its author has written another."""
    session = act.session
    rows = [(one, session.get(TABLES[one[0]], _key(*one[:2]))) for one in hidden.places]
    first, row = rows[0]
    if row is None or getattr(row, first[2]) != first[4]:
        raise Replaced("The author has written a new text since, which stays.")
    if hidden.kind == TextKind.TEAM and is_name_taken(session, competition.id, first[3], row):
        raise Replaced("Another team has taken this name, or one that looks like it, in the meantime.")
    for (_, _, column, original, instead), one in rows:
        if one is not None and getattr(one, column) == instead:
            setattr(one, column, original)
    hidden.shown_at, hidden.shown_by = act.now, actor_name(act.user)
    try:
        with session.begin_nested():
            session.flush()
    except IntegrityError:  # a system of the team has the name
        raise Replaced("Another system of the team has taken this name in the meantime.") from None
    _shown_otherwise(session, competition, TextKind(hidden.kind), hidden.subject_id)
    details = {"text": f"{hidden.kind} {hidden.subject_id}", "hidden": hidden.id}
    act.record("moderation.show", f"competition {competition.name}", details)


def list_hidden(session: Session, competition: Competition, kinds: Sequence[TextKind]) -> list[HiddenText]:
    """List the hidden texts of these kinds with their authors, latest first."""
    query = (
        select(HiddenText)
        .where(HiddenText.competition_id == competition.id, HiddenText.kind.in_(kinds), HiddenText.shown_at.is_(None))
        .options(joinedload(HiddenText.author))
    )
    return list(session.scalars(query.order_by(HiddenText.id.desc())))


def find_hidden(session: Session, competition: Competition, hidden_id: int) -> HiddenText:
    """Return a hidden text, locked until the transaction ends. Raises NotFound."""
    query = select(HiddenText).where(
        HiddenText.id == hidden_id, HiddenText.competition_id == competition.id, HiddenText.shown_at.is_(None)
    )
    found = session.scalar(query.with_for_update())
    if found is None:
        raise NotFound(f"Competition '{competition.name}' has no hidden text {hidden_id}.")
    return found


def original_of(hidden: HiddenText) -> str:
    """Return the original text, for those who decide on it."""
    words = [one[3] for one in hidden.places if isinstance(one[3], str)]
    cards = [str(value) for one in hidden.places if isinstance(one[3], dict) for value in one[3].values()]
    return "\n\n".join(dict.fromkeys([*words, *cards]))


def _plain(row_id: int | UUID) -> int | str:
    return row_id if isinstance(row_id, int) else str(row_id)


def _key(table: str, row_id: Any) -> Any:
    return UUID(row_id) if table == Submission.__tablename__ else row_id


def _shown_otherwise(session: Session, competition: Competition, kind: TextKind, subject_id: int) -> None:
    """Invalidate cached pages and boards, and renew the facts of a system's entries."""
    boards_changed(session, select(PhaseTask.id).join(Phase).where(Phase.competition_id == competition.id))
    if kind is TextKind.SYSTEM:
        entered = select(Submission.phase_task_id, Submission.team_id).where(Submission.system_id == subject_id)
        for phase_task_id, team_id in session.execute(entered.distinct().order_by(Submission.phase_task_id)).all():
            renew_team(session, phase_task_id, team_id, copies_anew=True)


def _drop_mails(act: Act, competition: Competition, found: FoundText) -> None:
    """Drop pending mails that contain the text."""
    subjects = [f"[{competition.title}] {start}{found.title}"[:200] for start in _SUBJECTS.get(found.kind, ())]
    act.session.execute(
        update(OutgoingMail)
        .where(
            OutgoingMail.competition_id == competition.id,
            OutgoingMail.status.in_((WAITING, GIVEN_UP)),
            OutgoingMail.subject.in_(subjects),
        )
        .values(status=DROPPED, ended_at=act.now, body="", unsubscribe=None)
    )


def _close_reports(act: Act, found: FoundText) -> None:
    act.session.execute(
        update(TextReport)
        .where(TextReport.kind == found.kind, TextReport.subject_id == found.subject_id, TextReport.closed_at.is_(None))
        .values(closed_at=act.now, closed_by=actor_name(act.user), outcome=ReportOutcome.HIDDEN)
    )


def _notify(act: Act, competition: Competition, found: FoundText, reason: str) -> None:
    author = act.session.get(User, found.author_id) if found.author_id else None
    if author is None:
        return
    body = _MAIL.format(
        username=author.username,
        competition=competition.title,
        kind=found.kind,
        page=public_address(act.settings, links.competition(competition.name)),
        reason=reason,
    )
    subject = f"[{competition.title}] A text of yours was hidden"
    send_mail(act.session, author, subject, body, now=act.now, competition_id=competition.id)
