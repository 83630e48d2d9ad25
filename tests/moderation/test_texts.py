"""Reports and hidden texts: a question with its answer and an announcement of one number, and those next door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.config import Settings, get_settings
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.cards.edits import edit_card
from app.competitions.find import find_competition, find_phase_task
from app.competitions.visibility import SeenAs, Viewer
from app.messages.questions import QuestionForm, answer, ask
from app.models import (
    Announcement,
    AuditEntry,
    CardVersion,
    CompetitionBlock,
    OutgoingMail,
    Question,
    ReportReason,
    Right,
    Submission,
    System,
    Team,
    TeamKind,
    TextKind,
    TextReport,
    User,
)
from app.moderation.desk import desk_for, dismiss_as, hide_as, hide_reported, kinds_of, show_as
from app.moderation.hiding import Replaced, find_hidden, list_hidden, original_of
from app.moderation.reports import find_report, list_reports, report
from app.moderation.texts import HIDDEN, find_text, stored_text
from app.people.act import UserAct
from app.people.rights import RightMissing
from app.standings.check import check_task
from app.submissions.find import get_submission
from tests.beside import one_right_each
from tests.competitions.embargo import add_phase, enter, look
from tests.rich_world import NEIGHBOURS, ORGANISER, own
from tests.world import COMPETITION, DAY, HOUR, NOW, TASK, add_user, board_version_number

SETTINGS = Settings(base_url="https://scores.example.org")
QUESTION, ANSWER, ANNOUNCEMENT = TextKind.QUESTION, TextKind.ANSWER, TextKind.ANNOUNCEMENT
TEAM, SYSTEM = TextKind.TEAM, TextKind.SYSTEM


@dataclass
class World:
    """A public question of Ada's with an answer of Root's, an announcement with the number of the question, and the
    system Crow of Ada's team, which is alone, and of Bob's, both with cards; Root may do everything."""

    engine: Engine
    ada: User
    bob: User
    root: User
    question: int
    of_ada: Any
    of_bob: Any

    @property
    def texts(self) -> list[tuple[TextKind, str]]:
        """Return the name by which each text is reported."""
        number = str(self.question)
        found = [(kind, number) for kind in (QUESTION, ANSWER, ANNOUNCEMENT)]
        return [*found, (TEAM, "Ada"), (SYSTEM, str(self.of_ada))]


@pytest.fixture
def here(sqlite_engine: Engine, people: list[User]) -> World:
    engine = sqlite_engine
    ada, bob, *_ = people
    root = add_user(engine, "root", is_administrator=True)
    with writing(engine) as session:
        found = find_competition(session, COMPETITION)
        form = QuestionForm("Why us?", "We ask.")
        question = ask(UserAct(session, ada, NOW, SETTINGS), found, form, key=None).id
        answer(UserAct(session, root, NOW, SETTINGS), found, question, "Because.", is_public=True)
        announcement = Announcement(id=question, competition_id=found.id, title="Why us?", text="We say.")
        announcement.author_id, announcement.published_at = root.id, NOW
        session.add(announcement)
    sent = [enter(engine, user, 0.5, system="Crow", method="SVM", card={"summary": "Fast."}) for user in (ada, bob)]
    return World(engine, ada, bob, root, question, *sent)


def tell(here: World, reporter: User, kind: TextKind, which: str, words: str = "") -> int:
    with writing(here.engine) as session:
        competition = find_competition(session, COMPETITION)
        found = find_text(session, competition, kind, which, Viewer(reporter, NOW))
        return report(UserAct(session, reporter, NOW, SETTINGS), competition, found, ReportReason.SPAM, words).id


def open_reports(engine: Engine, kinds: Sequence[TextKind] = tuple(TextKind)) -> list[int]:
    with reading(engine) as session:
        found = find_competition(session, COMPETITION)
        return [one.id for one in list_reports(session, found, kinds)]


def hide(here: World, kind: TextKind, which: str, by: User | None = None) -> int:
    with writing(here.engine) as session:
        found = find_competition(session, COMPETITION)
        return hide_as(UserAct(session, by or here.root, NOW + HOUR, SETTINGS), found, kind, which, "No.").id


def shown(here: World) -> dict[TextKind, str | None]:
    """Return what is stored of each text."""
    with reading(here.engine) as session:
        found = find_competition(session, COMPETITION)
        team = session.get_one(Submission, here.of_ada).team_id
        system = session.get_one(Submission, here.of_ada).system_id
        ids = {QUESTION: here.question, ANSWER: here.question, ANNOUNCEMENT: here.question, TEAM: team, SYSTEM: system}
        texts = {kind: stored_text(session, found, kind, number or 0) for kind, number in ids.items()}
    return {kind: text.shown if text else None for kind, text in texts.items()}


def second_texts(here: World) -> list[tuple[TextKind, str]]:
    """Add another text of each kind: Bob's, and a question of his with its answer, next to an announcement."""
    with writing(here.engine) as session:
        found = find_competition(session, COMPETITION)
        form = QuestionForm("Why them?", "I ask.")
        question = ask(UserAct(session, here.bob, NOW, SETTINGS), found, form, key=None).id
        answer(UserAct(session, here.root, NOW, SETTINGS), found, question, "They may.", is_public=True)
        announcement = Announcement(id=question, competition_id=found.id, title="Why them?", text="They may, too.")
        announcement.author_id, announcement.published_at = here.root.id, NOW
        session.add(announcement)
    named = [(kind, str(question)) for kind in (QUESTION, ANSWER, ANNOUNCEMENT)]
    return [*named, (TEAM, "Bob"), (SYSTEM, str(here.of_bob))]


