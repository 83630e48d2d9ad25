"""Delivery of mail: handed to the mail server by a process of the sweep, and retried until accepted.

A mail is sent at least once: a crash between sending and recording it duplicates it. A secret link is created for each
delivery, so that nobody can use it by reading the database; if there are two links, both work until one is used.
Without `smtp_url` a mail is written to a file in `data_dir/mail`, for the operator to read.
"""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime, make_msgid
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from app.base.config import Settings, sender_of
from app.base.db import reading, writing
from app.base.logs import log, log_and_continue
from app.models import MailLink, OutgoingMail, User
from app.people import email_confirmations, password_resets, provider_logins
from app.people.mail import DROPPED, GIVEN_UP, LINK_PLACE, SENT, WAITING
from app.people.rights import addresses_for_replies

CONNECT_SECONDS = 15.0
#: Time for which a mail is reserved for its sender.
LEASE = timedelta(minutes=5)
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=3)
GIVE_UP_AFTER = timedelta(days=5)
AT_ONCE = 50
_UNSUBSCRIBE = "List-Unsubscribe"
_PORTS = {"smtps": 465, "smtp+starttls": 587, "smtp": 25}

_ABOUT_ONE_MAIL = (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused)


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail for delivery. text: with its link; reply_to: addresses for replies (empty: only the sender)."""

    mail: OutgoingMail
    text: str
    reply_to: tuple[str, ...] = ()


#: Delivers a letter; raises OSError (the base of smtplib's errors) on failure.
Deliver = Callable[[Letter], None]


def send_waiting(engine: Engine, settings: Settings, clock: Callable[[], datetime]) -> int:
    """Send due mails and return their number. If the server is unreachable the round ends, and the next one retries."""
    due = _due(engine, clock())
    if not due:
        return 0
    sent = 0
    try:
        with delivery(settings) as deliver:
            for mail_id in due:
                letter = _take_alone(engine, mail_id, settings, clock())
                if letter is not None:
                    sent += _send(engine, letter, deliver, clock)
    except OSError as error:
        log.warning("mail_server_down", error=_error_text(error))
    return sent


def _due(engine: Engine, now: datetime) -> list[int]:
    with reading(engine) as session:
        is_due = (OutgoingMail.status == WAITING) & (OutgoingMail.next_attempt_at <= now)
        return list(session.scalars(select(OutgoingMail.id).where(is_due).order_by(OutgoingMail.id).limit(AT_ONCE)))


def _take_alone(engine: Engine, mail_id: int, settings: Settings, now: datetime) -> Letter | None:
    """Reserve the mail as `_take` does; if it cannot be prepared, postpone it so that it does not block others."""
    try:
        return _take(engine, mail_id, settings, now)
    except Exception as error:
        log_and_continue("mail_not_prepared", error, mail_id=mail_id)
        this = update(OutgoingMail).where(OutgoingMail.id == mail_id, OutgoingMail.status == WAITING)
        put_off = this.values(
            next_attempt_at=now + LEASE, attempts=OutgoingMail.attempts + 1, last_error=_error_text(error)
        )
        is_old = OutgoingMail.created_at <= now - GIVE_UP_AFTER
        with writing(engine) as session:
            session.execute(put_off)
            session.execute(this.where(is_old).values(status=GIVEN_UP, ended_at=now))
        return None


def _take(engine: Engine, mail_id: int, settings: Settings, now: datetime) -> Letter | None:
    """Reserve the mail for the duration of the lease; None if another sweep has it or it must no longer be sent."""
    with writing(engine) as session:
        mail = session.scalar(
            update(OutgoingMail)
            .where(OutgoingMail.id == mail_id, OutgoingMail.status == WAITING, OutgoingMail.next_attempt_at <= now)
            .values(next_attempt_at=now + LEASE, attempts=OutgoingMail.attempts + 1)
            .returning(OutgoingMail)
        )
        if mail is None:
            return None
        text = _text(session, mail, settings, now)
        if text is None:
            mail.status, mail.ended_at, mail.body = DROPPED, now, ""
            return None
        return Letter(mail, text, _reply_to(session, mail))


def _text(session: Session, mail: OutgoingMail, settings: Settings, now: datetime) -> str | None:
    """Return the text, with a new link if it has one; None if the address no longer belongs to the user."""
    if mail.link is None:
        return mail.body
    user = session.get(User, mail.user_id)
    if user is None or user.email != mail.recipient:
        return None
    return mail.body.replace(LINK_PLACE, _MADE[mail.link](session, user, settings, now))


#: The functions that create links, by purpose of the link.
_MADE = {
    MailLink.PASSWORD: password_resets.make_mailed,
    MailLink.ADDRESS: email_confirmations.make_link,
    MailLink.LOGIN: provider_logins.make_mailed,
}


def _reply_to(session: Session, mail: OutgoingMail) -> tuple[str, ...]:
    if mail.competition_id is None:
        return ()
    return tuple(one for one in addresses_for_replies(session, mail.competition_id) if one != mail.recipient)


def _send(engine: Engine, letter: Letter, deliver: Deliver, clock: Callable[[], datetime]) -> bool:
    mail = letter.mail
    try:
        deliver(letter)
    except Exception as error:  # smtplib's errors are OSErrors; others are of this mail alone
        now = clock()
        if _is_hopeless(error) or now - mail.created_at >= GIVE_UP_AFTER:
            _end(engine, mail, GIVEN_UP, now, _error_text(error))
            log.error("mail_given_up", mail_id=mail.id, error=_error_text(error))
        else:
            _put_off(engine, mail, now, _error_text(error))
            log.warning("mail_put_off", mail_id=mail.id, attempt=mail.attempts, error=_error_text(error))
        if isinstance(error, OSError) and not isinstance(error, _ABOUT_ONE_MAIL):
            raise  # the connection or the disk: the other mails would fail as well
        return False
    _end(engine, mail, SENT, clock(), None)
    log.info("mail_sent", mail_id=mail.id)
    return True


def _end(engine: Engine, mail: OutgoingMail, status: str, now: datetime, error: str | None) -> None:
    erased = {"body": "", "unsubscribe": None} if status == SENT else {}
    _change(engine, mail, status=status, ended_at=now, last_error=error, **erased)


def _put_off(engine: Engine, mail: OutgoingMail, now: datetime, error: str) -> None:
    pause = min(FIRST_PAUSE * 2 ** min(mail.attempts - 1, 16), LONGEST_PAUSE)
    _change(engine, mail, next_attempt_at=now + pause, last_error=error)


def _change(engine: Engine, mail: OutgoingMail, **values: object) -> None:
    with writing(engine) as session:
        session.execute(update(OutgoingMail).where(OutgoingMail.id == mail.id).values(**values))


def _is_hopeless(error: Exception) -> bool:
    """Return True if the mail will always be refused: it is invalid, or its recipient is unknown (SMTP's 5xx)."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    if isinstance(error, smtplib.SMTPResponseException):
        return error.smtp_code >= 500 and isinstance(error, smtplib.SMTPDataError)
    return not isinstance(error, OSError)


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]


