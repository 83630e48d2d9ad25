"""Stories of visibility: a choice sets the keys, keys are recognised as a story, and the picture shows the truth."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from app.base.times import parse_moment
from app.declarations.blueprints.stories import (
    ALL,
    NOTHING,
    PART,
    STORIES,
    dates_of,
    is_phase_divided,
    seen_when,
    story_of,
    with_story,
)

PHASE: dict[str, Any] = {
    "name": "evaluation",
    "title": "Evaluation",
    "start": "2027-01-10 12:00 UTC",
    "end": "2027-01-20 12:00 UTC",
}

TASKS = [{"name": "main", "type": "table"}, {"name": "texts", "type": "text-generation"}]


def named(said: dict[str, Any]) -> str | None:
    found = story_of(said)
    return found.name if found else None


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({}, "open"),
        ({"board": "public", "own_scores": "at_once"}, "open"),
        ({"public_from": "close"}, "until-close"),
        ({"board": "hidden", "public_from": "close", "own_scores": "at_once"}, "until-close"),
        ({"board": "hidden", "own_scores": "never"}, "sealed"),
        ({"board": "hidden", "own_scores": "never", "precision": 3, "names_from": "close"}, "sealed"),
        ({"names_from": "close"}, "open"),
        ({"names_from": "never"}, "class"),
        ({"names_from": "never", "public_from": "close"}, None),
        ({"board": "ranks_only", "public_from": "close"}, None),
        ({"board": "hidden"}, None),
        ({"public_from": "2027-02-01 12:00 UTC"}, None),
    ],
)
def test_keys_are_recognised_as_the_story_that_they_tell(said: dict[str, Any], name: str | None) -> None:
    assert named(said) == name


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_story_sets_its_keys_and_leaves_the_others(story: Any) -> None:
    visibility = {"board": "ranks_only", "public_from": "close", "precision": 2}
    before = {"tasks": TASKS, "phases": [{**PHASE, "visibility": visibility, "tasks": {"main": {}}}]}
    after = with_story(before, 0, story.name)
    said = after["phases"][0]["visibility"]
    assert story_of(said, is_divided=is_phase_divided(after, after["phases"][0])) == story
    assert said["precision"] == 2
    assert before["phases"][0]["visibility"]["board"] == "ranks_only", "the first one stays"


def test_a_class_joins_by_a_code_and_another_story_gives_the_names_back() -> None:
    before = {
        "registration": {"mode": "domain", "domains": ["uni.example"], "terms": "Be kind."},
        "phases": [dict(PHASE)],
    }
    after = with_story(before, 0, "class")
    assert after["registration"] == {"terms": "Be kind.", "mode": "code"}
    assert after["phases"][0]["visibility"] == {"names_from": "never"}
    names = dict(seen_when(after["phases"][0], after["phases"][0]["visibility"]).rows)["Everybody: names of teams"]
    assert {amount for amount, _ in names} == {NOTHING}
    left = with_story(after, 0, "open")
    assert left["phases"] == [PHASE]
    assert left["registration"] == {"terms": "Be kind."}, "no code is asked for where nobody gives one out"


def test_a_code_stays_while_another_phase_is_a_class() -> None:
    both = with_story(with_story({"phases": [dict(PHASE), dict(PHASE)]}, 0, "class"), 1, "class")
    one = with_story(both, 0, "open")
    assert one["registration"] == {"mode": "code"}
    assert "registration" not in with_story(one, 1, "live")


def test_the_open_story_says_nothing() -> None:
    assert with_story({"phases": [dict(PHASE)]}, 0, "open") == {"phases": [PHASE]}
    assert with_story({"phases": [dict(PHASE)]}, 0, "no such story") == {"phases": [PHASE]}


def amounts(said: dict[str, Any], phase: dict[str, Any] = PHASE) -> dict[str, list[str]]:
    seen = seen_when(phase, said)
    return {who: [how for how, _ in cells] for who, cells in seen.rows}


@pytest.mark.parametrize(
    ("name", "board", "own"),
    [
        ("live", [PART, ALL], [ALL, ALL]),
        ("open", [PART, ALL], [ALL, ALL]),
        ("until-close", [NOTHING, ALL], [ALL, ALL]),
        ("sealed", [NOTHING, NOTHING], [NOTHING, NOTHING]),
    ],
)
def test_the_picture_of_a_story_before_and_after_the_phase_closes(name: str, board: list[str], own: list[str]) -> None:
    keys = next(one.keys for one in STORIES if one.name == name)
    seen = amounts(dict(keys))
    assert seen["Everybody: the board"] == board
    assert seen["A team: its own scores"] == own
    assert seen["You: everything"] == [ALL, ALL]


def test_a_mixture_has_a_column_for_each_moment_at_which_something_opens() -> None:
    said = {"board": "ranks_only", "public_from": "2027-02-01 12:00 UTC", "names_from": "close", "own_scores": "never"}
    seen = seen_when(PHASE, said)
    assert seen.spans == (
        "While it is open",
        "After it has closed",
        "From Mon 1 Feb 2027, 00:00 AoE (1 Feb, 12:00 UTC)",
    )
    assert amounts(said) == {
        "Everybody: the board": [PART, PART, ALL],
        "A team: its own scores": [NOTHING, NOTHING, ALL],
        "Everybody: names of teams": [NOTHING, ALL, ALL],
        "You: everything": [ALL, ALL, ALL],
    }


def test_a_phase_without_an_end_never_closes() -> None:
    assert seen_when({**PHASE, "end": None}, {}).spans == ("While it is open",)


def test_what_is_no_date_yet_and_no_known_word_is_no_fault_of_the_picture() -> None:
    seen = amounts({"board": "sometimes", "public_from": "soon", "own_scores": 3}, {"start": "x", "end": "y"})
    assert seen["Everybody: the board"] == [PART, ALL]


def test_a_phase_knows_when_its_boards_are_public_other_than_at_its_start_and_end() -> None:
    reveal = parse_moment("2027-03-01 12:00 UTC")
    later = {"board": "hidden", "public_from": "2027-03-01 12:00 UTC"}
    at_close = {"board": "hidden", "public_from": "close"}

    def published(phase: dict[str, Any]) -> tuple[datetime, ...]:
        [found], _ = dates_of({"phases": [{**PHASE, "tasks": {"main": {}}, **phase}]})
        return found.published

    assert published({}) == ()
    assert published({"visibility": later}) == (reveal,)
    assert published({"visibility": at_close}) == ()
    assert published({"visibility": at_close, "tasks": {"main": {"visibility": later}, "other": None}}) == (reveal,)
    assert published({"visibility": {"public_from": "soon"}, "tasks": "?"}) == ()


def test_phases_whose_dates_are_none_are_named_and_not_drawn() -> None:
    backwards = {"name": "b", "title": "Backwards", "start": PHASE["end"], "end": PHASE["start"]}
    found, others = dates_of({"phases": [PHASE, {"name": "later", "start": "soon"}, backwards, "?"]})
    assert [one.title for one in found] == ["Evaluation"]
    assert others == ["later", "Backwards", "Phase 4"]


def test_the_story_with_a_private_part_is_the_first_one() -> None:
    assert STORIES[0].name == "live"
    assert STORIES[0].is_divided


def test_the_live_board_divides_the_items_of_hidden_gold_with_a_seed_that_nobody_guesses() -> None:
    tasks = {"main": {}, "open": {"gold_is_public": True}}
    document = {"tasks": [*TASKS, {"name": "open", "type": "table"}], "phases": [{**PHASE, "tasks": tasks}]}
    first, second = (with_story(document, 0, "live")["phases"][0]["tasks"] for _ in range(2))
    assert first["main"]["private_part"]["share"] == 0.5
    assert len(first["main"]["private_part"]["seed"]) == 32
    assert first["main"]["private_part"]["seed"] != second["main"]["private_part"]["seed"]
    assert first["open"] == {"gold_is_public": True}
    again = {**document, "phases": [{**PHASE, "tasks": first}]}
    assert with_story(again, 0, "live")["phases"][0]["tasks"] == first, "a seed that is there stays"
    assert "private_part" not in with_story(again, 0, "open")["phases"][0]["tasks"]["main"]
    assert with_story(again, 0, "until-close")["phases"][0]["tasks"] == first


def test_the_private_half_is_hidden_until_the_close() -> None:
    seen = seen_when(PHASE, {}, is_divided=True)
    assert dict(seen.rows)["Everybody: the private half"] == ((NOTHING, "hidden"), (ALL, "ranks the board"))
