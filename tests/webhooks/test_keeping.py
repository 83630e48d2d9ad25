"""Webhooks of a competition, of two teams in it, of the server, and of the competition next door: separate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, delete, select

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm, LimitReached, NotAuthenticated, NotFound
from app.competitions.find import find_competition
from app.models import (
    AuditEntry,
    CompetitionBlock,
    DeliveryStatus,
    GoldVersion,
    NewsKind,
    OutgoingMail,
    Right,
    Role,
    RunStatus,
    ScoringRun,
    Team,
    User,
    Webhook,
    WebhookAudience,
    WebhookBoard,
    WebhookDelivery,
    WebhookForm,
)
from app.people.act import UserAct
from app.people.rights import grant_role
from app.webhooks.due import are_watched, due_deliveries, forget_deliveries, is_any_due, watching_webhooks
from app.webhooks.ending import disable, end_of_blocked, webhooks_of_blocked, why_blocked
from app.webhooks.events import note_for, note_gold_checked, note_news, note_run_ended
from app.webhooks.keeping import (
    LOG_LENGTH,
    TESTS_PER_HOUR,
    Holder,
    WebhookDisabled,
    WebhookEntry,
    add_webhook,
    change_webhook,
    deliveries_of,
    find_webhook,
    forget_webhooks_of_team,
    holder_for,
    remove_webhook,
    renew_secret,
    replay,
    send_test,
    webhooks_of,
)
from tests import world
from tests.competitions.embargo import enter
from tests.rescoring.rescored import runs_of, start
from tests.rich_world import NEIGHBOURS, ORGANISER, own
from tests.world import COMPETITION, DAY, HOUR, NOW, SECOND, add_team, add_user, fail, reject, submit

SETTINGS = Settings(base_url="https://scores.example.org")
ADDRESS = "https://chat.example.org/hook"
ORGANISERS, TEAM, PUBLIC = WebhookAudience.ORGANISERS, WebhookAudience.TEAM, WebhookAudience.PUBLIC
#: Of a team and of organisers alike.
KINDS = (NewsKind.SUBMISSION_SCORED, NewsKind.RUN_FAILED, NewsKind.BOARD_CHANGED)


@pytest.fixture
def users(sqlite_engine: Engine, people: list[User]) -> dict[str, User]:
    """Ada and Bob each have a team; Olga and Edda organise, Edda to edit alone; Root runs the server; Nina is next
    door's."""
    engine = sqlite_engine
    found = {"ada": people[0], "bob": people[1], "root": add_user(engine, "root", is_administrator=True)}
    for name, rights in (("olga", tuple(Right)), ("edda", (Right.EDIT,)), ("mel", (Right.MESSAGES,))):
        found[name] = add_user(engine, name)
        with writing(engine) as session:
            competition = find_competition(session, COMPETITION)
            grant_role(session, competition, found[name], Role.ORGANISER, NOW, rights=rights)
    for name in ("ada", "bob"):
        add_team(engine, found[name], name=name.capitalize())
    with reading(engine) as session:
        found["nina"] = session.scalars(select(User).where(User.username == ORGANISER)).one()
    return found


def hold(
    engine: Engine,
    owner: User,
    *kinds: NewsKind,
    place: str | None = COMPETITION,
    audience: WebhookAudience = ORGANISERS,
    **more: Any,
) -> int:
    """A new webhook's id."""
    with writing(engine) as session:
        competition = find_competition(session, place) if place else None
        holder = holder_for(session, competition, owner, of_team=audience is TEAM)
        values = {"name": f"of {owner.username}", "address": ADDRESS, "audience": audience, "kinds": kinds or KINDS}
        entry = WebhookEntry(**{**values, **more})
        return add_webhook(UserAct(session, owner, NOW, SETTINGS), holder, entry).id


@pytest.fixture
def hooks(sqlite_engine: Engine, users: dict[str, User]) -> dict[str, int]:
    engine = sqlite_engine
    return {
        "ours": hold(engine, users["olga"]),
        "ada": hold(engine, users["ada"], audience=TEAM),
        "bob": hold(engine, users["bob"], audience=TEAM),
        "server": hold(engine, users["root"], place=None),
        "door": hold(engine, users["nina"], place=NEIGHBOURS),
        "disabled": hold(engine, users["olga"], is_disabled=True),
        "phases": hold(engine, users["edda"], NewsKind.PHASE_OPENED, audience=PUBLIC),
        "questions": hold(engine, users["mel"], NewsKind.QUESTION_ASKED),
    }


