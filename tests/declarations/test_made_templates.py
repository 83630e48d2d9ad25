"""The template that is made from the items where organisers declare none: offered, remade, taken away, and of use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.base.storage import FolderStorage, stored_path
from app.declarations.apply import files as templates
from app.declarations.check import load_competitions
from app.declarations.edits.effects import plan_phases
from app.models import PublicFile
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS
from tests.declarations.applying import WHAT, apply, made, phase_task
from tests.declarations.competition_folder import ITEMS, NOW, Competition as Folder, make_competition
from tests.evergold.scoring.test_golden import GOLDEN, the

#: What the organisers of the folder declare themselves.
DECLARED = '            downloads:\n              - {file: template.csv, title: "Template"}\n'
#: Something that every line of a task's template may say, behind what the template says of it.
CONSTANTS = {
    "idiom-detection": "1",
    "idiom-similarity": "0.5",
    "idiomaticity-probing": "0.5",
    "meaning-matching": "1",
    "multi-label": "joy|fear",
    "table": "idiom",
    "text-generation": "In other words.",
}
ROWS = ["ID,Language,Setting,Label", "1,EN,zero_shot,", "2,PT,zero_shot,", "3,EN,zero_shot,"]


@pytest.fixture
def demo(tmp_path: Path) -> Folder:
    """Return a competition with public items and without a declared template."""
    demo = make_competition(tmp_path / "demo")
    demo.change(DECLARED, "")
    demo.change("languages: [en, pt]", "languages: [en, pt], settings: [zero_shot]")
    return demo


def template_of(engine: Engine) -> PublicFile | None:
    """Return the template of the evaluation that nobody declared."""
    files = {file.name: file for file in phase_task(engine, "evaluation").files}
    return files.get("template.csv")


def lines_of(engine: Engine, demo: Folder) -> list[str]:
    file = template_of(engine)
    assert file is not None
    stored = stored_path(demo.folder.parent / "storage", file.sha256).read_bytes()
    assert len(stored) == file.size_bytes
    return stored.decode().splitlines()


# ----------------------------------------------------------------------------------------------------- offered, remade


def test_a_template_stands_behind_the_items(sqlite_engine: Engine, demo: Folder) -> None:
    apply(sqlite_engine, demo)
    files = phase_task(sqlite_engine, "evaluation").files
    assert [(file.name, file.title) for file in files] == [
        ("items.csv", "Items"),
        ("template.csv", "Submission template"),
    ]
    assert lines_of(sqlite_engine, demo) == ROWS
    assert apply(sqlite_engine, demo) == []


def test_it_follows_the_items_and_the_options_of_task_and_phase(sqlite_engine: Engine, demo: Folder) -> None:
    apply(sqlite_engine, demo)
    replaced = f"replaced download 'template.csv' of {WHAT}, made from the items"
    demo.write("items.csv", ITEMS.replace("3,EN", "4,EN"))
    demo.write("majority.csv", "\n".join(row.replace("3,", "4,") + "1" * row.endswith(",") for row in ROWS) + "\n")
    assert replaced in made(apply(sqlite_engine, demo))
    assert lines_of(sqlite_engine, demo)[-1] == "4,EN,zero_shot,"
    demo.change("settings: [zero_shot]", "settings: [zero_shot, one_shot]")
    assert replaced in made(apply(sqlite_engine, demo))
    assert lines_of(sqlite_engine, demo)[-1] == "4,EN,one_shot,"
    demo.change(
        "            items: items.csv\n", "            items: items.csv\n            options: {settings: [zero_shot]}\n"
    )
    assert replaced in made(apply(sqlite_engine, demo))
    assert lines_of(sqlite_engine, demo)[-1] == "4,EN,zero_shot,"


def test_it_goes_with_the_items(sqlite_engine: Engine, demo: Folder) -> None:
    apply(sqlite_engine, demo)
    demo.change("            items: items.csv\n", "")
    assert f"removed download 'template.csv' of {WHAT}" in made(apply(sqlite_engine, demo))
    assert phase_task(sqlite_engine, "evaluation").files == []


def test_a_plan_tells_of_it_and_stores_nothing(sqlite_engine: Engine, demo: Folder) -> None:
    demo.change("            items: items.csv\n", "")
    apply(sqlite_engine, demo)
    demo.change(
        "            gold: demo/evaluation.csv\n",
        "            gold: demo/evaluation.csv\n            items: items.csv\n",
    )
    storage = demo.folder.parent / "elsewhere"
    planned = plan_phases(sqlite_engine, load_competitions(demo.phases), storage=FolderStorage(storage), now=NOW)
    assert f"added download 'template.csv' to {WHAT}, made from the items" in made(planned.changes)
    assert not storage.exists()


# ------------------------------------------------------------------------------------------------------------- not made


@pytest.mark.parametrize(
    ("file", "title", "is_template"),
    [
        ("my_template.csv", "To fill in", True),
        ("format.csv", "Submission Template", True),
        ("templates/train.csv", "Training data", False),
        ("train.csv", "Training data", False),
    ],
)
def test_none_is_made_where_a_template_is_declared(
    sqlite_engine: Engine, demo: Folder, file: str, title: str, is_template: bool
) -> None:
    demo.write(file, "anything\n")
    demo.change(
        "            baselines:\n",
        f'            downloads: [{{file: {file}, title: "{title}"}}]\n            baselines:\n',
    )
    apply(sqlite_engine, demo)
    assert (template_of(sqlite_engine) is None) == is_template


def test_none_is_made_where_a_declared_file_says_the_same(sqlite_engine: Engine, demo: Folder) -> None:
    demo.write("empty.csv", "\n".join(ROWS) + "\n")
    demo.change(
        "            baselines:\n",
        '            downloads: [{file: empty.csv, title: "Empty"}]\n            baselines:\n',
    )
    apply(sqlite_engine, demo)
    assert [file.name for file in phase_task(sqlite_engine, "evaluation").files] == ["items.csv", "empty.csv"]


def test_items_that_have_the_name_keep_it(sqlite_engine: Engine, demo: Folder) -> None:
    demo.write("template.csv", ITEMS)
    demo.change("            items: items.csv\n", "            items: template.csv\n")
    apply(sqlite_engine, demo)
    assert [(file.name, file.title) for file in phase_task(sqlite_engine, "evaluation").files] == [
        ("template.csv", "Items")
    ]


@pytest.mark.parametrize("limit", ["ITEMS_LIMIT_BYTES", "TEMPLATE_LIMIT_BYTES"])
def test_none_is_made_of_very_large_items(
    sqlite_engine: Engine, demo: Folder, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(templates, limit, 10)
    apply(sqlite_engine, demo)
    assert template_of(sqlite_engine) is None


# -------------------------------------------------------------------------------------------------------------- of use


def options_of(name: str) -> dict[str, object]:
    expected = GOLDEN / name / "expected.json"
    document = json.loads(expected.read_text(encoding="utf-8")) if expected.is_file() else {}
    return document.get("options") or {}


def test_every_task_type_with_a_template_is_tried_here() -> None:
    assert {*CONSTANTS, "mwe-paraphrase", "ranking", "sequence-labelling"} == {
        name for name, task in TASKS.items() if task.template_name
    }


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_filled_template_is_read_without_a_problem(name: str, tmp_path: Path) -> None:
    task, items_path = TASKS[name], the(GOLDEN / name, "items")
    assert items_path is not None
    options = read_options(task, options_of(name))
    items = task.read_items(items_path, options)
    text = task.template(items, options)
    assert text is not None
    header, *rows = text.splitlines()
    assert rows
    assert all(row.endswith(",") for row in rows), "the last column is to be filled in"
    filled = tmp_path / str(task.template_name)
    filled.write_text("\n".join([header, *(row + CONSTANTS[name] for row in rows)]) + "\n", encoding="utf-8")
    warned = {warning.code for warning in task.read_prediction(filled, items, options).warnings}
    assert warned == ({"undeclared-labels"} if name == "table" else set())


def test_a_filled_template_of_rankings_is_read_without_a_problem(tmp_path: Path) -> None:
    """Check the template that exists where the items have candidates."""
    task, items_path = TASKS["ranking"], tmp_path / "items.csv"
    items_path.write_text("query,document\nq1,a\nq1,b\nq2,a\n")
    options = read_options(task)
    items = task.read_items(items_path, options)
    text = task.template(items, options) or ""
    header, *rows = text.splitlines()
    filled = tmp_path / str(task.template_name)
    filled.write_text("\n".join([header, *(f"{row}0.5" for row in rows)]) + "\n", encoding="utf-8")
    assert task.read_prediction(filled, items, options).rankings == {"q1": ("b", "a"), "q2": ("a",)}


def test_the_template_of_tags_is_read_without_a_problem(tmp_path: Path) -> None:
    task = TASKS["sequence-labelling"]
    options = read_options(task, {"types": ["PER", "LOC"]})
    items = task.read_items(GOLDEN / "sequence-labelling" / "items.conll", options)
    filled = tmp_path / str(task.template_name)
    filled.write_text((task.template(items, options) or "").replace("a\tO", "a\tB-PER", 1), encoding="utf-8")
    read = task.read_prediction(filled, items, options)
    assert (read.warnings, read.spans["sentence 1"]) == ((), ((0, 1, "PER"),))


def test_a_filled_template_of_paraphrases_is_read_without_a_problem(tmp_path: Path) -> None:
    task = TASKS["mwe-paraphrase"]
    options = read_options(task, {"language": "en"})
    items = task.read_items(GOLDEN / "mwe-paraphrase" / "items" / "EN" / "test.blind.json", options)
    text = task.template(items, options)
    assert text is not None
    rows = json.loads(text)
    assert {row["prediction"] for row in rows} == {""}
    filled = tmp_path / str(task.template_name)
    filled.write_text(json.dumps([{**row, "prediction": "In other words."} for row in rows]), encoding="utf-8")
    (only,) = task.read_prediction(filled, items, options).languages.values()
    assert set(only.values()) == {"In other words."}
