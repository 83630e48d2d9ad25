"""Rounds of judging: what is drawn and shown, who judges, marks that are saved one by one, publishing."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm, NameTaken, NotFound
from app.judging.annotators import appoint, dismiss, find_assignment, list_assignments
from app.judging.errors import CannotJudge, RoundPublished, RoundUnfinished
from app.judging.marks import Worksheet, clear_marks, save_marks, worksheet
from app.judging.results import document_of, open_texts, progress_of
from app.judging.rounds import discard_round, publish_round, withdraw_round
from app.judging.selection import draw_items, shuffled
from app.models import (
    JudgedAnswer,
    JudgedEntry,
    JudgedText,
    Judgement,
    JudgingRound,
    OutgoingMail,
    Role,
    User,
)
from app.people.act import UserAct
from app.people.rights import grant_role, revoke_role
from evergold.scoring.judgement import Marks
from evergold.scoring.task import NOT_ENTERED
from tests import world
from tests.boards.places import board
from tests.judging import judged as judging
from tests.rich_world import fresh
from tests.threads import in_threads
from tests.world import COMPETITION, NOW


@pytest.fixture
def systems(engine: Engine) -> dict[str, UUID]:
    world.add_competition(engine, per_day=None)
    judging.add_task(engine)
    return judging.enter_three(engine)


@pytest.fixture
def olga(engine: Engine) -> User:
    """Return the organiser."""
    return world.add_user(engine, "olga", is_administrator=True)


@pytest.fixture
def anna(engine: Engine) -> User:
    return world.add_user(engine, "anna")


def texts_of(engine: Engine, language: str) -> dict[tuple[str, str], int]:
    """Return how many systems gave each paraphrase of each item."""
    with reading(engine) as session:
        query = select(JudgedText.item, JudgedText.paraphrase).join(JudgedAnswer, JudgedAnswer.text_id == JudgedText.id)
        found: dict[tuple[str, str], int] = {}
        for item, paraphrase in session.execute(query.where(JudgedText.language == language)):
            found[item, paraphrase] = found.get((item, paraphrase), 0) + 1
        return found


def sheet(engine: Engine, user: User, language: str = "en") -> Worksheet:
    with reading(engine) as session:
        found = judging.the_round(session)
        return worksheet(session, found, judging.annotator_of(session, found, user, language))


def say(engine: Engine, user: User, text_id: int, language: str = "en", **said: str) -> Marks:
    with writing(engine) as session:
        found = judging.the_round(session)
        annotator = judging.annotator_of(session, found, user, language)
        return save_marks(session, found, annotator, text_id, said, NOW)


def say_all(engine: Engine, user: User, language: str = "en", marks: str = "333") -> None:
    for text_id in sheet(engine, user, language).text_ids:
        say(
            engine, user, text_id, language, **dict(zip(("mwe_sense", "rest_sense", "naturalness"), marks, strict=True))
        )


def appoint_annotator(session: Session, organiser: User, username: str, language: str) -> None:
    """Let an organiser appoint somebody to the round."""
    competition, _ = judging.places(session)
    act = UserAct(session, organiser, NOW, get_settings())
    appoint(act, competition, judging.the_round(session), language=language, username=username)


def text_with(engine: Engine, paraphrase: str) -> int:
    with reading(engine) as session:
        return session.scalars(select(JudgedText.id).where(JudgedText.paraphrase == paraphrase)).one()


# ------------------------------------------------------------------------------------------------------------ sampling


def test_the_same_seed_draws_the_same_items_whatever_else_there_is() -> None:
    items = [f"i{number}" for number in range(100)]
    drawn = draw_items(7, "en", items, 10)
    assert len(drawn) == 10
    assert drawn == [item for item in items if item in drawn]  # in their own order
    assert draw_items(7, "en", list(reversed(items)), 10) == list(reversed(drawn))
    assert draw_items(8, "en", items, 10) != drawn
    assert draw_items(7, "pt", items, 10) != drawn
    assert set(drawn) < set(draw_items(7, "en", items, 20))  # more items: the same ones, and others


def test_what_a_seed_draws_never_changes() -> None:
    """Check the order: rounds record only their seed, so another order would misrepresent old rounds.

    `printf '1\\0en\\0a' | sha256sum` and so on begin with 27 (a), 34 (c), 48 (b), 4a (f), 90 (e), ab (d).
    """
    assert draw_items(1, "en", ["a", "b", "c", "d", "e", "f"], 2) == ["a", "c"]


@pytest.mark.parametrize("count", [None, 3, 99])
def test_no_more_is_drawn_than_there_is(count: int | None) -> None:
    assert draw_items(1, "en", ["a", "b", "c"], count) == ["a", "b", "c"]


def test_everybody_has_an_order_of_their_own() -> None:
    named = [(f"i{number}", number) for number in range(50)]
    annas, bens = shuffled(1, "anna", named), shuffled(1, "ben", named)
    assert sorted(annas) == sorted(bens) == list(range(50))
    assert annas != bens
    assert annas == shuffled(1, "anna", reversed(named))


# ------------------------------------------------------------------------------------------------------------ starting


def test_a_round_judges_the_boards_entries_and_shows_the_same_paraphrase_once(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    judging.start(engine, olga)
    english = texts_of(engine, "en")
    assert english["en-2", "My brother stays up late."] == 2  # alpha and beta, whose blanks differ
    assert len(english) == 8
    assert set(texts_of(engine, "pt").values()) == {1}
    with reading(engine) as session:
        entered = {entry.submission_id: entry.languages for entry in session.scalars(fresh(JudgedEntry))}
    assert entered == {systems["alpha"]: ["en", "pt"], systems["beta"]: ["en", "pt"], systems["gamma"]: ["en"]}


def test_chosen_submissions_and_a_number_of_items(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    found = judging.start(engine, olga, systems["beta"], items=1, seed=5)
    assert (found.seed, found.items_per_language) == (5, 1)
    assert len(texts_of(engine, "en")) == len(texts_of(engine, "pt")) == 1
    drawn = draw_items(5, "en", list(judging.SENTENCES["en"]), 1)
    assert {item for item, _ in texts_of(engine, "en")} == set(drawn)


def test_without_a_seed_the_server_chooses_one_and_keeps_it(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    seeds = {judging.start(engine, olga, name=f"round-{number}").seed for number in range(3)}
    assert len(seeds) == 3


def test_everything_wrong_with_the_form_is_told_at_once(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    with pytest.raises(InvalidForm) as caught:
        judging.start(engine, olga, name="Not A Name", items=0, seed=-1, guidelines="x" * 20_001)
    assert set(caught.value.details["fields"]) == {"name", "items", "seed", "guidelines"}


def test_unknown_submissions_are_named(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    unknown = uuid4()
    with pytest.raises(InvalidForm, match=str(unknown)):
        judging.start(engine, olga, systems["alpha"], unknown)


def test_a_name_is_given_once(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    judging.start(engine, olga)
    with pytest.raises(NameTaken):
        judging.start(engine, olga)


def test_nothing_to_judge_without_submissions_or_items(engine: Engine, olga: User) -> None:
    world.add_competition(engine)
    with pytest.raises(CannotJudge, match="idiom-detection"):
        judging.start(engine, olga)
    judging.add_task(engine)
    with pytest.raises(InvalidForm, match="no scored submission"):
        judging.start(engine, olga)
    with writing(engine) as session:
        world.the_phase_task(session).items_sha256 = None
    with pytest.raises(CannotJudge, match="no blind file"):
        judging.start(engine, olga)


# ---------------------------------------------------------------------------------------------------------- annotators


def test_an_annotator_is_appointed_once_and_judges_only_that_language(
    engine: Engine, systems: dict[str, UUID], olga: User, anna: User
) -> None:
    judging.start(engine, olga, annotators={"anna": "en"})
    with writing(engine) as session:
        competition, _ = judging.places(session)
        found = judging.the_round(session)
        appoint(UserAct(session, olga, NOW, get_settings()), competition, found, language="en", username="Anna")
        assert [(one.language, one.annotator, one.done, one.total) for one in progress_of(session, found)] == [
            ("en", "anna", 0, 6)  # not the empty paraphrase, nor the one that is the sentence
        ]
        assert [one.annotator.language for one in list_assignments(session, anna)] == ["en"]
        with pytest.raises(NotFound):
            find_assignment(session, competition, found, "pt", anna)
        with pytest.raises(NotFound):
            find_assignment(session, competition, found, "en", olga)


def test_unknown_language_and_account_are_told_together(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    judging.start(engine, olga)
    with writing(engine) as session:
        competition, _ = judging.places(session)
        found = judging.the_round(session)
        with pytest.raises(InvalidForm) as caught:
            appoint(UserAct(session, olga, NOW, get_settings()), competition, found, language="xx", username="nobody")
    assert set(caught.value.details["fields"]) == {"language", "username"}


def test_nobody_judges_their_own_team(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    with pytest.raises(Forbidden, match="Beta"):
        judging.start(engine, olga, annotators={"beta": "en"})


def test_taking_the_role_away_ends_all_judging(
    engine: Engine, systems: dict[str, UUID], olga: User, anna: User
) -> None:
    judging.start(engine, olga, annotators={"anna": "en"})
    with writing(engine) as session:
        competition, _ = judging.places(session)
        assert revoke_role(session, competition, anna, Role.ANNOTATOR, NOW)
    with reading(engine) as session:
        assert list_assignments(session, anna) == []
    with pytest.raises(NotFound):
        sheet(engine, anna)


def test_who_is_dismissed_leaves_marks_behind(engine: Engine, systems: dict[str, UUID], olga: User, anna: User) -> None:
    judging.start(engine, olga, annotators={"anna": "en"})
    say_all(engine, anna)
    with writing(engine) as session:
        competition, _ = judging.places(session)
        found = judging.the_round(session)
        dismiss(UserAct(session, olga, NOW, get_settings()), competition, found, language="en", username="anna")
        assert [(one.annotator, one.is_active, one.done) for one in progress_of(session, found)] == [("anna", False, 6)]
    with pytest.raises(NotFound):
        sheet(engine, anna)
    with writing(engine) as session:  # asked again, they go on where they were
        appoint_annotator(session, olga, "anna", "en")
    assert sheet(engine, anna).done == 6


# --------------------------------------------------------------------------------------------------------------- marks


@pytest.fixture
def started(engine: Engine, systems: dict[str, UUID], olga: User, anna: User) -> JudgingRound:
    return judging.start(engine, olga, annotators={"anna": "en"}, seed=1)


def test_marks_come_one_by_one_and_are_all_kept(engine: Engine, started: JudgingRound, anna: User) -> None:
    first = sheet(engine, anna).text_ids[0]
    assert say(engine, anna, first, mwe_sense="2") == Marks(True, 2)
    assert (sheet(engine, anna).done, progress(engine)) == (0, [0])
    assert say(engine, anna, first, rest_sense="3", removed="yes") == Marks(True, 2, 3)
    assert say(engine, anna, first, naturalness="0") == Marks(True, 2, 3, 0)
    found = sheet(engine, anna)
    assert (found.done, found.next_open(), found.next_open(5), progress(engine)) == (1, 2, 6, [1])
    assert say(engine, anna, first, mwe_sense="1") == Marks(True, 1, 3, 0)  # changed one's mind


def progress(engine: Engine) -> list[int]:
    with reading(engine) as session:
        return [one.done for one in progress_of(session, judging.the_round(session))]


def test_behind_the_last_place_and_with_all_judged_none_is_open() -> None:
    sheet = Worksheet((5, 6), {5: Marks(False), 6: Marks(False)})
    assert [sheet.next_open(after) for after in range(4)] == [None] * 4


def test_still_there_needs_no_marks(engine: Engine, started: JudgingRound, anna: User) -> None:
    first = sheet(engine, anna).text_ids[0]
    assert say(engine, anna, first, removed="no") == Marks(False)
    assert sheet(engine, anna).done == 1
    assert say(engine, anna, first, removed="yes") == Marks(True)  # taken back: now there are marks to give
    assert sheet(engine, anna).done == 0


def test_an_untouched_form_says_nothing(engine: Engine, started: JudgingRound, anna: User) -> None:
    say(engine, anna, sheet(engine, anna).text_ids[0], removed="yes")
    with reading(engine) as session:
        assert session.scalars(select(Judgement)).all() == []


def test_marks_can_be_taken_back(engine: Engine, started: JudgingRound, anna: User) -> None:
    first = sheet(engine, anna).text_ids[0]
    say(engine, anna, first, mwe_sense="2", rest_sense="2", naturalness="2")
    with writing(engine) as session:
        found = judging.the_round(session)
        clear_marks(session, found, judging.annotator_of(session, found, anna), first)
    assert sheet(engine, anna).marks == {}


@pytest.mark.parametrize("said", [{"mwe_sense": "4"}, {"rest_sense": "-1"}, {"naturalness": "x"}, {"removed": "maybe"}])
def test_other_marks_are_refused(engine: Engine, started: JudgingRound, anna: User, said: Mapping[str, str]) -> None:
    with pytest.raises(InvalidForm) as caught:
        say(engine, anna, sheet(engine, anna).text_ids[0], **said)
    assert set(caught.value.details["fields"]) == set(said)


@pytest.mark.both
def test_two_tabs_at_once_make_one_judgement(engine: Engine, started: JudgingRound, anna: User) -> None:
    first = sheet(engine, anna).text_ids[0]
    start_together = threading.Barrier(4)

    def one_tab(number: int) -> None:
        start_together.wait()
        say(engine, anna, first, mwe_sense="3", rest_sense=str(number % 4), naturalness="1")

    in_threads(4, one_tab)
    with reading(engine) as session:
        kept = session.scalars(select(Judgement)).one()
    assert (kept.mwe_sense, kept.naturalness) == (3, 1)


def test_annotators_know_nothing_of_each_other(engine: Engine, started: JudgingRound, olga: User, anna: User) -> None:
    ben = world.add_user(engine, "ben")
    with writing(engine) as session:
        appoint_annotator(session, olga, "ben", "en")
    say_all(engine, anna)
    assert (sheet(engine, ben).done, sheet(engine, ben).marks) == (0, {})
    assert set(sheet(engine, ben).text_ids) == set(sheet(engine, anna).text_ids)
    assert sheet(engine, ben).text_ids != sheet(engine, anna).text_ids


# ------------------------------------------------------------------------------------------------------------- results


def test_scores_by_hand(engine: Engine, systems: dict[str, UUID], olga: User, anna: User) -> None:
    judging.start(engine, olga, annotators={"anna": "en", "ben": "en"} if world.add_user(engine, "ben") else {})
    with reading(engine) as session:
        ben = session.scalars(select(User).where(User.username == "ben")).one()
    for paraphrase, annas, bens in [
        ("She died last winter.", "333", "310"),  # (12 + 7) / 24 = 19/24
        ("My brother stays up late.", "222", None),  # 8/12; of alpha and of beta
        ("He was ill all week.", "030", "030"),  # 3/12
        ("She passed away.", None, "111"),  # 4/12
        ("He felt bad.", "no", "333"),  # (0 + 12) / 24 = 1/2
        ("He felt poorly all week.", "303", None),  # 9/12
    ]:
        for user, marks in ((anna, annas), (ben, bens)):
            if marks == "no":
                say(engine, user, text_with(engine, paraphrase), removed="no")
            elif marks:
                a, b, c = tuple(marks)
                say(engine, user, text_with(engine, paraphrase), mwe_sense=a, rest_sense=b, naturalness=c)
    with reading(engine) as session:
        found = document_of(session, judging.the_round(session))
    scores = {name: found["scores"][str(submission_id)] for name, submission_id in systems.items()}
    assert scores["alpha"]["en"]["value"] == pytest.approx((19 / 24 + 8 / 12 + 3 / 12) / 3)
    assert scores["beta"]["en"]["value"] == pytest.approx((4 / 12 + 8 / 12 + 1 / 2) / 3)
    # An empty paraphrase and the sentence itself score 0 by rule; nobody was asked about them.
    assert scores["gamma"]["en"] == {"value": pytest.approx(0.75 / 3), "reason": None, "judged": 3, "items": 3}
    assert scores["alpha"]["pt"]["reason"] == "not judged yet"
    assert scores["alpha"]["macro"]["reason"] == "not judged yet: pt"
    assert scores["gamma"]["pt"]["reason"] == NOT_ENTERED
    # Macro over the two languages of the round; the one that gamma did not enter counts 0.
    assert scores["gamma"]["macro"]["value"] == pytest.approx(0.75 / 3 / 2)
    assert found["annotators"] == {"en": 2, "pt": 0}
    assert found["agreement"]["en"]["score"]["units"] == 3
    # Where anna says that the expression is still there, she gives no marks to agree about.
    assert found["agreement"]["en"]["mwe_sense"]["units"] == 2
    assert found["agreement"]["pt"]["score"] == {
        "alpha": None,
        "reason": "fewer than two annotators",
        "units": 0,
    }


# ---------------------------------------------------------------------------------------------------------- publishing


def publish(engine: Engine, olga: User, *, unfinished: bool = False) -> None:
    with writing(engine) as session:
        competition, _ = judging.places(session)
        found = judging.the_round(session)
        publish_round(UserAct(session, olga, NOW, get_settings()), competition, found, unfinished=unfinished)


def test_an_unfinished_round_is_not_published_by_mistake(
    engine: Engine, started: JudgingRound, olga: User, anna: User
) -> None:
    say_all(engine, anna)
    with pytest.raises(RoundUnfinished, match="pt: 4") as caught:
        publish(engine, olga)
    assert caught.value.details == {"open": {"pt": 4}}
    publish(engine, olga, unfinished=True)


def test_boards_show_human_scores_from_the_day_they_are_published(
    engine: Engine, systems: dict[str, UUID], olga: User, anna: User
) -> None:
    judging.start(engine, olga, annotators={"anna": "en"})
    with writing(engine) as session:
        appoint_annotator(session, olga, "anna", "pt")
    say_all(engine, anna, "en")
    say_all(engine, anna, "pt", "000")
    before = world.board_version_number(engine)
    assert [column.metric for column in board(engine, viewer=olga).columns] == ["languages", "bertscore"]
    publish(engine, olga)
    assert world.board_version_number(engine) == before + 1
    shown = board(engine)
    assert [(column.metric, column.split, column.title) for column in shown.columns][2:] == [
        ("human_score", "macro", "Human score")
    ]
    cells = {row.team: row.cells[-1] for row in shown.rows}
    assert cells["Alpha"].value == pytest.approx(0.5)  # 1 in English, 0 in Portuguese
    assert cells["Gamma"].value == pytest.approx((1 / 3 + 0) / 2)
    assert "human_score|macro|marks:2a+b+c/12" in (cells["Alpha"].signature or "")
    assert "annotators:1,1" in (cells["Alpha"].signature or "")
    with writing(engine) as session:
        competition, _ = judging.places(session)
        withdraw_round(UserAct(session, olga, NOW, get_settings()), competition, judging.the_round(session))
    assert len(board(engine).columns) == 2
    assert world.board_version_number(engine) == before + 2


def test_a_newer_submission_does_not_inherit_the_marks_of_the_old_one(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    judging.start(engine, olga)
    publish(engine, olga, unfinished=True)
    with reading(engine) as session:
        alpha = session.scalars(select(User).where(User.username == "alpha")).one()
    judging.enter(engine, alpha, judging.BETA, {"en": 1.0, "pt": 1.0})
    cells = {row.team: row.cells[-1] for row in board(engine).rows}
    assert cells["Alpha"].reason == "this submission was not judged"
    assert cells["Beta"].reason == "not judged yet: en, pt"


def test_a_published_round_changes_no_more(engine: Engine, started: JudgingRound, olga: User, anna: User) -> None:
    say_all(engine, anna)
    publish(engine, olga, unfinished=True)
    text_id = sheet(engine, anna).text_ids[0]
    with pytest.raises(RoundPublished):
        say(engine, anna, text_id, mwe_sense="0")
    with writing(engine) as session:
        competition, _ = judging.places(session)
        found = judging.the_round(session)
        for change in (appoint, dismiss):
            with pytest.raises(RoundPublished):
                change(UserAct(session, olga, NOW, get_settings()), competition, found, language="en", username="anna")
        with pytest.raises(RoundPublished):
            discard_round(UserAct(session, olga, NOW, get_settings()), competition, found)


def test_publishing_twice_is_publishing_once(engine: Engine, started: JudgingRound, olga: User) -> None:
    publish(engine, olga, unfinished=True)
    before = world.board_version_number(engine)
    publish(engine, olga, unfinished=True)
    assert world.board_version_number(engine) == before


def test_a_discarded_round_leaves_nothing_behind(engine: Engine, started: JudgingRound, olga: User, anna: User) -> None:
    say_all(engine, anna)
    with writing(engine) as session:
        competition, _ = judging.places(session)
        discard_round(UserAct(session, olga, NOW, get_settings()), competition, judging.the_round(session))
    with reading(engine) as session:
        assert session.scalars(select(JudgedAnswer)).all() == []
        for table in (Judgement, JudgedText, JudgedEntry, JudgingRound):
            assert session.scalars(fresh(table)).all() == []
    with reading(engine) as session, pytest.raises(NotFound):
        judging.the_round(session)


def test_open_paraphrases_are_counted_by_language(engine: Engine, started: JudgingRound, anna: User) -> None:
    with reading(engine) as session:
        assert open_texts(session, judging.the_round(session)) == {"en": 6, "pt": 4}
    say_all(engine, anna)
    with reading(engine) as session:
        assert open_texts(session, judging.the_round(session)) == {"pt": 4}


# --------------------------------------------------------------------------------------------------------------- roles


def test_an_organiser_of_a_competition_is_one_by_a_role(engine: Engine, anna: User, olga: User) -> None:
    from app.people.rights import ANY_RIGHT, list_roles, may_organise

    world.add_competition(engine)
    world.add_competition(engine, name="other")
    with writing(engine) as session:
        from app.competitions.find import find_competition

        competition, other = find_competition(session, COMPETITION), find_competition(session, "other")
        assert not may_organise(session, anna, competition, ANY_RIGHT)
        assert not may_organise(session, None, competition, ANY_RIGHT)
        assert may_organise(session, olga, competition, ANY_RIGHT)  # administrators organise all of them
        assert grant_role(session, competition, anna, Role.ANNOTATOR, NOW)
        assert not may_organise(session, anna, competition, ANY_RIGHT)
        assert grant_role(session, competition, anna, Role.ORGANISER, NOW)
        assert not grant_role(session, competition, anna, Role.ORGANISER, NOW)  # they had it
        assert may_organise(session, anna, competition, ANY_RIGHT)
        assert not may_organise(session, anna, other, ANY_RIGHT)
        assert [(one.role, one.username) for one in list_roles(session, competition)] == [
            (Role.ORGANISER, "anna"),
            (Role.ANNOTATOR, "anna"),
        ]
        assert revoke_role(session, competition, anna, Role.ORGANISER, NOW)
        assert not revoke_role(session, competition, anna, Role.ORGANISER, NOW)
        assert not may_organise(session, anna, competition, ANY_RIGHT)


def test_who_is_asked_to_judge_gets_a_mail_with_the_page_where_it_begins(
    engine: Engine, systems: dict[str, UUID], olga: User, anna: User
) -> None:
    judging.start(engine, olga, annotators={"anna": "en"})
    with reading(engine) as session:
        (mail,) = session.scalars(select(OutgoingMail).where(OutgoingMail.user_id == anna.id))
    assert mail.recipient == anna.email
    assert f"/competitions/{COMPETITION}/judging/human/items/en\n" in mail.body
    with writing(engine) as session:
        appoint_annotator(session, olga, "anna", "en")
        assert len(session.scalars(select(OutgoingMail)).all()) == 1, "once more changes nothing"