def named(hooks: Mapping[str, int], ids: list[int]) -> list[str]:
    names = {number: name for name, number in hooks.items()}
    return [names[one] for one in ids]


def deliveries(engine: Engine, hooks: Mapping[str, int]) -> dict[str, list[str]]:
    """The kinds of news that wait, by webhook."""
    with reading(engine) as session:
        rows = session.scalars(select(WebhookDelivery).order_by(WebhookDelivery.id)).all()
    found: dict[str, list[str]] = {}
    for row in rows:
        [name] = named(hooks, [row.webhook_id])
        found.setdefault(name, []).append(str(NewsKind(row.kind)))
    return found


def test_news_goes_to_those_whose_it_is(sqlite_engine: Engine, hooks: dict[str, int], users: dict[str, User]) -> None:
    engine = sqlite_engine
    with writing(engine) as session:
        here, door = (find_competition(session, name).id for name in (COMPETITION, NEIGHBOURS))
        adas = session.scalars(own(Team).where(Team.name == "Ada")).one().id
        scored, asked = NewsKind.SUBMISSION_SCORED, NewsKind.QUESTION_ASKED
        assert note_news(session, scored, {"run": 1}, NOW, competition_id=here, team_id=adas) == 3
        assert note_news(session, NewsKind.RUN_FAILED, {"run": 2}, NOW, competition_id=here) == 2
        assert note_news(session, asked, {"question": 3}, NOW, competition_id=here) == 1
        assert note_news(session, asked, {"question": 4}, NOW, competition_id=door) == 0
        assert note_news(session, scored, {"run": 5}, NOW, competition_id=door) == 2
    assert deliveries(engine, hooks) == {
        "ours": ["submission.scored", "run.failed"],
        "ada": ["submission.scored"],
        "server": ["submission.scored", "run.failed", "submission.scored"],
        "door": ["submission.scored"],
        "questions": ["question.asked"],
    }
    with reading(engine) as session:
        first = session.scalars(select(WebhookDelivery).order_by(WebhookDelivery.id).limit(1)).one()
    assert (first.about, first.happened_at, first.status) == ({"competition": here, "run": 1}, NOW, "waiting")


def test_the_end_of_a_run_is_told_unless_a_set_scored_it(
    sqlite_engine: Engine, hooks: dict[str, int], users: dict[str, User]
) -> None:
    """Check that of a set only failures are reported, and to no team."""
    engine = sqlite_engine

    def noted(deed: Callable[[], int]) -> dict[str, list[str]]:
        """Note that a run ended, besides what its own end may have noted."""
        run_id = deed()
        with writing(engine) as session:
            session.execute(delete(WebhookDelivery))
            note_run_ended(session, run_id, NOW)
        return deliveries(engine, hooks)

    def failed() -> int:
        run_id = submit(engine, users["bob"], content="failed").run_id
        fail(engine, run_id)
        return run_id

    submission_id = enter(engine, users["ada"], 0.5)
    with reading(engine) as session:
        first = session.scalars(select(ScoringRun.id).where(ScoringRun.submission_id == submission_id)).one()
    scored, broken = ["submission.scored"], ["run.failed"]
    assert noted(lambda: first) == {"ours": scored, "ada": scored, "server": scored}
    assert noted(failed) == {"ours": broken, "bob": broken, "server": broken}
    again = runs_of(engine, start(engine))[submission_id]
    assert noted(lambda: again) == {}, "it has not ended"
    world.score(engine, again, 0.4)
    assert noted(lambda: again) == {}
    with writing(engine) as session:
        session.get_one(ScoringRun, again).status = RunStatus.FAILED
    assert noted(lambda: again) == {"ours": broken, "server": broken}
    rejected = submit(engine, users["ada"], content="rejected").run_id
    reject(engine, rejected)
    assert noted(lambda: rejected) == {}, "nobody asked for that"


def test_checked_gold_is_told_where_it_is(sqlite_engine: Engine, users: dict[str, User]) -> None:
    engine = sqlite_engine
    hooks = {
        "ours": hold(engine, users["olga"], NewsKind.GOLD_CHECKED),
        "door": hold(engine, users["nina"], NewsKind.GOLD_CHECKED, place=NEIGHBOURS),
    }
    with writing(engine) as session:
        version = session.scalars(select(GoldVersion.id).order_by(GoldVersion.id).limit(1)).one()
        note_gold_checked(session, version, NOW)
    assert deliveries(engine, hooks) == {"door": ["gold.checked"]}
    with reading(engine) as session:
        assert session.scalars(select(WebhookDelivery)).one().about["gold"] == version


