"""Finding things: unknown ones are reported in words, and those of others look as if they did not exist."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import InvalidRequestError

from app.base.db import reading, writing
from app.base.errors import NotFound
from app.competitions.find import (
    boards_of,
    find_board,
    find_competition,
    find_phase_task,
    list_competitions,
    listed_competitions,
    organised_by,
    own_competitions,
    visible_competitions,
)
from app.models import (
    Competition,
    PublicFile,
    Registration,
    RegistrationStatus,
    Right,
    Role,
    RunStatus,
    Stage,
    Submission,
    User,
)
from app.people.rights import grant_role
from app.submissions.find import OwnFilter, current_run, get_submission, list_submissions
from tests.beside import add_other_task
from tests.rich_world import NEIGHBOURS, OTHER_BOARDS, OTHER_TASK
from tests.world import (
    COMPETITION,
    DAY,
    EARLIER_PHASE,
    NOW,
    PHASE,
    PREPARED,
    SECOND,
    TASK,
    add_competition,
    add_team,
    add_user,
    score,
    submit,
)

# -------------------------------------------------------------------------------------------------------- competitions


def test_a_competition_comes_with_its_parts(engine: Engine) -> None:
    add_competition(engine)
    with reading(engine) as session:
        found = find_competition(session, COMPETITION)
    # The session is closed: whatever was not loaded would raise now.
    assert [task.name for task in found.tasks] == [TASK]
    assert [(board.name, board.task.task_type) for board in found.boards] == [
        ("zero-shot", "idiom-detection"),
        ("one-shot", "idiom-detection"),
    ]
    phase, earlier = found.phases
    assert [(pt.task.name, pt.gold) for pt in earlier.phase_tasks] == [(TASK, "early.csv")]
    assert [(pt.task.name, pt.gold, pt.files) for pt in phase.phase_tasks] == [(TASK, "gold.csv", [])]
    assert [board.name for board in boards_of(found, phase)] == ["zero-shot", "one-shot"]


@pytest.mark.both
def test_all_competitions_are_listed_in_order(engine: Engine) -> None:
    for name in ("zebra", "ant"):
        add_competition(engine, name=name)
    with reading(engine) as session:
        found = list_competitions(session)
    assert [competition.name for competition in found] == ["ant", NEIGHBOURS, PREPARED, "zebra"]
    assert [len(competition.phases) for competition in found] == [1, 5, 1, 1]


@pytest.mark.parametrize("name", ["", "idiom", "IDIOMS", "idioms ", "idioms\0", "idi%", "'; DROP TABLE users; --"])
def test_an_unknown_competition_is_not_found(engine: Engine, name: str) -> None:
    add_competition(engine)
    with reading(engine) as session, pytest.raises(NotFound, match="There is no competition"):
        find_competition(session, name)


def test_a_task_of_a_phase_comes_with_everything_above_it(engine: Engine) -> None:
    add_competition(engine)
    with reading(engine) as session:
        found = find_phase_task(session, COMPETITION, PHASE, TASK)
    assert (found.phase.name, found.phase.competition.name, found.task.name, found.files) == (
        PHASE,
        COMPETITION,
        TASK,
        [],
    )


@pytest.mark.parametrize(
    ("competition", "phase", "task", "sentence"),
    [
        ("idiom", PHASE, TASK, "There is no competition 'idiom' on this server."),
        (COMPETITION, "eval", TASK, "Competition 'idioms' has no phase 'eval'; it has 'evaluation', 'earlier'."),
        (COMPETITION, PHASE, "detect", "Phase 'evaluation' of 'idioms' has no task 'detect'; it has 'detection'."),
        (COMPETITION, PHASE, "\0", "Phase 'evaluation' of 'idioms' has no task '\0'; it has 'detection'."),
    ],
)
def test_which_part_of_an_address_is_unknown_is_said(
    engine: Engine, competition: str, phase: str, task: str, sentence: str
) -> None:
    add_competition(engine)
    with reading(engine) as session, pytest.raises(NotFound) as refused:
        find_phase_task(session, competition, phase, task)
    assert refused.value.message == sentence


def test_an_unknown_board_is_told_the_boards_there_are(engine: Engine) -> None:
    add_competition(engine)
    with reading(engine) as session:
        found = find_competition(session, COMPETITION)
    assert find_board(found, PHASE, "one-shot")[1].name == "one-shot"
    with pytest.raises(NotFound, match="it has 'zero-shot', 'one-shot'"):
        find_board(found, PHASE, "few-shot")
    with pytest.raises(NotFound, match="it has 'evaluation'"):
        find_board(found, "practice", "one-shot")


def test_a_phase_has_the_tasks_boards_and_files_that_are_its_own(engine: Engine) -> None:
    """Check another task in only one of the two phases; files are ordered by their positions."""
    add_competition(engine)
    add_other_task(engine)
    with writing(engine) as session:
        for phase, task, names in ((PHASE, TASK, "cab"), (EARLIER_PHASE, TASK, "d"), (PHASE, OTHER_TASK, "e")):
            asked = find_phase_task(session, COMPETITION, phase, task).id
            for name in names:
                position = "abcde".index(name)
                file = PublicFile(phase_task_id=asked, name=name, title=name, sha256="0", size_bytes=1)
                file.position = position
                session.add(file)
    with reading(engine) as session:
        found = find_competition(session, COMPETITION)
        there = {
            phase.name: [(one.task.name, [file.name for file in one.files]) for one in phase.phase_tasks]
            for phase in found.phases
        }
        assert there == {
            PHASE: [(TASK, ["a", "b", "c"]), (OTHER_TASK, ["e"])],
            EARLIER_PHASE: [(TASK, ["d"])],
        }
        boards = {phase.name: [one.name for one in boards_of(found, phase)] for phase in found.phases}
        assert boards == {PHASE: ["zero-shot", "one-shot", *OTHER_BOARDS], EARLIER_PHASE: ["zero-shot", "one-shot"]}
        assert [board.task.name for board in found.boards] == [TASK, TASK, OTHER_TASK, OTHER_TASK]
        assert [one.name for one in find_board(found, PHASE, OTHER_BOARDS[1])] == [PHASE, OTHER_BOARDS[1]]
        with pytest.raises(NotFound, match="Phase 'earlier' of 'idioms' has no board 'near'; it has 'zero-shot'"):
            find_board(found, EARLIER_PHASE, OTHER_BOARDS[0])
        with pytest.raises(NotFound, match="Phase 'earlier' of 'idioms' has no task 'similarity'; it has 'detection'."):
            find_phase_task(session, COMPETITION, EARLIER_PHASE, OTHER_TASK)
        assert find_phase_task(session, COMPETITION, PHASE, OTHER_TASK).gold == "similar.csv"


def names_of(competitions: list[Competition]) -> list[str]:
    return [one.name for one in competitions]


def test_ones_own_competitions_are_those_one_belongs_to_the_newest_first(engine: Engine) -> None:
    """Check membership by a team, a role, or a registration that was not refused; all competitions are private."""
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    age = {"team": 1, "role": 3, "asked": 2, "role-too": 3, "refused": 1, "bobs": 1, "nobodys": 1}
    for name in age:
        add_competition(engine, name=name)
    add_team(engine, ada, name="Ada", competition="team")
    add_team(engine, bob, name="Ada", competition="nobodys")
    with writing(engine) as session:
        found = {name: find_competition(session, name) for name in age}
        for name, days in age.items():
            found[name].created_at, found[name].stage = NOW - days * DAY, Stage.PRIVATE
        for name, user in (("role", ada), ("role-too", ada), ("bobs", bob)):
            grant_role(session, found[name], user, Role.GUEST, NOW)
        for name, user, status in (
            ("asked", ada, RegistrationStatus.PENDING),
            ("refused", ada, RegistrationStatus.REFUSED),
            ("nobodys", bob, RegistrationStatus.APPROVED),
        ):
            session.add(Registration(competition_id=found[name].id, user_id=user.id, status=status, registered_at=NOW))
    with reading(engine) as session:
        assert names_of(own_competitions(session, ada)) == ["team", "asked", "role-too", "role"]
        assert names_of(own_competitions(session, bob)) == ["nobodys", "bobs"]
        assert [len(one.phases) for one in own_competitions(session, ada)] == [1, 1, 1, 1]
        everybodys = [NEIGHBOURS, PREPARED]
        assert names_of(listed_competitions(session)) == names_of(visible_competitions(session, None)) == everybodys
        assert names_of(visible_competitions(session, bob)) == ["bobs", NEIGHBOURS, "nobodys", PREPARED]


def test_competitions_that_one_may_edit_are_listed_by_title(engine: Engine) -> None:
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    titles = {"one": "Zebras", "other": "Ants", "scores": "Bees", "tested": "Cats", "bobs": "Dogs"}
    for name in titles:
        add_competition(engine, name=name)
    with writing(engine) as session:
        for name, title in titles.items():
            find_competition(session, name).title = title
        for name, user, role, rights in (
            ("one", ada, Role.ORGANISER, (Right.EDIT,)),
            ("other", ada, Role.ORGANISER, tuple(Right)),
            ("scores", ada, Role.ORGANISER, (Right.SUBMISSIONS, Right.GOLD, Right.MESSAGES)),
            ("tested", ada, Role.TESTER, ()),
            ("bobs", bob, Role.ORGANISER, (Right.EDIT,)),
        ):
            grant_role(session, find_competition(session, name), user, role, NOW, rights=rights)
    with reading(engine) as session:
        assert names_of(organised_by(session, ada)) == ["other", "one"]
        assert names_of(organised_by(session, bob)) == ["bobs"]


# --------------------------------------------------------------------------------------------------------- submissions


def test_a_submission_comes_with_all_that_its_page_shows(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    accepted = submit(engine, ada)
    score(engine, accepted.run_id, 0.5)
    with reading(engine) as session:
        found = get_submission(session, accepted.submission.id, ada)
        with pytest.raises(InvalidRequestError, match="report"):
            _ = current_run(found).report  # large, and not for a page that polls
    assert (found.team.name, found.user.username, found.phase_task.task.name) == ("Ada", "ada", TASK)
    assert found.phase_task.phase.competition.name == COMPETITION
    run = current_run(found)
    assert (run.id, run.status) == (accepted.run_id, RunStatus.SCORED)


def test_who_may_see_a_submission(engine: Engine) -> None:
    add_competition(engine)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    member = add_user(engine, "member")
    administrator = add_user(engine, "root", is_administrator=True)
    add_team(engine, ada, member, name="Both")
    submit(engine, bob)
    submission = submit(engine, ada).submission

    def sees(viewer: User | None, submission_id: UUID = submission.id) -> str:
        with reading(engine) as session:
            try:
                return str(get_submission(session, submission_id, viewer).id)
            except NotFound as refused:
                return refused.message

    assert sees(ada) == sees(member) == sees(administrator) == str(submission.id)
    assert sees(bob) == sees(None) == sees(ada, uuid.uuid4()) == sees(administrator, uuid.uuid4())
    assert sees(bob).startswith("This submission does not exist")


def pages(engine: Engine, user: User, limit: int, **filters: Any) -> list[list[Submission]]:
    """Return all pages of the user's list."""
    found: list[list[Submission]] = []
    after = None
    while not found or after is not None:
        with reading(engine) as session:
            page, after = list_submissions(session, user, OwnFilter(after=after, **filters), limit=limit)
        found.append(page)
    return found


