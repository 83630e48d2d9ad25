"""The demo's paraphrasing task as `make run` shows it: scored for real where torch is, waiting in words without."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlalchemy import select

from app.base.db import reading, writing
from app.base.storage import FolderStorage
from app.models import CompetitionTask, Phase, PhaseTask, RunStatus, ScoringRun, Submission
from app.server import prepare
from tests.web import markup
from tests.web.reading import rows_of, text_of
from tests.web.site import Site
from tests.whole import NOW, open_competition, page
from workers.score import score_submission

ROOT = Path(__file__).resolve().parents[2]
BOARD = "/competitions/demo/phases/evaluation/boards/paraphrasing"


@pytest.fixture
def runs(empty_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The demo as it is started; the runs of paraphrasing in the evaluation, none of them scored."""
    open_competition(empty_site, ROOT / "phases.yaml", tmp_path / "gold", monkeypatch)
    prepare.install_gold(tmp_path / "gold")
    with writing(empty_site.engine) as session:
        prepare.submit_demo(session, FolderStorage(empty_site.settings.storage_dir), NOW)
    with reading(empty_site.engine) as session:
        found = session.scalars(
            select(ScoringRun.id)
            .join(Submission, Submission.id == ScoringRun.submission_id)
            .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
            .join(Phase, Phase.id == PhaseTask.phase_id)
            .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
            .where(Phase.name == "evaluation", CompetitionTask.name == "idiom-paraphrase")
        )
        return list(found)


def test_without_a_worker_that_has_torch_the_board_says_that_submissions_wait(
    empty_site: Site, runs: list[int]
) -> None:
    assert len(runs) == 5
    shown = page(empty_site, BOARD)
    markup.check(shown)
    assert "Scoring for this task is delayed since 1 Jun 2026, 00:00 UTC; nothing is lost." in text_of(shown)
    assert "Scoring for this task is delayed" not in page(empty_site, BOARD.replace("paraphrasing", "one-shot"))


def test_scored_for_real_the_plain_deletion_is_ahead_and_the_picture_shows_why_that_is_no_feat(
    empty_site: Site, runs: list[int]
) -> None:
    pytest.importorskip("torch", reason="BERTScore is tested where the extra 'bertscore' is installed")
    for run in runs:
        score_submission(run)
    with reading(empty_site.engine) as session:
        statuses = session.scalars(select(ScoringRun.status).where(ScoringRun.id.in_(runs)))
        assert set(statuses) == {RunStatus.SCORED}
    shown = page(empty_site, BOARD)
    markup.check(shown)
    order = re.findall("Deletion|Saudade Lab|Magpie|Loureiro|Copy", " ".join(rows_of(shown)))
    assert order == ["Deletion", "Saudade Lab", "Magpie", "Loureiro", "Copy"]
    with empty_site.client() as client:
        plane = client.get(f"/api/v1{BOARD}/pictures/bertscore-entropy").json()
    entropies = {point["label"]: point["x"] for one in plane["series"] for point in one["points"]}
    assert sorted(entropies) == sorted(order)
    assert entropies["Copy"] < entropies["Deletion"] < entropies["Magpie"] < entropies["Loureiro"]
    assert "Scoring for this task is delayed" not in shown
