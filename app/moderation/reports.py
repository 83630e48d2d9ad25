"""Reports of texts by people who see them. Organisers see reason and words; administrators also the reporter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Select, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from app.base import links
from app.base.addresses import public_address
from app.base.errors import NotFound
from app.base.text import many_lines, refuse, wrong_text
from app.models import Competition, ReportOutcome, ReportReason, TextKind, TextReport, User
from app.moderation.texts import RIGHT_OF, FoundText, stored_text
from app.people.act import Act, UserAct
from app.people.audit import actor_name
from app.people.mail import send_mail
from app.people.rights import organisers_of

WORDS_CHARACTERS = 1_000

_MAIL = """\
Somebody who reads {competition} has reported a text ({kind}), for this reason: {reason}

The text, the report, and what you can do: {page}
"""

REASON_WORDS = {
    ReportReason.ABUSE: "It insults or threatens",
    ReportReason.SPAM: "It is spam",
    ReportReason.PERSONAL: "It has personal data of others",
    ReportReason.LEAK: "It gives away answers",
    ReportReason.OTHER: "Something else",
}


def report(
    act: UserAct,
    competition: Competition,
    found: FoundText,
    reason: ReportReason,
    words: str,
    *,
    before_new: Callable[[], None] = lambda: None,
) -> TextReport:
    """Store a report and notify the organisers of the first open one; return it, or this person's earlier report.

    before_new: called unless there is an earlier one; its errors are passed on. Raises InvalidForm.
    """
    session = act.session
    words = many_lines(words)
    needs_words = bool(words) or reason is ReportReason.OTHER
    refuse({"words": wrong_text(words, WORDS_CHARACTERS) if needs_words else ""})
    earlier = earlier_report(session, found, act.user)
    if earlier is not None:
        return earlier
    before_new()
    is_first = session.scalar(_open_of(found).limit(1)) is None
    made = TextReport(
        competition_id=competition.id,
        kind=found.kind,
        subject_id=found.subject_id,
        shown=found.shown,
        reason=reason,
        words=words,
        reporter_id=act.user.id,
        reported_at=act.now,
    )
    try:
        with session.begin_nested():
            session.add(made)
    except IntegrityError:  # the same form was sent twice at the same time
        return session.scalars(_of_person(found, act.user)).one()
    details = {"text": found.subject, "report": made.id, "reason": reason}
    act.record("moderation.report", f"competition {competition.name}", details)
    if is_first:
        page = public_address(act.settings, links.moderation(competition.name))
        body = _MAIL.format(competition=competition.title, kind=found.kind, reason=REASON_WORDS[reason], page=page)
        for organiser in organisers_of(session, competition.name, RIGHT_OF[found.kind]):
            subject = f"[{competition.title}] A text was reported"
            send_mail(session, organiser, subject, body, now=act.now, competition_id=competition.id)
    return made


def list_reports(
    session: Session,
    competition: Competition | None,
    kinds: Sequence[TextKind] = tuple(TextKind),
    *,
    also_closed: bool = False,
    limit: int = 500,
) -> list[TextReport]:
    """List the open reports with competition and reporter, oldest first. competition: None for the whole server.

    also_closed: include closed reports, latest first.
    """
    query = (
        select(TextReport)
        .where(TextReport.kind.in_(kinds))
        .options(joinedload(TextReport.competition, innerjoin=True), joinedload(TextReport.reporter, innerjoin=True))
        .limit(limit)
    )
    if competition is not None:
        query = query.where(TextReport.competition_id == competition.id)
    if also_closed:
        return list(session.scalars(query.order_by(TextReport.id.desc())))
    return list(session.scalars(query.where(TextReport.closed_at.is_(None)).order_by(TextReport.id)))


def find_report(session: Session, competition: Competition, report_id: int) -> TextReport:
    """Return the report of a text with this id. Raises NotFound."""
    found = session.scalar(
        select(TextReport).where(TextReport.id == report_id, TextReport.competition_id == competition.id)
    )
    if found is None:
        raise NotFound(f"Competition '{competition.name}' has no report {report_id}.")
    return found


def dismiss(act: Act, competition: Competition, one: TextReport) -> None:
    """Close all open reports of the same text, which is not changed."""
    closed = act.session.scalars(
        update(TextReport)
        .where(TextReport.kind == one.kind, TextReport.subject_id == one.subject_id, TextReport.closed_at.is_(None))
        .values(closed_at=act.now, closed_by=actor_name(act.user), outcome=ReportOutcome.DISMISSED)
        .returning(TextReport.id)
    ).all()
    if closed:
        details = {"text": f"{one.kind} {one.subject_id}", "reports": list(closed)}
        act.record("moderation.dismiss", f"competition {competition.name}", details)


def text_of(session: Session, competition: Competition, one: TextReport) -> FoundText:
    """Return the current text that was reported, for those who decide on it. Raises NotFound if it no longer exists."""
    found = stored_text(session, competition, TextKind(one.kind), one.subject_id)
    if found is None:
        raise NotFound("This text no longer exists.")
    return found


def earlier_report(session: Session, found: FoundText, reporter: User) -> TextReport | None:
    """Return this person's earlier report of the text; None if there is none."""
    return session.scalar(_of_person(found, reporter))


def _of_person(found: FoundText, reporter: User) -> Select[TextReport]:
    return select(TextReport).where(
        TextReport.reporter_id == reporter.id,
        TextReport.kind == found.kind,
        TextReport.subject_id == found.subject_id,
    )


def _open_of(found: FoundText) -> Select[int]:
    return select(TextReport.id).where(
        TextReport.kind == found.kind, TextReport.subject_id == found.subject_id, TextReport.closed_at.is_(None)
    )