def versions_next_door(engine: Engine) -> list[int]:
    """The versions of all boards of the neighbours: visitors see by them whether one has changed."""
    with reading(engine) as session:
        door = find_competition(session, NEIGHBOURS)
        return [one.board_version for phase in door.phases for one in phase.phase_tasks]


def cards(engine: Engine) -> dict[int, Any]:
    """The contents of all cards, including those of the neighbours."""
    with reading(engine) as session:
        return {one.id: one.document for one in session.scalars(select(CardVersion))}


BEFORE = {
    QUESTION: "Why us?\n\nWe ask.",
    ANSWER: "Because.",
    ANNOUNCEMENT: "Why us?\n\nWe say.",
    TEAM: "Ada",
    SYSTEM: "Crow\n\nSVM\n\nFast.",
}


# ----------------------------------------------------------------------------------------------------------- reporting


def test_a_text_is_reported_once_by_each_and_told_once_to_those_who_decide(here: World) -> None:
    people = one_right_each(here.engine)
    made = {kind: tell(here, here.bob, kind, which) for kind, which in here.texts}
    assert len(set(made.values())) == 5
    assert {kind: tell(here, here.bob, kind, which, "again") for kind, which in here.texts} == made
    assert tell(here, here.ada, QUESTION, str(here.question)) not in made.values()
    told = report_mails(here.engine)
    with reading(here.engine) as session:
        rows = session.scalars(select(TextReport).order_by(TextReport.id)).all()
    messages, submissions = (people[right].email for right in (Right.MESSAGES, Right.SUBMISSIONS))
    assert told == [
        *((messages, str(kind)) for kind in (QUESTION, ANSWER, ANNOUNCEMENT)),
        *((submissions, str(kind)) for kind in (TEAM, SYSTEM)),
    ]
    assert {row.kind: row.shown for row in rows[:5]} == BEFORE
    assert {one.reporter_id for one in rows} == {here.ada.id, here.bob.id}
    others = [tell(here, here.bob, kind, which) for kind, which in second_texts(here) if which != "Bob"]
    assert not {*others} & {*made.values()}, "another text of the kind is another report"
    assert len(report_mails(here.engine)) == len(told) + len(others)
    _dismiss(here, here.root, made[QUESTION])
    carl = add_user(here.engine, "carl")
    tell(here, carl, QUESTION, str(here.question))
    assert len(report_mails(here.engine)) == len(told) + len(others) + 1, "nobody has decided about this one"
    assert set(others) <= set(open_reports(here.engine))