# ----------------------------------------------------------------------------------------------------------- delivery


@contextmanager
def delivery(settings: Settings) -> Iterator[Deliver]:
    """Yield the delivery function for the settings: over one connection to the mail server, or into files."""
    address = settings.smtp_url.get_secret_value()
    if not address:
        yield lambda letter: _write_file(letter, settings)
        return
    with _connected(address) as server:
        yield lambda letter: _send_message(server, _message(letter, settings))


@contextmanager
def _connected(address: str) -> Iterator[smtplib.SMTP]:
    parts = urlsplit(address)
    host, port, context = parts.hostname or "", parts.port or _PORTS[parts.scheme], ssl.create_default_context()
    server: smtplib.SMTP
    if parts.scheme == "smtps":
        server = smtplib.SMTP_SSL(host, port, timeout=CONNECT_SECONDS, context=context)
    else:
        server = smtplib.SMTP(host, port, timeout=CONNECT_SECONDS)
    try:
        if parts.scheme == "smtp+starttls":
            server.starttls(context=context)  # raises if the server does not offer it: never silently in clear
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
        yield server
    finally:
        with suppress(OSError):
            server.quit()


def _send_message(server: smtplib.SMTP, message: EmailMessage) -> None:
    server.send_message(message)


def _write_file(letter: Letter, settings: Settings) -> None:
    """Write the mail to a file that only the operator can read, since it may contain a secret link."""
    mail = letter.mail
    folder = settings.data_dir / "mail"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{mail.id:06d}.eml"
    path.touch(mode=0o600)
    path.write_bytes(_message(letter, settings, encoding="8bit").as_bytes())  # keeps links in one piece
    log.info("mail_written", mail_id=mail.id, subject=mail.subject, file=str(path))


def _message(letter: Letter, settings: Settings, encoding: str | None = None) -> EmailMessage:
    """Return a letter as an e-mail message. Raises ValueError or MessageError for invalid addresses."""
    mail = letter.mail
    message = EmailMessage(_KeepsAddressesWhole())
    sender = sender_of(settings.mail_from, settings.server_name)
    message["From"] = sender
    message["To"] = Address(addr_spec=mail.recipient)
    if letter.reply_to:
        message["Reply-To"] = [Address(addr_spec=address) for address in letter.reply_to]
    message["Subject"] = mail.subject
    message["Date"] = format_datetime(mail.created_at)
    message["Message-ID"] = make_msgid(domain=sender.domain)
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office replies
    if mail.unsubscribe:
        message[_UNSUBSCRIBE] = f"<{mail.unsubscribe}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message.set_content(letter.text, cte=encoding)
    return message


class _KeepsAddressesWhole(EmailPolicy):
    """A policy that leaves the unsubscribe header unencoded: mail programs cannot read a long encoded address."""

    def fold(self, name: str, value: Any) -> str:
        return f"{name}: {value}{self.linesep}" if name == _UNSUBSCRIBE else super().fold(name, value)

    def fold_binary(self, name: str, value: Any) -> bytes:
        return self.fold(name, value).encode() if name == _UNSUBSCRIBE else super().fold_binary(name, value)
