"""Gold is of one task in one phase of one competition: nobody finds another's, nor an unpublished one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.competitions.find import find_competition, find_phase_task
from app.gold.binding import Binding, GoldPlace, read_binding
from app.gold.versions import (
    SEALED_NAME,
    NewerGoldPublished,
    bind_gold,
    gold_identity,
    gold_place,
    is_for_another_program,
    list_gold,
    name_in_use,
    newest_in_use,
    phases_with_same_task,
    place_of,
    places_with_gold,
    publish_gold,
    published_gold,
)
from app.models import AuditEntry, PhaseTask
from evergold.scoring.tasks import TASKS
from tests import rich_rows
from tests.beside import add_other_task
from tests.rich_world import CARRYING, DIVIDED, EMBARGOED, LATER_PHASE, NEIGHBOURS, OTHER_TASK
from tests.world import COMPETITION, DAY, EARLIER_PHASE, NOW, PHASE, TASK, add_competition

EVERYWHERE = [
    (NEIGHBOURS, PHASE, TASK),
    (NEIGHBOURS, PHASE, OTHER_TASK),
    (NEIGHBOURS, LATER_PHASE, TASK),
    (COMPETITION, PHASE, TASK),
    (COMPETITION, EARLIER_PHASE, TASK),
]


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    """Next door the evaluation's task has two versions in use; here one is prepared."""
    add_competition(sqlite_engine)
    rich_rows.add_gold(sqlite_engine, COMPETITION, PHASE, TASK, NOW, in_use=False)
    return sqlite_engine


def everywhere(engine: Engine, asked: Any) -> dict[tuple[str, str, str], Any]:
    with reading(engine) as session:
        return {place: asked(session, find_phase_task(session, *place)) for place in EVERYWHERE}


def test_versions_are_those_of_the_task_in_the_phase(engine: Engine) -> None:
    listed = everywhere(engine, lambda session, one: [version.number for version in list_gold(session, one)])
    assert list(listed.values()) == [[1, 2], [], [], [1], []]


def test_in_use_is_what_was_published(engine: Engine) -> None:
    in_use = everywhere(
        engine, lambda session, one: [v.number for v in published_gold(session, one.phase_id, one.task_id)]
    )
    assert list(in_use.values()) == [[1, 2], [], [], [], []]
    assert list(everywhere(engine, newest_in_use).values()) == [2, 0, 0, 0, 0]
    with reading(engine) as session:
        assert places_with_gold(session) == {(NEIGHBOURS, PHASE, TASK)}


def test_the_same_gold_is_the_newest_in_use_or_the_plain_one_of_that_name(engine: Engine) -> None:
    with reading(engine) as session:
        newest = list_gold(session, find_phase_task(session, NEIGHBOURS, PHASE, TASK))[-1].commitment
    found = everywhere(engine, gold_identity)
    assert list(found.values()) == [newest, "similar.csv", "third.csv", "gold.csv", "early.csv"]
    with reading(engine) as session:
        hidden = [gold_identity(session, find_phase_task(session, NEIGHBOURS, p, TASK)) for p in (EMBARGOED, CARRYING)]
    assert hidden == ["secret.csv", "secret.csv"], "whose entries stand in the other"


def test_the_same_gold_is_that_of_the_phase_and_the_task_each_by_its_own_id(engine: Engine) -> None:
    """Check the phase next door whose id is not that of a task."""
    rich_rows.add_gold(engine, NEIGHBOURS, DIVIDED, TASK, NOW)
    with reading(engine) as session:
        asked = find_phase_task(session, NEIGHBOURS, DIVIDED, TASK)
        assert asked.phase_id != asked.task_id
        assert gold_identity(session, asked) == list_gold(session, asked)[0].commitment


def test_a_name_is_in_use_where_the_task_has_gold_in_use(engine: Engine) -> None:
    named = everywhere(engine, lambda session, one: name_in_use(session, one.id, None))
    assert list(named.values()) == [SEALED_NAME, None, None, None, None]
    declared = everywhere(engine, lambda session, one: name_in_use(session, one.id, "plain.csv"))
    assert set(declared.values()) == {"plain.csv"}


def test_publishing_puts_one_version_of_one_task_in_use(engine: Engine) -> None:
    add_other_task(engine)
    rich_rows.add_gold(engine, COMPETITION, PHASE, OTHER_TASK, NOW, in_use=False)
    before = everywhere(engine, lambda _, one: one.board_version)
    with writing(engine) as session:
        assert publish_gold(session, find_phase_task(session, COMPETITION, PHASE, TASK), 1, user=None, now=NOW + DAY)
    with reading(engine) as session:
        of_task = {
            task: [one.published_at for one in list_gold(session, find_phase_task(session, COMPETITION, PHASE, task))]
            for task in (TASK, OTHER_TASK)
        }
    assert of_task == {TASK: [NOW + DAY], OTHER_TASK: [None]}
    after = everywhere(engine, lambda _, one: one.board_version)
    assert [place for place in EVERYWHERE if after[place] != before[place]] == [(COMPETITION, PHASE, TASK)]


def test_what_is_older_than_the_newest_in_use_is_never_used_again(engine: Engine) -> None:
    """Check that of 1 to 4 the second and the fourth are in use; the next one is the fifth."""
    for in_use in (True, False, True):
        rich_rows.add_gold(engine, COMPETITION, PHASE, TASK, NOW, in_use=in_use)
    with writing(engine) as session:
        place = find_phase_task(session, COMPETITION, PHASE, TASK)
        assert bind_gold(session, [place], is_public=False).versions == {PHASE: 5}
        for number in (1, 3):
            with pytest.raises(NewerGoldPublished, match="Version 4 is in use"):
                publish_gold(session, place, number, user=None, now=NOW)
        assert [publish_gold(session, place, number, user=None, now=NOW) for number in (2, 4)] == [False, False]