def report_mails(engine: Engine) -> list[tuple[str, str]]:
    """Return who was notified of a report, and of what kind of text."""
    with reading(engine) as session:
        mails = session.scalars(
            select(OutgoingMail).where(OutgoingMail.subject == "[Idioms] A text was reported").order_by(OutgoingMail.id)
        ).all()
    return [(mail.recipient, mail.body.partition("a text (")[2].partition(")")[0]) for mail in mails]


def test_whoever_reports_sees_the_text_in_this_competition(here: World) -> None:
    """Check a private question, which only its asker and those who answer see, and an announcement until it is
    withdrawn.
    """
    with writing(here.engine) as session:
        session.get_one(Question, here.question).is_public = False
        session.get_one(Announcement, here.question).withdrawn_at = NOW
    people = one_right_each(here.engine)

    def sees(user: User | None, kind: TextKind, which: str, place: str = COMPETITION, **more: Any) -> bool:
        with reading(here.engine) as session:
            try:
                find_text(session, find_competition(session, place), kind, which, Viewer(user, NOW, **more))
            except NotFound:
                return False
            return True

    number = str(here.question)
    assert [sees(user, QUESTION, number) for user in (here.ada, here.bob, None, here.root)] == [
        True,
        False,
        False,
        True,
    ]
    assert {right: sees(user, QUESTION, number) for right, user in people.items()} == {
        right: right is Right.MESSAGES for right in Right
    }
    assert not sees(here.root, QUESTION, number, seen_as=SeenAs.PUBLIC)
    assert not sees(here.root, ANNOUNCEMENT, number)
    for kind, which in here.texts:
        if kind is not TEAM:  # there is one of the name
            assert not sees(here.root, kind, which, NEIGHBOURS), kind
    assert not sees(here.root, TEAM, "Gusts")
    assert sees(here.bob, SYSTEM, str(here.of_ada))
    assert not sees(here.bob, SYSTEM, "x")


def test_reports_of_one_text_are_closed_together_and_no_others(here: World) -> None:
    made = {kind: tell(here, here.bob, kind, which) for kind, which in here.texts}
    second = tell(here, here.ada, QUESTION, str(here.question))
    assert open_reports(here.engine) == [*made.values(), second]
    assert open_reports(here.engine, (ANSWER, TEAM)) == [made[ANSWER], made[TEAM]]
    with writing(here.engine) as session:
        found = find_competition(session, COMPETITION)
        dismiss_as(UserAct(session, here.root, NOW + HOUR, SETTINGS), found, made[QUESTION])
        dismiss_as(UserAct(session, here.root, NOW + 2 * HOUR, SETTINGS), found, made[QUESTION])
    assert open_reports(here.engine) == [made[kind] for kind in (ANSWER, ANNOUNCEMENT, TEAM, SYSTEM)]
    with reading(here.engine) as session:
        found = find_competition(session, COMPETITION)
        every = list_reports(session, found, also_closed=True)
        assert [one.id for one in every] == [second, *reversed(made.values())]
        outcomes = {one.id: (one.outcome, one.closed_at, one.closed_by) for one in every if one.closed_at}
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "moderation.dismiss")).one()
        assert list_reports(session, find_competition(session, NEIGHBOURS)) == []
        assert len(list_reports(session, None)) == 4
        with pytest.raises(NotFound):
            find_report(session, find_competition(session, NEIGHBOURS), made[TEAM])
    assert outcomes == {number: ("dismissed", NOW + HOUR, "root") for number in (made[QUESTION], second)}
    assert sorted(entry.details["reports"]) == [made[QUESTION], second]


# -------------------------------------------------------------------------------------------------------------- hiding


