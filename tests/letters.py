"""The links in waiting mails, which are found nowhere else and are new each time."""

from __future__ import annotations

import re
from datetime import datetime

from sqlalchemy import Engine, select

from app.base.config import Settings, get_settings
from app.base.db import writing
from app.models import MailLink, OutgoingMail
from app.people.mail import WAITING
from app.people.mail_delivery import _text


def links(engine: Engine, kind: MailLink, now: datetime, settings: Settings | None = None) -> list[str]:
    """Return the address in each waiting mail of this kind, in the order in which the mails were written."""
    found = []
    with writing(engine) as session:
        waiting = select(OutgoingMail).where(OutgoingMail.status == WAITING, OutgoingMail.link == kind)
        for mail in session.scalars(waiting.order_by(OutgoingMail.id)):
            text = _text(session, mail, settings or get_settings(), now) or ""
            found += re.findall(r"http\S+\?link=\S+", text)
    return found
