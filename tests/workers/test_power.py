"""Resolution of a task's gold: from made-up systems until there are baselines; only numbers leave the worker."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.boards.leaks import leaks_in
from app.boards.power import BoardPower, gold_sizes, lacks_power, power_of
from app.boards.statistics_work import QUIET
from app.competitions.find import find_competition
from app.competitions.leak import Leak
from app.models import GoldPower, ScoringRun, TeamKind, User
from evergold.cli import run
from evergold.scoring.halves import Division, Half
from evergold.scoring.leakage import GoldSize
from evergold.scoring.tasks import TASKS
from tests.sealed import PLACE, seal_gold
from tests.workers.test_board_statistics import ITEMS, _worker, computed, due, enter
from tests.world import COMPETITION, NOW, add_team, add_user, the_phase_task
from workers.gold import gold_folder

__all__ = ["_worker"]


def told(engine: Engine) -> list[BoardPower]:
    with reading(engine) as session:
        return power_of(session, find_competition(session, COMPETITION))


def test_it_is_known_before_anybody_submitted_and_what_the_command_says(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check the same two made-up systems as `evergold power`."""
    due(engine, NOW)
    with reading(engine) as session:
        assert due(engine, NOW + QUIET) == [the_phase_task(session).id]
    computed(engine)
    (zero_shot, *_) = told(engine)
    assert zero_shot.systems == "two simulated systems that are right three times in four"
    asked = ["power", "idiom-detection", "--gold", str(gold_folder() / "gold.csv"), "--json"]
    capsys.readouterr()
    assert run(asked) == 0
    at_home = json.loads(capsys.readouterr().out)["scores"]
    by_split = {one["split"]: one for one in at_home if one["metric"] == "macro_f1"}
    whole = by_split[zero_shot.whole.split]
    assert (zero_shot.whole.difference, zero_shot.whole.size) == (whole["smallest_difference"], ITEMS)
    assert [part.split for part in zero_shot.parts] == ["zero_shot/en"]
    assert due(engine, NOW + 5 * QUIET) == []


def test_baselines_take_the_place_of_made_up_systems(engine: Engine) -> None:
    """Check that two baselines that differ in two items of sixty have a smaller detectable difference than independent
    systems.
    """
    computed(engine)
    before = told(engine)[0].whole.difference
    for name, wrong in (("first", range(20)), ("second", range(22))):
        bot = add_user(engine, name)
        add_team(engine, bot, name=name, kind=TeamKind.BASELINE)
        enter(engine, bot, wrong)
    computed(engine)
    after = told(engine)[0]
    assert after.systems == "2 baselines"
    assert after.whole.difference < before / 2


def test_a_baselines_run_that_was_replaced_tells_nothing(engine: Engine) -> None:
    """The run in its place was rejected: the baseline is none until it is corrected."""
    bot = add_user(engine, "bot")
    add_team(engine, bot, name="Bot", kind=TeamKind.BASELINE)
    run_id = enter(engine, bot, range(20))
    with writing(engine) as session:
        session.get_one(ScoringRun, run_id).is_current = False
    computed(engine)
    assert told(engine)[0].systems == "two simulated systems that are right three times in four"


def test_teams_are_no_baselines(engine: Engine, ada: User) -> None:
    enter(engine, ada, range(20))
    enter(engine, add_user(engine, "bea"), range(22))
    computed(engine)
    assert told(engine)[0].systems == "two simulated systems that are right three times in four"


def test_a_board_that_ranks_by_what_has_no_interval_is_said_nothing_of(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = TASKS["idiom-detection"]
    metrics = {**task.metrics, "macro_f1": replace(task.metrics["macro_f1"], has_interval=False)}
    monkeypatch.setitem(TASKS, task.name, replace(task, metrics=metrics))
    computed(engine)
    assert told(engine) == []


def test_of_divided_items_it_is_said_of_the_public_part(engine: Engine) -> None:
    seed = "a seed that nobody knows"
    with writing(engine) as session:
        the_phase_task(session).private_part = {"share": 0.7, "seed": seed, "shown_from": "close"}
    computed(engine)
    found, division = told(engine)[0], Division(0.7, seed)
    public = [number for number in range(ITEMS) if division.half_of(str(number)) is Half.PUBLIC]
    assert (found.whole.size, found.systems.partition("; ")[2]) == (len(public), "of the public part")
    assert 0 < len(public) < ITEMS


def test_other_gold_is_looked_at_anew(engine: Engine) -> None:
    computed(engine)
    with reading(engine) as session:
        assert not lacks_power(session, the_phase_task(session).id)
    rows = "".join(f"{number},d{number},EN,{number % 2}\n" for number in range(4 * ITEMS))
    seal_gold(engine, f"ID,DataID,Language,Label\n{rows}".encode(), places=[PLACE])
    small = told(engine)[0].whole
    with writing(engine) as session:
        assert lacks_power(session, the_phase_task(session).id)
        the_phase_task(session).board_version += 1
    computed(engine)
    large = told(engine)[0].whole
    assert (small.size, large.size) == (ITEMS, 4 * ITEMS)
    assert large.difference < small.difference


def test_a_worker_that_cannot_open_the_gold_keeps_nothing_and_nobody_waits(engine: Engine, ada: User) -> None:
    (gold_folder() / "gold.csv").rename(gold_folder() / "elsewhere.csv")
    computed(engine)
    assert told(engine) == []
    assert due(engine, NOW + 5 * QUIET) == []


def test_what_is_kept_tells_no_item(engine: Engine) -> None:
    computed(engine)
    with reading(engine) as session:
        (kept,) = session.scalars(select(GoldPower))
    assert set(kept.document) == {"systems", "scores", "size"}
    for metric, split, difference, size in kept.document["scores"]:
        assert (type(metric), type(split), type(difference), type(size)) == (str, str, float, int)
    assert [type(number) for number in kept.document["size"]] == [int, float, int]


def own_leak(session: Session) -> Leak:
    """Return the leak of the test's own task and phase."""
    asked = the_phase_task(session).id
    found = leaks_in(session, find_competition(session, COMPETITION))
    return next(one.leak for one in found if one.phase_task.id == asked)


def test_the_gold_is_measured_once_and_its_leak_follows(engine: Engine) -> None:
    """Sixty items, half of them with each label: sixty bits."""
    with reading(engine) as session:
        before = own_leak(session)
    assert before.size is None
    computed(engine)
    with reading(engine) as session:
        after = own_leak(session)
        assert gold_sizes(session, [the_phase_task(session)]) == {
            the_phase_task(session).id: GoldSize(ITEMS, float(ITEMS), 2)
        }
    assert after.size == GoldSize(ITEMS, float(ITEMS), 2)
    rows = "".join(f"{number},d{number},EN,{number % 2}\n" for number in range(4 * ITEMS))
    seal_gold(engine, f"ID,DataID,Language,Label\n{rows}".encode(), places=[PLACE])
    with reading(engine) as session:
        assert gold_sizes(session, [the_phase_task(session)]) == {}, "of another gold"