@pytest.mark.parametrize("kind", list(TextKind))
def test_one_text_is_hidden_and_comes_back_and_its_neighbours_stay(here: World, kind: TextKind) -> None:
    made = {one: tell(here, here.bob, one, which) for one, which in here.texts}
    of_others = [tell(here, here.ada, one, which) for one, which in second_texts(here)]
    said = cards(here.engine)
    versions, of_neighbours = board_version_number(here.engine), versions_next_door(here.engine)
    number = hide(here, kind, dict(here.texts)[kind])
    emptied = {one for one, document in cards(here.engine).items() if document != said[one]}
    after = shown(here)
    assert {one: text for one, text in after.items() if one is not kind} == {
        one: text for one, text in BEFORE.items() if one is not kind
    }
    assert (after[kind] or HIDDEN).startswith(HIDDEN)
    assert open_reports(here.engine) == [*(report_id for one, report_id in made.items() if one is not kind), *of_others]
    assert board_version_number(here.engine) > versions
    assert versions_next_door(here.engine) == of_neighbours
    with reading(here.engine) as session:
        found = find_competition(session, COMPETITION)
        closed = session.get_one(TextReport, made[kind])
        assert (closed.outcome, closed.closed_at, closed.closed_by) == ("hidden", NOW + HOUR, "root")
        [hidden] = list_hidden(session, found, tuple(TextKind))
        assert list_hidden(session, found, [one for one in TextKind if one is not kind]) == []
        assert list_hidden(session, find_competition(session, NEIGHBOURS), tuple(TextKind)) == []
        assert set(original_of(hidden).split("\n\n")) == set((BEFORE[kind] or "").split("\n\n"))
        assert (hidden.id, hidden.kind, hidden.reason, hidden.hidden_at) == (number, kind, "No.", NOW + HOUR)
        author = here.root if kind in (ANSWER, ANNOUNCEMENT) else here.ada
        assert hidden.author_id == author.id
        subject = OutgoingMail.subject == "[Idioms] A text of yours was hidden"
        [mail] = session.scalars(select(OutgoingMail).where(subject))
        assert mail.user_id == author.id
        assert mail.body.startswith(f"Hello {author.username},\n\nthe organisers of Idioms have hidden a text of yours")
        system = session.get_one(Submission, here.of_ada).system_id
        of_ada = set(session.scalars(select(CardVersion.id).where(CardVersion.system_id == system)))
        assert emptied == (of_ada if kind is SYSTEM else set())
        with pytest.raises(NotFound):
            find_hidden(session, find_competition(session, NEIGHBOURS), number)
    with writing(here.engine) as session:
        show_as(UserAct(session, here.root, NOW + DAY, SETTINGS), find_competition(session, COMPETITION), number)
    assert shown(here) == BEFORE
    with reading(here.engine) as session:
        found = find_competition(session, COMPETITION)
        assert list_hidden(session, found, tuple(TextKind)) == []
        with pytest.raises(NotFound):
            find_hidden(session, found, number)
    again = hide(here, kind, dict(here.texts)[kind])
    hide(here, kind, dict(second_texts(here))[kind])
    with reading(here.engine) as session:
        assert find_hidden(session, find_competition(session, COMPETITION), again).id == again


def test_a_system_is_hidden_with_all_versions_of_its_card_wherever_it_was_entered(here: World) -> None:
    engine = here.engine
    add_phase(engine, "post", starts_at=NOW)
    again = enter(engine, here.ada, 0.6, phase="post", minute=1, system="Crow", method="SVM 2")
    other = enter(engine, here.ada, 0.4, minute=2, system="Jay", method="SVM")
    with writing(engine) as session:
        edit_card(
            UserAct(session, here.ada, NOW, get_settings()),
            get_submission(session, again, here.ada),
            {"method": "BERT"},
        )
    number = hide(here, SYSTEM, str(here.of_ada))
    with reading(engine) as session:
        systems = {one.id: one.name for one in session.scalars(select(System).join(Team).where(Team.name == "Ada"))}
        crow = next(number for number, name in systems.items() if name.startswith(HIDDEN))
        assert sorted(systems.values()) == [f"{HIDDEN} ({crow})", "Jay"]
        versions = session.scalars(select(CardVersion).where(CardVersion.system_id == crow)).all()
        assert len(versions) > 1
        assert [one.document for one in versions] == [{}] * len(versions)
        methods = {one: session.get_one(Submission, one).method for one in (here.of_ada, again, other, here.of_bob)}
        assert methods == {here.of_ada: "", again: "", other: "SVM", here.of_bob: "SVM"}
    for phase in ("evaluation", "post"):
        told = {row.team: (row.system, row.method) for row in look(engine, phase=phase).rows}
        assert told.get("Bob", ("Crow", "SVM")) == ("Crow", "SVM")
        assert told["Ada"] == (f"{HIDDEN} ({crow})", "")
        with writing(engine) as session:
            asked = find_phase_task(session, COMPETITION, phase, TASK).id
            assert check_task(session, asked) == [], "what is copied into the standings follows"
    with writing(engine) as session:
        show_as(UserAct(session, here.root, NOW + DAY, SETTINGS), find_competition(session, COMPETITION), number)
    assert look(engine, phase="post").rows[0].system == "Crow"


