"""Power of gold as organisers read it: by phase and board, of the board's own task, metric and split."""

from __future__ import annotations

from sqlalchemy import Engine, update

from app.base.db import reading, writing
from app.boards.power import (
    Power,
    SmallestDifference,
    gold_sizes,
    lacks_power,
    power_basis,
    power_of,
    record_power,
)
from app.competitions.find import find_competition, find_phase_task
from app.models import Board
from evergold.scoring.leakage import GoldSize
from tests.beside import add_other_task
from tests.rich_world import OTHER_BOARDS, OTHER_TASK
from tests.world import COMPETITION, EARLIER_PHASE, ONE_SHOT, PHASE, TASK, ZERO_SHOT, add_competition, the_phase_task

METRICS = ("accuracy", "macro_f1")
SPLITS = ("one_shot/en", ONE_SHOT, "zero_shot/en", ZERO_SHOT, "zero_shot/pt")


def test_a_board_has_the_power_of_its_own_phase_task_metric_and_split(engine: Engine) -> None:
    """Check that each number is that of its place: the hundreds tell the phase and task, the tens the metric, the ones
    the split.
    """
    add_competition(engine)
    add_other_task(engine)
    places = [(PHASE, TASK), (PHASE, OTHER_TASK), (EARLIER_PHASE, TASK)]
    with writing(engine) as session:
        for hundreds, (phase, task) in enumerate(places, start=1):
            scores = tuple(
                SmallestDifference(metric, split, 0.1, 100 * hundreds + 10 * tens + ones)
                for tens, metric in enumerate(METRICS)
                for ones, split in enumerate(SPLITS)
            )
            place = find_phase_task(session, COMPETITION, phase, task)
            record_power(session, place.id, Power("gold", "key", f"{phase} {task}", scores))
        find_competition(session, COMPETITION).boards[1].rank_metric = "accuracy"
    with reading(engine) as session:
        found = power_of(session, find_competition(session, COMPETITION))
        told = [
            (one.phase.name, one.board.name, one.systems, one.whole.size, [part.size for part in one.parts])
            for one in found
        ]
        columns = [(one.column.metric, one.column.split) for one in found]
    near, far = OTHER_BOARDS
    assert told == [
        (PHASE, "zero-shot", f"{PHASE} {TASK}", 113, [112, 114]),
        (PHASE, "one-shot", f"{PHASE} {TASK}", 101, [100]),
        (PHASE, near, f"{PHASE} {OTHER_TASK}", 213, [212, 214]),
        (PHASE, far, f"{PHASE} {OTHER_TASK}", 211, [210]),
        (EARLIER_PHASE, "zero-shot", f"{EARLIER_PHASE} {TASK}", 313, [312, 314]),
        (EARLIER_PHASE, "one-shot", f"{EARLIER_PHASE} {TASK}", 301, [300]),
    ]
    zero, one = ("macro_f1", ZERO_SHOT), ("accuracy", ONE_SHOT)
    assert columns == [zero, one, zero, ("macro_f1", ONE_SHOT), zero, one]


def test_a_size_is_of_the_gold_in_use_and_power_of_what_is_declared_now(engine: Engine) -> None:
    add_competition(engine)
    add_other_task(engine)
    size = GoldSize(4, 4.0, 2)
    with writing(engine) as session:
        here = the_phase_task(session)
        other = find_phase_task(session, COMPETITION, PHASE, OTHER_TASK)
        assert lacks_power(session, here.id)
        for place, gold in ((here, "gold.csv"), (other, "earlier.csv")):
            record_power(session, place.id, Power(gold, "key", "", (), size, power_basis(session, place) or ""))
        assert gold_sizes(session, [here, other]) == {here.id: size}
        others = update(Board).where(Board.task_id == other.task_id)
        session.execute(others.values(rank_metric="accuracy"))
        assert (lacks_power(session, here.id), lacks_power(session, other.id)) == (False, True)
        for column, value, lacks in (
            ("options", {"languages": ["EN"]}, True),
            ("private_part", {"share": 0.5, "seed": "hidden", "shown_from": "close"}, True),
            ("gold", "corrected.csv", True),
            ("gold", None, False),
        ):
            before = getattr(here, column)
            setattr(here, column, value)
            assert lacks_power(session, here.id) is lacks, (column, value)
            setattr(here, column, before)
            assert not lacks_power(session, here.id)
        session.execute(update(Board).where(Board.task_id == here.task_id).values(rank_metric="accuracy"))
        assert lacks_power(session, here.id)
