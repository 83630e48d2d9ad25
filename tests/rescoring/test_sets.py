"""Rescoring as a set: what is in it, what it would change, and that it is published as a whole or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, ScalarSelect, Select, func, select, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import InvalidForm, NotFound
from app.boards.freezing import AFTER_CLOSE
from app.boards.snapshots import list_snapshots
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import Viewer
from app.gold.versions import publish_gold
from app.models import (
    AuditEntry,
    Board,
    Competition,
    CompetitionTask,
    EntryRule,
    OutgoingMail,
    Phase,
    RescoringState,
    RunStatus,
    ScoringRun,
    Snapshot,
    Submission,
    TeamKind,
    User,
)
from app.people.act import Act
from app.rescoring.publishing import RescoringNotReady, RescoringStale
from app.rescoring.sets import NothingToRescore, OlderGold, RescoringEnded, RescoringOpen, list_rescorings
from app.runs.failures import failed_runs, queue_again
from app.runs.rescored import rescorings_of
from tests.competitions.embargo import MINUTE, add_phase, declare, enter, freeze, hide, look, rows
from tests.rescoring.rescored import (
    NOTE,
    current_of,
    difference,
    drop,
    look_after,
    name_gold,
    progress,
    publish,
    runs_of,
    score_set,
    set_options,
    start,
    the_set,
)
from tests.sealed import make_key, seal_gold, version_of
from tests.world import (
    COMPETITION,
    HOUR,
    NOW,
    PHASE,
    SECOND,
    TASK,
    add_team,
    add_user,
    board_version_number,
    claim,
    fail,
    finish,
    reject,
    score,
    scores_of,
    submit,
    sure,
    the_phase_task,
    the_run,
)

LATER = NOW + HOUR


@pytest.fixture
def scored(engine: Engine, people: list[User]) -> dict[str, Any]:
    """Ada 0.9, Bob 0.5 and Cat 0.3 against sealed gold; a second version waits. By name, their submissions."""
    make_key(engine)
    seal_gold(engine, b"gold")
    found = {
        name: enter(engine, person, value) for name, person, value in zip("abc", people, (0.9, 0.5, 0.3), strict=False)
    }
    seal_gold(engine, b"better gold")
    return found


def audited(engine: Engine, action: str) -> list[AuditEntry]:
    with reading(engine) as session:
        entries = session.scalars(select(AuditEntry).where(AuditEntry.action == action))
        return [entry for entry in entries if entry.details.get("competition") == COMPETITION]


def mails(engine: Engine) -> list[OutgoingMail]:
    with reading(engine) as session:
        return list(session.scalars(select(OutgoingMail).order_by(OutgoingMail.id)))


# ----------------------------------------------------------------------------------------------------------- starting


def test_a_set_has_a_run_beside_each_current_one(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    runs = runs_of(engine, number)
    assert runs.keys() == set(scored.values())
    for submission_id, run_id in runs.items():
        run = the_run(engine, run_id)
        assert (run.is_current, run.status, version_of(engine, run_id)) == (False, RunStatus.QUEUED, 2)
        assert version_of(engine, current_of(engine, submission_id).id) == 1
    assert progress(engine, number).waiting == 3
    assert audited(engine, "rescoring.start")[0].details["runs"] == 3


def test_nobody_sees_anything_of_an_open_set(engine: Engine, scored: dict[str, Any]) -> None:
    before, version = look(engine), board_version_number(engine)
    score_set(engine, start(engine), {scored["c"]: 1.0})
    assert look(engine) == before
    assert board_version_number(engine) == version


def test_a_set_is_made_for_the_tasks_that_are_named(engine: Engine, people: list[User]) -> None:
    add_phase(engine, "practice", starts_at=NOW - HOUR)
    here, there = enter(engine, people[0], 0.5), enter(engine, people[0], 0.6, phase="practice")
    number = start(engine, "practice")
    assert runs_of(engine, number).keys() == {there}
    drop(engine, number)
    assert runs_of(engine, start(engine, f"{PHASE}/{TASK}")).keys() == {here}


def test_a_phase_that_nobody_has_entered_yet_gets_the_corrected_gold_with_the_others(
    engine: Engine, people: list[User]
) -> None:
    """Check that carried-over entries stay: they would otherwise rest on other gold than the phase's own."""
    add_phase(engine, "post", starts_at=NOW - HOUR, carry_over=PHASE)
    make_key(engine)
    places = (f"{COMPETITION}/{PHASE}/{TASK}", f"{COMPETITION}/post/{TASK}")
    seal_gold(engine, b"gold", places=places)
    submission_id = enter(engine, people[0], 0.5)
    assert rows(look(engine, phase="post")) == [(1, "Ada", 0.5)]
    seal_gold(engine, b"better gold", places=places)
    number = start(engine)
    score_set(engine, number, {submission_id: 0.7})
    publish(engine, number)
    assert rows(look(engine, phase="post")) == [(1, "Ada", 0.7)]