def test_who_wrote_a_system_is_who_wrote_its_card_or_sent_its_first_file(here: World) -> None:
    engine = here.engine
    dora = add_user(engine, "dora")
    first = enter(engine, dora, 0.3, system="Rook", minute=9)
    with writing(engine) as session:
        submission = session.get_one(Submission, first)
        copies = [
            Submission(team_id=submission.team_id, phase_task_id=submission.phase_task_id, sha256="0", size_bytes=1)
            for _ in range(2)
        ]
        for number, (one, user) in enumerate(zip(copies, (here.bob, here.ada), strict=True)):
            one.user_id, one.system_id, one.submitted_at = user.id, submission.system_id, NOW + number * HOUR
            session.add(one)

    def author() -> int | None:
        with reading(engine) as session:
            found = find_competition(session, COMPETITION)
            system = session.get_one(Submission, first).system_id
            text = stored_text(session, found, SYSTEM, system or 0)
            return text.author_id if text else None

    assert author() == here.bob.id
    with writing(engine) as session:
        system_id = session.get_one(Submission, first).system_id
        for number, (user, is_current) in enumerate(((here.ada, False), (dora, True), (here.bob, False)), start=1):
            version = CardVersion(system_id=system_id, number=number, document={}, user_id=user.id, changed_at=NOW)
            version.is_current = is_current
            session.add(version)
    assert author() == dora.id


def test_a_baseline_has_no_author(here: World) -> None:
    with writing(here.engine) as session:
        session.scalars(own(Team).where(Team.name == "Ada")).one().kind = TeamKind.BASELINE
    with reading(here.engine) as session:
        team = session.scalars(own(Team).where(Team.name == "Ada")).one()
        text = stored_text(session, find_competition(session, COMPETITION), TEAM, team.id)
    assert text is not None
    assert text.author_id is None


def test_mails_with_the_text_are_not_sent_and_others_are(here: World) -> None:
    """Check mails next door, and sent ones; a hidden question's answers are not sent either."""
    rows = (
        ("question", "[Idioms] Question: Why us?", COMPETITION, "waiting"),
        ("answer", "[Idioms] Answer: Why us?", COMPETITION, "given_up"),
        ("sent", "[Idioms] Question: Why us?", COMPETITION, "sent"),
        ("other", "[Idioms] Question: Why them?", COMPETITION, "waiting"),
        ("announcement", "[Idioms] Why us?", COMPETITION, "waiting"),
        ("door", "[Idioms] Question: Why us?", NEIGHBOURS, "waiting"),
    )
    with writing(here.engine) as session:
        for name, subject, place, status in rows:
            mail = OutgoingMail(user_id=here.bob.id, recipient=f"{name}@example.org", subject=subject, body="Text.")
            mail.status, mail.competition_id = status, find_competition(session, place).id
            mail.created_at = mail.next_attempt_at = NOW
            session.add(mail)

    def dropped() -> list[str]:
        with reading(here.engine) as session:
            query = select(OutgoingMail).where(OutgoingMail.status == "dropped", OutgoingMail.user_id == here.bob.id)
            return [mail.recipient.partition("@")[0] for mail in session.scalars(query.order_by(OutgoingMail.id))]

    hide(here, ANSWER, str(here.question))
    assert dropped() == ["answer"]
    hide(here, QUESTION, str(here.question))
    assert dropped() == ["question", "answer"]
    hide(here, ANNOUNCEMENT, str(here.question))
    assert dropped() == ["question", "answer", "announcement"]


