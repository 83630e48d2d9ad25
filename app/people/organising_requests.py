"""Requests of people who want to create competitions, which administrators answer by mail.

Pages and commands of administrators use `list_requests` and `answer_request`. An approval has the same effect as
`evergold account approve`; if only administrators create competitions, it promises that they will.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from app.base import links
from app.base.addresses import public_address
from app.base.errors import EvergoldError, Forbidden, LimitReached, NotFound
from app.base.text import refuse
from app.models import OrganisingRequest, User
from app.people.act import Act, UserAct
from app.people.audit import actor_name
from app.people.auth import approve_organiser
from app.people.email_confirmations import is_confirmed
from app.people.mail import send_mail

#: Maximum number of characters of a request, and of an answer.
TEXT_CHARACTERS = 1000
#: Maximum number of requests of one person within a month: each sends a mail to every administrator.
A_MONTH = 3
MONTH = timedelta(days=30)


class AlreadyAsked(EvergoldError):
    """The person already has a request without an answer."""

    status = 409
    code = "already_asked"


class AlreadyAnswered(EvergoldError):
    """Somebody else answered the request first."""

    status = 409
    code = "already_answered"


_ASKED = """\
"{display_name}" (user name {username}, {email}) wants to organise a competition on {server}:

{text}

Answer on {page}, or where the server runs:

evergold account answer {number} --approve
evergold account answer {number} --refuse --text "Why not"
"""
_APPROVED = """\
Hello {display_name},

you may create competitions on {server} now:

{page}
{answer}"""
_PROMISED = """\
Hello {display_name},

the administrators of {server} create all competitions there themselves, and will create yours.
{answer}"""
_REFUSED = """\
Hello {display_name},

the administrators of {server} did not accept your request to organise a competition.
{answer}"""


def ask_to_organise(act: UserAct, text: str) -> OrganisingRequest:
    """Send a request to the administrators by mail; return it. text: what the person wants to organise.

    Raises InvalidForm, Forbidden for an unconfirmed address, AlreadyAsked, LimitReached.
    """
    session = act.session
    session.execute(select(User.id).where(User.id == act.user.id).with_for_update())
    if not is_confirmed(session, act.user):
        raise Forbidden(
            "Confirm your e-mail address first: the answer is sent to it. Your account page sends the link."
        )
    text = text.strip()
    refuse({"text": _wrong_text(text) if text else "Describe in a sentence what you want to organise."})
    latest = latest_request(session, act.user)
    if latest is not None and latest.answered_at is None:
        raise AlreadyAsked("You already sent a request; the administrators have not answered yet.")
    recent = select(func.count()).where(
        OrganisingRequest.user_id == act.user.id, OrganisingRequest.asked_at > act.now - MONTH
    )
    if session.scalars(recent).one() >= A_MONTH:
        raise LimitReached(f"You have sent {A_MONTH} requests within a month. Please wait a while.", limit=A_MONTH)
    request = OrganisingRequest(user_id=act.user.id, text=text, asked_at=act.now, answer="")
    session.add(request)
    session.flush()
    act.record("organiser.ask", f"user {act.user.username}", {"request": request.id})
    _mail_administrators(act, request)
    return request


def latest_request(session: Session, user: User) -> OrganisingRequest | None:
    """Return the user's latest request, answered or not; None if there is none."""
    query = select(OrganisingRequest).where(OrganisingRequest.user_id == user.id)
    return session.scalar(query.order_by(OrganisingRequest.id.desc()).limit(1))


def list_requests(session: Session, *, only_open: bool = True) -> list[OrganisingRequest]:
    """List requests with their users, oldest first."""
    query = select(OrganisingRequest).options(joinedload(OrganisingRequest.user)).order_by(OrganisingRequest.id)
    return list(session.scalars(query.where(OrganisingRequest.answered_at.is_(None)) if only_open else query))


def answer_request(act: Act, number: int, *, is_approved: bool, text: str = "") -> OrganisingRequest:
    """Approve or decline a request, mail the answer, and return the request.

    Raises NotFound, AlreadyAnswered, Forbidden unless an administrator answers, InvalidForm.
    """
    session = act.session
    if act.user is not None and not act.user.is_administrator:
        raise Forbidden("Only administrators answer these requests.")
    query = select(OrganisingRequest).where(OrganisingRequest.id == number)
    found = session.scalar(query.options(joinedload(OrganisingRequest.user)).with_for_update(of=OrganisingRequest))
    if found is None:
        raise NotFound(f"There is no request {number}.")
    if found.answered_at is not None:
        raise AlreadyAnswered(f"{found.answered_by} has answered this request already.")
    text = text.strip()
    refuse({"text": _wrong_text(text)})
    found.answered_at, found.answered_by = act.now, actor_name(act.user)
    found.is_approved, found.answer = is_approved, text
    session.flush()
    deed = "organiser.accept" if is_approved else "organiser.refuse"
    act.record(deed, f"user {found.user.username}", {"request": number})
    if is_approved:
        approve_organiser(session, found.user, True, act.now, actor=act.user)
    _mail_answer(act, found)
    return found


def _wrong_text(text: str) -> str:
    """Return a sentence if a text is too long or cannot be stored; otherwise ""."""
    if len(text) > TEXT_CHARACTERS:
        return f"At most {TEXT_CHARACTERS} characters."
    return "It contains characters that cannot be stored." if "\0" in text else ""


def _mail_administrators(act: UserAct, request: OrganisingRequest) -> None:
    body = _ASKED.format(
        display_name=act.user.display_name,
        username=act.user.username,
        email=act.user.email,
        server=public_address(act.settings, "/"),
        text=request.text,
        number=request.id,
        page=public_address(act.settings, links.organising_requests()),
    )
    for administrator in act.session.scalars(select(User).where(User.is_administrator).order_by(User.id)):
        send_mail(act.session, administrator, f"{act.user.username} asks to organise", body, now=act.now)


def _mail_answer(act: Act, found: OrganisingRequest) -> None:
    approved = _PROMISED if act.settings.organise == "admins" else _APPROVED
    body = (approved if found.is_approved else _REFUSED).format(
        display_name=found.user.display_name,
        server=public_address(act.settings, "/"),
        page=public_address(act.settings, links.organise()),
        answer=f"\n{found.answer}\n" if found.answer else "",
    )
    send_mail(act.session, found.user, "Your request to organise", body, now=act.now)
