"""Webhooks get what their audience sees in the API at that moment, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select, update
from structlog.testing import capture_logs

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.messages.questions import QuestionForm, ask
from app.models import Board, Competition, NewsKind, Right, Stage, User, WebhookAudience
from app.news.watching import note_watched
from app.people.act import UserAct
from app.people.rights import set_rights
from app.webhooks.keeping import KINDS_FOR
from tests import world
from tests.competitions.embargo import declare, hide
from tests.news.hooked import LOOPBACK, appoint, bodies, deliver, hook, statuses
from tests.receiver import Receiver
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, fail, reject, score, submit

ORGANISERS, TEAM, PUBLIC = WebhookAudience.ORGANISERS, WebhookAudience.TEAM, WebhookAudience.PUBLIC
REVEAL = NOW + DAY


@pytest.fixture
def olga(engine: Engine, people: list[User]) -> User:
    return appoint(engine, people[3])


def told(engine: Engine, there: Receiver, now: Any = NOW) -> list[Any]:
    """Look, send, and return what was received."""
    note_watched(engine, LOOPBACK, now)
    deliver(engine, now)
    return bodies(there)


def kinds(found: list[Any]) -> list[str]:
    return sorted(one["type"] for one in found)


def test_organisers_are_told_of_every_submission_with_its_scores(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    hook(engine, olga, there, NewsKind.SUBMISSION_SCORED, NewsKind.SUBMISSION_REJECTED, NewsKind.RUN_FAILED)
    score(engine, submit(engine, people[0]).run_id, 0.625)
    reject(engine, submit(engine, people[1], content="b").run_id)
    fail(engine, submit(engine, people[2], content="c").run_id)
    found = {one["type"]: one["data"] for one in told(engine, there)}
    assert set(found) == {"submission.scored", "submission.rejected", "run.failed"}
    values = {one["split"]: one["value"] for one in found["submission.scored"]["submission"]["scores"]}
    assert values["zero_shot/all"] in (0.625, 0.3125)
    assert found["submission.rejected"]["submission"]["problems"]
    assert found["run.failed"]["run"]["failure"] == "Broken"


def test_a_team_is_told_of_its_own_submissions_alone(engine: Engine, people: list[User], there: Receiver) -> None:
    ada, bob, *_ = people
    mine = submit(engine, ada)
    webhook_id = hook(engine, ada, there, audience=TEAM)
    score(engine, mine.run_id, 0.625)
    score(engine, submit(engine, bob, content="b").run_id, 0.5)
    fail(engine, submit(engine, ada, content="c").run_id)
    found = told(engine, there)
    assert kinds(found) == ["run.failed", "submission.scored"]
    assert {one["data"]["submission"]["submitted_by"] for one in found} == {"ada"}
    assert "Broken" not in repr(found), "what broke is for organisers"
    assert statuses(engine, webhook_id) == ["delivered", "delivered"]


def test_a_team_sees_no_score_under_embargo_even_if_its_member_organises(
    engine: Engine, people: list[User], there: Receiver
) -> None:
    ada = appoint(engine, people[0])
    hide(engine, board="hidden", public_from=REVEAL, own_scores="never")
    mine = submit(engine, ada)
    hook(engine, ada, there, NewsKind.SUBMISSION_SCORED, audience=TEAM)
    hook(engine, ada, there, NewsKind.SUBMISSION_SCORED, audience=ORGANISERS)
    score(engine, mine.run_id, 0.625)
    as_team, as_organiser = sorted(told(engine, there), key=lambda one: len(one["data"]["submission"]["scores"]))
    assert as_team["data"]["submission"]["scores"] == as_team["data"]["submission"]["standings"] == []
    assert "0.625" not in repr(as_team)
    assert "0.625" in repr(as_organiser)


def test_everybody_is_told_when_a_board_changes_and_nothing_of_a_hidden_one(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    hide(engine, board="hidden", public_from=REVEAL, own_scores="never")
    hook(engine, olga, there, NewsKind.BOARD_CHANGED, audience=PUBLIC)
    assert told(engine, there) == []
    score(engine, submit(engine, people[0]).run_id, 0.625)
    assert told(engine, there) == [], "not even that something was scored"
    found = told(engine, there, REVEAL)
    assert {one["data"]["board"] for one in found} == {"zero-shot"}
    [leader] = found[0]["data"]["leaders"]
    assert (leader["rank"], leader["team"], leader["score"]) == (1, "Ada", 0.625)
    page = f"https://scores.example.org/competitions/{COMPETITION}/phases/{PHASE}/boards/zero-shot"
    assert found[0]["data"]["page"] == page
    assert told(engine, there, REVEAL + HOUR) == []


def test_a_change_that_no_row_shows_is_no_news(engine: Engine, people: list[User], olga: User, there: Receiver) -> None:
    hook(engine, olga, there, NewsKind.BOARD_CHANGED, audience=PUBLIC)
    score(engine, submit(engine, people[0]).run_id, 0.625)
    told(engine, there)
    score(engine, submit(engine, people[0], content="worse").run_id, 0.5)
    assert told(engine, there) == [], "the board shows each team's best"
    score(engine, submit(engine, people[0], content="better").run_id, 0.75)
    assert len(told(engine, there)) == 1


def test_a_board_that_cannot_be_made_keeps_no_news_of_others(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    hook(engine, olga, there, NewsKind.BOARD_CHANGED, audience=PUBLIC)
    told(engine, there)
    score(engine, submit(engine, people[0]).run_id, 0.625)
    with writing(engine) as session:
        here = Board.competition_id == find_competition(session, COMPETITION).id
        broken = [{"metric": "of a later version"}]
        session.execute(update(Board).where(here, Board.name == "one-shot").values(columns=broken))
    with capture_logs() as logged:
        assert [one["data"]["board"] for one in told(engine, there)] == ["zero-shot"]
    with reading(engine) as session:
        place = find_competition(session, COMPETITION)
        ids = (next(one.id for one in place.phases if one.name == PHASE), place.boards[1].id)
    assert [(one["event"], one["phase_id"], one["board_id"]) for one in logged] == [("board_not_watched", *ids)]


def test_an_embargo_that_began_before_the_sending_holds(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    hook(engine, olga, there, NewsKind.BOARD_CHANGED, audience=PUBLIC)
    note_watched(engine, LOOPBACK, NOW)
    score(engine, submit(engine, people[0]).run_id, 0.625)
    assert note_watched(engine, LOOPBACK, NOW) == 1
    hide(engine, board="hidden", public_from=REVEAL, own_scores="never")
    deliver(engine)
    [one] = bodies(there)
    assert (one["data"]["leaders"], one["data"]["rows"]) == ([], 0)


def test_phases_open_and_close_once(engine: Engine, people: list[User], olga: User, there: Receiver) -> None:
    hook(engine, olga, there, NewsKind.PHASE_OPENED, NewsKind.PHASE_CLOSED, audience=PUBLIC)
    declare(engine, starts_at=NOW + HOUR, ends_at=NOW + DAY)
    seen = [kinds(told(engine, there, NOW + after)) for after in (0 * HOUR, HOUR, 2 * HOUR, DAY, 2 * DAY)]
    assert seen == [[], ["phase.opened"], [], ["phase.closed"], []]


def test_a_phase_that_was_moved_meanwhile_is_not_told(
    engine: Engine, people: list[User], olga: User, there: Receiver
) -> None:
    webhook_id = hook(engine, olga, there, NewsKind.PHASE_CLOSED, audience=PUBLIC)
    assert note_watched(engine, LOOPBACK, REVEAL) == 1
    declare(engine, ends_at=REVEAL + DAY)
    deliver(engine, REVEAL)
    assert (bodies(there), statuses(engine, webhook_id)) == ([], ["dropped"])


def test_each_organiser_is_told_what_their_rights_show(engine: Engine, people: list[User], there: Receiver) -> None:
    """A right that was taken away after the webhook was set up takes its news along."""
    olga = appoint(engine, people[3])
    webhook_id = hook(engine, olga, there, NewsKind.QUESTION_ASKED, NewsKind.SUBMISSION_SCORED)
    with writing(engine) as session:
        found = find_competition(session, COMPETITION)
        set_rights(session, found, olga, frozenset({Right.SUBMISSIONS}), NOW, actor=None)
        form = QuestionForm("Is it blind?", "May we look?")
        ask(UserAct(session, people[0], NOW, LOOPBACK), found, form, key=None)
    score(engine, submit(engine, people[1]).run_id, 0.5)
    assert kinds(told(engine, there)) == ["submission.scored"]
    assert sorted(statuses(engine, webhook_id)) == ["delivered", "dropped"]


def test_a_draft_is_told_to_nobody_outside(engine: Engine, people: list[User], there: Receiver) -> None:
    root = world.add_user(engine, "root", is_administrator=True)
    hook(engine, root, there, *KINDS_FOR[PUBLIC], audience=PUBLIC, competition=None)
    hook(engine, root, there, NewsKind.PHASE_CLOSED, audience=ORGANISERS, competition=None)
    with writing(engine) as session:
        here = session.scalars(select(Competition).where(Competition.name == COMPETITION)).one()
        here.stage = Stage.PRIVATE
    score(engine, submit(engine, people[0]).run_id, 0.5)
    found = [one for one in told(engine, there, REVEAL) if one["data"].get("competition") == COMPETITION]
    assert kinds(found) == ["phase.closed"], "to administrators, who see it"
