"""News is noted with its reason, sent at least once, tried again for days, and ends in a log that its people read."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine, select, update
from standardwebhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError
from structlog.testing import capture_logs

from app.administration.people import block as block_account
from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.messages.questions import QuestionForm, ask
from app.models import AuditEntry, NewsKind, OutgoingMail, Role, User, Webhook, WebhookAudience, WebhookDelivery
from app.news import sending
from app.news.sending import DISABLE_AFTER, GIVE_UP_AFTER, LEASE, MOST_ATTEMPTS, PAUSES, send_due
from app.people.act import Act, UserAct
from app.people.competition_blocks import BlockedHere, block
from app.people.rights import revoke_role
from app.webhooks.due import forget_deliveries
from app.webhooks.ending import end_of_blocked, webhooks_of_blocked
from app.webhooks.keeping import Holder, remove_webhook, renew_secret, replay, send_test
from tests.news.hooked import (
    LOOPBACK,
    appoint,
    bodies,
    deliver,
    deliveries,
    hook,
    in_writing,
    statuses,
    the_webhook,
    to_loopback,
)
from tests.receiver import Receiver
from tests.threads import in_threads
from tests.world import COMPETITION, DAY, HOUR, NOW, submit

SECOND = timedelta(seconds=1)


@pytest.fixture
def olga(engine: Engine, people: list[User]) -> User:
    return appoint(engine, people[3])


def asked(engine: Engine, asker: User, title: str = "Is it blind?") -> None:
    with writing(engine) as session:
        found = find_competition(session, COMPETITION)
        form = QuestionForm(title, "May we look at it?")
        ask(UserAct(session, asker, NOW, LOOPBACK), found, form, key=None)


@pytest.mark.both
def test_news_arrives_signed_once(engine: Engine, people: list[User], olga: User, there: Receiver) -> None:
    webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    asked(engine, people[0])
    assert deliver(engine) == deliver(engine, NOW + DAY) == 1
    [request] = there.received
    told = Verifier(the_webhook(engine, webhook_id).secret)
    with pytest.raises(WebhookVerificationError, match="too old"):
        told.verify(request.body, dict(request.headers))  # it is of the test's own time
    assert request.headers["webhook-id"] == deliveries(engine, webhook_id)[0].message
    assert json.loads(request.body)["type"] == "question.asked"
    [delivery] = deliveries(engine, webhook_id)
    assert (delivery.status, delivery.answered, delivery.answer, delivery.attempts) == ("delivered", 200, "ok", 1)


def test_nothing_is_noted_unless_its_reason_is_committed(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    with pytest.raises(ZeroDivisionError):
        _ask_and_fail(engine, people[0])
    assert deliver(engine) == 0


def _ask_and_fail(engine: Engine, asker: User) -> None:
    with writing(engine) as session:
        found = find_competition(session, COMPETITION)
        ask(UserAct(session, asker, NOW, LOOPBACK), found, QuestionForm("A", "B"), key=None)
        raise ZeroDivisionError


def test_two_secrets_sign_for_a_day(engine: Engine, people: list[User], olga: User, there: Receiver) -> None:
    webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    former = the_webhook(engine, webhook_id).secret
    with writing(engine) as session:
        renew_secret(
            UserAct(session, olga, NOW, LOOPBACK),
            session.get_one(type(the_webhook(engine, webhook_id)), webhook_id),
            Holder(),
        )
    newer = the_webhook(engine, webhook_id).secret
    assert newer != former
    in_writing(engine, send_test, webhook_id, NOW)
    deliver(engine)
    in_writing(engine, send_test, webhook_id, NOW + DAY)
    deliver(engine, NOW + DAY)
    both, one = (request.headers["webhook-signature"].split() for request in there.received)
    assert (len(both), len(one)) == (2, 1)
    with reading(engine) as session:
        details = session.scalars(select(AuditEntry.details).where(AuditEntry.action.startswith("webhook."))).all()
    assert details
    assert former not in repr(details)
    assert newer not in repr(details)


def test_what_fails_is_tried_again_with_growing_pauses_and_given_up(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    asked(engine, people[0])
    there.status, there.body = 503, b"not now"
    now, pauses = NOW, []
    while statuses(engine, webhook_id) == ["waiting"]:
        assert deliver(engine, now) == 0
        [delivery] = deliveries(engine, webhook_id)
        pauses.append(delivery.next_attempt_at - now)
        now = delivery.next_attempt_at
    assert pauses[: len(PAUSES)] == list(PAUSES)
    assert now - NOW >= GIVE_UP_AFTER
    assert (delivery.answered, delivery.answer) == (503, "not now")
    assert delivery.error == "The receiver answered 503."
    assert len({one.headers["webhook-id"] for one in there.received}) == 1, "so that receivers know it again"
    there.status = 200
    assert in_writing(engine, replay, webhook_id, now, None, None) == 1
    assert deliver(engine, now) == 1
    assert statuses(engine, webhook_id) == ["delivered"]


def test_a_killed_sender_loses_nothing(engine: Engine, people: list[User], olga: User, there: Receiver) -> None:
    """Kill the sender once before it sends, and once after."""
    webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    asked(engine, people[0])
    [delivery] = deliveries(engine, webhook_id)
    assert sending._claim(engine, delivery.id, NOW)
    assert deliver(engine, NOW + SECOND) == 0, "another has it"
    assert not sending._claim(engine, delivery.id, NOW + SECOND)
    prepared = sending._prepare(engine, delivery.id, LOOPBACK, NOW)
    assert prepared is not None
    later = NOW + LEASE
    assert sending._claim(engine, delivery.id, later)
    sending._attempt(prepared, LOOPBACK, to_loopback)
    assert deliver(engine, later + LEASE) == 1
    assert len(there.received) == 2, "twice rather than never …"
    assert len({one.headers["webhook-id"] for one in there.received}) == 1, "… and known by its id"


def test_several_senders_share_the_work(engine: Engine, people: list[User], olga: User, there: Receiver) -> None:
    for _ in range(3):
        hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    asked(engine, people[0])
    in_threads(3, lambda number: send_due(engine, LOOPBACK, lambda: NOW, to_loopback))
    deliver(engine)
    ids = [one.headers["webhook-id"] for one in there.received]
    assert len(ids) == len(set(ids)) == 3


@pytest.mark.parametrize(("status", "days"), [(410, 0), (500, DISABLE_AFTER.days)])
def test_a_webhook_that_fails_for_long_is_disabled_with_a_mail(
    engine: Engine, people: list[User], olga: User, there: Receiver, status: int, days: int
) -> None:
    webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    there.status = status
    asked(engine, people[0], "first")
    deliver(engine)
    if days:
        assert the_webhook(engine, webhook_id).disabled_at is None
        asked(engine, people[1], "second")
        deliver(engine, NOW + timedelta(days=days))
    webhook = the_webhook(engine, webhook_id)
    assert webhook.disabled_at == NOW + timedelta(days=days)
    with reading(engine) as session:
        mails = session.scalars(select(OutgoingMail).where(OutgoingMail.subject.startswith("Webhook"))).all()
    assert [mail.user_id for mail in mails] == [olga.id]
    assert f"https://scores.example.org/webhooks/{webhook_id}" in mails[0].body
    asked(engine, people[2], "third")
    assert set(statuses(engine, webhook_id)) == {"given_up"}, "what waited can be sent again; nothing comes to it"


def test_success_ends_a_failure(engine: Engine, people: list[User], olga: User, there: Receiver) -> None:
    webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    there.status = 500
    asked(engine, people[0])
    deliver(engine)
    assert the_webhook(engine, webhook_id).failing_since == NOW
    there.status = 200
    deliver(engine, NOW + HOUR)
    assert the_webhook(engine, webhook_id).failing_since is None


def test_of_each_webhook_the_oldest_news_goes_first(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    for _ in range(2):
        hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    for title in ("first", "second"):
        asked(engine, people[0], title)
    for title in ("first", "second"):
        assert send_due(engine, LOOPBACK, lambda: NOW, to_loopback) == 2
        assert [one["data"]["question"]["title"] for one in bodies(there)] == [title] * 2
    there.status = 503
    asked(engine, people[0], "third")
    assert send_due(engine, LOOPBACK, lambda: NOW, to_loopback) == 0, "both are tried again"


def test_news_over_which_senders_die_is_given_up_and_not_sent(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    asked(engine, people[0])
    with writing(engine) as session:
        session.execute(update(WebhookDelivery).values(attempts=MOST_ATTEMPTS))
    send_due(engine, LOOPBACK, lambda: NOW, to_loopback)
    assert (there.received, statuses(engine, webhook_id)) == ([], ["given_up"])


def test_a_test_is_sent_once_and_says_what_came_of_it(engine: Engine, olga: User, there: Receiver) -> None:
    webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    there.status, there.body = 404, b"no such room"
    in_writing(engine, send_test, webhook_id, NOW)
    assert deliver(engine) == 0
    [delivery] = deliveries(engine, webhook_id)
    assert (delivery.status, delivery.answered, delivery.answer) == ("given_up", 404, "no such room")
    assert the_webhook(engine, webhook_id).failing_since is None
    assert [one["type"] for one in bodies(there)] == ["test"]


def test_a_private_address_is_refused_when_it_is_sent_to(engine: Engine, olga: User, there: Receiver) -> None:
    """Check that the range that was allowed at the set-up is not allowed any more."""
    webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    in_writing(engine, send_test, webhook_id, NOW)
    strict = LOOPBACK.model_copy(update={"webhook_ranges": "127.0.0.9/32"})
    assert deliver(engine, settings=strict) == 0
    assert there.received == []
    assert "private network" in str(deliveries(engine, webhook_id)[0].error)


def test_one_receiver_that_is_away_holds_up_no_other(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    there_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    away = Receiver(port=1)
    away_id = hook(engine, olga, away, NewsKind.QUESTION_ASKED)
    asked(engine, people[0])
    assert deliver(engine) == 1
    assert (statuses(engine, there_id), statuses(engine, away_id)) == (["delivered"], ["waiting"])


def test_a_webhook_that_is_removed_after_its_claim_ends_no_round_for_others(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    gone_id, stays_id = (hook(engine, olga, there, NewsKind.QUESTION_ASKED) for _ in range(2))
    asked(engine, people[0])

    def remove_once_claimed() -> datetime:
        """The sender reads the clock between the claim of a delivery and its preparation."""
        with writing(engine) as session:
            gone = session.get(Webhook, gone_id)
            claimed = WebhookDelivery.webhook_id == gone_id, WebhookDelivery.attempts > 0
            if gone is not None and session.scalar(select(WebhookDelivery.id).where(*claimed)) is not None:
                holder = Holder(competition=find_competition(session, COMPETITION))
                remove_webhook(UserAct(session, olga, NOW, LOOPBACK), gone, holder)
        return NOW

    assert send_due(engine, LOOPBACK, remove_once_claimed, to_loopback) == 2
    assert (statuses(engine, gone_id), statuses(engine, stays_id)) == ([], ["delivered"])
    assert len(there.received) == 1


def test_a_delivery_that_cannot_be_built_ends_no_round_for_others(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    broken_id, well_id = (hook(engine, olga, there, NewsKind.QUESTION_ASKED) for _ in range(2))
    asked(engine, people[0])
    with writing(engine) as session:
        session.execute(update(WebhookDelivery).where(WebhookDelivery.webhook_id == broken_id).values(about={}))
    with capture_logs() as logged:
        assert send_due(engine, LOOPBACK, lambda: NOW, to_loopback) == 1
    assert (statuses(engine, broken_id), statuses(engine, well_id)) == (["waiting"], ["delivered"])
    assert [(one["event"], one["error"]) for one in logged] == [("webhook_delivery_failed", "KeyError")]


def test_who_lost_their_right_is_told_nothing_more(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    asked(engine, people[0])
    with writing(engine) as session:
        revoke_role(session, find_competition(session, COMPETITION), olga, Role.ORGANISER, NOW)
    assert deliver(engine) == 0
    assert there.received == []
    assert the_webhook(engine, webhook_id).disabled_why.startswith("the person who saved it last no longer")


@pytest.mark.parametrize("audience", [WebhookAudience.ORGANISERS, WebhookAudience.PUBLIC])
def test_who_is_blocked_on_the_server_lends_no_eyes(
    engine: Engine, people: list[User], olga: User, there: Receiver, audience: WebhookAudience
) -> None:
    webhook_id = hook(engine, olga, there, audience=audience)
    in_writing(engine, send_test, webhook_id, NOW)
    with writing(engine) as session:
        block_account(Act(session, None, NOW, get_settings()), session.get_one(User, olga.id), "Spam.")
    assert deliver(engine) == 0, "also before the sweep comes by"
    assert there.received == []
    assert the_webhook(engine, webhook_id).disabled_why == "the person who saved it last is blocked on this server."


def test_who_is_blocked_in_the_competition_lends_nothing_there_and_saves_nothing(
    engine: Engine, people: list[User], there: Receiver
) -> None:
    ada, bob, *_ = people
    submit(engine, ada)
    submit(engine, bob, content="b")
    of_ada = hook(engine, ada, there, audience=WebhookAudience.TEAM)
    of_bob = hook(engine, bob, there, audience=WebhookAudience.TEAM)
    for one in (of_ada, of_bob):
        in_writing(engine, send_test, one, NOW)
    with writing(engine) as session:
        block(Act(session, None, NOW, LOOPBACK), find_competition(session, COMPETITION), ada, "Rude.")
    assert deliver(engine) == 1
    assert (statuses(engine, of_ada), statuses(engine, of_bob)) == (["dropped"], ["delivered"])
    assert the_webhook(engine, of_ada).disabled_why == "the person who saved it last is blocked in this competition."
    with pytest.raises(BlockedHere):
        hook(engine, ada, there, audience=WebhookAudience.TEAM)


@pytest.mark.both
def test_webhooks_of_blocked_people_end_without_any_news(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    ada = people[0]
    submit(engine, ada)
    of_team = hook(engine, ada, there, audience=WebhookAudience.TEAM)
    of_olga = hook(engine, olga, there)
    others = hook(engine, appoint(engine, people[2]), there)

    def ended() -> tuple[int, list[int]]:
        with writing(engine) as session:
            found = webhooks_of_blocked(session)
            number = sum(end_of_blocked(session, one, LOOPBACK, NOW) for one in [*found, *found])
            assert webhooks_of_blocked(session) == []
        return number, [one for one in (of_team, of_olga, others) if the_webhook(engine, one).disabled_at]

    assert ended() == (0, [])
    with writing(engine) as session:
        block(Act(session, None, NOW, LOOPBACK), find_competition(session, COMPETITION), ada, "Rude.")
    assert ended() == (1, [of_team])
    asked(engine, people[1])
    with writing(engine) as session:
        block_account(Act(session, None, NOW, get_settings()), session.get_one(User, olga.id), "Spam.")
    assert ended() == (1, [of_team, of_olga])
    assert statuses(engine, of_olga) == ["given_up"], "another organiser takes it over, and sends again what waited"
    with reading(engine) as session:
        entries = session.scalars(select(AuditEntry.details).where(AuditEntry.action == "webhook.disable")).all()
        mails = session.scalars(select(OutgoingMail.user_id).where(OutgoingMail.subject.startswith("Webhook"))).all()
    assert [one["webhook"] for one in entries] == [of_team, of_olga]
    assert list(mails) == [ada.id, olga.id]


def test_the_log_is_forgotten_in_time(engine: Engine, olga: User, there: Receiver) -> None:
    webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED)
    in_writing(engine, send_test, webhook_id, NOW)
    deliver(engine)
    in_writing(engine, send_test, webhook_id, NOW)
    for days, left in ((29, 2), (30, 1), (400, 1)):
        with writing(engine) as session:
            forget_deliveries(session, LOOPBACK, NOW + timedelta(days=days))
        assert len(deliveries(engine, webhook_id)) == left, "what still waits stays"
