"""Sealed gold at work: versions, what runs are scored against, folders, and not a byte of it in clear on any disk."""

from __future__ import annotations

import dataclasses
import io
import shutil
import tarfile
import tempfile
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.base.storage import stored_path
from app.gold.versions import NewerGoldPublished, list_gold, publish_gold
from app.models import GoldVersion, PhaseTask, RunStatus, ScoringRun, SealedFile, User
from app.people.audit import AuditFilter, list_entries
from app.runs.claims import claim_run
from evergold.scoring.errors import InvalidGold, Problem
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS
from tests.sealed import PLACE, file_and_keys, files_with, make_key, seal_gold, version_of
from tests.workers.files import ACCURACY, GOLD, MACRO_F1, PREDICTION, upload
from tests.workers.test_score import values
from tests.world import NOW, board_version_number, the_phase_task, the_run
from workers import gold
from workers.gold import laid_out
from workers.keys import key_file
from workers.score import read_outcomes, score_submission

pytestmark = pytest.mark.usefixtures("workplace")

#: Under this gold the prediction is perfect.
OTHER_GOLD = "ID,DataID,Language,Label\n1,d1,EN,0\n2,d2,EN,1\n3,d3,EN,1\n4,d4,EN,1\n"
CANARY = "CANARY-7f3a"


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    gold._cache.clear()


@pytest.fixture(autouse=True)
def _no_plain_gold(workplace: Path) -> None:
    (workplace / "gold" / "gold.csv").unlink()


@pytest.fixture
def key(engine: Engine, ada: User) -> str:
    return make_key(engine)


def scored(engine: Engine, ada: User) -> int:
    run_id = upload(engine, ada)
    score_submission(run_id)
    assert the_run(engine, run_id).status == RunStatus.SCORED, the_run(engine, run_id).failure
    return run_id


# ------------------------------------------------------------------------------------------------------------- scoring


def test_sealed_gold_scores_as_plain_gold(engine: Engine, ada: User, key: str) -> None:
    seal_gold(engine, GOLD.encode())
    run_id = scored(engine, ada)
    assert values(engine, run_id)["macro_f1", "zero_shot/all"] == pytest.approx(MACRO_F1, abs=1e-12)
    assert values(engine, run_id)["accuracy", "zero_shot/all"] == pytest.approx(ACCURACY, abs=1e-12)
    assert version_of(engine, run_id) == 1


def test_sealed_gold_comes_before_plain_gold(engine: Engine, ada: User, key: str, workplace: Path) -> None:
    (workplace / "gold" / "gold.csv").write_text(OTHER_GOLD)
    seal_gold(engine, GOLD.encode())
    assert values(engine, scored(engine, ada))["macro_f1", "zero_shot/all"] == pytest.approx(MACRO_F1, abs=1e-12)


def test_plain_gold_goes_on_working_where_nothing_is_sealed(
    engine: Engine, ada: User, key: str, workplace: Path
) -> None:
    (workplace / "gold" / "gold.csv").write_text(GOLD)
    assert version_of(engine, scored(engine, ada)) is None


def test_a_run_that_waited_while_gold_was_put_is_scored_against_it(engine: Engine, ada: User, key: str) -> None:
    run_id = upload(engine, ada)
    seal_gold(engine, GOLD.encode())
    score_submission(run_id)
    assert version_of(engine, run_id) == 1


def test_gold_is_opened_once_for_many_runs(
    engine: Engine, ada: User, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal_gold(engine, GOLD.encode())
    scored(engine, ada)
    shutil.rmtree(get_settings().sealed_dir)
    make_outcomes_impossible(monkeypatch)
    scored(engine, ada)


def make_outcomes_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.score.seal_outcomes", lambda *_: None)


def test_a_worker_without_the_key_leaves_the_run_to_others(engine: Engine, ada: User, key: str) -> None:
    seal_gold(engine, GOLD.encode())
    aside = key_file().rename(key_file().with_name("aside"))
    run_id = upload(engine, ada)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.attempts) == (RunStatus.QUEUED, 0)
    assert "this worker has no key" in (run.failure or "")
    aside.rename(key_file())
    score_submission(run_id)
    assert the_run(engine, run_id).status == RunStatus.SCORED