def test_what_is_wrong_is_told_and_changes_nothing(engine: Engine, scored: dict[str, Any]) -> None:
    with pytest.raises(InvalidForm) as wrong:
        start(engine, "practise", note="")
    assert wrong.value.details["fields"].keys() == {"tasks", "note"}
    assert "'practise'" in wrong.value.details["fields"]["tasks"]
    assert "evaluation/detection" in wrong.value.details["fields"]["tasks"]
    for note in ("", "  ", "x" * 1001, "a\0b"):
        with pytest.raises(InvalidForm):
            start(engine, note=note)
    with pytest.raises(InvalidForm) as wrong:
        start(engine, gold_version=7)
    assert "no gold version 7 of idioms/evaluation/detection" in wrong.value.details["fields"]["gold_version"]
    assert audited(engine, "rescoring.start") == []
    with reading(engine) as session:
        assert list_rescorings(session, find_competition(session, COMPETITION)) == []


def test_a_task_is_named_whole(engine: Engine, scored: dict[str, Any]) -> None:
    for place in (f"{PHASE}/{TASK[:-1]}", f"{PHASE}/{TASK}s", f"{PHASE[:-1]}/{TASK}", PHASE[:-1]):
        with pytest.raises(InvalidForm) as refused:
            start(engine, place)
        assert repr(place) in refused.value.details["fields"]["tasks"]


def test_without_scores_there_is_nothing_to_rescore(engine: Engine, people: list[User]) -> None:
    submit(engine, people[0])
    with pytest.raises(NothingToRescore):
        start(engine)


