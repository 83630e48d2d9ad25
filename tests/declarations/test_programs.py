"""Organisers' own programs in declarations: check, apply, plan, and what goes out and comes in again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.storage import FolderStorage, has_file
from app.competitions.find import find_competition
from app.competitions.metrics import metrics_of
from app.declarations.apply.apply import apply_phases
from app.declarations.check import check_phases, load_competitions
from app.declarations.edits.effects import plan_phases
from app.declarations.edits.export import export_folder
from app.declarations.revisions.kept import present_revision
from app.models import CompetitionTask, RevisionFile
from tests.programs import COMPETITION, OPTIONS, PHASE, SCORE, TASK, document, files_of, write_competition, zipped
from tests.world import NOW

Change = Callable[[dict[str, Any]], None]


def errors(main: Path) -> list[str]:
    return [one.message for one in check_phases(main, now=NOW) if one.severity == "error"]


def applied(engine: Engine, main: Path, storage: Path) -> list[str]:
    with writing(engine) as session:
        made = apply_phases(session, load_competitions(main), storage=FolderStorage(storage), now=NOW)
        return [str(one) for one in made if one.counts]


def stored(engine: Engine) -> str:
    with reading(engine) as session:
        found = session.scalars(select(CompetitionTask.program_sha256).where(CompetitionTask.name == TASK)).one()
    assert found is not None
    return found


# --------------------------------------------------------------------------------------------------------------- check


def task(said: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = said["tasks"][0]
    return found


def asked(said: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = said["phases"][0]["tasks"][TASK]
    return found


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda said: task(said).pop("program"),
            "this task needs a 'program': a folder or zip with your",
        ),
        (
            lambda said: task(said).update(program="nowhere"),
            "the program nowhere does not exist: name a folder",
        ),
        (
            lambda said: task(said).update(program="competition.yaml"),
            "cannot be used: a program must be a folder or a zip",
        ),
        (lambda said: task(said)["options"].update(contract="evalai"), "has no __init__.py: an EvalAI program is a"),
        (lambda said: task(said)["options"].update(program_sha256="0" * 64), "name the program under `program`"),
        (lambda said: task(said)["options"].update(metrics=[]), "'metrics'"),
        (lambda said: asked(said).update(gold_is_public=True), "gives no results for single items"),
        (lambda said: asked(said).update(gold="gold.csv"), "gold that an organisers' own program opens is sealed"),
        (
            lambda said: asked(said).update(private_part={"share": 0.5, "seed": "0123456789abcdef"}),
            "'program' cannot score a part of its items, so it cannot have a private part",
        ),
        (
            lambda said: asked(said).update(options={"metrics": OPTIONS["metrics"]}),
            "'metrics' belongs to the task: it is the same in all of its phases",
        ),
        (
            lambda said: said["boards"][0]["columns"].append({"metric": "f1", "split": "all"}),
            "program has no metric 'f1'; it has accuracy, covered, both",
        ),
    ],
)
def test_what_a_program_cannot_give_is_said_in_words(tmp_path: Path, change: Change, sentence: str) -> None:
    said = document()
    change(said)
    found = errors(write_competition(tmp_path, said))
    assert [one for one in found if sentence in one], found


def test_other_types_have_no_program(tmp_path: Path) -> None:
    said = document()
    task(said).update(type="table", options={})
    said["boards"][0]["columns"] = [{"metric": "accuracy", "split": "all"}]
    assert errors(write_competition(tmp_path, said)) == [
        "'table' computes its scores itself: a program belongs to type program"
    ]


def test_a_sound_one_has_no_error(tmp_path: Path) -> None:
    assert errors(write_competition(tmp_path)) == []


def test_a_metric_of_which_less_is_better_has_no_mean_with_others(tmp_path: Path) -> None:
    said = document(metrics=[{"name": "accuracy", "better": "lower"}, {"name": "covered"}])
    said["rankings"] = [{"name": "all", "title": "All", "by": "mean_score", "boards": [{"board": "forms"}]}]
    assert any("use mean_rank" in one for one in errors(write_competition(tmp_path, said)))


# --------------------------------------------------------------------------------------------------------------- apply


def test_a_program_is_stored_once_and_applied_again_nothing_changes(engine: Engine, tmp_path: Path) -> None:
    main, storage = write_competition(tmp_path / "home"), tmp_path / "storage"
    applied(engine, main, storage)
    first = stored(engine)
    assert has_file(FolderStorage(storage), first)
    assert applied(engine, main, storage) == []
    with reading(engine) as session:
        kept = session.scalars(select(RevisionFile).where(RevisionFile.path == "programs/forms")).one()
        assert kept.sha256 == first
        found = find_competition(session, COMPETITION)
        assert list(metrics_of(found.tasks[0])) == ["accuracy", "covered", "both"]
        assert [column["title"] for column in found.boards[0].columns] == ["Accuracy", "Answers"]


def test_a_zip_of_the_same_program_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    main, storage = write_competition(tmp_path / "home"), tmp_path / "storage"
    applied(engine, main, storage)
    first = stored(engine)
    said = document()
    task(said).update(program="forms.zip")
    main = write_competition(tmp_path / "home", said)
    (tmp_path / "home" / "forms.zip").write_bytes(zipped({**files_of(), ".git/a": "x"}))
    applied(engine, main, storage)
    assert stored(engine) == first


def test_a_plan_says_that_the_program_changes_and_stores_nothing(engine: Engine, tmp_path: Path) -> None:
    storage = tmp_path / "storage"
    applied(engine, write_competition(tmp_path / "home"), storage)
    before = {path.name for path in storage.rglob("*")}
    main = write_competition(tmp_path / "home", program=SCORE + "# changed\n")
    plan = plan_phases(engine, load_competitions(main), storage=FolderStorage(storage), now=NOW)
    said = [str(one) for one in plan.changes]
    assert any(one.startswith(f"changed program of task '{TASK}' of '{COMPETITION}'") for one in said), said
    assert {path.name for path in storage.rglob("*")} == before


@pytest.mark.parametrize("name", ["programs/forms", "programs/forms.zip"])
def test_an_export_brings_the_program_home_and_changes_nothing(engine: Engine, tmp_path: Path, name: str) -> None:
    said, storage = document(), tmp_path / "storage"
    task(said).update(program=name)
    main = write_competition(tmp_path / "home", said)
    if name.endswith(".zip"):
        (tmp_path / "home" / name).write_bytes(zipped(files_of()))
    applied(engine, main, storage)
    with reading(engine) as session:
        revision = present_revision(session, find_competition(session, COMPETITION))
    export_folder(revision, COMPETITION, FolderStorage(storage), tmp_path / "out")
    if not name.endswith(".zip"):
        assert (tmp_path / "out" / name / "score.py").read_text() == SCORE
    assert applied(engine, tmp_path / "out" / "competition.yaml", storage) == []


def test_a_metric_that_is_no_longer_declared_still_has_a_name(engine: Engine, tmp_path: Path) -> None:
    applied(engine, write_competition(tmp_path / "home"), tmp_path / "storage")
    with reading(engine) as session:
        metrics: Mapping[str, Any] = metrics_of(find_competition(session, COMPETITION).tasks[0])
    assert metrics["earlier"].title == "earlier"
    assert metrics.get("earlier") is None


def test_the_program_of_a_phase_is_that_of_the_task(engine: Engine, tmp_path: Path) -> None:
    applied(engine, write_competition(tmp_path / "home"), tmp_path / "storage")
    with reading(engine) as session:
        phase = next(one for one in find_competition(session, COMPETITION).phases if one.name == PHASE)
        options = phase.phase_tasks[0].options_of(phase.phase_tasks[0].task)
    assert options["program_sha256"] == stored(engine)