def test_sealed_gold_that_was_changed_on_disk_is_a_failure_of_ours_without_a_word_of_gold(
    engine: Engine, ada: User, key: str
) -> None:
    version = seal_gold(engine, GOLD.encode())
    path = sealed_path(engine, version)
    path.write_bytes(with_another_end(path.read_bytes()))
    run_id = upload(engine, ada)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.attempts) == (RunStatus.QUEUED, 1)
    assert (run.failure or "").startswith("SealBroken")


def with_another_end(content: bytes) -> bytes:
    """Ciphertext ends with any byte: a fixed one leaves one file in 256 as it was, and that is scored."""
    return content[:-1] + bytes([content[-1] ^ 1])


def test_gold_that_was_exchanged_for_other_sealed_gold_is_noticed(engine: Engine, ada: User, key: str) -> None:
    """Check that somebody who can write to the database cannot score against gold that was not committed to."""
    committed = seal_gold(engine, GOLD.encode())
    other = seal_gold(engine, OTHER_GOLD.encode(), publish=False)
    with writing(engine) as session:
        session.execute(
            update(GoldVersion).where(GoldVersion.id == committed.id).values(sealed_file_id=other.sealed_file_id)
        )
    run_id = upload(engine, ada)
    score_submission(run_id)
    assert (the_run(engine, run_id).failure or "").startswith("SealBroken")


def sealed_path(engine: Engine, version: GoldVersion) -> Path:
    with reading(engine) as session:
        loaded = session.get_one(GoldVersion, version.id)
        sha256 = session.get_one(SealedFile, loaded.sealed_file_id).sha256
    return file_and_keys(engine, sha256)[0]


# ------------------------------------------------------------------------------------------------------------ versions


@pytest.mark.both
def test_the_first_version_is_in_use_at_once_and_the_next_when_published(engine: Engine, ada: User, key: str) -> None:
    seal_gold(engine, GOLD.encode())
    second = seal_gold(engine, OTHER_GOLD.encode())
    assert (second.number, second.published_at) == (2, None)
    assert version_of(engine, scored(engine, ada)) == 1
    before = board_version_number(engine)
    with writing(engine) as session:
        assert publish_gold(session, the_phase_task(session), 2, user=None, now=NOW)
        assert not publish_gold(session, the_phase_task(session), 2, user=None, now=NOW)
    assert board_version_number(engine) == before + 1
    run_id = scored(engine, ada)
    assert version_of(engine, run_id) == 2
    assert values(engine, run_id)["macro_f1", "zero_shot/all"] == 1.0


def test_a_run_that_is_tried_again_keeps_its_gold(engine: Engine, ada: User, key: str) -> None:
    seal_gold(engine, GOLD.encode())
    run_id = upload(engine, ada)
    with writing(engine) as session:
        assert claim_run(session, run_id, worker="lost", lease_seconds=1, now=NOW)
    seal_gold(engine, OTHER_GOLD.encode(), publish=True)
    with writing(engine) as session:
        session.execute(update(ScoringRun).values(status=RunStatus.QUEUED, lease_expires_at=NOW - timedelta(days=1)))
    score_submission(run_id)
    assert version_of(engine, run_id) == 1


def test_there_is_no_way_back_to_an_older_version(engine: Engine, ada: User, key: str) -> None:
    seal_gold(engine, GOLD.encode())
    seal_gold(engine, GOLD.encode(), publish=False)
    seal_gold(engine, OTHER_GOLD.encode(), publish=True)
    with pytest.raises(NewerGoldPublished, match="Version 3"), writing(engine) as session:
        publish_gold(session, the_phase_task(session), 2, user=None, now=NOW)
    with pytest.raises(NotFound, match="no gold version 9"), writing(engine) as session:
        publish_gold(session, the_phase_task(session), 9, user=None, now=NOW)


