"""All submissions to a competition: filters that add up, pages without gaps, and nothing of any other."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, select, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.boards.marks import mark_row, mark_submissions
from app.competitions.find import find_competition
from app.models import AuditEntry, RowStatus, RunStatus, ScoringRun, Submission
from app.people.act import Act
from app.rescoring.sets import score_anew
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from app.submissions.organisers_list import (
    ListedSubmission,
    SubmissionFilter,
    chosen_submissions,
    list_all_submissions,
    teams_that_submitted,
)
from tests import world
from tests.beside import add_old_run
from tests.rich_world import CARRYING, DIVIDED, EARLIER_TEAM, EMBARGOED, NEIGHBOURS, OTHER_TASK
from tests.world import (
    COMPETITION,
    DAY,
    EARLIER_PHASE,
    HOUR,
    NOW,
    PHASE,
    TASK,
    add_competition,
    add_user,
    submit,
    the_phase_task,
    upload_of,
)

EVERYTHING = SubmissionFilter()


@pytest.fixture
def sent(engine: Engine) -> list[UUID]:
    """Return submissions of Ada, who is scored, Bob, whose second failed, and Ada again, withdrawn; oldest first, two
    at one moment.
    """
    add_competition(engine)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    moments = [(ada, NOW - DAY), (bob, NOW - HOUR), (bob, NOW - HOUR), (ada, NOW)]
    accepted = [submit(engine, user, at, content=f"file {n}") for n, (user, at) in enumerate(moments)]
    world.score(engine, accepted[0].run_id, 0.5)
    world.fail(engine, accepted[2].run_id)
    ids = [one.submission.id for one in accepted]
    with writing(engine) as session:
        session.execute(update(Submission).where(Submission.id == ids[3]).values(withdrawn_at=NOW, is_late=True))
    return ids


def listed(engine: Engine, wanted: SubmissionFilter = EVERYTHING) -> list[ListedSubmission]:
    with reading(engine) as session:
        return list_all_submissions(session, find_competition(session, COMPETITION), wanted)[0]


def names(engine: Engine, sent: list[UUID], **wanted: object) -> set[int]:
    """The places in `sent` of those that a filter leaves."""
    found = listed(engine, SubmissionFilter(**wanted))
    return {sent.index(one.id) for one in found if one.id in sent}


def test_newest_come_first_and_pages_have_no_gaps_also_at_one_moment(engine: Engine, sent: list[UUID]) -> None:
    whole = [one.id for one in listed(engine)]
    mine = [one for one in whole if one in sent]  # tests have neighbours
    assert (mine[0], mine[-1], len(mine)) == (sent[3], sent[0], 4)
    paged, after = [], None
    with reading(engine) as session:
        competition = find_competition(session, COMPETITION)
        for _ in whole:
            page, after = list_all_submissions(session, competition, EVERYTHING, after=after, limit=1)
            paged += [one.id for one in page]
    assert (paged, after) == (whole, None)


def test_of_equal_moments_a_page_goes_on_behind_the_last_of_the_one_before(sqlite_engine: Engine) -> None:
    """Check the order by ids, of which those of newer ones are smaller here."""
    add_competition(sqlite_engine)
    ada = add_user(sqlite_engine, "ada")
    moments = {9: NOW - 2 * HOUR, 7: NOW - HOUR, 5: NOW - HOUR, 3: NOW}
    for number, at in moments.items():
        with writing(sqlite_engine) as session:
            form = SubmissionForm(submission_id=UUID(int=number))
            accept_submission(session, the_phase_task(session), upload_of(str(number)), Sender(ada, at), form)
    paged, after = list[int](), None
    with reading(sqlite_engine) as session:
        competition = find_competition(session, COMPETITION)
        for _ in moments:
            page, after = list_all_submissions(session, competition, SubmissionFilter(team="Ada"), after=after, limit=1)
            paged += [one.id.int for one in page]
    assert (paged, after) == ([3, 7, 5, 9], None)


def test_a_filter_by_state_asks_the_run_that_counts(engine: Engine, sent: list[UUID]) -> None:
    add_old_run(engine, sent[2], 0.5)
    assert names(engine, sent, status=RunStatus.SCORED) == {0}


def test_each_filter_leaves_what_it_says(engine: Engine, sent: list[UUID]) -> None:
    with writing(engine) as session:
        mark_row(
            Act(session, None, NOW, get_settings()),
            the_phase_task(session),
            team="Bob",
            status=RowStatus.UNRANKED,
            note="why",
        )
    assert names(engine, sent, team="Ada") == {0, 3}
    assert names(engine, sent, phase=PHASE, task=TASK) == {0, 1, 2, 3}
    assert names(engine, sent, team="Ada", phase=EARLIER_PHASE) == set()
    assert names(engine, sent, phase="another") == names(engine, sent, task="another") == set()
    assert names(engine, sent, status=RunStatus.FAILED) == {2}
    assert names(engine, sent, marked=True) == {1, 2}
    assert names(engine, sent, marked=False) == {0, 3}
    assert names(engine, sent, withdrawn=True) == names(engine, sent, late=True) == {3}
    assert names(engine, sent, withdrawn=False) == names(engine, sent, late=False) == {0, 1, 2}
    assert names(engine, sent, since=NOW.date()) == {1, 2, 3}
    assert names(engine, sent, until=(NOW - timedelta(days=1)).date()) == {0}
    assert names(engine, sent, team="Bob", status=RunStatus.SCORED) == set()


def test_a_mark_of_one_submission_stands_before_that_of_its_team(engine: Engine, sent: list[UUID]) -> None:
    with writing(engine) as session:
        place = the_phase_task(session)
        mark_row(Act(session, None, NOW, get_settings()), place, team="Bob", status=RowStatus.UNRANKED, note="why")
        mark_row(Act(session, None, NOW, get_settings()), place, submission_id=sent[1], status=RowStatus.HIDDEN)
    marks = {sent.index(one.id): one.mark for one in listed(engine) if one.id in sent}
    assert marks == {0: None, 1: RowStatus.HIDDEN, 2: RowStatus.UNRANKED, 3: None}


def test_what_was_sent_elsewhere_is_neither_listed_nor_chosen_nor_a_place_to_go_on_from(
    engine: Engine, sent: list[UUID]
) -> None:
    add_competition(engine, name="another")
    with reading(engine) as session:
        another = find_competition(session, "another")
        assert list_all_submissions(session, another, EVERYTHING) == ([], None)
        with pytest.raises(NotFound):
            chosen_submissions(session, another, sent[:1])
        with pytest.raises(NotFound):
            list_all_submissions(session, another, EVERYTHING, after=sent[0])


def test_several_are_marked_at_once_each_alone_and_recorded(engine: Engine, sent: list[UUID]) -> None:
    with writing(engine) as session:
        chosen = chosen_submissions(session, find_competition(session, COMPETITION), [sent[0], sent[1]])
        mark_submissions(
            Act(session, None, NOW, get_settings()), chosen, status=RowStatus.UNRANKED, note="tuned on the test"
        )
    assert names(engine, sent, marked=True) == {0, 1}
    with reading(engine) as session:
        told = session.scalars(select(AuditEntry).where(AuditEntry.action == "row.mark")).all()
    assert {entry.details["submission"] for entry in told} >= {str(sent[0]), str(sent[1])}


def test_scoring_anew_queues_what_failed_and_starts_a_set_for_what_was_scored(engine: Engine, sent: list[UUID]) -> None:
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        chosen = chosen_submissions(session, competition, [sent[0], sent[2]])
        done = score_anew(Act(session, None, NOW, get_settings()), competition, chosen, note="A label was wrong.")
    assert (done.queued_again, done.tasks) == (1, (f"{PHASE}/{TASK}",))
    assert done.rescoring is not None
    assert names(engine, sent, status=RunStatus.FAILED) == set()
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        waiting = chosen_submissions(session, competition, [sent[1]])
        assert score_anew(Act(session, None, NOW, get_settings()), competition, waiting, note="").rescoring is None


def test_filtering_by_a_name_finds_no_team_of_that_name_next_door(engine: Engine, sent: list[UUID]) -> None:
    """Both have an Ada and a Bob; only next door has Gusts, and the other task."""
    assert {one.id for one in listed(engine, SubmissionFilter(team="Ada"))} == {sent[0], sent[3]}
    assert {one.id for one in listed(engine, SubmissionFilter(team="Bob"))} == {sent[1], sent[2]}
    assert listed(engine, SubmissionFilter(team="Gusts")) == []
    assert listed(engine, SubmissionFilter(phase=EMBARGOED)) == []
    assert listed(engine, SubmissionFilter(task=OTHER_TASK)) == []
    with reading(engine) as session:
        beside = find_competition(session, NEIGHBOURS)
        ada = list_all_submissions(session, beside, SubmissionFilter(team="Ada"))[0]
        assert {one.phase for one in ada} == {EMBARGOED, CARRYING, DIVIDED}
        assert teams_that_submitted(session, beside) == ["Ada", "Bob", "Gusts"]
        assert teams_that_submitted(session, find_competition(session, COMPETITION)) == ["Ada", "Bob", EARLIER_TEAM]


def test_of_two_tasks_of_a_phase_each_lists_its_own(engine: Engine, sent: list[UUID]) -> None:
    with reading(engine) as session:
        beside = find_competition(session, NEIGHBOURS)
        of_task = {
            task: list_all_submissions(session, beside, SubmissionFilter(phase=PHASE, task=task))[0]
            for task in (TASK, OTHER_TASK)
        }
    tasks = {task: [one.task for one in found] for task, found in of_task.items()}
    assert tasks == {TASK: [TASK] * 2, OTHER_TASK: [OTHER_TASK]}


def test_the_run_that_is_listed_is_the_current_one(engine: Engine, sent: list[UUID]) -> None:
    """Next door every run of the evaluation was replaced by that of a set, and an open set has more."""
    with reading(engine) as session:
        beside = find_competition(session, NEIGHBOURS)
        found = list_all_submissions(session, beside, SubmissionFilter(phase=PHASE, task=TASK))[0]
        current = session.scalars(select(ScoringRun).where(ScoringRun.id.in_([one.run_id for one in found]))).all()
    assert len(found) == len(current) == 2
    assert all(run.is_current and run.replaced_id for run in current)