def test_what_was_decided_before_a_text_is_hidden_stays_decided(here: World) -> None:
    first = tell(here, here.bob, QUESTION, str(here.question))
    _dismiss(here, here.root, first)
    second = tell(here, here.ada, QUESTION, str(here.question))
    hide(here, QUESTION, str(here.question))
    with reading(here.engine) as session:
        reports = (session.get_one(TextReport, one) for one in (first, second))
        assert [(one.outcome, one.closed_at) for one in reports] == [("dismissed", NOW), ("hidden", NOW + HOUR)]


def test_a_card_that_was_written_anew_stays_when_its_system_comes_back(here: World) -> None:
    number = hide(here, SYSTEM, str(here.of_ada))
    with writing(here.engine) as session:
        system = session.get_one(Submission, here.of_ada).system_id
        card = session.scalars(select(CardVersion).where(CardVersion.system_id == system)).one()
        card.document = {"summary": "Anew."}
    with writing(here.engine) as session:
        show_as(UserAct(session, here.root, NOW, SETTINGS), find_competition(session, COMPETITION), number)
    assert shown(here)[SYSTEM] == "Crow\n\nAnew."


def test_a_part_that_is_gone_keeps_no_other_part_from_coming_back(here: World) -> None:
    number = hide(here, SYSTEM, str(here.of_ada))
    with writing(here.engine) as session:
        system = session.get_one(Submission, here.of_ada).system_id
        session.delete(session.scalars(select(CardVersion).where(CardVersion.system_id == system)).one())
    with writing(here.engine) as session:
        show_as(UserAct(session, here.root, NOW, SETTINGS), find_competition(session, COMPETITION), number)
    assert shown(here)[SYSTEM] == "Crow\n\nSVM"


def test_only_a_team_cannot_get_back_a_name_that_a_team_has(here: World) -> None:
    """A question may have the words of a name, and a system the name of a team."""
    with writing(here.engine) as session:
        session.get_one(Question, here.question).title = "Bob"
        session.get_one(System, session.get_one(Submission, here.of_ada).system_id).name = "Bob"
    before = shown(here)
    numbers = {kind: hide(here, kind, dict(here.texts)[kind]) for kind in (QUESTION, SYSTEM, TEAM)}
    enter(here.engine, here.bob, 0.7, minute=1)
    with writing(here.engine) as session:
        session.scalars(own(Team).where(Team.name == "Bob")).one().name = "ADA"
    for kind in (QUESTION, SYSTEM):
        with writing(here.engine) as session:
            session.scalars(own(Team).where(Team.name == "ADA")).one().name = "Bob"
            session.flush()
            show_as(UserAct(session, here.root, NOW, SETTINGS), find_competition(session, COMPETITION), numbers[kind])
            session.scalars(own(Team).where(Team.name == "Bob")).one().name = "ADA"
        assert shown(here)[kind] == before[kind]
    with pytest.raises(Replaced, match="Another team has taken this name"), writing(here.engine) as session:
        show_as(UserAct(session, here.root, NOW, SETTINGS), find_competition(session, COMPETITION), numbers[TEAM])


def test_what_is_hidden_is_listed_the_latest_first(here: World) -> None:
    numbers = [hide(here, kind, which) for kind, which in here.texts[:3]]
    with reading(here.engine) as session:
        listed = list_hidden(session, find_competition(session, COMPETITION), tuple(TextKind))
    assert [one.id for one in listed] == sorted(numbers, reverse=True)


def test_a_text_says_each_thing_once_and_leads_to_where_it_is_read(here: World) -> None:
    with writing(here.engine) as session:
        submission = session.get_one(Submission, here.of_ada)
        [card] = session.scalars(select(CardVersion).where(CardVersion.system_id == submission.system_id))
        card.document = {"method": "Crow"}
        found = find_competition(session, COMPETITION)
        texts = {
            kind: stored_text(session, found, kind, number or 0)
            for kind, number in ((TEAM, submission.team_id), (SYSTEM, submission.system_id))
        }
    assert [text and text.shown for text in texts.values()] == ["Ada", "Crow"]
    assert {text and text.page for text in texts.values()} == {f"/competitions/{COMPETITION}/teams/Ada"}