def test_a_task_is_in_one_open_set_at_most(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    with pytest.raises(RescoringOpen, match=f"in set {number}") as told:
        start(engine)
    assert told.value.details == {"rescoring": number}
    drop(engine, number)
    second = start(engine)
    assert second > number
    with reading(engine) as session:
        listed = list_rescorings(session, find_competition(session, COMPETITION))
    assert [one.id for one in listed] == [second, number], "the latest first, and none of the neighbours'"


def test_gold_older_than_what_is_in_use_is_refused(engine: Engine, scored: dict[str, Any]) -> None:
    with writing(engine) as session:
        publish_gold(session, the_phase_task(session), 2, user=None, now=NOW)
    with pytest.raises(OlderGold, match="upload the older gold again"):
        start(engine, gold_version=1)
    assert start(engine, gold_version=2)


def test_baselines_are_rescored_and_failed_runs_are_not(engine: Engine, people: list[User]) -> None:
    add_team(engine, people[3], name="Majority", kind=TeamKind.BASELINE)
    baseline, ada = enter(engine, people[3], 0.2), enter(engine, people[0], 0.6)
    fail(engine, submit(engine, people[1], content="b").run_id)
    reject(engine, submit(engine, people[2], content="c").run_id)
    assert runs_of(engine, start(engine)).keys() == {baseline, ada}


def test_rejected_files_are_tried_again_where_organisers_ask_for_it(engine: Engine, people: list[User]) -> None:
    ada, bob = enter(engine, people[0], 0.6), submit(engine, people[1], content="b")
    reject(engine, bob.run_id)
    number = start(engine, with_rejected=True)
    score_set(engine, number, {ada: 0.6, bob.submission.id: 0.7})
    assert difference(engine, number).newly_accepted == 1
    publish(engine, number)
    assert rows(look(engine)) == [(1, "Bob", 0.7), (2, "Ada", 0.6)]


def test_rejected_files_that_are_kept_no_longer_are_left_out(engine: Engine, people: list[User]) -> None:
    ada, bob = enter(engine, people[0], 0.6), submit(engine, people[1], content="b")
    reject(engine, bob.run_id)
    with writing(engine) as session:
        session.execute(update(Submission).where(Submission.id == bob.submission.id).values(file_cleared_at=NOW))
    assert runs_of(engine, start(engine, with_rejected=True)).keys() == {ada}


def test_a_set_is_scored_with_the_options_that_it_was_made_with(engine: Engine, people: list[User]) -> None:
    ada = enter(engine, people[0], 0.6)
    set_options(engine, {"languages": ["EN"]})
    run_id = runs_of(engine, start(engine))[ada]
    set_options(engine, {"languages": ["PT"]})
    assert sure(claim(engine, run_id)).options == {"languages": ["EN"]}


def test_plain_gold_that_got_another_name_is_used(engine: Engine, people: list[User]) -> None:
    ada = enter(engine, people[0], 0.6)
    name_gold(engine, "gold-v2.csv")
    assert [row.is_outdated for row in look(engine).rows] == [True]
    number = start(engine)
    held = sure(claim(engine, runs_of(engine, number)[ada]))
    assert (held.gold, held.sealed_gold) == ("gold-v2.csv", None)
    finish(engine, held, scores_of("zero_shot/all", 0.7))
    publish(engine, number)
    assert [(row.is_outdated, row.task_version) for row in look(engine).rows] == [(False, 1)]


# --------------------------------------------------------------------------------------------------------- difference


def test_the_difference_says_who_moves_by_how_much(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    score_set(engine, number, {scored["a"]: 0.4, scored["b"]: 0.5, scored["c"]: 0.6})
    found = difference(engine, number)
    zero_shot, one_shot = found.boards
    assert (one_shot.moves, one_shot.unchanged) == ((), 0)
    moved = [(m.team, m.rank_before, m.rank_after, m.score_before, m.score_after, m.places) for m in zero_shot.moves]
    assert moved == [("Ada", 1, 3, 0.9, 0.4, -2), ("Cat", 3, 1, 0.3, 0.6, 2)]
    assert [move.cells_changed for move in zero_shot.moves] == [2, 2], "F1 and accuracy"
    assert zero_shot.unchanged == 1
    assert found.progress.is_ready


def test_the_difference_is_what_publishing_does(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    score_set(engine, number, {scored["a"]: 0.4, scored["b"]: 0.5, scored["c"]: 0.6})
    before = difference(engine, number)
    publish(engine, number)
    assert rows(look(engine)) == [(1, "Cat", 0.6), (2, "Bob", 0.5), (3, "Ada", 0.4)]
    assert difference(engine, number) == before, "it is kept"


def test_an_unfinished_set_is_compared_as_far_as_it_is_done(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    score_set(engine, number, {scored["c"]: 0.95})
    found = difference(engine, number)
    assert (found.progress.scored, found.progress.waiting) == (1, 2)
    # Bob falls from 2 to 3 though he was not scored anew; the difference names him.
    assert [(m.team, m.rank_after) for m in found.boards[0].moves] == [("Cat", 1), ("Ada", 2), ("Bob", 3)]


def test_what_an_unfinished_set_has_not_scored_yet_is_said_not_to_leave_the_board(
    engine: Engine, people: list[User]
) -> None:
    """Check the words: carried-over rows rest on the old gold until the set has scored them, and do not leave the
    board.
    """
    add_phase(engine, "post", starts_at=NOW - HOUR, carry_over=PHASE)
    make_key(engine)
    places = (f"{COMPETITION}/{PHASE}/{TASK}", f"{COMPETITION}/post/{TASK}")
    seal_gold(engine, b"gold", places=places)
    submission_id = enter(engine, people[0], 0.5)
    seal_gold(engine, b"better gold", places=places)
    number = start(engine)
    words = {move.words for board in difference(engine, number).boards for move in board.moves}
    assert words == {"is not rescored yet"}
    score_set(engine, number, {submission_id: 0.7})
    words = {move.words for board in difference(engine, number).boards for move in board.moves}
    assert words == {""}


def test_files_that_do_not_fit_any_more_leave_the_board(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    score_set(engine, number, {scored["a"]: 0.9, scored["c"]: 0.3})
    reject(engine, runs_of(engine, number)[scored["b"]])
    found = difference(engine, number)
    assert (found.newly_rejected, found.progress.rejected) == (1, 1)
    first = found.boards[0].moves[0]
    assert (first.team, first.rank_before, first.rank_after, first.words) == ("Bob", 2, None, "leaves the board")
    publish(engine, number)
    assert [row.team for row in look(engine).rows] == ["Ada", "Cat"]


def test_a_score_that_becomes_undefined_is_named(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    score_set(engine, number, {scored["a"]: 0.9, scored["c"]: 0.3})
    undefined = scores_of("zero_shot/all", None, "only one class in the gold")
    finish(engine, sure(claim(engine, runs_of(engine, number)[scored["b"]])), undefined)
    move = difference(engine, number).boards[0].moves[0]
    assert move.words == "its score becomes undefined: only one class in the gold"
    assert (move.score_before, move.score_after) == (0.5, None)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (EntryRule.LAST, [(1, "Ada", 0.2)]),
        (EntryRule.BEST, [(1, "Ada", 0.7)]),
        (EntryRule.ALL, [(1, "Ada", 0.7), (2, "Ada", 0.2)]),
    ],
)
def test_which_entry_counts_is_decided_by_the_new_scores(
    engine: Engine, people: list[User], rule: EntryRule, expected: list[Any]
) -> None:
    declare(engine, entry_rule=rule)
    first, second = enter(engine, people[0], 0.4), enter(engine, people[0], 0.6, minute=1)
    number = start(engine)
    score_set(engine, number, {first: 0.7, second: 0.2})
    publish(engine, number)
    assert rows(look(engine)) == expected


def test_the_last_valid_entry_counts_when_the_last_is_rejected_anew(engine: Engine, people: list[User]) -> None:
    declare(engine, entry_rule=EntryRule.LAST)
    first, second = enter(engine, people[0], 0.4), enter(engine, people[0], 0.6, minute=1)
    number = start(engine)
    score_set(engine, number, {first: 0.45})
    reject(engine, runs_of(engine, number)[second])
    assert difference(engine, number).boards[0].moves[0].words == "another of its submissions counts"
    publish(engine, number)
    assert rows(look(engine)) == [(1, "Ada", 0.45)]


def test_a_ladder_is_climbed_anew(engine: Engine, people: list[User]) -> None:
    declare(engine, entry_rule=EntryRule.LADDER, ladder_step=0.1)
    first, second = enter(engine, people[0], 0.4), enter(engine, people[0], 0.6, minute=1)
    number = start(engine)
    score_set(engine, number, {first: 0.5, second: 0.55})
    publish(engine, number)
    assert rows(look(engine)) == [(1, "Ada", 0.5)], "the second is no step any more"


def test_entries_that_were_carried_over_move_too(engine: Engine, people: list[User]) -> None:
    make_key(engine)
    add_phase(engine, "post", starts_at=NOW, carry_over=PHASE)
    places = [f"{COMPETITION}/{phase}/{TASK}" for phase in (PHASE, "post")]
    seal_gold(engine, b"gold", places=places)
    ada, bob = enter(engine, people[0], 0.4), enter(engine, people[1], 0.6, phase="post")
    assert rows(look(engine, phase="post")) == [(1, "Bob", 0.6), (2, "Ada", 0.4)]
    seal_gold(engine, b"better gold", places=places)
    number = start(engine)
    score_set(engine, number, {ada: 0.8, bob: 0.6})
    moves = {
        board.phase: [(move.team, move.carried_from, move.rank_after) for move in board.moves]
        for board in difference(engine, number).boards
        if board.board == "zero-shot"
    }
    assert moves == {PHASE: [("Ada", None, 1)], "post": [("Ada", PHASE, 1), ("Bob", None, 2)]}
    publish(engine, number)
    assert rows(look(engine, phase="post")) == [(1, "Ada", 0.8), (2, "Bob", 0.6)]


def test_a_later_phase_that_asks_another_task_has_no_board_of_this_one(engine: Engine, people: list[User]) -> None:
    """Check that, although it declares to carry over, there is nothing of that task to carry."""
    add_phase(engine, "post", starts_at=NOW, carry_over=PHASE)
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        other = CompetitionTask(
            competition_id=here.id, name="other", task_type="idiom-detection", title="Other", options={}
        )
        session.add(other)
        session.flush()
        find_phase_task(session, COMPETITION, "post", TASK).task_id = other.id
    ada = enter(engine, people[0], 0.4)
    number = start(engine, PHASE)
    score_set(engine, number, {ada: 0.8})
    assert {board.phase for board in difference(engine, number).boards} == {PHASE}
    publish(engine, number)
    assert rows(look(engine)) == [(1, "Ada", 0.8)]


# --------------------------------------------------------------------------------------------------------- publishing


def test_publishing_puts_gold_and_runs_in_use_and_keeps_the_old_ones(engine: Engine, scored: dict[str, Any]) -> None:
    old = {name: current_of(engine, submission_id).id for name, submission_id in scored.items()}
    number, version = start(engine), board_version_number(engine)
    score_set(engine, number, {scored["a"]: 0.4, scored["b"]: 0.5, scored["c"]: 0.6})
    publish(engine, number, LATER)
    assert board_version_number(engine) > version
    for name, submission_id in scored.items():
        run = current_of(engine, submission_id)
        assert (run.rescoring_id, run.replaced_id, version_of(engine, run.id)) == (number, old[name], 2)
        before = the_run(engine, old[name])
        assert (before.is_current, before.status, before.report is not None) == (False, RunStatus.SCORED, True)
    assert the_set(engine, number).state == RescoringState.PUBLISHED
    assert [gold.number for gold in look(engine).sealed_gold] == [1, 2]
    next_run = submit(engine, add_user(engine, "eve"), content="e").run_id
    claim(engine, next_run)
    assert version_of(engine, next_run) == 2
    assert audited(engine, "rescoring.publish")[0].details["moved"] == 2


def test_publishing_or_dropping_again_is_told(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    score_set(engine, number, dict.fromkeys(scored.values(), 0.5))
    publish(engine, number)
    for again in (publish, drop):
        with pytest.raises(RescoringEnded, match="published already"):
            again(engine, number)
    with pytest.raises(NotFound):
        publish(engine, number + 1)


def test_a_dropped_set_changes_nothing_and_forgets_what_waits(engine: Engine, scored: dict[str, Any]) -> None:
    before, number = look(engine), start(engine)
    score_set(engine, number, {scored["a"]: 0.1})
    late = sure(claim(engine, runs_of(engine, number)[scored["b"]]))
    drop(engine, number)
    assert not finish(engine, late, scores_of("zero_shot/all", 0.9)), "a worker that comes late records nothing"
    assert look(engine) == before
    assert runs_of(engine, number).keys() == {scored["a"]}, "what was scored stays on record"
    again = start(engine)
    with reading(engine) as session:
        listed = list_rescorings(session, find_competition(session, COMPETITION))
        assert [one.id for one in listed] == [again, number], "the latest first"
    with pytest.raises(RescoringEnded):
        publish(engine, number)


def test_what_is_submitted_meanwhile_has_to_be_scored_too(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    score_set(engine, number, dict.fromkeys(scored.values(), 0.5))
    dan = enter(engine, add_user(engine, "eve"), 0.99, at=NOW + MINUTE)
    with pytest.raises(RescoringNotReady, match="1 of 4 submissions") as refused:
        publish(engine, number)
    assert refused.value.details == {"waiting": 1, "failed": 0}
    assert the_set(engine, number).state == RescoringState.OPEN
    look_after(engine)
    score_set(engine, number, {dan: 0.7})
    publish(engine, number)
    assert rows(look(engine))[0] == (1, "Eve", 0.7)


def test_a_failed_run_of_the_set_holds_it_up(engine: Engine, scored: dict[str, Any]) -> None:
    add_user(engine, "root", is_administrator=True)
    number = start(engine)
    score_set(engine, number, {scored["a"]: 0.9, scored["b"]: 0.5})
    run_id = runs_of(engine, number)[scored["c"]]
    fail(engine, run_id)
    with pytest.raises(RescoringNotReady, match="1 failed on our side"):
        publish(engine, number)
    assert "The team was not notified, and its score does not change" in mails(engine)[0].body
    with reading(engine) as session:
        assert [(one.run_id, one.rescoring) for one in failed_runs(session)] == [(run_id, number)]
    with writing(engine) as session:
        assert queue_again(Act(session, None, NOW, get_settings()), run_id)
    assert version_of(engine, run_id) == 2, "still the set's gold"
    score(engine, run_id, 0.3)
    publish(engine, number)


def test_a_failed_run_of_a_dropped_set_concerns_nobody(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    run_id = runs_of(engine, number)[scored["c"]]
    fail(engine, run_id)
    drop(engine, number)
    with reading(engine) as session:
        assert failed_runs(session) == []
    with writing(engine) as session:
        assert not queue_again(Act(session, None, NOW, get_settings()), run_id)


def test_what_is_not_scored_yet_is_scored_against_the_new_gold(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    score_set(engine, number, dict.fromkeys(scored.values(), 0.5))
    queued, running, failed = (submit(engine, add_user(engine, name), content=name).run_id for name in ("x", "y", "z"))
    held = sure(claim(engine, running))
    fail(engine, failed)
    publish(engine, number)
    assert not finish(engine, held, scores_of("zero_shot/all", 0.99)), "it had the old gold in hand"
    assert (the_run(engine, running).status, the_run(engine, running).attempts) == (RunStatus.QUEUED, 0)
    for run_id in (queued, running):
        sure(claim(engine, run_id))
        assert version_of(engine, run_id) == 2
    assert (the_run(engine, failed).status, version_of(engine, failed)) == (RunStatus.FAILED, None)


@pytest.mark.parametrize("change", ["options", "items", "gold"])
def test_a_set_that_time_has_passed_by_is_refused(engine: Engine, scored: dict[str, Any], change: str) -> None:
    number = start(engine)
    score_set(engine, number, dict.fromkeys(scored.values(), 0.5))
    if change == "options":
        set_options(engine, {"languages": ["EN"]})
    elif change == "items":
        with writing(engine) as session:
            the_phase_task(session).items_sha256 = "0" * 64
    else:
        seal_gold(engine, b"the best gold", publish=True)
    with pytest.raises(RescoringStale, match=f"the {change}.* changed: drop the set"):
        publish(engine, number)


def test_newer_gold_that_waits_does_not_matter(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    score_set(engine, number, dict.fromkeys(scored.values(), 0.5))
    seal_gold(engine, b"the best gold")
    publish(engine, number)
    assert [gold.number for gold in look(engine).sealed_gold] == [1, 2]


def test_official_results_get_another_number_with_the_note(engine: Engine, scored: dict[str, Any]) -> None:
    declare(engine, ends_at=LATER)
    due = LATER + AFTER_CLOSE
    assert freeze(engine, due) == 2
    number = start(engine, now=due)
    score_set(engine, number, {scored["a"]: 0.4, scored["b"]: 0.5, scored["c"]: 0.6})
    publish(engine, number, due + MINUTE)
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        first, second = list_snapshots(session, *place, Viewer(None, due))
        assert (first.note, second.note) == ("", NOTE)
        told = [[row["team"] for row in one.document["rows"]] for one in (first, second)]
    assert told == [["Ada", "Bob", "Cat"], ["Cat", "Bob", "Ada"]]
    assert freeze(engine, due + HOUR) == 0


def test_official_results_that_a_set_leaves_as_they_are_get_no_other_number(engine: Engine, people: list[User]) -> None:
    """A later phase shows the same entries; it gets another official board only when somebody moves there."""
    add_phase(engine, "post", starts_at=NOW - HOUR, carry_over=PHASE, ends_at=LATER)
    declare(engine, ends_at=LATER)
    ada, bob = enter(engine, people[0], 0.9), enter(engine, people[1], 0.5)
    enter(engine, people[2], 0.7, phase="post")
    due = LATER + AFTER_CLOSE
    assert freeze(engine, due) == 4
    for values, numbers in (((0.9, 0.5), {PHASE: 2, "post": 1}), ((0.5, 0.9), {PHASE: 3, "post": 2})):
        number = start(engine, PHASE, now=due)
        score_set(engine, number, dict(zip((ada, bob), values, strict=True)))
        publish(engine, number, due + MINUTE)
        assert official_numbers(engine) == numbers


def test_a_phase_that_has_no_official_results_yet_gets_its_first_from_the_sweep(
    engine: Engine, people: list[User]
) -> None:
    """Though it shows the same entries as a phase that has some, and both have closed."""
    add_phase(engine, "post", starts_at=NOW - HOUR, carry_over=PHASE, ends_at=LATER + HOUR)
    declare(engine, ends_at=LATER)
    ada, bob = enter(engine, people[0], 0.9), enter(engine, people[1], 0.5)
    enter(engine, people[2], 0.7, phase="post")
    assert freeze(engine, LATER + AFTER_CLOSE) == 2
    due = LATER + HOUR + AFTER_CLOSE
    number = start(engine, PHASE, now=due)
    score_set(engine, number, {ada: 0.5, bob: 0.9})
    publish(engine, number, due + MINUTE)
    assert official_numbers(engine) == {PHASE: 2}
    assert freeze(engine, due + MINUTE) == 2
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), "post", "zero-shot")
        assert [one.note for one in list_snapshots(session, *place, Viewer(None, due + MINUTE))] == [""]


def own_competition() -> ScalarSelect[int]:
    return select(Competition.id).where(Competition.name == COMPETITION).scalar_subquery()


def own_snapshots() -> Select[int]:
    here = select(Snapshot.id).join(Phase, Phase.id == Snapshot.phase_id)
    return here.where(Phase.competition_id == own_competition())


def official_numbers(engine: Engine) -> dict[str, int]:
    """Return how many official boards of zero-shot each phase has."""
    counted = (
        select(Phase.name, func.max(Snapshot.number))
        .join(Snapshot, Snapshot.phase_id == Phase.id)
        .join(Board, Board.id == Snapshot.board_id)
        .where(Board.name == "zero-shot", Phase.competition_id == own_competition())
    )
    with reading(engine) as session:
        return {name: number for name, number in session.execute(counted.group_by(Phase.name))}


def test_a_phase_that_closed_seconds_ago_is_left_to_the_sweep(engine: Engine, scored: dict[str, Any]) -> None:
    """Check the delay: files that arrived in time may still be on their way into the database."""
    declare(engine, ends_at=LATER)
    freeze(engine, LATER + AFTER_CLOSE)
    closes = LATER + 9 * HOUR
    declare(engine, ends_at=closes)
    number = start(engine)
    score_set(engine, number, dict.fromkeys(scored.values(), 0.5))
    waiting = submit(engine, add_user(engine, "eve"), closes - SECOND, content="e")
    publish(engine, number, closes + AFTER_CLOSE - SECOND)
    assert official_numbers(engine) == {PHASE: 1}
    score(engine, waiting.run_id, 0.8)
    assert freeze(engine, closes + AFTER_CLOSE) == 2


def test_what_failed_in_a_dropped_set_keeps_the_gold_that_it_failed_on(engine: Engine, scored: dict[str, Any]) -> None:
    dropped = start(engine)
    failed = runs_of(engine, dropped)[scored["a"]]
    fail(engine, failed)
    drop(engine, dropped)
    seal_gold(engine, b"the best gold")
    number = start(engine)
    score_set(engine, number, dict.fromkeys(scored.values(), 0.5))
    publish(engine, number)
    assert (the_run(engine, failed).status, version_of(engine, failed)) == (RunStatus.FAILED, 2)


def test_official_results_wait_for_what_is_scored_for_the_first_time(engine: Engine, scored: dict[str, Any]) -> None:
    declare(engine, ends_at=LATER)
    freeze(engine, LATER + AFTER_CLOSE)
    number = start(engine)
    score_set(engine, number, dict.fromkeys(scored.values(), 0.5))
    late = submit(engine, add_user(engine, "eve"), LATER - MINUTE, content="e")
    with pytest.raises(RescoringNotReady, match="for the first time"):
        publish(engine, number, LATER + HOUR)
    score(engine, late.run_id, 0.9)
    look_after(engine)
    score_set(engine, number, {late.submission.id: 0.9})
    publish(engine, number, LATER + HOUR)
    with reading(engine) as session:
        assert session.scalars(select(func.max(Snapshot.number)).where(Snapshot.id.in_(own_snapshots()))).one() == 2


def test_a_phase_that_was_opened_again_is_frozen_when_it_closes(engine: Engine, scored: dict[str, Any]) -> None:
    declare(engine, ends_at=LATER)
    freeze(engine, LATER + AFTER_CLOSE)
    declare(engine, ends_at=LATER + 9 * HOUR)
    number = start(engine)
    score_set(engine, number, dict.fromkeys(scored.values(), 0.5))
    submit(engine, add_user(engine, "eve"), LATER + MINUTE, content="e")
    publish(engine, number, LATER + HOUR)
    with reading(engine) as session:
        assert session.scalars(select(func.max(Snapshot.number)).where(Snapshot.id.in_(own_snapshots()))).one() == 1
    reject(engine, current_runs_waiting(engine))
    assert freeze(engine, LATER + 9 * HOUR + AFTER_CLOSE) == 2


def current_runs_waiting(engine: Engine) -> int:
    """The one run that waits."""
    with reading(engine) as session:
        return session.scalars(
            select(ScoringRun.id).where(ScoringRun.status == RunStatus.QUEUED, ScoringRun.is_current)
        ).one()


# ------------------------------------------------------------------------------------------------------------ telling


def test_organisers_are_told_once_that_a_set_is_ready(engine: Engine, scored: dict[str, Any]) -> None:
    add_user(engine, "root", is_administrator=True)
    number = start(engine)
    assert look_after(engine) == 0
    score_set(engine, number, dict.fromkeys(scored.values(), 0.5))
    assert (look_after(engine), look_after(engine)) == (1, 0)
    (mail,) = mails(engine)
    assert (mail.recipient, mail.subject) == ("root@example.org", f"Rescoring set {number} of Idioms is ready")
    assert f"/competitions/idioms/rescoring/{number}" in mail.body
    assert "3 scored, 0 rejected, 0 failed" in mail.body


def test_teams_whose_place_changed_are_told_if_organisers_want_it(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    score_set(engine, number, {scored["a"]: 0.4, scored["b"]: 0.5, scored["c"]: 0.6})
    publish(engine, number, tell_teams=True)
    assert [mail.recipient for mail in mails(engine)] == ["ada@example.org", "cat@example.org"]
    assert "zero-shot, Evaluation: rank 3, before rank 1" in mails(engine)[0].body
    assert NOTE in mails(engine)[0].body


def test_no_mail_tells_of_a_board_that_is_hidden(engine: Engine, scored: dict[str, Any]) -> None:
    hide(engine, board="hidden")
    number = start(engine)
    score_set(engine, number, {scored["a"]: 0.4, scored["b"]: 0.5, scored["c"]: 0.6})
    publish(engine, number, tell_teams=True)
    assert mails(engine) == []


def test_a_submission_knows_that_it_was_rescored_and_what_was_before(engine: Engine, scored: dict[str, Any]) -> None:
    number = start(engine)
    score_set(engine, number, {scored["a"]: 0.4, scored["b"]: 0.5, scored["c"]: 0.6})
    with reading(engine) as session:
        assert rescorings_of(session, [scored["a"]]) == {}, "the set is open"
    publish(engine, number, LATER)
    with reading(engine) as session:
        (told,) = rescorings_of(session, [scored["a"]])[scored["a"]]
    assert (told.at, told.note, told.before, told.after) == (LATER, NOTE, "scored", "scored")
    changes = [(old.metric, old.split, old.value, new.value) for old, new in told.changes]
    assert changes == [("macro_f1", "zero_shot/all", 0.9, 0.4), ("accuracy", "zero_shot/all", 0.45, 0.2)]


def test_a_board_says_which_rows_the_new_gold_has_not_reached(engine: Engine, scored: dict[str, Any]) -> None:
    with writing(engine) as session:
        publish_gold(session, the_phase_task(session), 2, user=None, now=NOW)
    enter(engine, add_user(engine, "eve"), 0.7)
    assert {row.team: row.is_outdated for row in look(engine).rows} == {
        "Ada": True,
        "Bob": True,
        "Cat": True,
        "Eve": False,
    }
    hide(engine, board="ranks_only")
    assert {(row.is_outdated, row.task_version) for row in look(engine).rows} == {(False, None)}
