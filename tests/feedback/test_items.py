"""Two submissions item by item: which is right, which is closer, what is left out, and when nothing is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, update

from app.base.db import reading, writing
from app.competitions.visibility import SeenAs, Viewer
from app.feedback.compare import compare
from app.feedback.items import (
    GOLD_HIDDEN,
    NOTHING_OF_ITEMS,
    SCORES_IN_PART,
    ItemComparison,
    Showing,
    compare_items,
    paired,
)
from app.models import CompetitionTask, EntryRule, PhaseTask, Submission, User
from app.runs.report import packed_results, unpacked_results
from evergold.scoring.task import ItemResult
from evergold.scoring.tasks import TASKS
from tests.competitions.embargo import add_phase, declare, hide
from tests.world import DAY, NOW, ZERO_SHOT, add_competition, add_user, claim, finish, scores_of, submit, sure

EN = ("zero_shot/en",)


def labels(*pairs: str) -> list[ItemResult]:
    """`01`: gold 0, predicted 1; ids are 1, 2, …"""
    return [
        ItemResult(str(number), EN, pair[0], pair[1], is_right=pair[0] == pair[1])
        for number, pair in enumerate(pairs, start=1)
    ]


def numbers(*errors: float | None) -> list[ItemResult]:
    """Return results with gold 0.5; None: an item without gold of its own."""
    return [
        ItemResult(str(number), EN, None if error is None else 0.5, 0.5 + (error or 0.0), error=error)
        for number, error in enumerate(errors)
    ]


def ids(found: ItemComparison, showing: Showing) -> list[str]:
    return [row.a.item for row in found.selected(showing)]


# ------------------------------------------------------------------------------------------------------------- pairing


def test_right_and_wrong() -> None:
    found = paired(labels("00", "01", "11", "10", "20"), labels("00", "00", "10", "10", "21"))
    assert found.is_right_or_wrong
    assert {showing: ids(found, showing) for showing in Showing} == {
        "all": ["1", "2", "3", "4", "5"],
        "differ": ["2", "3", "5"],
        "a": ["3"],
        "b": ["2"],
        "wrong": ["4", "5"],
    }
    assert found.counts == {"all": 5, "differ": 3, "a": 1, "b": 1, "wrong": 2}
    assert (found.both_right, found.equal, found.left_out) == (1, 3, 0)


def test_closer_and_farther_whatever_the_sign() -> None:
    found = paired(numbers(0.1, -0.2, 0.3, None), numbers(-0.2, 0.1, -0.3, None))
    assert not found.is_right_or_wrong
    assert (ids(found, Showing.A), ids(found, Showing.B), found.equal) == (["0"], ["1"], 1)
    assert found.rows[3].better is None
    assert Showing.WRONG not in found.counts
    assert found.selected(Showing.WRONG) == []


def test_items_of_one_alone_and_under_other_gold_are_left_out() -> None:
    a, b = labels("00", "01", "11"), labels("00", "11")
    found = paired(a, b)
    assert ids(found, Showing.ALL) == ["1"]
    assert found.left_out == 2, "gold of 2 is another, and 3 is in A alone"
    assert paired(a, []).left_out == 3


def test_an_item_in_two_settings_and_sentences_with_one_id_are_told_apart() -> None:
    twice = [
        ItemResult("1", ("zero_shot/en",), "0", "0", is_right=True),
        ItemResult("1", ("one_shot/en",), "0", "1", is_right=False),
        ItemResult("1", ("one_shot/en",), "0", "0", is_right=True),
    ]
    found = paired(twice, twice[::-1][:2] + twice[:1])
    assert len(found.rows) == 3
    assert found.left_out == 0


def test_several_answers_differ_also_by_what_is_found() -> None:
    a = [ItemResult("s1", ("fr",), 2, 2, False, 2, matched=1)]
    b = [ItemResult("s1", ("fr",), 2, 2, False, 4, matched=0)]
    assert ids(paired(a, b), Showing.DIFFER) == ["s1"]
    assert ids(paired(a, b), Showing.WRONG) == ["s1"]


def test_results_are_kept_as_they_were() -> None:
    results = [*labels("01"), *numbers(0.25, None), ItemResult("s1", ("fr", "x"), 2, 1, False, 1, matched=1)]
    assert unpacked_results(packed_results(results)) == results
    assert unpacked_results(packed_results([])) == []


# ------------------------------------------------------------------------------------------------------------- showing


@pytest.fixture
def two(engine: Engine) -> tuple[UUID, UUID]:
    """Return two scored submissions of Ada's, in a phase whose gold is public."""
    add_competition(engine, per_day=None)
    ada = add_user(engine, "ada")
    make_public(engine)
    return entered(engine, ada, "01", "11"), entered(engine, ada, "00", "10")


