"""Resolution of a task's gold: from made-up systems until there are baselines; only numbers leave the worker."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.boards.leaks import leaks_in
from app.boards.power import BoardPower, gold_sizes, lacks_power, power_of
from app.boards.statistics_work import QUIET
from app.competitions.find import find_competition, find_phase_task
from app.competitions.leak import Leak
from app.models import Board, GoldPower, RunStatus, ScoringRun, Submission, TeamKind, User
from evergold.cli import run
from evergold.scoring.halves import Division, Half
from evergold.scoring.leakage import GoldSize
from evergold.scoring.resampling import intervals as run_intervals
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS
from tests.beside import add_other_task
from tests.rich_world import OTHER_TASK
from tests.sealed import PLACE, seal_gold
from tests.workers.test_board_statistics import ITEMS, _worker, computed, due, enter
from tests.world import COMPETITION, EARLIER_PHASE, HOUR, NOW, PHASE, TASK, add_team, add_user, the_phase_task
from workers.gold import gold_folder
from workers.power import _gold_of_task, _GoldOfTask

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
    before, found = told(engine)[0].whole.difference, []
    for name, wrong in (("first", range(20)), ("second", range(22))):
        enter(engine, baseline(engine, name), wrong)
        computed(engine)
        found.append(told(engine)[0])
    assert [one.systems for one in found] == [
        "the baseline, and an equally good system with independent errors",
        "2 baselines",
    ]
    assert found[1].whole.difference < before / 2


def baseline(engine: Engine, name: str) -> User:
    bot = add_user(engine, name)
    add_team(engine, bot, name=name, kind=TeamKind.BASELINE)
    return bot


def wanted_here(engine: Engine) -> _GoldOfTask:
    with reading(engine) as session:
        wanted = _gold_of_task(session, the_phase_task(session).id)
    assert wanted is not None
    return wanted


def test_a_baseline_counts_by_its_latest_entry_here_with_this_gold_and_version(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that one that entered elsewhere, or was scored otherwise, is no baseline of this gold."""
    add_other_task(engine)
    with reading(engine) as session:
        elsewhere = {
            "in another phase": find_phase_task(session, COMPETITION, EARLIER_PHASE, TASK).id,
            "to another task": find_phase_task(session, COMPETITION, PHASE, OTHER_TASK).id,
        }
    otherwise: dict[str, dict[str, Any]] = {
        "by an earlier version": {"task_version": 0},
        "against earlier gold": {"gold": "earlier.csv"},
        "without outcomes": {"outcomes_id": None},
        "to fail": {"status": RunStatus.FAILED},
    }
    first, twice, *others = (baseline(engine, name) for name in ("first", "twice", *elsewhere, *otherwise))
    counted = [enter(engine, first, range(20)), enter(engine, twice, range(22))]
    enter(engine, twice, range(40), NOW - HOUR)
    for bot in others:
        run_id = enter(engine, bot, range(24))
        with writing(engine) as session:
            run = session.get_one(ScoringRun, run_id)
            for column, value in otherwise.get(bot.username, {}).items():
                setattr(run, column, value)
            if bot.username in elsewhere:
                session.get_one(Submission, run.submission_id).phase_task_id = elsewhere[bot.username]
    assert wanted_here(engine).baselines == tuple(counted)
    computed(engine)
    assert told(engine)[0].systems == "2 baselines"
    monkeypatch.setattr("workers.power._MOST_BASELINES", 1)
    assert wanted_here(engine).baselines == (counted[1],)


def test_what_is_kept_is_of_the_metrics_that_rank_this_tasks_boards_and_follows_them(engine: Engine) -> None:
    """Check a task beside it whose boards rank by another metric, and a phase with options of its own, to which nobody
    has submitted yet.
    """
    add_other_task(engine)
    with writing(engine) as session:
        asked = the_phase_task(session)
        asked.options = {"languages": ["EN"]}
        others = update(Board).where(Board.competition_id == asked.phase.competition_id, Board.task_id != asked.task_id)
        session.execute(others.values(rank_metric="accuracy"))
    for metric in ("macro_f1", "accuracy"):
        with writing(engine) as session:
            here = the_phase_task(session)
            session.execute(update(Board).where(Board.task_id == here.task_id).values(rank_metric=metric))
            here.board_version += 1
        computed(engine)
        with reading(engine) as session:
            kept = session.get_one(GoldPower, the_phase_task(session).id)
        assert {name for name, *_ in kept.document["scores"]} == {metric}
        assert {one.whole.metric for one in told(engine)} == {metric}
    assert wanted_here(engine).options == read_options(TASKS["idiom-detection"], {"languages": ["EN"]})
    with writing(engine) as session:
        here = the_phase_task(session)
        assert not lacks_power(session, here.id)
        here.options = {"languages": ["EN", "GL"]}
        assert lacks_power(session, here.id)


