"""Mails that could not be delivered: their list with reasons, and another attempt."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy.orm import Session

from app.administration.access import check_administrator
from app.administration.operations_views import FailedMailList, FailedMailOut
from app.people.act import Act
from app.people.mail import given_up, send_again, waiting_count


def failed_mails(session: Session) -> FailedMailList:
    """Return the mails that were given up, without their texts, and the number of pending ones."""
    return FailedMailList(failed=[FailedMailOut.of(one) for one in given_up(session)], waiting=waiting_count(session))


def try_again(act: Act, mail_ids: Collection[int]) -> int:
    """Queue the named failed mails again, or all of them if none is named; return their number. Raises Forbidden."""
    check_administrator(act.user)
    wanted = [one for one in given_up(act.session) if not mail_ids or one.id in mail_ids]
    sent = send_again(act.session, wanted, act.now)
    if sent:
        details = {"mails": sent, "ids": [one.id for one in wanted][:100]}
        act.record("mail.send_again", "server", details)
    return sent
