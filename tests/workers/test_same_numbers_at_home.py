"""Commands that a board of public gold shows, typed as they are, give the board's numbers."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.storage import stored_path
from app.boards.commands import FIRST, GOLD, SECOND, commands_of
from app.competitions.find import find_board, find_competition
from app.models import PhaseTask, User
from evergold.cli import run
from tests.boards.places import board
from tests.competitions.embargo import hide
from tests.workers.test_board_statistics import RESAMPLES, _worker, computed, enter
from tests.world import COMPETITION, PHASE, add_user, the_run, the_submission
from workers.gold import gold_folder

__all__ = ["_worker"]


def commands(engine: Engine) -> list[str]:
    with reading(engine) as session:
        phase, found = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        return commands_of(session, phase, found, board(engine))


def answer(command: str, files: dict[str, Path], *more: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return the output of a command, typed with these files."""
    program, *words = shlex.split(command)
    assert program == "evergold"
    capsys.readouterr()
    assert run([str(files.get(word, word)) for word in words] + list(more)) == 0
    return json.loads(capsys.readouterr().out)


def test_the_commands_of_a_board_give_its_numbers(
    engine: Engine, ada: User, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [enter(engine, ada, (0, 1)), enter(engine, add_user(engine, "bea"), range(0, 60, 7))]
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(options={"labels": ["0", "1"]}, gold_is_public=True))
    computed(engine)
    score, compare = commands(engine)
    assert '--option \'labels=["0", "1"]\'' in score
    sent = [the_submission(engine, the_run(engine, one).submission_id).sha256 for one in runs]
    first, second = (stored_path(get_settings().storage_dir, sha256) for sha256 in sent)
    files = {GOLD: gold_folder() / "gold.csv", FIRST: first, SECOND: second}
    shown = board(engine)
    ada_row, bea_row = shown.rows
    cell = ada_row.cells[shown.rank_by]
    assert cell.interval is not None
    column = shown.columns[shown.rank_by]
    (at_home,) = [
        one
        for one in answer(score, files, "--format", "json", capsys=capsys)["scores"]
        if (one["metric"], one["split"]) == (column.metric, column.split)
    ]
    assert at_home["value"] == cell.value
    assert at_home["interval"] == {
        "low": cell.interval.low, "high": cell.interval.high, "level": 0.95, "method": cell.interval.method
    }  # fmt: skip
    (difference,) = answer(compare, files, "--json", "--resamples", str(RESAMPLES), capsys=capsys)["scores"]
    test = shown.pair_test(bea_row, ada_row)
    assert test is not None
    assert (difference["difference"], difference["p"], difference["method"]) == (test.difference, test.p, test.method)
    assert (difference["interval"]["low"], difference["interval"]["high"]) == (test.low, test.high)


def test_hidden_gold_and_withheld_statistics_have_no_commands(engine: Engine, ada: User) -> None:
    enter(engine, ada, (0, 1))
    enter(engine, add_user(engine, "bea"), (2,))
    computed(engine)
    assert commands(engine) == []
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(gold_is_public=True))
    assert len(commands(engine)) == 2
    hide(engine, precision=2)
    assert commands(engine) == []
    hide(engine, board="ranks_only")
    assert commands(engine) == []