# ------------------------------------------------------------------------------------------------------------ the sweep


def test_what_is_due_waits_for_webhooks_in_use(sqlite_engine: Engine, hooks: dict[str, int]) -> None:
    engine = sqlite_engine
    with writing(engine) as session:
        assert not is_any_due(session, NOW)
        for name in ("ours", "disabled", "door", "ada", "bob"):
            note_for(session, [hooks[name]], NewsKind.BOARD_CHANGED, {}, NOW)
        for name, values in (
            ("door", {"next_attempt_at": NOW + SECOND}),
            ("ada", {"status": DeliveryStatus.DELIVERED, "ended_at": NOW - 10 * DAY}),
            ("bob", {"status": DeliveryStatus.GIVEN_UP, "ended_at": NOW - 9 * DAY}),
        ):
            row = session.scalars(select(WebhookDelivery).where(WebhookDelivery.webhook_id == hooks[name])).one()
            for column, value in values.items():
                setattr(row, column, value)
    with reading(engine) as session:

        def due(now: datetime) -> list[str]:
            return named(hooks, sorted(session.scalars(due_deliveries(WebhookDelivery.webhook_id, now))))

        assert due(NOW) == ["ours"]
        assert due(NOW - SECOND) == []
        assert due(NOW + SECOND) == ["ours", "door"]
        assert (is_any_due(session, NOW), is_any_due(session, NOW - SECOND)) == (True, False)
    with writing(engine) as session:
        assert forget_deliveries(session, SETTINGS.model_copy(update={"webhook_log_days": 10}), NOW) == 1
    assert list(deliveries(engine, hooks)) == ["ours", "disabled", "door", "bob"]


def test_those_that_follow_boards_or_phases_are_watched(sqlite_engine: Engine, hooks: dict[str, int]) -> None:
    with reading(sqlite_engine) as session:
        assert named(hooks, watching_webhooks(session)) == ["ours", "ada", "bob", "server", "door", "phases"]
    with writing(sqlite_engine) as session:
        for webhook in session.scalars(select(Webhook)):
            webhook.kinds = "question.asked test"
        assert not are_watched(session)
        session.get_one(Webhook, hooks["disabled"]).kinds = "phase.closed"
        assert not are_watched(session)
        session.get_one(Webhook, hooks["ada"]).kinds = "phase.closed"
        assert are_watched(session)


# ------------------------------------------------------------------------------------------------------------ access


def test_who_may_hold_webhooks_where(sqlite_engine: Engine, users: dict[str, User]) -> None:
    with reading(sqlite_engine) as session:
        here, door = (find_competition(session, name) for name in (COMPETITION, NEIGHBOURS))

        def held(user: str | None, place: Any, *, of_team: bool = False) -> Holder:
            return holder_for(session, place, users[user] if user else None, of_team=of_team)

        teams = {name: held(name, here, of_team=True).team for name in ("ada", "bob")}
        assert {name: team and team.name for name, team in teams.items()} == {"ada": "Ada", "bob": "Bob"}
        assert held("ada", here, of_team=True).audiences == (TEAM,)
        assert (held("mel", here).team, held("mel", here).audiences) == (None, (ORGANISERS, PUBLIC))
        assert held("root", None) == Holder()
        assert [held("root", None).subject, held("mel", here).subject] == ["server", f"competition {COMPETITION}"]
        for user, place, of_team, error in (
            (None, here, False, NotAuthenticated),
            ("olga", None, False, Forbidden),
            ("olga", door, False, Forbidden),
            ("ada", here, False, Forbidden),
            ("ada", door, True, NotFound),
            ("olga", here, True, NotFound),
        ):
            with pytest.raises(error):
                held(user, place, of_team=of_team)


