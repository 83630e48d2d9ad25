"""The importer of PARSEME's paraphrasing: what it makes of a folder of languages, what it holds back, its refusals."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import yaml
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.base.storage import FolderStorage
from app.competitions.find import find_board, find_competition
from app.declarations.apply.apply import apply_phases
from app.declarations.check import check_phases, load_competitions
from app.importers.parseme_paraphrase import GUIDELINES, import_parseme_paraphrase
from app.models import Submission
from evergold.cli import run
from evergold.cli.output import Code
from evergold.scoring import validate
from evergold.scoring.errors import InvalidFile
from tests.conformance import conformance
from tests.rich_world import own

GOLDEN = Path(__file__).parents[1] / "golden" / "mwe-paraphrase"
NOW = datetime(2026, 6, 1, tzinfo=UTC)
LANGUAGES = ["el", "fa", "fr", "he", "ja", "ka", "lv", "pl", "pt", "ro", "sl", "sr", "sv", "uk"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """English with all three files, Portuguese with gold alone."""
    folder = tmp_path / "data"
    shutil.copytree(GOLDEN / "gold", folder)
    shutil.copyfile(GOLDEN / "items/EN/test.blind.json", folder / "EN/test.blind.json")
    shutil.copyfile(GOLDEN / "gold/EN/test.json", folder / "EN/trial.json")
    return folder


def imported(source: Path, folder: Path) -> dict[str, Any]:
    """Return the declaration; the competition is in `folder`/competition, its gold next to it."""
    written = import_parseme_paraphrase(source, folder / "competition", folder / "gold")
    assert set(written) == {path for place in ("competition", "gold") for path in (folder / place).rglob("*.*")} - {
        path for place in ("competition", "gold") for path in (folder / place).rglob("*") if path.is_dir()
    }
    (found,) = yaml.safe_load((folder / "competition/competition.yaml").read_text(encoding="utf-8"))["competitions"]
    assert isinstance(found, dict)
    return found


def test_result_is_ready_to_open(source: Path, tmp_path: Path) -> None:
    declared = imported(source, tmp_path)
    assert [board["name"] for board in declared["boards"]] == ["quality", "diversity", "by-language"]
    assert [phase["name"] for phase in declared["phases"]] == ["practice", "evaluation", "post-evaluation"]
    assert declared["tasks"][0]["options"] == {"languages": ["en", "pt"]}
    practice, evaluation, post = (phase["tasks"]["mwe-paraphrase"] for phase in declared["phases"])
    assert (practice["options"], evaluation["gold"]) == ({"languages": ["en"]}, "parseme-2.0-paraphrase/evaluation")
    assert post == evaluation
    found = check_phases(tmp_path / "competition/competition.yaml", now=NOW, gold=tmp_path / "gold")
    assert [finding.message for finding in found if finding.severity == "error"] == []
    assert (tmp_path / "competition" / GUIDELINES).read_text(encoding="utf-8").startswith("# How to judge")


def test_it_is_applied_once_with_its_boards_and_baselines(sqlite_engine: Engine, source: Path, tmp_path: Path) -> None:
    """Copy in practice, and copy and deletion in both phases of the test data."""
    imported(source, tmp_path)
    loaded = load_competitions(tmp_path / "competition" / "competition.yaml")
    for first in (True, False):
        with writing(sqlite_engine) as session:
            changes = apply_phases(session, loaded, storage=FolderStorage(tmp_path / "storage"), now=NOW)
        assert any(change.counts for change in changes) is first
    with reading(sqlite_engine) as session:
        assert len(session.scalars(own(Submission)).all()) == 1 + 2 * 2
        found = find_competition(session, "parseme-2-0-paraphrase")
        assert find_board(found, "post-evaluation", "diversity")[1].rank_metric == "entropy"


def test_blind_files_have_ids_and_sentences_alone(source: Path, tmp_path: Path) -> None:
    """Check a folder whose own blind file contains marks, references and remarks."""
    path = source / "EN/test.blind.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    gold = {row["source_sent_id"]: row for row in json.loads((source / "EN/test.json").read_text(encoding="utf-8"))}
    path.write_text(json.dumps([gold[row["source_sent_id"]] for row in rows]), encoding="utf-8")
    imported(source, tmp_path)
    with ZipFile(tmp_path / "competition/public/parseme-2.0-paraphrase-evaluation-blind.zip") as archive:
        assert archive.namelist() == ["EN/test.blind.json", "PT/test.blind.json"]
        blind = json.loads(archive.read("EN/test.blind.json"))
    assert blind == rows


def test_baselines_are_valid_and_deletion_learns_from_trial_data(source: Path, tmp_path: Path) -> None:
    declared = imported(source, tmp_path)
    practice, evaluation, _ = (phase["tasks"]["mwe-paraphrase"] for phase in declared["phases"])
    assert [one["name"] for one in practice["baselines"]] == ["Copy"]
    assert [one["name"] for one in evaluation["baselines"]] == ["Copy", "Deletion"]
    for one in evaluation["baselines"]:
        path, items = tmp_path / "competition" / one["file"], tmp_path / "competition" / evaluation["items"]
        validate("mwe-paraphrase", items, path, declared["tasks"][0]["options"])


def test_blind_data_alone_wait_for_the_gold(tmp_path: Path) -> None:
    declared = imported(GOLDEN / "items", tmp_path)
    assert [phase["name"] for phase in declared["phases"]] == ["evaluation", "post-evaluation"]
    text = (tmp_path / "competition/competition.yaml").read_text(encoding="utf-8")
    assert text.count("# gold: parseme-2.0-paraphrase/evaluation\n") == 2
    assert not (tmp_path / "gold").exists()


def test_the_fourteen_languages_of_the_shared_task_are_read(tmp_path: Path) -> None:
    declared = imported(conformance("parseme20_paraphrase", "blind"), tmp_path)
    assert declared["tasks"][0]["options"]["languages"] == LANGUAGES
    columns = declared["boards"][2]["columns"]
    assert [column["title"] for column in columns] == ["Languages", "BERTScore", *map(str.upper, LANGUAGES)]
    with ZipFile(tmp_path / "competition" / declared["phases"][0]["tasks"]["mwe-paraphrase"]["items"]) as archive:
        assert all("[[" not in archive.read(name).decode() for name in archive.namelist())


def test_what_is_wrong_is_said_for_all_languages_and_nothing_is_written(source: Path, tmp_path: Path) -> None:
    (source / "EN/test.blind.json").write_text('[{"source_sent_id": "en-1", "raw_text": "Other."}]', encoding="utf-8")
    (source / "PT/test.json").write_text("[]", encoding="utf-8")
    (source / "SL").mkdir()
    (source / "SL/test.blind.json").write_text('[{"source_sent_id": "sl-1", "raw_text": "Da."}]', encoding="utf-8")
    with pytest.raises(InvalidFile) as refused:
        imported(source, tmp_path)
    assert [(problem.code, problem.file) for problem in refused.value.problems] == [
        ("other-items", "EN/test.blind.json"),
        ("empty-file", "PT/test.json"),
        ("missing-file", "PT/test.json"),
        ("missing-file", "SL/test.json"),
    ]
    assert not (tmp_path / "competition").exists()
    with pytest.raises(InvalidFile, match="this is not a folder of PARSEME's paraphrasing data"):
        import_parseme_paraphrase(tmp_path / "data" / "SL", tmp_path / "competition", tmp_path / "gold")


def test_other_editions_have_no_paraphrasing(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "parseme", str(source), "--edition", "1.2", "--task", "paraphrase"]) == Code.USAGE
    assert "Edition 1.2 has no paraphrasing" in capsys.readouterr().err