def test_putting_gold_opens_a_phase_that_had_none(engine: Engine, ada: User, key: str) -> None:
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(gold=None))
    seal_gold(engine, GOLD.encode())
    assert version_of(engine, scored(engine, ada)) == 1


def test_who_put_what_when_is_in_the_audit_log(engine: Engine, ada: User, key: str) -> None:
    version = seal_gold(engine, GOLD.encode())
    with reading(engine) as session:
        entries = list_entries(session, AuditFilter(action="gold", subject=f"gold {PLACE}"), limit=10)
        versions = list_gold(session, the_phase_task(session))
    assert [entry.action for entry in entries] == ["gold.publish", "gold.put"]
    assert all(entry.subject == f"gold {PLACE}" for entry in entries)
    assert entries[0].details == {"version": 1, "commitment": version.commitment}
    assert [one.number for one in versions] == [1]


# ------------------------------------------------------------------------------------------------------------- secrecy


def test_nothing_of_gold_or_outcomes_is_on_the_disk_in_clear(
    engine: Engine, ada: User, key: str, workplace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    planted = GOLD.replace("d1", CANARY)
    seal_gold(engine, planted.encode())
    rejected = upload(engine, ada, PREDICTION.replace("zero_shot,0", "zero_shot,9"))
    score_submission(rejected)
    scored(engine, ada)
    broken = seal_gold(engine, planted.replace("EN,0", f"EN,{CANARY}").encode(), publish=True)
    failing = upload(engine, ada)
    score_submission(failing)
    assert the_run(engine, failing).status == RunStatus.FAILED
    assert files_with(workplace, CANARY.encode()) == []
    assert files_with(Path("/dev/shm"), CANARY.encode()) == []  # noqa: S108 - where gold is opened
    if engine.dialect.name == "sqlite":
        database = Path(engine.url.database or "")
        assert files_with(database.parent, CANARY.encode()) == []
    with reading(engine) as session:
        for run in session.scalars(select(ScoringRun)):
            assert CANARY not in f"{run.failure} {run.problems}"
    assert broken.number == 2


def test_the_folder_for_clear_gold_is_private_and_gone_afterwards(
    engine: Engine, ada: User, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Path, int]] = []
    task = TASKS["idiom-detection"]

    def look(path: Path, options: object) -> object:
        seen.append((path.parent, path.parent.stat().st_mode & 0o777))
        return task.read_gold(path, options)

    monkeypatch.setitem(TASKS, task.name, dataclasses.replace(task, read_gold=look))
    seal_gold(engine, GOLD.encode())
    scored(engine, ada)
    ((folder, mode),) = seen
    assert mode == 0o700
    assert not folder.exists()


def test_what_a_killed_worker_left_is_cleared_by_the_next_and_what_is_in_use_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gold, "_MEMORY", tmp_path)
    left = tmp_path / "evergold-gold-left"
    left.mkdir()
    (left / "gold").write_text("SECRET")
    with gold.private_folder(1) as first:
        assert not left.exists()
        with gold.private_folder(1) as second:
            assert first.exists()
            assert second != first


def test_where_memory_is_short_the_disk_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with gold.private_folder(2**60) as folder:
        assert folder.parent == tmp_path


# ------------------------------------------------------------------------------------------------------------- folders


def gold_tree(folder: Path) -> Path:
    """Make a folder of folders, which a task type may need as gold."""
    for language in ("EN", "PT"):
        (folder / language).mkdir(parents=True)
        (folder / language / "gold.csv").write_text(f"gold of {language}")
    (folder / ".DS_Store").write_text("junk")
    return folder


def names_in(path: Path) -> dict[str, str]:
    if path.is_file():
        return {path.name: path.read_text()}
    return {file.relative_to(path).as_posix(): file.read_text() for file in path.rglob("*") if file.is_file()}


