"""Two rounds of one task, and one with their name in the competition next door, with the same annotators, are kept
apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm, NotFound
from app.base.storage import storage_of
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.judging.annotators import (
    appoint,
    dismiss,
    find_assignment,
    list_assignments,
    may_judge_or_organise,
)
from app.judging.marks import clear_marks, given_marks, save_marks, worksheet
from app.judging.marks_csv import csv_pieces
from app.judging.organising import WantedRound, organised_round, start_judging
from app.judging.reading import Drawn
from app.judging.results import document_of, open_texts, progress_of
from app.judging.rounds import (
    RoundForm,
    discard_round,
    find_round,
    languages_of,
    list_rounds,
    publish_round,
    start_round,
    withdraw_round,
)
from app.judging.rows import TextToJudge
from app.judging.selection import choose_submissions, newest_scored, on_boards, scored_submissions, sources_of
from app.judging.summary import results_for
from app.models import (
    FormerMember,
    JudgedAnswer,
    JudgedEntry,
    JudgedText,
    Judgement,
    JudgingAnnotator,
    JudgingRound,
    OutgoingMail,
    Right,
    Role,
    Submission,
    Team,
    TeamKind,
    User,
)
from app.people.act import UserAct
from app.people.rights import RightMissing, grant_role, revoke_role
from app.submissions.choices import withdraw_submission
from evergold.scoring.judgement import Marks
from tests import world
from tests.beside import add_old_run, add_other_task, enter_other, one_right_each
from tests.boards.places import board
from tests.judging import judged as judging
from tests.rich_world import NEIGHBOURS, own
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, TASK

FIRST, SECOND = "first", "human"
#: Where each round is: the last one has the name of the second, next door.
ROUNDS = ((COMPETITION, FIRST), (COMPETITION, SECOND), (NEIGHBOURS, SECOND))


@dataclass
class World:
    """Anna and Ben judge the first round, which is done and published, in English; in the second, Anna judges both
    languages, and Ben Portuguese. Next door Anna judges the same in English."""

    engine: Engine
    systems: dict[str, UUID]
    olga: User
    anna: User
    ben: User


@pytest.fixture
def here(sqlite_engine: Engine) -> World:
    engine = sqlite_engine
    world.add_competition(engine, per_day=None)
    judging.add_task(engine)
    systems = judging.enter_three(engine)
    olga = world.add_user(engine, "olga", is_administrator=True)
    anna, ben = world.add_user(engine, "anna"), world.add_user(engine, "ben")
    found = World(engine, systems, olga, anna, ben)
    judging.start(engine, olga, name=FIRST, seed=1, annotators={"anna": "en", "ben": "en"})
    mark_all(found, (COMPETITION, FIRST), (anna,), "en", 3)
    mark_all(found, (COMPETITION, FIRST), (ben,), "en", 1)
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        publish_round(
            UserAct(session, olga, NOW, get_settings()),
            competition,
            find_round(session, competition, FIRST),
            unfinished=True,
        )
    judging.start(engine, olga, name=SECOND, seed=2, annotators={"anna": "en", "ben": "pt"})
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        second = find_round(session, competition, SECOND)
        appoint(UserAct(session, olga, NOW, get_settings()), competition, second, language="pt", username="anna")
    _add_next_door(found)
    mark_all(found, ROUNDS[2], (anna,), "en", 2)
    return found


def _add_next_door(here: World) -> None:
    """A text of the same item, and Anna as an annotator of it."""
    with writing(here.engine) as session:
        competition = find_competition(session, NEIGHBOURS)
        found = find_round(session, competition, SECOND)
        text = JudgedText(round_id=found.id, language="en", item="en-1", text_key="0", sentence="One.", paraphrase="1.")
        session.add(text)
        session.flush()
        entry = session.scalars(select(JudgedEntry).where(JudgedEntry.round_id == found.id)).one()
        session.add(JudgedAnswer(entry_id=entry.id, text_id=text.id))
        appoint(UserAct(session, here.olga, NOW, get_settings()), competition, found, language="en", username="anna")


def the_round(session: Session, place: tuple[str, str]) -> JudgingRound:
    return find_round(session, find_competition(session, place[0]), place[1])


def mark_all(here: World, place: tuple[str, str], users: Iterable[User], language: str, mark: int) -> None:
    said = dict.fromkeys(("mwe_sense", "rest_sense", "naturalness"), str(mark))
    with writing(here.engine) as session:
        found = the_round(session, place)
        for user in users:
            annotator = find_assignment(session, find_competition(session, place[0]), found, language, user)
            for text_id in worksheet(session, found, annotator).text_ids:
                save_marks(session, found, annotator, text_id, said, NOW)


def counts(engine: Engine) -> dict[tuple[str, str], list[int]]:
    """Return how many entries, texts, answers, annotators and marks each round has."""
    with reading(engine) as session:
        found = {}
        for competition, name in ROUNDS:
            try:
                number = the_round(session, (competition, name)).id
            except NotFound:
                continue
            entries = select(JudgedEntry.id).where(JudgedEntry.round_id == number)
            annotators = select(JudgingAnnotator.id).where(JudgingAnnotator.round_id == number)
            queries = (
                entries,
                select(JudgedText.id).where(JudgedText.round_id == number),
                select(JudgedAnswer.text_id).where(JudgedAnswer.entry_id.in_(entries)),
                annotators,
                select(Judgement.id).where(Judgement.annotator_id.in_(annotators)),
            )
            found[competition, name] = [len(session.scalars(query).all()) for query in queries]
    return found


#: Three systems with 8 different English texts (2 of them need nobody) and 4 Portuguese ones; 13 answers.
OURS, DONE, NEXT_DOOR = [3, 12, 13, 3, 0], [3, 12, 13, 2, 12], [1, 1, 1, 2, 1]


def test_each_has_its_own_texts_annotators_and_marks(here: World) -> None:
    assert counts(here.engine) == dict(zip(ROUNDS, (DONE, OURS, NEXT_DOOR), strict=True))
    with reading(here.engine) as session:
        ours, theirs = (find_competition(session, name) for name in (COMPETITION, NEIGHBOURS))
        assert [one.name for one in list_rounds(session, ours)] == [SECOND, FIRST]
        assert [one.name for one in list_rounds(session, theirs)] == [SECOND]
        rounds = [the_round(session, place) for place in ROUNDS]
        assert [languages_of(session, one) for one in rounds] == [["en", "pt"], ["en", "pt"], ["en"]]
        assert [open_texts(session, one) for one in rounds] == [{"pt": 4}, {"en": 6, "pt": 4}, {}]
        progress = [
            [(one.language, one.annotator, one.is_active, one.done, one.total) for one in progress_of(session, found)]
            for found in rounds
        ]
        assert progress == [
            [("en", "anna", True, 6, 6), ("en", "ben", True, 6, 6)],
            [("en", "anna", True, 0, 6), ("pt", "anna", True, 0, 4), ("pt", "ben", True, 0, 4)],
            [("en", "anna", True, 1, 1), ("en", "anton", True, 0, 1)],
        ]
        scores = [document_of(session, one)["scores"] for one in rounds]
        alpha = str(here.systems["alpha"])
        assert [alpha in found for found in scores] == [True, True, False]
        assert [found[alpha]["en"]["value"] for found in scores[:2]] == [(1 + 1 / 3) / 2, None]
        assert [one["en"]["value"] for one in scores[2].values()] == [pytest.approx(2 / 3)]
    lines = ["".join(csv_pieces(here.engine, one.id)).splitlines()[1:] for one in rounds]
    assert [len(found) for found in lines] == [14, 0, 1]


def test_marks_are_those_of_one_annotator_and_text_in_one_round(here: World) -> None:
    second = ROUNDS[1]
    with writing(here.engine) as session:
        found, ours = the_round(session, second), find_competition(session, COMPETITION)
        english, portuguese = (find_assignment(session, ours, found, one, here.anna) for one in ("en", "pt"))
        bens = find_assignment(session, ours, found, "pt", here.ben)
        with pytest.raises(NotFound):
            find_assignment(session, ours, found, "en", here.ben)
        sheets = [worksheet(session, found, one) for one in (english, portuguese, bens)]
        assert [len(one.text_ids) for one in sheets] == [6, 4, 4]
        assert not {*sheets[0].text_ids} & {*sheets[1].text_ids}
        first, other = sheets[1].text_ids[:2]
        for annotator, text_id, mark in ((portuguese, first, "1"), (portuguese, other, "2"), (bens, first, "3")):
            save_marks(session, found, annotator, text_id, {"mwe_sense": mark, "removed": "yes"}, NOW)
        save_marks(session, found, portuguese, first, {"naturalness": "0"}, NOW + HOUR)
        given = [given_marks(session, annotator, text) for annotator in (portuguese, bens) for text in (first, other)]
        assert given == [Marks(True, 1, None, 0), Marks(True, 2), Marks(True, 3), Marks()]
        clear_marks(session, found, portuguese, first)
        given = [given_marks(session, annotator, text) for annotator in (portuguese, bens) for text in (first, other)]
        assert given == [Marks(), Marks(True, 2), Marks(True, 3), Marks()]
    assert counts(here.engine)[COMPETITION, FIRST] == DONE


def test_assignments_are_listed_the_open_rounds_first_and_end_with_the_role_there(here: World) -> None:
    def assigned(user: User, place: str | None = None) -> list[tuple[str, str, str]]:
        with reading(here.engine) as session:
            competition = find_competition(session, place) if place else None
            found = list_assignments(session, user, competition)
            return [(one.competition.name, one.judging.name, one.annotator.language) for one in found]

    ours = [(COMPETITION, SECOND, "en"), (COMPETITION, SECOND, "pt")]
    door, first = (NEIGHBOURS, SECOND, "en"), (COMPETITION, FIRST, "en")
    assert assigned(here.anna) == [*ours, door, first]
    assert assigned(here.anna, COMPETITION) == [*ours, first]
    assert assigned(here.ben) == [ours[1], first]
    with writing(here.engine) as session:
        theirs = find_competition(session, NEIGHBOURS)
        grant_role(session, theirs, here.anna, Role.TESTER, NOW)
        assert revoke_role(session, theirs, here.anna, Role.ANNOTATOR, NOW)
    assert assigned(here.anna) == [*ours, first]
    with reading(here.engine) as session:
        theirs, ours_found = find_competition(session, NEIGHBOURS), find_competition(session, COMPETITION)
        sees = [may_judge_or_organise(session, user, ours_found) for user in (here.anna, here.ben, here.olga, None)]
        assert sees == [True, True, True, False]
        assert [may_judge_or_organise(session, user, theirs) for user in (here.anna, here.ben)] == [False, False]
        with pytest.raises(NotFound):
            find_assignment(session, theirs, the_round(session, ROUNDS[2]), "en", here.anna)


def test_judging_pages_are_for_organisers_with_the_right_to_submissions(here: World) -> None:
    people = one_right_each(here.engine)
    with reading(here.engine) as session:
        ours = find_competition(session, COMPETITION)
        assert {right: may_judge_or_organise(session, user, ours) for right, user in people.items()} == {
            right: right is Right.SUBMISSIONS for right in Right
        }
        for right, user in people.items():
            if right is Right.SUBMISSIONS:
                assert organised_round(session, user, COMPETITION, FIRST)[1].name == FIRST
                continue
            with pytest.raises(RightMissing):
                organised_round(session, user, COMPETITION, FIRST)
    place = (COMPETITION, PHASE, TASK)
    for right, user in people.items():
        wanted = WantedRound(RoundForm(right.value, seed=1), (here.systems["alpha"],))
        if right is Right.SUBMISSIONS:
            assert start_judging(here.engine, get_settings(), place, wanted, user=user, now=NOW) == right.value
            continue
        with pytest.raises(RightMissing):
            start_judging(here.engine, get_settings(), place, wanted, user=user, now=NOW)
    with writing(here.engine) as session:
        ours = find_competition(session, COMPETITION)
        ours.tasks[0].task_type = "idiom-detection"
        assert not may_judge_or_organise(session, people[Right.SUBMISSIONS], ours), "there is nothing to judge"


def test_who_is_dismissed_in_one_language_goes_on_in_others_and_elsewhere(here: World) -> None:
    mark_all(here, ROUNDS[1], (here.anna,), "en", 2)

    def end(language: str, username: str) -> None:
        with writing(here.engine) as session:
            ours = find_competition(session, COMPETITION)
            found = the_round(session, ROUNDS[1])
            dismiss(UserAct(session, here.olga, NOW, get_settings()), ours, found, language=language, username=username)

    end("en", "Anna")
    end("pt", "ben")
    for language, username in (("pt", "ben"), ("en", "ben"), ("en", "anna"), ("pt", "anton")):
        with pytest.raises(NotFound):
            end(language, username)
    with reading(here.engine) as session:
        told = [
            [
                (one.language, one.annotator, one.is_active, one.done)
                for one in progress_of(session, the_round(session, place))
            ]
            for place in ROUNDS
        ]
    assert told == [
        [("en", "anna", True, 6), ("en", "ben", True, 6)],
        [("en", "anna", False, 6), ("pt", "anna", True, 0)],
        [("en", "anna", True, 1), ("en", "anton", True, 0)],
    ]


def test_who_is_appointed_again_is_told_again_only_if_they_had_been_sent_away(here: World) -> None:
    def ask(language: str, username: str) -> None:
        with writing(here.engine) as session:
            ours = find_competition(session, COMPETITION)
            found = the_round(session, ROUNDS[1])
            appoint(UserAct(session, here.olga, NOW, get_settings()), ours, found, language=language, username=username)

    def mails(user: User) -> int:
        with reading(here.engine) as session:
            return len(session.scalars(select(OutgoingMail).where(OutgoingMail.user_id == user.id)).all())

    assert mails(here.ben) == 2
    ask("pt", "ben")
    assert mails(here.ben) == 2
    with writing(here.engine) as session:
        ours = find_competition(session, COMPETITION)
        revoke_role(session, ours, here.ben, Role.ANNOTATOR, NOW)
        grant_role(session, ours, here.ben, Role.TESTER, NOW)
    ask("pt", "ben")
    assert mails(here.ben) == 3
    ask("en", "ben")
    assert mails(here.ben) == 4
    with reading(here.engine) as session:
        mail = session.scalars(select(OutgoingMail).order_by(OutgoingMail.id.desc()).limit(1)).one()
    assert (mail.user_id, mail.subject) == (here.ben.id, "Idioms: paraphrases to judge")
    assert "assigned you outputs in EN to judge" in mail.body
    assert f"/competitions/{COMPETITION}/judging/{SECOND}/items/en\n" in mail.body


def test_a_round_is_published_withdrawn_and_discarded_alone(here: World) -> None:
    with writing(here.engine) as session:
        ours = find_competition(session, COMPETITION)
        discard_round(UserAct(session, here.olga, NOW, get_settings()), ours, the_round(session, ROUNDS[1]))
    assert counts(here.engine) == {ROUNDS[0]: DONE, ROUNDS[2]: NEXT_DOOR}
    with writing(here.engine) as session:
        ours = find_competition(session, COMPETITION)
        withdraw_round(UserAct(session, here.olga, NOW, get_settings()), ours, the_round(session, ROUNDS[0]))
    with writing(here.engine) as session:
        theirs = find_competition(session, NEIGHBOURS)
        publish_round(UserAct(session, here.olga, NOW, get_settings()), theirs, the_round(session, ROUNDS[2]))
    with reading(here.engine) as session:
        published = [the_round(session, place).published_at for place in (ROUNDS[0], ROUNDS[2])]
    assert published == [None, NOW]
    assert "human_score" not in [column.metric for column in board(here.engine).columns]


# ------------------------------------------------------------------------------------------------------- who may judge


def test_nobody_judges_what_a_team_sent_that_they_are_or_were_in(here: World) -> None:
    """Check files that they sent themselves, too; a baseline is nobody's, and a team elsewhere is not judged here."""
    engine = here.engine
    names = ("member", "former", "merged", "sender", "stranger", "baseline")
    people = {name: world.add_user(engine, name) for name in names}
    world.add_team(engine, people["stranger"], name="Alpha", competition=NEIGHBOURS)
    with writing(engine) as session:
        alpha, beta, gamma = (session.get_one(Submission, here.systems[name]) for name in ("alpha", "beta", "gamma"))
        gone = Team(competition_id=find_competition(session, COMPETITION).id, name="Gone", created_at=NOW)
        session.add(gone)
        session.flush()
        for team_id, name in ((beta.team_id, "former"), (gone.id, "merged")):
            past = FormerMember(team_id=team_id, user_id=people[name].id, competition_id=gone.competition_id)
            past.left_at = NOW - DAY
            session.add(past)
        beta.sent_for_id = gone.id
        alpha.user_id = people["sender"].id
        session.get_one(Team, gamma.team_id).kind = TeamKind.BASELINE
        gamma.user_id = people["baseline"].id
    world.add_team(engine, people["member"], name="More")
    with writing(engine) as session:
        session.get_one(Submission, here.systems["alpha"]).team_id = (
            session.scalars(own(Team).where(Team.name == "More")).one().id
        )
    judged_by = {"member": "More", "former": "Beta", "merged": "Beta", "sender": "More"}
    for name in names:
        with writing(engine) as session:
            ours, found = find_competition(session, COMPETITION), the_round(session, ROUNDS[1])
            act = UserAct(session, here.olga, NOW, get_settings())
            if name in judged_by:
                with pytest.raises(Forbidden, match=f"belongs to team {judged_by[name]}, whose"):
                    appoint(act, ours, found, language="en", username=name)
            else:
                assert appoint(act, ours, found, language="en", username=name).name == name


