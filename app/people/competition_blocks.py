"""People blocked in a competition: they can read, and what they have sent is kept, but they can write nothing there."""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from app.base.errors import Forbidden, InvalidForm, NotFound
from app.base.text import many_lines, refuse, wrong_text
from app.models import Competition, CompetitionBlock, User
from app.people.act import Act
from app.people.audit import actor_name
from app.people.mail import send_mail
from app.people.rights import rights_of

REASON_CHARACTERS = 500

_MAIL = """\
Hello {username},

the organisers of {competition} have blocked you there: you can no longer ask questions, submit or choose names in this
competition. Your submissions stay, and your team can continue.

Their reason: {reason}
"""


class BlockedHere(Forbidden):
    """The organisers have blocked this person in the competition (details: competition, reason)."""

    code = "blocked_here"


def check_not_blocked(session: Session, competition: Competition, user: User) -> None:
    """Raise BlockedHere, with the organisers' reason, if this person is blocked in the competition."""
    block = session.get(CompetitionBlock, (competition.id, user.id))
    if block is not None:
        raise refusal_in(competition, block.reason)


def refusal_in(competition: Competition, reason: str) -> BlockedHere:
    """Return the error, with a sentence that names the competition and the reason."""
    return BlockedHere(
        f"The organisers of {competition.title} have blocked you: you cannot ask questions, submit or choose names "
        f"there. Their reason: {reason}",
        competition=competition.name,
        reason=reason,
    )


def list_blocks(session: Session, competition: Competition) -> list[CompetitionBlock]:
    """List the people who are blocked in this competition, by user name."""
    query = (
        select(CompetitionBlock)
        .join(CompetitionBlock.user)
        .options(joinedload(CompetitionBlock.user, innerjoin=True))
        .where(CompetitionBlock.competition_id == competition.id)
    )
    return list(session.scalars(query.order_by(User.username)))


def block(act: Act, competition: Competition, user: User, reason: str) -> CompetitionBlock:
    """Block a person in this competition, or change the reason; the person is notified by mail the first time.

    Raises InvalidForm, also for organisers, whose role must be revoked first.
    """
    session = act.session
    reason = many_lines(reason)
    refuse({"reason": wrong_text(reason, REASON_CHARACTERS)})
    if rights_of(session, user, competition):
        sentence = f"'{user.username}' organises this competition: revoke the role first."
        raise InvalidForm(sentence, fields={"username": sentence})
    found = session.get(CompetitionBlock, (competition.id, user.id), with_for_update=True)
    is_new = found is None
    if found is None:
        found = CompetitionBlock(competition_id=competition.id, user_id=user.id)
        try:
            with session.begin_nested():
                found.reason, found.blocked_at, found.blocked_by = reason, act.now, actor_name(act.user)
                session.add(found)
        except IntegrityError:  # by somebody else at the same time
            found, is_new = session.get_one(CompetitionBlock, (competition.id, user.id)), False
    found.reason, found.blocked_by = reason, actor_name(act.user)
    session.flush()
    details = {"user": user.username, "reason": reason}
    act.record("moderation.block", f"competition {competition.name}", details)
    if is_new:
        body = _MAIL.format(username=user.username, competition=competition.title, reason=reason)
        subject = f"[{competition.title}] You were blocked"
        send_mail(session, user, subject, body, now=act.now, competition_id=competition.id)
    return found


def unblock(act: Act, competition: Competition, user: User) -> None:
    """Unblock a person in this competition. Raises NotFound for somebody who is not blocked."""
    here = (CompetitionBlock.competition_id == competition.id, CompetitionBlock.user_id == user.id)
    ended = act.session.execute(delete(CompetitionBlock).where(*here).returning(CompetitionBlock.user_id))
    if ended.first() is None:
        raise NotFound(f"'{user.username}' is not blocked in this competition.")
    act.record("moderation.unblock", f"competition {competition.name}", {"user": user.username})
