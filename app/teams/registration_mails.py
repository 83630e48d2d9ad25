"""Mails about registrations: to organisers about pending ones, to the person about the decision."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from app.base import links
from app.base.addresses import public_address
from app.base.config import Settings
from app.models import Competition, Registration, RegistrationStatus, Right, User
from app.people.mail import send_mail
from app.people.rights import organisers_of
from app.teams.questions import answer_text
from app.teams.registration_rules import rules_of

_DECIDED = {
    RegistrationStatus.APPROVED: """\
Hello {username},

The organisers of "{title}" approved your registration. You can submit now:

{page}
""",
    RegistrationStatus.REFUSED: """\
Hello {username},

The organisers of "{title}" did not accept your registration, so you cannot submit there. If you think this is a
mistake, please write to them.

{page}
""",
}
_WAITS = """\
"{display_name}" (user name {username}, {email}) wants to take part in "{title}".
{answers}
Approve or refuse it here:

{page}
"""


def mail_decision(
    session: Session,
    competition: Competition,
    user: User,
    status: RegistrationStatus,
    settings: Settings,
    now: datetime,
) -> None:
    """Notify the person of the organisers' decision."""
    page = public_address(settings, links.registration(competition.name))
    body = _DECIDED[status].format(username=user.username, title=competition.title, page=page)
    subject = f"{competition.title}: your registration"
    send_mail(session, user, subject, body, now=now, competition_id=competition.id)


def mail_organisers(
    session: Session,
    competition: Competition,
    user: User,
    row: Registration,
    email: str,
    settings: Settings,
    now: datetime,
) -> None:
    """Notify every organiser of a pending registration with its answers. email: the user's current address."""
    body = _WAITS.format(
        display_name=user.display_name,
        username=user.username,
        email=email,
        title=competition.title,
        answers=_answers(competition, row),
        page=public_address(settings, links.registrations(competition.name)),
    )
    subject = f"{competition.title}: a registration is waiting"
    for organiser in organisers_of(session, competition.name, Right.EDIT):
        send_mail(session, organiser, subject, body, now=now, competition_id=competition.id)


def _answers(competition: Competition, row: Registration) -> str:
    given = [
        (question.title, answer_text(row.answers.get(question.name))) for question in rules_of(competition).questions
    ]
    lines = [f"{title}: {text}" for title, text in given if text]
    return "\n".join(["", *lines, ""]) if lines else ""