def test_a_name_that_another_system_of_the_team_has_since_does_not_come_back(here: World) -> None:
    number = hide(here, SYSTEM, str(here.of_ada))
    enter(here.engine, here.ada, 0.6, minute=1, system="Crow")
    with pytest.raises(Replaced, match="Another system"), writing(here.engine) as session:
        show_as(UserAct(session, here.root, NOW, SETTINGS), find_competition(session, COMPETITION), number)


# ------------------------------------------------------------------------------------------------------------ the desk


def test_each_organiser_decides_about_the_texts_of_their_right(here: World) -> None:
    people = one_right_each(here.engine)
    nina = _user(here.engine, ORGANISER)
    made = {kind: tell(here, here.bob, kind, which) for kind, which in here.texts}
    hidden = hide(here, TEAM, "Ada")
    made.pop(TEAM)
    _block(here)
    decides = {Right.MESSAGES: [QUESTION, ANSWER, ANNOUNCEMENT], Right.SUBMISSIONS: [TEAM, SYSTEM]}
    with reading(here.engine) as session:
        found = find_competition(session, COMPETITION)
        for right, user in people.items():
            kinds = decides.get(right, [])
            desk = desk_for(session, found, user)
            assert kinds_of(session, user, found) == kinds
            assert [one.kind for one in desk.reports] == [kind for kind in kinds if kind in made]
            assert [one.id for one in desk.hidden] == [hidden for _ in kinds if right is Right.SUBMISSIONS][:1]
            assert [one.username for one in desk.blocked] == (["bob"] if right is Right.EDIT else [])
            assert desk.may_block is (right is Right.EDIT)
            assert {one.reporter for one in desk.reports} <= {None}
        assert {one.reporter for one in desk_for(session, found, here.root).reports} == {"bob"}
        assert kinds_of(session, nina, found) == []
    for right, user in people.items():
        for kind, number in made.items():
            may = kind in decides.get(right, [])
            for deed in (_hide_reported, _dismiss):
                if may:
                    continue
                with pytest.raises(RightMissing):
                    deed(here, user, number)
            if not may:
                with pytest.raises(RightMissing):
                    hide(here, kind, dict(here.texts)[kind], user)
        if right is not Right.SUBMISSIONS:
            with pytest.raises(RightMissing), writing(here.engine) as session:
                show_as(UserAct(session, user, NOW, SETTINGS), find_competition(session, COMPETITION), hidden)
    _hide_reported(here, people[Right.MESSAGES], made[ANSWER])
    assert shown(here)[ANSWER] != BEFORE[ANSWER]
    _dismiss(here, people[Right.SUBMISSIONS], made[SYSTEM])
    assert open_reports(here.engine) == [made[QUESTION], made[ANNOUNCEMENT]]


def _hide_reported(here: World, user: User, number: int) -> None:
    with writing(here.engine) as session:
        found = find_competition(session, COMPETITION)
        hide_reported(UserAct(session, user, NOW, SETTINGS), found, number, "No.")


def _dismiss(here: World, user: User, number: int) -> None:
    with writing(here.engine) as session:
        dismiss_as(UserAct(session, user, NOW, SETTINGS), find_competition(session, COMPETITION), number)


def _block(here: World) -> None:
    """Block Bob here, and Ada next door."""
    with writing(here.engine) as session:
        for place, user in ((COMPETITION, here.bob), (NEIGHBOURS, here.ada)):
            block = CompetitionBlock(competition_id=find_competition(session, place).id, user_id=user.id, reason="-")
            block.blocked_at, block.blocked_by = NOW, "root"
            session.add(block)


def _user(engine: Engine, username: str) -> User:
    with reading(engine) as session:
        return session.scalars(select(User).where(User.username == username)).one()