def test_own_submissions_are_listed_newest_first(engine: Engine) -> None:
    add_competition(engine)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    sent = [submit(engine, ada, NOW + n * SECOND, content=str(n)).submission.id for n in range(3)]
    submit(engine, bob)
    (page,) = pages(engine, ada, limit=50)
    assert [submission.id for submission in page] == sent[::-1]
    assert {current_run(submission).status for submission in page} == {RunStatus.QUEUED}


@pytest.mark.parametrize(("limit", "sizes"), [(2, [2, 2, 1]), (5, [5]), (4, [4, 1]), (1, [1, 1, 1, 1, 1])])
def test_pages_show_every_submission_once(engine: Engine, limit: int, sizes: list[int]) -> None:
    """Three of the five at the very same moment."""
    add_competition(engine)
    ada = add_user(engine, "ada")
    moments = (0, 1, 1, 1, 2)
    sent = {submit(engine, ada, NOW + n * SECOND, content=str(i)).submission.id for i, n in enumerate(moments)}
    found = pages(engine, ada, limit)
    assert [len(page) for page in found] == sizes
    listed = [submission for page in found for submission in page]
    assert {submission.id for submission in listed} == sent
    assert [s.submitted_at for s in listed] == sorted((s.submitted_at for s in listed), reverse=True)


