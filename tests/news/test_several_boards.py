"""Boards of two phases and tasks, watched by webhooks of a competition, of the server, and of the one next door."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.messages.questions import QuestionForm, ask
from app.models import (
    GoldVersion,
    NewsKind,
    Phase,
    PhaseTask,
    Question,
    Right,
    Role,
    Stage,
    User,
    Webhook,
    WebhookAudience,
    WebhookBoard,
)
from app.news import watching
from app.news.payloads import NotSeen, board_at, looking, news_for, viewer_of, why_not_lent
from app.news.watching import note_watched
from app.people.act import UserAct
from app.people.rights import revoke_role, set_rights
from tests.beside import add_other_task, enter_other, one_right_each
from tests.competitions.embargo import add_phase, declare, enter
from tests.news.hooked import LOOPBACK, appoint, bodies, deliver, deliveries, hook
from tests.receiver import Receiver
from tests.rich_rows import add_gold
from tests.rich_world import NEIGHBOURS, ORGANISER, OTHER_BOARDS, fresh
from tests.world import (
    COMPETITION,
    DAY,
    HOUR,
    NOW,
    PHASE,
    SECOND,
    TASK,
    add_team,
    add_user,
    fail,
    score,
    submit,
)

PUBLIC, TEAM, ORGANISERS = WebhookAudience.PUBLIC, WebhookAudience.TEAM, WebhookAudience.ORGANISERS
BOARD = NewsKind.BOARD_CHANGED


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


@pytest.fixture
def hooks(engine: Engine, people: list[User], there: Receiver) -> dict[str, int]:
    """Everybody sees two tasks in `evaluation`, one of them in `practice`, too."""
    add_other_task(engine)
    add_phase(engine, "practice", starts_at=NOW - DAY)
    olga, root = appoint(engine, people[3]), add_user(engine, "root", is_administrator=True)
    with reading(engine) as session:
        nina = session.scalars(select(User).where(User.username == ORGANISER)).one()
    found = {
        "ours": hook(engine, olga, there, BOARD, audience=PUBLIC),
        "server": hook(engine, root, there, BOARD, audience=PUBLIC, competition=None),
        "door": hook(engine, nina, there, BOARD, audience=PUBLIC, competition=NEIGHBOURS),
    }
    assert note_watched(engine, LOOPBACK, NOW) == 0, "the first look takes boards down, and tells nothing"
    return found


def noted(engine: Engine, hooks: dict[str, int]) -> dict[str, list[tuple[str, str]]]:
    """Phases and boards of what was noted so far, by webhook."""
    with reading(engine) as session:
        found = find_competition(session, COMPETITION)
        phases = {phase.id: phase.name for phase in found.phases}
        boards = {board.id: board.name for board in found.boards}
    told = {
        name: [(phases[one.about["phase"]], boards[one.about["board"]]) for one in deliveries(engine, number)]
        for name, number in hooks.items()
    }
    return {name: places for name, places in told.items() if places}


def test_a_board_is_news_of_its_own_phase_alone(engine: Engine, people: list[User], hooks: dict[str, int]) -> None:
    ada, bob, *_ = people
    enter(engine, ada, 0.5, phase="practice")
    assert note_watched(engine, LOOPBACK, NOW) == 2
    first = [("practice", "zero-shot")]
    assert noted(engine, hooks) == {"ours": first, "server": first}
    enter_other(engine, bob, 0.5)
    assert note_watched(engine, LOOPBACK, NOW) == 4
    both = [*first, (PHASE, OTHER_BOARDS[0]), (PHASE, OTHER_BOARDS[1])]
    assert noted(engine, hooks) == {"ours": both, "server": both}
    assert note_watched(engine, LOOPBACK, NOW) == 0


def test_news_that_waits_is_not_noted_again_and_that_of_other_boards_is(
    engine: Engine, people: list[User], hooks: dict[str, int], there: Receiver
) -> None:
    ada, bob, cat, *_ = people
    enter(engine, ada, 0.5)
    note_watched(engine, LOOPBACK, NOW)
    enter(engine, bob, 0.6, minute=1)
    enter(engine, cat, 0.6, phase="practice", minute=1)
    assert note_watched(engine, LOOPBACK, NOW) == 2
    places = [(PHASE, "zero-shot"), ("practice", "zero-shot")]
    assert noted(engine, hooks) == {"ours": places, "server": places}
    deliver(engine, NOW)
    enter(engine, cat, 0.7, minute=2)
    note_watched(engine, LOOPBACK, NOW)
    assert noted(engine, hooks)["ours"] == [*places, (PHASE, "zero-shot")]
    there.status = 503
    deliver(engine, NOW)
    enter(engine, cat, 0.8, minute=3)
    note_watched(engine, LOOPBACK, NOW)
    assert noted(engine, hooks)["ours"] == [*places, *[(PHASE, "zero-shot")] * 2], "what failed may have arrived"


def test_what_each_webhook_saw_is_kept_for_itself(engine: Engine, people: list[User], hooks: dict[str, int]) -> None:
    def seen(name: str) -> int:
        with reading(engine) as session:
            rows = session.scalars(select(WebhookBoard).where(WebhookBoard.webhook_id == hooks[name])).all()
            return len(rows)

    assert seen("ours") == 2 * 3 + 2
    assert seen("server") > seen("ours")
    assert seen("door") == seen("server") - seen("ours")
    with writing(engine) as session:
        session.get_one(Webhook, hooks["ours"]).disabled_at = NOW
    enter(engine, people[0], 0.5)
    assert note_watched(engine, LOOPBACK, NOW) == 1
    assert list(noted(engine, hooks)) == ["server"]


def test_a_draft_is_watched_by_its_own_webhooks_and_not_by_the_servers(
    engine: Engine, people: list[User], hooks: dict[str, int], there: Receiver
) -> None:
    with reading(engine) as session:
        olga = session.get_one(User, people[3].id)
    hooks["organisers"] = hook(engine, olga, there, BOARD)
    note_watched(engine, LOOPBACK, NOW)
    with writing(engine) as session:
        find_competition(session, COMPETITION).stage = Stage.DRAFT
    enter(engine, people[0], 0.5)
    note_watched(engine, LOOPBACK, NOW)
    assert noted(engine, hooks) == {"organisers": [(PHASE, "zero-shot")]}


def test_phases_are_told_to_those_who_asked_for_that_kind(
    engine: Engine, people: list[User], hooks: dict[str, int], there: Receiver
) -> None:
    """Check two phases, with moments between two looks; the moment of a look belongs to it."""
    with reading(engine) as session:
        olga = session.get_one(User, people[3].id)
    opened = hook(engine, olga, there, NewsKind.PHASE_OPENED, audience=PUBLIC)
    closed = hook(engine, olga, there, NewsKind.PHASE_CLOSED, audience=PUBLIC)
    declare(engine, starts_at=NOW + HOUR, ends_at=NOW + 2 * HOUR)
    declare(engine, phase="practice", starts_at=NOW + 2 * HOUR, ends_at=NOW + 3 * HOUR)

    def told(number: int) -> list[int]:
        return [one.about["phase"] for one in deliveries(engine, number)]

    with reading(engine) as session:
        evaluation, practice = (
            next(phase.id for phase in find_competition(session, COMPETITION).phases if phase.name == name)
            for name in (PHASE, "practice")
        )
    for hours, expected in (
        (1, ([evaluation], [])),
        (2, ([evaluation, practice], [evaluation])),
        (3, ([evaluation, practice], [evaluation, practice])),
        (4, ([evaluation, practice], [evaluation, practice])),
    ):
        note_watched(engine, LOOPBACK, NOW + hours * HOUR - SECOND)
        note_watched(engine, LOOPBACK, NOW + hours * HOUR)
        assert (told(opened), told(closed)) == expected, hours


# ----------------------------------------------------------------------------------------------------- whose eyes


def test_with_whose_eyes_a_webhook_looks(engine: Engine, people: list[User], there: Receiver) -> None:
    ada, bob, *_ = people
    olga = appoint(engine, people[3])
    root = add_user(engine, "root", is_administrator=True)
    add_team(engine, ada, name="Ada")
    add_team(engine, bob, name="Bob")
    hooks = {
        "team": hook(engine, ada, there, BOARD, audience=TEAM),
        "organisers": hook(engine, olga, there, BOARD),
        "public": hook(engine, olga, there, BOARD, audience=PUBLIC),
        "server": hook(engine, root, there, BOARD, competition=None),
    }
    with writing(engine) as session:
        webhooks = {name: session.get_one(Webhook, number) for name, number in hooks.items()}
        viewers = {name: viewer_of(session, one, NOW) for name, one in webhooks.items()}
        names = {name: (one.user.username if one.user else None, one.seen_as) for name, one in viewers.items()}
        assert names == {
            "team": ("ada", "participant"),
            "organisers": (olga.username, None),
            "public": (None, None),
            "server": ("root", None),
        }
        here, door = (find_competition(session, place).id for place in (COMPETITION, NEIGHBOURS))
        for name in ("team", "organisers", "public"):
            assert looking(session, webhooks[name], here, LOOPBACK, NOW).competition.id == here
            with pytest.raises(NotSeen):
                looking(session, webhooks[name], door, LOOPBACK, NOW)
        assert [looking(session, webhooks["server"], one, LOOPBACK, NOW).competition.id for one in (here, door)] == [
            here,
            door,
        ]
        with pytest.raises(NotSeen):
            looking(session, webhooks["server"], 4711, LOOPBACK, NOW)
        webhooks["team"].owner_id = bob.id
        assert "no longer belongs to its audience" in why_not_lent(session, webhooks["team"])
        webhooks["server"].owner_id = olga.id
        assert why_not_lent(session, webhooks["server"])
        revoke_role(session, find_competition(session, COMPETITION), olga, Role.ORGANISER, NOW)
        assert why_not_lent(session, webhooks["organisers"])
        assert not why_not_lent(session, webhooks["public"]), "what everybody sees anybody lends"


def test_a_question_is_told_in_its_own_competition_to_those_who_answer(
    engine: Engine, people: list[User], there: Receiver
) -> None:
    rights = one_right_each(engine)
    hooks = {
        right: hook(engine, user, there, *([NewsKind.QUESTION_ASKED] if right is Right.MESSAGES else [BOARD]))
        for right, user in rights.items()
    }
    with writing(engine) as session:
        here, door = (find_competition(session, place) for place in (COMPETITION, NEIGHBOURS))
        form = QuestionForm("Is it blind?", "May we?")
        asked = ask(UserAct(session, people[0], NOW, LOOPBACK), here, form, key=None).id
        theirs = session.scalars(select(Question.id).where(Question.competition_id == door.id).limit(1)).one()
        for right, number in hooks.items():
            webhook = session.get_one(Webhook, number)
            look = looking(session, webhook, here.id, LOOPBACK, NOW)
            for question in (asked, theirs):
                about = {"question": question}
                if right is Right.MESSAGES and question == asked:
                    told = news_for(session, webhook, NewsKind.QUESTION_ASKED, about, NOW, look)
                    assert (told.title, told.lines) == ("Ada asks about Idioms", ("Is it blind?", "May we?"))
                    continue
                with pytest.raises(NotSeen):
                    news_for(session, webhook, NewsKind.QUESTION_ASKED, about, NOW, look)
        set_rights(session, here, rights[Right.MESSAGES], frozenset({Right.GOLD}), NOW, actor=None)
    deliver(engine)
    assert bodies(there) == []


def test_what_is_for_one_right_is_told_to_those_who_have_it_in_its_own_competition(
    engine: Engine, people: list[User], there: Receiver
) -> None:
    """A run that failed, a submission, and gold that was checked, whose version is known by its number."""
    rights = one_right_each(engine)
    hooks = {right: hook(engine, user, there, BOARD) for right, user in rights.items()}
    add_gold(engine, COMPETITION, PHASE, TASK, NOW)
    with writing(engine) as session:
        first = session.scalars(fresh(GoldVersion)).one()
        columns = {one.key: getattr(first, one.key) for one in GoldVersion.__table__.columns if one.key != "id"}
        session.add(GoldVersion(**{**columns, "number": first.number + 1}))
    scored = submit(engine, people[0])
    score(engine, scored.run_id, 0.5)
    failed = submit(engine, people[1], content="b")
    fail(engine, failed.run_id)
    with reading(engine) as session:
        here, door = (find_competition(session, place) for place in (COMPETITION, NEIGHBOURS))
        versions = session.scalars(fresh(GoldVersion).order_by(GoldVersion.number)).all()
        theirs = session.scalars(
            select(GoldVersion.id).join(PhaseTask).join(Phase).where(Phase.competition_id == door.id).limit(1)
        ).one()
        news: tuple[tuple[NewsKind, dict[str, Any], Right | None], ...] = (
            (NewsKind.RUN_FAILED, {"run": failed.run_id}, Right.SUBMISSIONS),
            (NewsKind.SUBMISSION_SCORED, {"submission": str(scored.submission.id)}, Right.SUBMISSIONS),
            *((NewsKind.GOLD_CHECKED, {"gold": one.id}, Right.GOLD) for one in versions),
            (NewsKind.GOLD_CHECKED, {"gold": theirs}, None),
        )
        told = []
        for right, number in hooks.items():
            webhook = session.get_one(Webhook, number)
            look = looking(session, webhook, here.id, LOOPBACK, NOW)
            for kind, about, needed in news:
                if right is needed:
                    told.append(news_for(session, webhook, kind, about, NOW, look))
                    continue
                with pytest.raises(NotSeen):
                    news_for(session, webhook, kind, about, NOW, look)
    of_gold = [one.data["gold"]["version"] for one in told if one.kind is NewsKind.GOLD_CHECKED]
    assert of_gold == [one.number for one in versions]
    assert len(of_gold) > 1
    assert {one.kind for one in told} == {one for one, _, _ in news}


def test_a_team_is_told_nothing_of_another_team_though_its_member_organises(
    engine: Engine, people: list[User], there: Receiver
) -> None:
    ada, bob, *_ = people
    sent = {user.username: submit(engine, user, content=user.username) for user in (ada, bob)}
    for one in sent.values():
        score(engine, one.run_id, 0.5)
    number = hook(engine, appoint(engine, ada), there, BOARD, audience=TEAM)
    with reading(engine) as session:
        webhook, here = session.get_one(Webhook, number), find_competition(session, COMPETITION)
        look = looking(session, webhook, here.id, LOOPBACK, NOW)
        mine, theirs = ({"submission": str(sent[name].submission.id)} for name in ("ada", "bob"))
        assert (
            news_for(session, webhook, NewsKind.SUBMISSION_SCORED, mine, NOW, look).data["submission"]["team"] == "Ada"
        )
        with pytest.raises(NotSeen):
            news_for(session, webhook, NewsKind.SUBMISSION_SCORED, theirs, NOW, look)


def test_news_of_a_phase_is_of_that_phase_and_of_what_became_of_it(
    engine: Engine, people: list[User], there: Receiver
) -> None:
    add_phase(engine, "practice", starts_at=NOW - DAY, ends_at=NOW + 2 * DAY)
    olga = appoint(engine, people[3])
    number = hook(engine, olga, there, BOARD, audience=PUBLIC)
    told = {}
    with reading(engine) as session:
        webhook, here = session.get_one(Webhook, number), find_competition(session, COMPETITION)
        look = looking(session, webhook, here.id, LOOPBACK, NOW + 3 * DAY)
        for phase in here.phases:
            for kind in (NewsKind.PHASE_OPENED, NewsKind.PHASE_CLOSED):
                news = news_for(session, webhook, kind, {"phase": phase.id}, NOW, look)
                told[phase.name, kind] = (news.title, news.data["phase"]["name"])
        names = {phase.name: phase.title for phase in here.phases}
    assert told == {
        (name, kind): (f"{title} of Idioms {what}", name)
        for name, title in names.items()
        for kind, what in ((NewsKind.PHASE_OPENED, "is open"), (NewsKind.PHASE_CLOSED, "has closed"))
    }


def test_a_board_that_was_removed_since_the_look_is_not_noted(
    engine: Engine, people: list[User], there: Receiver
) -> None:
    add_other_task(engine)
    number = hook(engine, appoint(engine, people[3]), there, BOARD, audience=PUBLIC)
    with reading(engine) as session:
        seen = watching._look(session, session.get_one(Webhook, number), LOOPBACK, NOW)
    with writing(engine) as session:
        gone = next(one for one in find_competition(session, COMPETITION).boards if one.name == OTHER_BOARDS[0])
        session.delete(gone)
        gone_id = gone.id
    watching._note(engine, number, seen, NOW)
    with reading(engine) as session:
        noted = session.scalars(select(WebhookBoard.board_id).where(WebhookBoard.webhook_id == number)).all()
    assert set(noted) == {one.board_id for one in seen.boards} - {gone_id}


def test_a_board_is_found_by_the_numbers_of_its_phase_and_its_own(engine: Engine, people: list[User]) -> None:
    add_other_task(engine)
    with reading(engine) as session:
        found, door = (find_competition(session, place) for place in (COMPETITION, NEIGHBOURS))
        phase, board = board_at(found, found.phases[1].id, found.boards[2].id)
        assert (phase.id, board.id) == (found.phases[1].id, found.boards[2].id)
        for wrong in ((door.phases[0].id, board.id), (phase.id, door.boards[0].id)):
            with pytest.raises(NotSeen):
                board_at(found, *wrong)