def make_public(engine: Engine, *, public: bool = True) -> None:
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(gold_is_public=public))


def entered(engine: Engine, user: User, *pairs: str, **more: Any) -> UUID:
    accepted = submit(engine, user, content="".join(pairs), **more)
    held = sure(claim(engine, accepted.run_id))
    finish(engine, held, scores_of(ZERO_SHOT, 0.5), items=labels(*pairs) if pairs else None)
    return accepted.submission.id


def seen(engine: Engine, two: tuple[UUID, UUID], name: str = "ada", seen_as: SeenAs | None = None) -> ItemComparison:
    with reading(engine) as session:
        viewer = session.query(User).filter_by(username=name).one()
        return compare_items(session, compare(session, *two, Viewer(viewer, NOW, seen_as)))


def test_items_of_public_gold_are_compared(engine: Engine, two: tuple[UUID, UUID]) -> None:
    found = seen(engine, two)
    assert found.hidden_words == ""
    assert found.counts == {"all": 2, "differ": 2, "a": 1, "b": 1, "wrong": 0}


def test_nothing_is_shown_from_the_moment_that_gold_is_hidden(engine: Engine, two: tuple[UUID, UUID]) -> None:
    add_user(engine, "root", is_administrator=True)
    make_public(engine, public=False)
    assert seen(engine, two) == ItemComparison(hidden_words=GOLD_HIDDEN)
    assert seen(engine, two, "root") == ItemComparison(hidden_words=GOLD_HIDDEN), "not to organisers either"


def test_the_gold_of_both_must_be_public(engine: Engine, two: tuple[UUID, UUID]) -> None:
    add_phase(engine, "practice", starts_at=NOW - DAY)
    with writing(engine) as session:
        other = session.query(PhaseTask).order_by(PhaseTask.id.desc()).first()
        assert other is not None
        session.execute(update(Submission).where(Submission.id == two[1]).values(phase_task_id=other.id))
    assert seen(engine, two).hidden_words == GOLD_HIDDEN


@pytest.mark.parametrize("visibility", [{"precision": 2}, {"slices": "columns"}, {"slices": "none"}])
def test_scores_in_part_show_no_items(engine: Engine, two: tuple[UUID, UUID], visibility: dict[str, Any]) -> None:
    add_user(engine, "root", is_administrator=True)
    hide(engine, **visibility)
    assert seen(engine, two) == ItemComparison(hidden_words=SCORES_IN_PART)
    assert seen(engine, two, "root").rows, "organisers see all scores"
    assert seen(engine, two, "root", seen_as=SeenAs.PARTICIPANT).hidden_words == SCORES_IN_PART


@pytest.mark.parametrize("own_scores", ["never", "after_close"])
def test_hidden_scores_show_no_items(engine: Engine, two: tuple[UUID, UUID], own_scores: str) -> None:
    hide(engine, own_scores=own_scores)
    found = seen(engine, two)
    assert (found.rows, found.left_out) == ((), 0)
    assert "does not show teams the scores" in found.hidden_words or "when it ends" in found.hidden_words


def test_a_ladder_shows_no_items(engine: Engine, two: tuple[UUID, UUID]) -> None:
    declare(engine, entry_rule=EntryRule.LADDER, ladder_step=0.01)
    assert seen(engine, two).rows == ()


def test_runs_from_before_are_said_by_name(engine: Engine, two: tuple[UUID, UUID]) -> None:
    with reading(engine) as session:
        ada = session.query(User).filter_by(username="ada").one()
    old = entered(engine, ada)
    expected = []
    for moment in (NOW - DAY, NOW + DAY):
        with writing(engine) as session:
            session.execute(update(Submission).where(Submission.id == old).values(submitted_at=moment))
        expected.append(seen(engine, (old, two[0])).hidden_words)
    assert expected[0].startswith("The older one has no item results: only submissions scored since")
    assert expected[1].startswith("The newer one has no item results")
    assert "rescore" in expected[0]


def test_a_task_type_without_items_says_so(
    engine: Engine, two: tuple[UUID, UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a task type like one of a plug-in."""
    monkeypatch.setitem(TASKS, "quiet", replace(TASKS["table"], name="quiet", item_results=None))
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(task_type="quiet"))
    assert seen(engine, two).hidden_words == NOTHING_OF_ITEMS
