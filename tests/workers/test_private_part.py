"""A worker scores both parts of divided items, each as if there were no other, and keeps their outcomes apart."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import undefer

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.storage import stored_path
from app.boards.leaderboard import build_leaderboard
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import RunStatus, ScoringRun, User
from app.people.act import Act
from app.rescoring.difference import difference_of
from app.rescoring.publishing import RescoringStale, publish_rescoring
from app.rescoring.sets import find_rescoring, start_rescoring
from app.runs.report import read_report
from evergold.cli import run as command
from evergold.cli.output import Code
from evergold.scoring.halves import Division, Half
from tests.workers.test_board_statistics import ITEMS, _worker, computed, enter
from tests.world import COMPETITION, DAY, NOW, PHASE, add_user, the_phase_task, the_submission
from workers.gold import gold_folder
from workers.score import score_submission

__all__ = ["_worker"]
SEED = "a seed that nobody knows"
DIVISION = Division(0.5, SEED)
WRONG = tuple(range(0, ITEMS, 7))


@pytest.fixture(autouse=True)
def _divided(engine: Engine, _worker: None) -> None:
    with writing(engine) as session:
        the_phase_task(session).private_part = {"share": 0.5, "seed": SEED, "shown_from": "close"}


def loaded(engine: Engine, run_id: int) -> ScoringRun:
    with reading(engine) as session:
        wanted = select(ScoringRun).where(ScoringRun.id == run_id)
        return session.scalars(wanted.options(undefer(ScoringRun.private_scores))).one()


def share_right(half: Half) -> float:
    """Return the share of right items, by hand: of those whose HMAC puts them here, those that are not among the wrong
    ones.
    """
    there = [number for number in range(ITEMS) if DIVISION.half_of(str(number)) is half]
    return sum(number not in WRONG for number in there) / len(there)


def value(scores: list[dict[str, Any]], metric: str = "accuracy", split: str = "zero_shot/all") -> Any:
    return next(one["value"] for one in scores if (one["metric"], one["split"]) == (metric, split))


def test_a_run_is_of_the_public_part_and_keeps_the_private_one_apart(engine: Engine, ada: User) -> None:
    found = loaded(engine, enter(engine, ada, WRONG))
    assert found.report is not None
    assert found.private_scores is not None
    public = read_report(found.report)["scores"]
    assert share_right(Half.PUBLIC) != share_right(Half.PRIVATE)
    assert value(public) == pytest.approx(share_right(Half.PUBLIC), abs=1e-12)
    assert value(found.private_scores) == pytest.approx(share_right(Half.PRIVATE), abs=1e-12)
    assert all(f"|items:public,0.5,{DIVISION.fingerprint}" in one["signature"] for one in public)
    assert all(f"|items:private,0.5,{DIVISION.fingerprint}" in one["signature"] for one in found.private_scores)


def test_evergold_score_has_the_same_numbers_at_home(
    engine: Engine, ada: User, capsys: pytest.CaptureFixture[str]
) -> None:
    found = loaded(engine, enter(engine, ada, WRONG))
    sent = stored_path(get_settings().storage_dir, the_submission(engine, found.submission_id).sha256)
    words = ["score", "idiom-detection", "--gold", str(gold_folder() / "gold.csv"), "--prediction", str(sent)]
    capsys.readouterr()
    divided = ["--private-share", "0.5", "--private-seed", SEED]
    assert command([*words, *divided, "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)["scores"]
    kept = {(one["metric"], one["split"]): one for one in found.private_scores or []}
    private = {(one["metric"], one["split"]): one for one in said if one.pop("part") == "private"}
    assert {key: private[key] for key in kept} == kept != {}
    assert command([*words, *divided]) == 0
    assert capsys.readouterr().out.count("part\n") == 2
    for wrong in (
        ["--private-share", "0.5"],
        ["--private-share", "1", "--private-seed", SEED],
        [*divided, "--intervals"],
    ):
        assert command([*words, *wrong]) == Code.USAGE


def test_each_part_has_statistics_of_its_own(engine: Engine, ada: User) -> None:
    enter(engine, ada, WRONG)
    enter(engine, add_user(engine, "bea"), range(0, ITEMS, 3))
    assert computed(engine)
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        shown = {now: build_leaderboard(session, *place, Viewer(None, now)) for now in (NOW, NOW + DAY)}
    public, private = shown.values()
    for board in (public, private):
        assert board.statistics == "current"
        for row in board.rows:
            cell = row.cells[1]
            assert cell.interval
            assert cell.value is not None
            assert cell.interval.low < cell.value < cell.interval.high
    ends = [[row.cells[1].interval for row in board.rows] for board in (public, private)]
    assert ends[0] != ends[1]
    assert private.pair_tests != public.pair_tests
    assert not computed(engine, NOW + timedelta(hours=1)), "nothing changed"


def test_too_few_items_to_be_divided_fail_for_the_organisers(engine: Engine, ada: User) -> None:
    with writing(engine) as session:
        the_phase_task(session).private_part = {"share": 1e-9, "seed": SEED, "shown_from": "close"}
    found = loaded(engine, enter(engine, ada))
    assert found.status == RunStatus.FAILED
    assert found.private_scores is None


def test_a_rescoring_set_keeps_the_parts_it_was_made_with_and_is_stale_once_they_are_others(
    engine: Engine, ada: User
) -> None:
    enter(engine, ada, WRONG)
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        number = start_rescoring(Act(session, None, NOW, get_settings()), here, [PHASE], note="Again.").id
        the_phase_task(session).private_part = {"share": 0.2, "seed": SEED, "shown_from": "close"}
        run_id = session.scalars(select(ScoringRun.id).where(ScoringRun.rescoring_id == number)).one()
    score_submission(run_id)
    assert value(loaded(engine, run_id).private_scores or []) == pytest.approx(share_right(Half.PRIVATE), abs=1e-12)
    with reading(engine) as session:
        here = find_competition(session, COMPETITION)
        boards = difference_of(session, find_rescoring(session, here, number)).boards
    assert [one.half for one in boards] == [Half.PUBLIC, Half.PRIVATE] * 2
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        with pytest.raises(RescoringStale, match="the private part"):
            publish_rescoring(Act(session, None, NOW, get_settings()), here, number)