def test_who_is_in_a_team_that_is_not_judged_in_this_round_may_judge_it(here: World) -> None:
    judging.start(here.engine, here.olga, here.systems["alpha"], name="alone", annotators={"beta": "en"})
    with reading(here.engine) as session:
        beta = session.scalars(select(User).where(User.username == "beta")).one()
        assert [one.judging.name for one in list_assignments(session, beta)] == ["alone"]


# ------------------------------------------------------------------------------------------------- which are judged


def test_submissions_to_judge_are_scored_in_this_place_and_not_withdrawn(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that they come in the order in which they were sent, by their current runs."""
    engine, systems = here.engine, here.systems
    later, earlier = sorted(systems[name] for name in ("alpha", "beta"))  # not in the order of their ids
    with writing(engine) as session:
        session.get_one(Submission, earlier).submitted_at = NOW - HOUR
        gamma = session.scalars(select(User).where(User.username == "gamma")).one()
        withdraw_submission(session, systems["gamma"], gamma, NOW)
        theirs = find_competition(session, NEIGHBOURS)
        elsewhere = session.scalars(
            select(Submission.id).join(Submission.team).where(Team.competition_id == theirs.id).limit(1)
        ).one()
    dan = world.add_user(engine, "dan")
    sent = world.submit(engine, dan)
    world.reject(engine, sent.run_id)
    add_old_run(engine, sent.submission.id, 0.9)
    with reading(engine) as session:
        ours, phase_task = judging.places(session)
        ids = [*systems.values(), elsewhere, sent.submission.id]
        expected = [earlier, later]
        assert [one.id for one in scored_submissions(session, phase_task, ids)] == expected
        assert [one.id for one in newest_scored(session, phase_task)] == expected
        monkeypatch.setattr("app.judging.selection.MOST_SUBMISSIONS", 2)
        assert [one.id for one in newest_scored(session, phase_task)] == expected, "others take no place"
        assert [one.id for one in scored_submissions(session, phase_task, [systems["alpha"]])] == [systems["alpha"]]
        shown = on_boards(session, ours, phase_task, Viewer(here.olga, NOW))
    assert set(shown) == set(expected)


def test_a_round_begins_with_the_entries_of_every_board_of_its_task_and_of_no_other(here: World) -> None:
    """Check a submission that is an entry only on the board of English, and one to the other task of the phase."""
    engine = here.engine
    add_other_task(engine)
    enter_other(engine, here.ben, 0.9)
    with writing(engine) as session:
        _, english = find_board(find_competition(session, COMPETITION), PHASE, "one-shot")
        english.rank_split, english.columns = "en", [{**english.columns[0], "split": "en"}]
        alpha = session.scalars(select(User).where(User.username == "alpha")).one()
    better = judging.enter(engine, alpha, judging.BETA, {"en": 0.95, "pt": 0.1})
    with reading(engine) as session:
        competition, phase_task = judging.places(session)
        chosen = choose_submissions(session, competition, phase_task, [], Viewer(here.olga, NOW))
    assert {one.id for one in chosen} == {*here.systems.values(), better}


def test_a_round_keeps_the_seed_by_which_its_items_were_drawn_and_signs_with_it(here: World) -> None:
    with writing(here.engine) as session:
        ours, phase_task = judging.places(session)
        alpha = here.systems["alpha"]
        drawn = Drawn(7, [TextToJudge(("en", "en-1", "0"), "One.", "1.", (alpha,))], {alpha: ["en"]})
        act, form = UserAct(session, here.olga, NOW, get_settings()), RoundForm("drawn", items=1)
        found = start_round(act, competition=ours, phase_task=phase_task, form=form, drawn=drawn)
        assert (found.seed, found.items_per_language) == (7, 1)
        signed = document_of(session, found)["signatures"]["en"]
    assert [part in signed for part in ("items:1", "seed:7")] == [True, True], signed


def test_too_many_submissions_are_not_judged_and_files_are_read_as_the_phase_says(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with writing(here.engine) as session:
        ours, phase_task = judging.places(session)
        phase_task.options = {"languages": ["en"]}
        assert sources_of(storage_of(get_settings()), phase_task, []).options == {"languages": ["en"]}
        monkeypatch.setattr("app.judging.selection.MOST_SUBMISSIONS", 2)
        with pytest.raises(InvalidForm, match="At most 2 submissions can be judged in a round; these are 3"):
            choose_submissions(session, ours, phase_task, [], Viewer(here.olga, NOW))


def test_a_round_is_started_with_its_annotators_or_not_at_all(here: World) -> None:
    place = (COMPETITION, PHASE, TASK)

    def start(*annotators: tuple[str, str]) -> str:
        wanted = WantedRound(RoundForm("third", seed=3), (here.systems["alpha"],), annotators)
        return start_judging(here.engine, get_settings(), place, wanted, user=here.olga, now=NOW)

    with pytest.raises(InvalidForm) as refused:
        start(("en", "nobody"), ("xx", "anna"), ("en", "alpha"), ("pt", "ben"))
    told = refused.value.fields["annotators"]
    assert [part in told for part in ("'nobody'", "'xx'", "belongs to team Alpha")] == [True] * 3
    assert start(("en", "anna"), ("pt", "ben"), ("en", "anna")) == "third"
    with reading(here.engine) as session:
        found = progress_of(session, find_round(session, find_competition(session, COMPETITION), "third"))
    assert [(one.language, one.annotator, one.total) for one in found] == [("en", "anna", 3), ("pt", "ben", 2)]


def test_the_summary_of_a_round_is_that_of_its_own_submissions_and_annotators(here: World) -> None:
    people = one_right_each(here.engine)

    def summary(place: tuple[str, str], viewer: User | None) -> tuple[list[str], dict[str, int], list[str]]:
        with reading(here.engine) as session:
            found = results_for(
                session, find_competition(session, place[0]), the_round(session, place), Viewer(viewer, NOW)
            )
        return [one.team for one in found.systems], found.annotators, [one.annotator for one in found.progress]

    three = ["Alpha", "Beta", "Gamma"]
    gamma_first = ["Gamma", "Alpha", "Beta"]  # of it nothing is left to judge
    assert summary(ROUNDS[0], here.olga) == (gamma_first, {"en": 2, "pt": 0}, ["anna", "ben"])
    assert summary(ROUNDS[1], here.olga) == (three, {"en": 0, "pt": 0}, ["anna", "anna", "ben"])
    assert summary(ROUNDS[2], here.olga) == (["Gusts"], {"en": 1}, ["anna", "anton"])
    for right, user in people.items():
        has = right is Right.SUBMISSIONS
        assert summary(ROUNDS[0], user)[2] == (["anna", "ben"] if has else [])
        if has:
            assert summary(ROUNDS[1], user)[0] == three
            continue
        for place in ROUNDS[1:]:
            with pytest.raises(NotFound):
                summary(place, user)