def test_each_person_finds_and_lists_those_that_are_theirs(
    sqlite_engine: Engine, hooks: dict[str, int], users: dict[str, User]
) -> None:
    """Check that editors of the competition get all of its webhooks, others their own; a team's only its members."""
    found = {
        "ada": {"ada"},
        "bob": {"bob"},
        "olga": {"ours", "disabled", "phases", "questions"},
        "edda": {"ours", "disabled", "phases", "questions"},
        "mel": {"questions"},
        "nina": {"door"},
        "root": {"ours", "disabled", "phases", "questions", "server", "door"},
    }
    with reading(sqlite_engine) as session:
        here, door = (find_competition(session, name) for name in (COMPETITION, NEIGHBOURS))
        for name, expected in found.items():
            theirs = set()
            for hook, number in hooks.items():
                try:
                    webhook, holder = find_webhook(session, number, users[name])
                except NotFound:
                    continue
                assert (webhook.id, holder.competition and holder.competition.id) == (number, webhook.competition_id)
                theirs.add(hook)
            assert theirs == expected, name
        with pytest.raises(NotFound):
            find_webhook(session, 4711, users["root"])
        with pytest.raises(NotAuthenticated):
            find_webhook(session, hooks["ours"], None)
        lists = {
            ("olga", Holder(here)): ["ours", "disabled", "phases", "questions"],
            ("mel", Holder(here)): ["questions"],
            ("ada", holder_for(session, here, users["ada"], of_team=True)): ["ada"],
            ("nina", Holder(door)): ["door"],
            ("root", Holder()): ["server"],
        }
        for (name, holder), expected_names in lists.items():
            assert named(hooks, [one.id for one in webhooks_of(session, holder, users[name])]) == expected_names


# ------------------------------------------------------------------------------------------------------------ keeping


def see(engine: Engine, hooks: Mapping[str, int]) -> None:
    """Let each webhook have seen a board, and have one delivery."""
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        phase, board = competition.phases[0].id, competition.boards[0].id
        for number in hooks.values():
            row = WebhookBoard(webhook_id=number, phase_id=phase, board_id=board, version="1", digest="1")
            session.add(row)
        note_for(session, list(hooks.values()), NewsKind.BOARD_CHANGED, {}, NOW)


def left(engine: Engine, hooks: Mapping[str, int]) -> list[set[str]]:
    """Return which webhooks exist, which have seen a board, and which have deliveries."""
    with reading(engine) as session:
        columns = (Webhook.id, WebhookBoard.webhook_id, WebhookDelivery.webhook_id)
        return [set(named(hooks, list(session.scalars(select(one))))) for one in columns]


def test_a_webhook_goes_with_what_is_its_own(
    sqlite_engine: Engine, hooks: dict[str, int], users: dict[str, User]
) -> None:
    see(sqlite_engine, hooks)
    with writing(sqlite_engine) as session:
        webhook, holder = find_webhook(session, hooks["ours"], users["olga"])
        remove_webhook(UserAct(session, users["olga"], NOW, SETTINGS), webhook, holder)
        adas = session.scalars(own(Team).where(Team.name == "Ada")).one()
        forget_webhooks_of_team(session, adas)
    rest = {*hooks} - {"ours", "ada"}
    assert left(sqlite_engine, hooks) == [rest, rest, rest]


def test_saved_as_in_use_again_it_begins_afresh(
    sqlite_engine: Engine, hooks: dict[str, int], users: dict[str, User]
) -> None:
    """Check that only its own seen boards are forgotten, and phases that opened meanwhile."""
    see(sqlite_engine, hooks)
    later = NOW + DAY

    def save(name: str, now: datetime, *, is_disabled: bool, by: str = "olga", address: str = "") -> Webhook:
        with writing(sqlite_engine) as session:
            webhook, holder = find_webhook(session, hooks[name], users[by])
            webhook.failing_since, webhook.disabled_why = NOW, "gone"
            entry = WebhookEntry(name="Saved", address=address, kinds=KINDS, is_disabled=is_disabled)
            change_webhook(UserAct(session, users[by], now, SETTINGS), webhook, holder, entry)
            return webhook

    kept = save("ours", later, is_disabled=False)
    assert (kept.looked_at, kept.disabled_at, kept.address, kept.owner_id) == (NOW, None, ADDRESS, users["olga"].id)
    assert left(sqlite_engine, hooks)[1] == {*hooks}
    begun = save("disabled", later, is_disabled=False, by="root", address=f"{ADDRESS}/2")
    assert (begun.looked_at, begun.disabled_at, begun.disabled_why) == (later, None, "")
    assert (begun.address, begun.owner_id, begun.failing_since) == (f"{ADDRESS}/2", users["root"].id, None)
    assert left(sqlite_engine, hooks)[1] == {*hooks} - {"disabled"}
    ended = save("ours", later + HOUR, is_disabled=True)
    assert (ended.disabled_at, ended.looked_at) == (later + HOUR, later + HOUR)