def test_a_folder_comes_to_the_task_type_as_it_was(
    engine: Engine, ada: User, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = dataclasses.replace(TASKS["idiom-detection"], read_gold=lambda path, _: names_in(path))
    seal_gold(engine, gold_tree(tmp_path / "tree"))
    run_id = upload(engine, ada)
    with writing(engine) as session:
        claim = claim_run(session, run_id, worker="w", lease_seconds=1, now=NOW)
    assert claim is not None
    found = gold.gold_of(task, read_options(task), claim).content
    assert found == {"EN/gold.csv": "gold of EN", "PT/gold.csv": "gold of PT"}


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, f"content of {name}")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("EN/gold.csv", "PT/gold.csv", "__MACOSX/x"), {"EN/gold.csv", "PT/gold.csv"}),
        (("a.npy", "b.npy"), None),
        (("gold.csv",), None),
        (("gold.csv", ".DS_Store"), None),
    ],
)
def test_a_zip_of_several_files_is_a_folder_and_of_one_that_file(
    tmp_path: Path, names: tuple[str, ...], expected: set[str] | None
) -> None:
    path = tmp_path / "gold"
    path.write_bytes(zipped(*names))
    found = laid_out(path, lambda gold: None if gold == path else set(names_in(gold)))
    assert found == expected


def test_a_zip_with_everything_in_one_folder_may_mean_that_folder(tmp_path: Path) -> None:
    def only_languages(folder: Path) -> set[str]:
        if (folder / "gold").exists():
            raise InvalidGold([Problem("missing-file", "gold is no language")])
        return set(names_in(folder))

    path = tmp_path / "gold"
    path.write_bytes(zipped("gold/EN/a.csv", "gold/PT/a.csv"))
    assert laid_out(path, only_languages) == {"EN/a.csv", "PT/a.csv"}


def test_a_tar_that_leads_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "inside" / "gold"
    path.parent.mkdir()
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo("../outside")
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b"x"))
    with pytest.raises(InvalidGold, match="cannot be unpacked"):
        laid_out(path, names_in)
    assert not (tmp_path / "outside").exists()


# ------------------------------------------------------------------------------------------------------------ outcomes


def test_outcomes_are_kept_sealed_and_say_for_each_item_what_it_was(engine: Engine, ada: User, key: str) -> None:
    seal_gold(engine, GOLD.encode())
    run_id = scored(engine, ada)
    with reading(engine) as session:
        outcomes = read_outcomes(session, run_id)
    assert outcomes == {
        "items": ["1", "2", "3", "4"],
        "languages": ["en"] * 4,
        "labels": ["0", "1"],
        "gold": [0, 0, 1, 1],
        "predicted": {"zero_shot": [0, 1, 1, 1], "one_shot": None},
    }


def test_without_a_key_runs_are_scored_and_have_no_outcomes(engine: Engine, ada: User, workplace: Path) -> None:
    (workplace / "gold" / "gold.csv").write_text(GOLD)
    run_id = scored(engine, ada)
    assert the_run(engine, run_id).outcomes_id is None
    assert not get_settings().sealed_dir.exists()


def test_a_full_disk_costs_outcomes_but_no_scores(engine: Engine, ada: User, key: str, workplace: Path) -> None:
    (workplace / "gold" / "gold.csv").write_text(GOLD)
    get_settings().sealed_dir.write_text("no folder can be made here")
    assert the_run(engine, scored(engine, ada)).outcomes_id is None


def test_outcomes_of_a_run_that_was_lost_meanwhile_are_not_kept(
    engine: Engine, ada: User, key: str, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workplace / "gold" / "gold.csv").write_text(GOLD)
    monkeypatch.setattr("workers.score.record_scores", lambda *_, **__: False)
    score_submission(upload(engine, ada))
    assert [path for path in get_settings().sealed_dir.rglob("*") if path.is_file()] == []


def test_gold_and_outcomes_lie_apart_from_what_the_web_process_serves(engine: Engine, ada: User, key: str) -> None:
    settings = get_settings()
    version = seal_gold(engine, GOLD.encode())
    scored(engine, ada)
    served = {path.name for path in settings.storage_dir.rglob("*")}
    sealed = {path.name for path in settings.sealed_dir.rglob("*") if path.is_file()}
    assert len(sealed) == 2
    assert not served & sealed
    assert not stored_path(settings.storage_dir, sealed.pop()).exists()
    assert version.number == 1