def test_a_submission_that_comes_in_between_moves_no_page(engine: Engine) -> None:
    add_competition(engine)
    ada = add_user(engine, "ada")
    sent = [submit(engine, ada, NOW + n * SECOND, content=str(n)).submission.id for n in range(4)]
    with reading(engine) as session:
        _, after = list_submissions(session, ada, limit=2)
    submit(engine, ada, NOW + 9 * SECOND, content="new")
    with reading(engine) as session:
        page, _ = list_submissions(session, ada, OwnFilter(after=after), limit=2)
    assert [submission.id for submission in page] == [sent[1], sent[0]]


def test_the_list_of_a_team_is_the_same_for_its_members(engine: Engine) -> None:
    add_competition(engine)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    add_team(engine, ada, bob, name="Both")
    submit(engine, ada, content="ada")
    submit(engine, bob, NOW + SECOND, content="bob")
    lists = [[submission.id for submission in pages(engine, user, 50)[0]] for user in (ada, bob)]
    assert lists[0] == lists[1]
    assert len(lists[0]) == 2


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({}, 3),
        ({"competition": COMPETITION}, 2),
        ({"competition": "other", "phase": PHASE, "task": TASK}, 1),
        ({"phase": PHASE}, 3),
        ({"task": "unknown"}, 0),
        ({"competition": ""}, 0),
        ({"competition": "\0"}, 0),
    ],
)
def test_the_list_can_be_narrowed(engine: Engine, filters: dict[str, str], count: int) -> None:
    add_competition(engine)
    add_competition(engine, name="other")
    ada = add_user(engine, "ada")
    for n, competition in enumerate((COMPETITION, "other", COMPETITION)):
        submit(engine, ada, NOW + timedelta(minutes=n), content=str(n), competition=competition)
    assert len(pages(engine, ada, 50, **filters)[0]) == count


def test_somebody_elses_submission_is_no_place_to_go_on_from(engine: Engine) -> None:
    add_competition(engine)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    submit(engine, bob)
    theirs = submit(engine, ada).submission.id
    answers = []
    for after in (theirs, uuid.uuid4()):
        with reading(engine) as session, pytest.raises(NotFound) as refused:
            list_submissions(session, bob, OwnFilter(after=after))
        answers.append(refused.value.message)
    assert answers[0] == answers[1]