def test_everything_that_can_move_the_numbers_makes_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    task = TASKS["idiom-detection"]
    wanted = _GoldOfTask(task, read_options(task), "gold.csv", "basis", None, frozenset({"macro_f1"}), (1, 2), None)
    changed = [
        wanted,
        replace(wanted, task=replace(task, name="idiom-similarity")),
        replace(wanted, task=replace(task, version=task.version + 1)),
        replace(wanted, options=read_options(task, {"languages": ["EN"]})),
        replace(wanted, gold="other.csv"),
        replace(wanted, basis="another"),
        replace(wanted, ranking=frozenset({"macro_f1", "accuracy"})),
        replace(wanted, baselines=(1, 3)),
        *(replace(wanted, division=Division(share, seed)) for share in (0.3, 0.7) for seed in ("one", "two")),
    ]
    keys = [one.key for one in changed]
    monkeypatch.setattr(run_intervals, "VERSION", run_intervals.VERSION + 1)
    assert len({*keys, wanted.key}) == len(changed) + 1


def test_a_baselines_run_that_was_replaced_tells_nothing(engine: Engine) -> None:
    """The run in its place was rejected: the baseline is none until it is corrected."""
    run_id = enter(engine, baseline(engine, "bot"), range(20))
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


def test_no_system_is_made_up_where_scoring_needs_an_encoder(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the gold is measured all the same."""
    task = TASKS["idiom-detection"]
    monkeypatch.setitem(TASKS, task.name, replace(task, needs_gpu=True))
    computed(engine)
    assert told(engine) == []
    with reading(engine) as session:
        assert gold_sizes(session, [the_phase_task(session)])


def test_of_divided_items_it_is_said_of_the_public_part(engine: Engine) -> None:
    computed(engine)
    assert told(engine)[0].whole.size == ITEMS
    seed = "a seed that nobody knows"
    with writing(engine) as session:
        here = the_phase_task(session)
        here.private_part = {"share": 0.7, "seed": seed, "shown_from": "close"}
        here.board_version += 1
    computed(engine)
    found, division = told(engine)[0], Division(0.7, seed)
    public = [number for number in range(ITEMS) if division.half_of(str(number)) is Half.PUBLIC]
    assert (found.whole.size, found.systems.partition("; ")[2]) == (len(public), "of the public part")
    assert 0 < len(public) < ITEMS


def test_other_gold_is_looked_at_anew(engine: Engine) -> None:
    computed(engine)
    found = [told(engine)[0].whole]
    for times in (4, 2):
        rows = "".join(f"{number},d{number},EN,{number % 2}\n" for number in range(times * ITEMS))
        seal_gold(engine, f"ID,DataID,Language,Label\n{rows}".encode(), places=[PLACE], publish=True)
        with writing(engine) as session:
            the_phase_task(session).board_version += 1
        computed(engine)
        found.append(told(engine)[0].whole)
    assert [one.size for one in found] == [ITEMS, 4 * ITEMS, 2 * ITEMS]
    assert found[1].difference < found[2].difference < found[0].difference


def test_a_worker_that_cannot_open_the_gold_keeps_nothing_and_nobody_waits(engine: Engine, ada: User) -> None:
    (gold_folder() / "gold.csv").rename(gold_folder() / "elsewhere.csv")
    computed(engine)
    assert told(engine) == []
    assert due(engine, NOW + 5 * QUIET) == []


def test_what_is_kept_tells_no_item(engine: Engine) -> None:
    computed(engine)
    with reading(engine) as session:
        (kept,) = session.scalars(select(GoldPower))
    assert set(kept.document) == {"basis", "systems", "scores", "size"}
    assert (len(kept.document["basis"]), type(kept.document["basis"])) == (64, str)
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