@pytest.mark.parametrize(
    ("put", "is_another"),
    [
        ([{}], False),
        ([{"program": "now"}], False),
        ([{"program": "before"}], True),
        ([{}, {"program": "before"}], True),
        ([{"program": "before"}, {"program": "now"}], False),
    ],
    ids=str,
)
def test_gold_is_for_another_program_where_it_was_put_for_one_and_never_for_this(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, put: list[dict[str, str]], is_another: bool
) -> None:
    """Check that gold put before programs were recorded is for no particular one."""
    kind = TASKS["idiom-detection"]
    monkeypatch.setitem(TASKS, "idiom-detection", replace(kind, bound_to=lambda options: "now"))
    rich_rows.add_gold(engine, COMPETITION, PHASE, TASK, NOW)
    rich_rows.add_gold(engine, COMPETITION, PHASE, TASK, NOW, in_use=False)
    with writing(engine) as session:
        place = find_phase_task(session, COMPETITION, PHASE, TASK)
        versions = list_gold(session, place)
        *_, used, prepared = versions
        subject, elsewhere = (f"gold {place_of(one)}" for one in (place, find_phase_task(session, *EVERYWHERE[-1])))
        also: list[dict[str, str]] = [
            {"commitment": "another", "program": "other"},
            {"commitment": prepared.commitment, "program": "before" if not is_another else "now"},
            {"subject": elsewhere, "program": "before" if not is_another else "now"},  # sealed for both at once
        ]
        for details in (*also, *put):
            told = {"commitment": used.commitment, **details}
            about = told.pop("subject", subject)
            session.add(AuditEntry(at=NOW, actor="ada", action="gold.put", subject=about, details=told))
        session.flush()
        assert is_for_another_program(session, place, versions) == is_another


def test_other_phases_of_a_task_are_those_that_ask_it(engine: Engine) -> None:
    with reading(engine) as session:
        neighbours = find_competition(session, NEIGHBOURS)

        def phases(asked: PhaseTask) -> set[str]:
            names = {one.id: phase.name for phase in neighbours.phases for one in phase.phase_tasks}
            return {names[one.id] for one in phases_with_same_task(asked, neighbours.phases)}

        of_detection = phases(find_phase_task(session, NEIGHBOURS, PHASE, TASK))
        of_similarity = phases(find_phase_task(session, NEIGHBOURS, PHASE, OTHER_TASK))
    assert of_detection == {LATER_PHASE, EMBARGOED, CARRYING, DIVIDED}
    assert of_similarity == {LATER_PHASE}


def test_a_place_is_said_in_its_order(engine: Engine) -> None:
    with reading(engine) as session:
        asked = find_phase_task(session, NEIGHBOURS, LATER_PHASE, OTHER_TASK)
        assert place_of(asked) == "neighbours/post/similarity"
        place = gold_place(asked, 3)
    assert (place.competition, place.phase, place.task, place.version) == (NEIGHBOURS, LATER_PHASE, OTHER_TASK, 3)
    assert str(place) == "neighbours/post/similarity, version 3, idiom-detection"


PLACE = GoldPlace("idioms", "evaluation", "detection", "idiom-detection", 2, "digest")
BOUND = Binding("idioms", "detection", "idiom-detection", {"evaluation": 2, "post": 1}, {"evaluation": "digest"})


@pytest.mark.parametrize(
    "other",
    [
        {"competition": "neighbours"},
        {"phase": "post"},
        {"phase": "nowhere"},
        {"task": "similarity"},
        {"task_type": "table"},
        {"version": 1},
        {"version": 3},
    ],
    ids=str,
)
def test_gold_is_of_the_place_that_it_was_sealed_for_and_of_no_other(other: dict[str, Any]) -> None:
    assert BOUND.covers(PLACE)
    assert not BOUND.covers(replace(PLACE, **other))


def test_the_reader_of_an_upload_is_part_of_its_binding() -> None:
    bound = replace(BOUND, reader="ab" * 32)
    assert read_binding(bound.line()) == bound
    assert read_binding(BOUND.line()) == BOUND
    assert b"reader" not in BOUND.line(), "gold without one is bound as ever"
    for wrong in ("AB" * 32, "ab", "zz" * 32):
        assert read_binding(replace(BOUND, reader=wrong).line()) is None


def test_gold_put_ahead_is_bound_to_the_first_version_of_a_new_phase_alone() -> None:
    bound = replace(BOUND, programs={"evaluation": "digest"}).ahead("evaluation", ["later", "post", "evaluation"])
    assert read_binding(bound.line()) == bound
    later = replace(PLACE, phase="later", version=1, program="digest")
    assert bound.covers(later)
    assert bound.has_options_of(replace(later, options="digest"))
    assert not bound.covers(replace(later, version=2))
    assert bound.versions == {**BOUND.versions, "later": 1}, "a phase that is there keeps its number"


def test_whether_gold_may_be_described_is_part_of_its_binding() -> None:
    bound = replace(BOUND, is_described=True)
    assert read_binding(bound.line()) == bound
    assert b"described" not in BOUND.line(), "gold of anybody else is bound as ever"
    assert read_binding(bound.line().replace(b'"described":true', b'"described":"yes"')) is None


def test_options_are_those_of_the_phase() -> None:
    assert BOUND.has_options_of(PLACE)
    assert not BOUND.has_options_of(replace(PLACE, options="others"))
    assert not BOUND.has_options_of(replace(PLACE, phase="post"))
