"""Mail: written with its reason, sent afterwards, tried again until it is delivered, and never stored as text."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from datetime import datetime, timedelta
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session
from structlog.testing import capture_logs

from app.base.config import Settings, get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import MailLink, OutgoingMail, Role, User
from app.people import mail_delivery
from app.people.mail import forget_ended, given_up, send_again, send_farewell, send_link, send_mail, waiting_count
from app.people.mail_delivery import send_waiting
from app.people.rights import grant_role
from tests.mail_server import MailServer, mail_server
from tests.rich_world import NEIGHBOURS
from tests.services import free_port
from tests.threads import in_threads
from tests.world import COMPETITION, DAY, HOUR, NOW, add_competition

MINUTE = timedelta(minutes=1)
SECRET = "the-secret-of-the-link"


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as found:
        yield found


def settings_for(address: str) -> Settings:
    return Settings(smtp_url=address, base_url="https://scores.example.org", mail_from="scores@example.org")


def write(
    engine: Engine,
    to: str = "ada@example.org",
    subject: str = "News",
    body: str = SECRET,
    competition_id: int | None = None,
) -> int:
    with writing(engine) as session:
        mail = send_mail(session, person(session, to), subject, body, now=NOW, competition_id=competition_id)
        assert mail is not None
        return mail.id


def person(session: Session, email: str) -> User:
    """Return the user with this address, confirmed."""
    user = session.scalar(select(User).where(User.email == email))
    if user is None:
        user = User(username=email, email=email, email_confirmed_at=NOW, display_name="Somebody", created_at=NOW)
        session.add(user)
        session.flush()
    return user


def post(engine: Engine, settings: Settings, now: datetime = NOW) -> int:
    return send_waiting(engine, settings, lambda: now)


def the_mail(engine: Engine, mail_id: int) -> OutgoingMail:
    with reading(engine) as session:
        return session.get_one(OutgoingMail, mail_id)


def test_a_mail_goes_out_once_as_it_was_written(engine: Engine, server: MailServer) -> None:
    write(engine, subject="Wörter\r\nBcc: eve@example.org", body="Grüße,\n.\nein Punkt allein\n")
    settings = settings_for(server.address)
    assert [post(engine, settings), post(engine, settings)] == [1, 0]
    [message] = server.received
    assert message["To"] == "ada@example.org"
    assert message["From"] == "Evergold <scores@example.org>"
    assert message["Subject"] == "Wörter Bcc: eve@example.org", "no header is smuggled in"
    assert message["Bcc"] is None
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Message-ID"].endswith("@example.org>")
    assert message.get_content() == "Grüße,\n.\nein Punkt allein\n"


def test_the_last_mail_to_an_address_is_as_it_was_written(engine: Engine, server: MailServer) -> None:
    with writing(engine) as session:
        send_farewell(session, "ada@example.org", "Your account was deleted", "This was its last mail.", NOW)
    assert post(engine, settings_for(server.address)) == 1
    [message] = server.received
    assert (message["To"], message["Subject"]) == ("ada@example.org", "Your account was deleted")
    assert "This was its last mail." in message.get_content()


def test_a_transaction_that_fails_sends_nothing(engine: Engine, server: MailServer) -> None:
    def fail() -> None:
        with writing(engine) as session:
            send_mail(session, person(session, "ada@example.org"), "x", "y", now=NOW)
            raise RuntimeError("the deed failed")

    with pytest.raises(RuntimeError):
        fail()
    assert post(engine, settings_for(server.address)) == 0
    assert server.received == []


def test_what_was_sent_is_kept_without_its_text_and_then_forgotten(engine: Engine, server: MailServer) -> None:
    mail_id = write(engine)
    post(engine, settings_for(server.address))
    sent = the_mail(engine, mail_id)
    assert (sent.status, sent.body, sent.ended_at) == ("sent", "", NOW)
    later = write(engine, to="bob@example.org")
    post(engine, settings_for(server.address), NOW + HOUR)
    waiting = write(engine)
    with writing(engine) as session:
        forget_ended(session, 30, NOW + 30 * DAY)
    with reading(engine) as session:
        left = session.scalars(select(OutgoingMail.id).order_by(OutgoingMail.id)).all()
        assert left == [later, waiting], "what waits is never forgotten, nor what ended since"


def test_a_server_that_is_down_costs_nothing_but_time(engine: Engine, server: MailServer) -> None:
    first, second = write(engine), write(engine, to="bob@example.org")
    with capture_logs() as logged:
        assert post(engine, settings_for(f"smtp://127.0.0.1:{free_port()}")) == 0
    assert [line["event"] for line in logged] == ["mail_server_down"]
    with reading(engine) as session:
        assert waiting_count(session) == 2
    assert the_mail(engine, first).body == the_mail(engine, second).body == SECRET
    assert post(engine, settings_for(server.address)) == 2


def test_a_recipient_who_must_wait_is_tried_again_later_and_later(engine: Engine, server: MailServer) -> None:
    server.busy.add("ada@example.org")
    settings = settings_for(server.address)
    mail_id, other = write(engine), write(engine, to="bob@example.org")
    assert post(engine, settings) == 1, "the others do not wait for it"
    assert the_mail(engine, other).status == "sent"
    pauses, now = [], NOW
    for _ in range(4):
        due = the_mail(engine, mail_id).next_attempt_at
        pauses.append(due - now)
        now = due
        assert post(engine, settings, now - timedelta(seconds=1)) == 0
        post(engine, settings, now)
    assert pauses == [MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE]
    server.busy.clear()
    assert post(engine, settings, the_mail(engine, mail_id).next_attempt_at) == 1


def test_after_five_days_a_mail_is_given_up(engine: Engine, server: MailServer) -> None:
    server.busy.add("ada@example.org")
    mail_id = write(engine)
    post(engine, settings_for(server.address), NOW + 5 * DAY - HOUR)
    assert the_mail(engine, mail_id).status == "waiting"
    post(engine, settings_for(server.address), NOW + 5 * DAY)
    given_up = the_mail(engine, mail_id)
    assert (given_up.status, given_up.body) == ("given_up", SECRET)
    assert "451" in str(given_up.last_error)


def test_mail_that_was_given_up_is_sent_again_whole(engine: Engine, server: MailServer) -> None:
    server.refused.add("ada@example.org")
    settings, mail_id = settings_for(server.address), write(engine)
    assert post(engine, settings) == 0
    server.refused.clear()
    later = NOW + 20 * DAY
    with writing(engine) as session:
        assert [mail.id for mail in given_up(session)] == [mail_id]
        assert [send_again(session, given_up(session), later) for _ in range(2)] == [1, 0]
        assert given_up(session) == []
    assert post(engine, settings, later) == 1
    assert server.bodies() == [f"{SECRET}\n"]


def test_a_mail_that_cannot_be_prepared_keeps_no_other(engine: Engine, server: MailServer) -> None:
    broken, other = write(engine), write(engine, to="bob@example.org")
    with writing(engine) as session:
        session.execute(update(OutgoingMail).where(OutgoingMail.id == broken).values(link="of a later version"))
    settings, now = settings_for(server.address), NOW
    assert [post(engine, settings, now) for _ in range(2)] == [1, 0]
    assert the_mail(engine, other).status == "sent"
    assert "of a later version" in str(the_mail(engine, broken).last_error)
    while the_mail(engine, broken).status == "waiting":
        now = max(the_mail(engine, broken).next_attempt_at, NOW + 4 * DAY)
        assert post(engine, settings, now) == 0
        if now > NOW + 4 * DAY:
            with writing(engine) as session:  # days later
                session.execute(update(OutgoingMail).values(created_at=NOW - DAY))
    assert (the_mail(engine, broken).status, the_mail(engine, broken).body) == ("given_up", SECRET)


def give_up(engine: Engine, *mail_ids: int) -> None:
    with writing(engine) as session:
        for hours, mail_id in enumerate(mail_ids):
            mail = session.get_one(OutgoingMail, mail_id)
            mail.status, mail.ended_at = "given_up", NOW + hours * HOUR


def test_organisers_hear_of_what_was_given_up_in_their_competition(engine: Engine) -> None:
    add_competition(engine)
    with reading(engine) as session:
        here, beside = (find_competition(session, name).id for name in (COMPETITION, NEIGHBOURS))
    first, ours, theirs, of_account = (write(engine, competition_id=number) for number in (here, here, beside, None))
    write(engine, competition_id=here)
    give_up(engine, first, ours, theirs, of_account)
    with writing(engine) as session:
        assert [mail.id for mail in given_up(session)] == [of_account, theirs, ours, first], "the latest first"
        assert [mail.id for mail in given_up(session, here)] == [ours, first]
        assert [mail.id for mail in given_up(session, here, also_accounts=True)] == [of_account, ours, first]
        assert send_again(session, given_up(session, here), NOW) == 2
        assert [mail.id for mail in given_up(session)] == [of_account, theirs], "the others are not sent again"


def test_answers_go_to_the_organisers(engine: Engine, server: MailServer) -> None:
    add_competition(engine)
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        for name in ("olga", "otto"):
            grant_role(session, here, person(session, f"{name}@example.org"), Role.ORGANISER, NOW)
        number = here.id
    for to in ("ada@example.org", "olga@example.org"):
        write(engine, to, competition_id=number)
    write(engine, "bob@example.org")
    with writing(engine) as session:
        contact = "idioms@example.org"
        find_competition(session, COMPETITION).contact = contact
    settings = settings_for(server.address)
    post(engine, settings)
    assert [message["Reply-To"] for message in server.received] == [contact, contact, None]
    with writing(engine) as session:
        find_competition(session, COMPETITION).contact = "ask in the forum"
    for to in ("ada@example.org", "olga@example.org"):
        write(engine, to, competition_id=number)
    post(engine, settings)
    replies = [message["Reply-To"] for message in server.received[3:]]
    assert replies == ["olga@example.org, otto@example.org", "otto@example.org"]


@pytest.mark.parametrize("address", ["gone@example.org", "no address at all", "a@b@c"])
def test_who_is_not_there_is_given_up_at_once(engine: Engine, server: MailServer, address: str) -> None:
    server.refused.add("gone@example.org")
    mail_id, other = write(engine, to=address), write(engine, to="bob@example.org")
    assert post(engine, settings_for(server.address)) == 1
    assert (the_mail(engine, mail_id).status, the_mail(engine, other).status) == ("given_up", "sent")


@pytest.mark.both
def test_two_postmen_send_each_mail_once(engine: Engine, server: MailServer) -> None:
    for number in range(6):
        write(engine, body=f"number {number}")
    settings = settings_for(server.address)
    assert sum(in_threads(3, lambda _: post(engine, settings))) == 6
    assert sorted(server.bodies()) == [f"number {number}\n" for number in range(6)]


def test_a_postman_who_dies_leaves_the_mail_to_the_next(engine: Engine, server: MailServer) -> None:
    mail_id = write(engine)
    settings = settings_for(server.address)
    assert mail_delivery._take(engine, mail_id, settings, NOW) is not None  # and then nothing more
    assert post(engine, settings, NOW + mail_delivery.LEASE - timedelta(seconds=1)) == 0
    assert post(engine, settings, NOW + mail_delivery.LEASE) == 1


def test_where_encryption_is_asked_for_nothing_goes_in_clear(engine: Engine, server: MailServer) -> None:
    mail_id = write(engine)
    settings = settings_for(server.address.replace("smtp://", "smtp+starttls://"))
    assert post(engine, settings) == 0
    assert (server.connections, server.received) == (1, [])
    assert the_mail(engine, mail_id).status == "waiting"


def test_without_a_mail_server_mail_becomes_files_for_the_administrator_alone(engine: Engine, tmp_path: Path) -> None:
    link = f"https://scores.example.org/password/new?link={'x' * 90}"
    write(engine, body=f"Grüße,\n{link}\n{SECRET}")
    with capture_logs() as logged:
        assert post(engine, get_settings()) == 1
    [file] = (tmp_path / "var" / "mail").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    message = message_from_bytes(file.read_bytes(), policy=default)
    assert (message["To"], message.get_content()) == ("ada@example.org", f"Grüße,\n{link}\n{SECRET}\n")
    assert link.encode() in file.read_bytes(), "it can be copied as it stands there"
    assert [line["event"] for line in logged] == ["mail_written", "mail_sent"]
    assert str(file) in str(logged)
    assert SECRET not in str(logged), "the log is read by more people than the mail"


def test_a_decoy_is_never_sent(engine: Engine, server: MailServer) -> None:
    with writing(engine) as session:
        send_link(session, None, "A new password", "{link}", MailLink.PASSWORD, NOW)
    assert post(engine, settings_for(server.address)) == 0
    with reading(engine) as session:
        [decoy] = session.scalars(select(OutgoingMail))
        assert (decoy.recipient, decoy.body, waiting_count(session)) == ("", "", 0)


@pytest.mark.parametrize(
    ("sender", "shown"),
    [
        ("scores@example.org", "Evergold <scores@example.org>"),
        ("Idioms 2027 <scores@example.org>", "Idioms 2027 <scores@example.org>"),
        ('"Idioms, Proverbs & Co." <scores@example.org>', '"Idioms, Proverbs & Co." <scores@example.org>'),
        ("Wörter <scores@example.org>", "Wörter <scores@example.org>"),
    ],
)
def test_a_sender_with_a_name_loses_no_mail(engine: Engine, server: MailServer, sender: str, shown: str) -> None:
    mail_id = write(engine)
    settings = settings_for(server.address).model_copy(update={"mail_from": sender})
    assert post(engine, settings) == 1
    assert the_mail(engine, mail_id).status == "sent"
    assert server.received[0]["From"] == shown
    assert server.received[0]["Message-ID"].endswith("@example.org>")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"smtp_url": "smtp://mail.example.org"}, "base_url"),
        ({"smtp_url": "mail.example.org", "base_url": "https://x.org"}, "smtp_url"),
        ({"smtp_url": "http://mail.example.org", "base_url": "https://x.org"}, "smtp_url"),
        *(
            ({"mail_from": sender}, "mail_from must be an address, or a name and an address")
            for sender in ("", "Idioms", "Idioms <>", "a@b.org, c@b.org", "Idioms <a@b.org>\nBcc: x@b.org", "ä@b.org")
        ),
    ],
)
def test_settings_that_cannot_work_stop_the_start_without_showing_passwords(
    settings: dict[str, Any], named: str
) -> None:
    settings["metrics_token"] = "hunter2"
    with pytest.raises(ValidationError, match=named) as refused:
        Settings(**settings)
    assert "hunter2" not in str(refused.value)