def test_a_token_of_matrix_stays_until_it_or_the_address_or_the_form_is_another(
    sqlite_engine: Engine, users: dict[str, User]
) -> None:
    rooms = "https://m.example.org/_matrix/client/v3/rooms/"
    first, second = (f"{rooms}{room}/send/m.room.message" for room in ("a", "b"))
    number = hold(sqlite_engine, users["olga"], form=WebhookForm.MATRIX, address=first, bearer="one")

    def saved(address: str = "", bearer: str = "", form: WebhookForm = WebhookForm.MATRIX) -> str | None:
        with writing(sqlite_engine) as session:
            webhook, holder = find_webhook(session, number, users["olga"])
            entry = WebhookEntry(name="Chat", address=address, kinds=KINDS, form=form, bearer=bearer)
            change_webhook(UserAct(session, users["olga"], NOW, SETTINGS), webhook, holder, entry)
            return webhook.bearer

    assert saved() == "one"
    assert saved(bearer="two") == "two"
    with pytest.raises(InvalidForm):
        saved(address=second)
    assert saved(address=second, bearer="three") == "three"
    for elsewhere in (f"{rooms}a/other", first.replace("/client/v3", ""), f"{first}?via=b"):
        with pytest.raises(InvalidForm):
            saved(address=elsewhere, bearer="four")
    for wrong in ("a b", "ü", "x" * 501):
        with pytest.raises(InvalidForm):
            saved(bearer=wrong)
    assert saved(bearer="x" * 500) == "x" * 500
    assert saved(address=ADDRESS, form=WebhookForm.STANDARD) is None
    assert saved(address=first, form=WebhookForm.STANDARD) is None
    with pytest.raises(InvalidForm):
        saved()


def test_the_secret_before_signs_for_a_day_more(
    sqlite_engine: Engine, hooks: dict[str, int], users: dict[str, User]
) -> None:
    with writing(sqlite_engine) as session:
        webhook, holder = find_webhook(session, hooks["ours"], users["olga"])
        former = webhook.secret
        renew_secret(UserAct(session, users["olga"], NOW, SETTINGS), webhook, holder)
        assert (webhook.former_secret, webhook.former_until) == (former, NOW + DAY)
        assert webhook.secret != former


def test_ended_deliveries_of_one_webhook_are_sent_again_from_one_number_to_another(
    sqlite_engine: Engine, hooks: dict[str, int]
) -> None:
    engine, later = sqlite_engine, NOW + HOUR
    with writing(engine) as session:
        for kind in (*[NewsKind.BOARD_CHANGED] * 5, NewsKind.TEST):
            note_for(session, [hooks["ours"], hooks["door"]], kind, {}, NOW)
        for row in session.scalars(select(WebhookDelivery)):
            row.status, row.ended_at, row.attempts = DeliveryStatus.GIVEN_UP, NOW, 3
    with reading(engine) as session:
        ours = session.get_one(Webhook, hooks["ours"])
        listed = deliveries_of(session, ours)
        ids = [one.id for one in listed][::-1]
        assert [one.webhook_id for one in listed] == [hooks["ours"]] * 6
        assert ids == sorted(ids)
    with writing(engine) as session:
        session.get_one(WebhookDelivery, ids[2]).status = DeliveryStatus.WAITING
        ours = session.get_one(Webhook, hooks["ours"])
        assert replay(session, ours, later, ids[1], ids[3]) == 2
        with pytest.raises(NotFound):
            replay(session, ours, later, ids[5], None)
    with reading(engine) as session:
        rows = {one.id: one for one in session.scalars(select(WebhookDelivery))}
    again = [ids.index(number) for number, row in rows.items() if row.since == later]
    assert again == [1, 3]
    assert {rows[ids[one]].status for one in again} == {DeliveryStatus.WAITING}
    assert {(rows[ids[one]].attempts, rows[ids[one]].next_attempt_at, rows[ids[one]].ended_at) for one in again} == {
        (0, later, None)
    }
    with writing(engine) as session:
        ours = session.get_one(Webhook, hooks["ours"])
        assert replay(session, ours, later, None, ids[0]) == 1
        assert replay(session, ours, later, ids[4], None) == 1
        ours.disabled_at = NOW
        with pytest.raises(WebhookDisabled):
            replay(session, ours, later, None, None)


def test_tests_are_bounded_for_each_webhook_within_an_hour(sqlite_engine: Engine, hooks: dict[str, int]) -> None:
    with writing(sqlite_engine) as session:
        ours, door, ada = (session.get_one(Webhook, hooks[name]) for name in ("ours", "door", "ada"))
        send_test(session, ours, NOW - HOUR)
        for _ in range(TESTS_PER_HOUR):
            note_for(session, [ours.id], NewsKind.BOARD_CHANGED, {}, NOW)
            send_test(session, ada, NOW)
        for _ in range(TESTS_PER_HOUR):
            send_test(session, ours, NOW)
        send_test(session, door, NOW)
        with pytest.raises(LimitReached) as refused:
            send_test(session, ours, NOW)
        assert refused.value.details == {
            "limit": TESTS_PER_HOUR,
            "used": TESTS_PER_HOUR,
            "per": "hour",
            "retry_at": (NOW + HOUR).isoformat(),
        }
        send_test(session, ours, NOW + HOUR)
        for _ in range(LOG_LENGTH):
            note_for(session, [ours.id], NewsKind.BOARD_CHANGED, {}, NOW + 2 * HOUR)
    with reading(sqlite_engine) as session:
        log = deliveries_of(session, session.get_one(Webhook, hooks["ours"]))
    assert [one.happened_at for one in log] == [NOW + 2 * HOUR] * LOG_LENGTH


# ------------------------------------------------------------------------------------------------------------- ending


def block(engine: Engine, user: User, place: str | None = None) -> None:
    with writing(engine) as session:
        if place is None:
            session.get_one(User, user.id).blocked_at = NOW
            return
        here = find_competition(session, place).id
        found = CompetitionBlock(
            competition_id=here, user_id=user.id, reason="Spam.", blocked_at=NOW, blocked_by="root"
        )
        session.add(found)


def test_webhooks_of_blocked_people_end_and_their_owners_read_why(
    sqlite_engine: Engine, hooks: dict[str, int], users: dict[str, User]
) -> None:
    engine = sqlite_engine
    see(engine, hooks)
    block(engine, users["mel"])
    block(engine, users["ada"], COMPETITION)
    block(engine, users["nina"], COMPETITION)
    block(engine, users["root"], NEIGHBOURS)
    with reading(engine) as session:
        assert named(hooks, webhooks_of_blocked(session)) == ["ada", "questions"]
        whys = {name: why_blocked(session, session.get_one(Webhook, number)) for name, number in hooks.items()}
    assert {name: why for name, why in whys.items() if why} == {
        "questions": "the person who saved it last is blocked on this server.",
        "ada": "the person who saved it last is blocked in this competition.",
    }
    with writing(engine) as session:
        ends = [end_of_blocked(session, number, SETTINGS, NOW + HOUR) for _ in range(2) for number in hooks.values()]
        assert sum(ends) == 2
    with reading(engine) as session:
        ended = {name: session.get_one(Webhook, number) for name, number in hooks.items()}
        assert [name for name, one in ended.items() if one.disabled_at == NOW + HOUR] == ["ada", "questions"]
        rows = session.scalars(select(WebhookDelivery).order_by(WebhookDelivery.id)).all()
        assert [*map(str, named(hooks, [one.webhook_id for one in rows if one.status == "given_up"]))] == [
            "ada",
            "questions",
        ]
        mails = session.scalars(select(OutgoingMail).order_by(OutgoingMail.id)).all()
        told = [(one.recipient, one.subject) for one in mails if "is disabled" in one.subject]
        entries = session.scalars(select(AuditEntry).where(AuditEntry.action == "webhook.disable")).all()
    assert ("ada@example.org", "Webhook 'of ada' is disabled") in told
    assert [(one.subject, one.details["webhook"]) for one in entries] == [
        (f"competition {COMPETITION}", hooks["ada"]),
        (f"competition {COMPETITION}", hooks["questions"]),
    ]


def test_one_of_the_server_says_where_it_is_and_is_disabled_once(
    sqlite_engine: Engine, hooks: dict[str, int], users: dict[str, User]
) -> None:
    for why in ("first", "second"):
        with writing(sqlite_engine) as session:
            disable(session, session.get_one(Webhook, hooks["server"]), why, SETTINGS, NOW + timedelta(hours=1))
    with reading(sqlite_engine) as session:
        webhook = session.get_one(Webhook, hooks["server"])
        mail = session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == "root@example.org")).one()
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "webhook.disable")).one()
    assert (webhook.disabled_at, webhook.disabled_why) == (NOW + HOUR, "first")
    assert mail.body.startswith("Hello root,")
    assert "The webhook 'of root' of this server is disabled, and nothing is sent to it any more: first" in mail.body
    assert f"https://scores.example.org/webhooks/{webhook.id}" in mail.body
    assert entry.subject == "server"
