"""YAML exported from the database: whatever is declared, it is read back as the same, and applying it
changes nothing.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from app.base.storage import FolderStorage
from app.declarations.check import check_phases, load_competitions
from app.declarations.edits.effects import Plan, plan_phases
from app.declarations.edits.export import ExportImpossible, export_folder, export_zip
from app.declarations.edits.fields import parts
from app.declarations.edits.texts import declaration_text
from app.declarations.model import CompetitionDeclaration, PhaseTaskDeclaration
from app.declarations.revisions.documents import declared_files, differences, fingerprint, value_at, with_values
from app.declarations.revisions.folder import main_file
from evergold.yaml_lines import read_yaml
from tests import lanes
from tests.declarations.applying import without_neighbours
from tests.declarations.competition_folder import NOW
from tests.declarations.place import END, LATER, Place


def exported(place: Place, folder: Path) -> Path:
    """The main file of an export of what holds."""
    return export_folder(place.present(), "demo", FolderStorage(place.storage), folder)[-1]


def plan_of(place: Place, main: Path) -> Plan:
    assert [str(finding) for finding in check_phases(main, now=NOW) if finding.severity == "error"] == []
    plan = plan_phases(place.engine, load_competitions(main), storage=FolderStorage(place.storage), now=NOW)
    return replace(plan, changes=without_neighbours(plan.changes))


# --------------------------------------------------------------------------------------------------------- round trips


def test_export_of_what_was_applied_changes_nothing(each: Place, tmp_path: Path) -> None:
    main = exported(each, tmp_path / "home")
    assert (plan_of(each, main).changes, plan_of(each, main).effects) == ([], [])
    assert sorted(path.name for path in main.parent.iterdir()) == [
        "competition.yaml", "historic.csv", "items.csv", "majority.csv", "practice.csv", "template.csv",
    ]  # fmt: skip
    for name in ("items.csv", "historic.csv"):
        assert (main.parent / name).read_bytes() == (each.folder.folder / name).read_bytes()


def test_export_of_edits_brings_them_into_the_file(each: Place, tmp_path: Path) -> None:
    each.edit({END: LATER, "description": "# Title\n\n- one: two\n"})
    main = exported(each, tmp_path / "home")
    assert plan_of(each, main).changes == []
    assert LATER in main.read_text("utf-8")


#: Every key of a declaration, said otherwise than by default; a key that is missing here fails a test below.
EVERYTHING: dict[str, str] = {
    'title: "Demo"\n    tasks:': (
        'title: "Demo"\n    summary: "In short"\n    description: "Long\\n\\n*text*"\n'
        "    confirm_scores: ['The environment was guessed: Python 3']\n"
        "    website: https://example.org\n    contact: organisers@example.org\n"
        "    tracks: [{name: closed, title: Closed, description: Only the data provided}, {name: open, title: Open}]\n"
        "    registration:\n      mode: list\n      allowed: [ada]\n      terms: 'Be fair: no *gold*'\n"
        "      publish_predictions: true\n"
        "      questions:\n        - {name: country}\n        - {name: gpu, title: 'Which: GPU?', kind: choice,"
        " choices: [a, 'no'], required: true, help: 'One: of them'}\n"
        "    teams: {members_max: 5, rename_until: 2026-06-25 00:00 AoE, merge_until: 2026-06-20 00:00 AoE}\n"
        "    citation:\n      authors: ['Silva, Ana', 'Lovelace, Ada']\n      licence: CC-BY-4.0\n"
        "      paper: {title: 'Idioms: a task', authors: ['Silva, Ana'], venue: Proceedings of a workshop, year: 2026,"
        " url: 'https://example.org/paper', doi: 10.18653/v1/2026.one}\n"
        "    method_card:\n      required: [method]\n      fields:\n"
        "        - {name: model, title: Model, kind: choice, choices: [small, 'no'], required: true, on_board: true,"
        " help: 'Which: one'}\n"
        "    tasks:"
    ),
    "    phases:\n      - name: practice\n": (
        "    rankings:\n      - {name: overall, title: Overall, description: All, by: mean_score, missing: zero,"
        " boards: [{board: zero-shot, weight: 0.1}]}\n    phases:\n      - name: practice\n"
    ),
    'title: "Detection"\n': 'title: "Detection"\n        description: "A task"\n',
    'title: "Zero-shot"\n': 'title: "Zero-shot"\n        description: "A board"\n        track: closed\n',
    "        historic:\n": "        rank_by: {metric: macro_f1, split: zero_shot/en}\n        historic:\n",
    'split: zero_shot/all, title: "All"}': 'split: zero_shot/all, title: "All", decimals: 2, percent: true}',
    "        entry: last\n": (
        '        description: "A phase"\n        entry: chosen\n        choose_until: 2026-06-20 00:00 AoE\n'
        "        without_choice: best\n        carry_over: practice\n        snapshot: true\n"
        "        limits: {per_day: 1, per_week: 2, per_month: 3, total: 9, rejected_per_hour: 7, upload_bytes: 1000}\n"
        "        visibility: {board: ranks_only, public_from: close, own_scores: after_close,"
        " names_from: 2026-06-30 00:00 UTC, slices: columns, precision: 3}\n"
    ),
    "            gold: demo/evaluation.csv\n": (
        "            gold: demo/evaluation.csv\n            gold_version: '1.10'\n"
        "            gold_is_public: true\n            items_from: now\n            items_for: everyone\n"
        "            options: {languages: [en, pt]}\n"
        "            entry: ladder\n            ladder_step: 1e-2\n"
        "            limits: {per_day: 1, per_week: 2, per_month: 3, total: 4, rejected_per_hour: 5,"
        " upload_bytes: 900}\n"
        "            visibility: {board: hidden, public_from: close, own_scores: at_once, names_from: close,"
        " slices: none, precision: 2}\n"
    ),
    '{file: template.csv, title: "Template"}': (
        '{file: template.csv, title: "Template", from: 2026-05-02 00:00 UTC, for: participants}'
    ),
    '"Majority", file: majority.csv, method: "Always 1"': (
        '"Majority", file: majority.csv, method: "Always 1", track: closed, description: Simple, ranked: true,'
        ' scores: {"macro_f1 zero_shot/all": 0.4}'
    ),
    "        limits: {per_day: 5, total: 10}\n": (
        "        limits: {per_day: 5, total: 10}\n        entry: ladder\n        ladder_step: 0.015\n"
    ),
    "            items: practice.csv\n": (
        "            items: practice.csv\n            entry: chosen\n            choose_until: '2026-03-01T00:00:00Z'\n"
        "            without_choice: last\n"
        "            private_part: {share: 0.25, seed: 'a seed: no one knows it', shown_from: 2026-09-01 00:00 UTC}\n"
    ),
}


@pytest.fixture
def everything(place: Place) -> Place:
    for old, new in EVERYTHING.items():
        place.folder.change(old, new)
    place.apply()
    return place


def keys_of(model: Any, path: str = "") -> Iterator[str]:
    """Yield every key that can be declared, those of lists and mappings once."""
    for attribute, field in model.model_fields.items():
        name = field.alias or attribute
        yield f"{path}{name}"
        for inner in _models_in(field.annotation):
            yield from keys_of(inner, f"{path}{name}.")


def _models_in(annotation: Any) -> list[Any]:
    from typing import get_args

    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        return [annotation]
    return [found for part in get_args(annotation) for found in _models_in(part)]


def said_in(document: Any, model: Any, path: str = "") -> Iterator[str]:
    """Yield the keys that a document has."""
    for attribute, field in model.model_fields.items():
        name = field.alias or attribute
        if name not in document:
            continue
        yield f"{path}{name}"
        value = document[name]
        for inner in _models_in(field.annotation):
            values = value if isinstance(value, list) else [value]
            is_mapping = name == "tasks" and inner is PhaseTaskDeclaration
            for one in list(value.values()) if is_mapping else values:
                yield from said_in(one, inner, f"{path}{name}.")


def test_every_key_that_can_be_declared_comes_back(everything: Place, tmp_path: Path) -> None:
    said = come_back(everything, tmp_path / "list")
    everything.folder.change(
        "mode: list\n      allowed: [ada]", "mode: domain\n      domains: [example.org]"
    )  # never both
    everything.apply()
    said |= come_back(everything, tmp_path / "domain")
    of_programs = {"tasks.program"}  # tests/declarations/test_programs.py
    assert set(keys_of(CompetitionDeclaration)) - said == of_programs


def come_back(place: Place, folder: Path) -> set[str]:
    """Return the keys of an export, which must be what was applied; applying it changes nothing."""
    main = exported(place, folder)
    document, faults = read_yaml(main, "home")
    assert document is not None
    assert faults == []
    (back,) = document.plain()["competitions"]
    assert back == load_competitions(place.folder.phases)[0].document
    assert [change for change in plan_of(place, main).changes if change.counts] == []
    return set(said_in(back, CompetitionDeclaration))


def test_every_file_that_can_be_declared_is_taken_along(everything: Place) -> None:
    paths = declared_files(load_competitions(everything.folder.phases)[0].declaration)
    assert set(paths) == {"items.csv", "practice.csv", "template.csv", "majority.csv", "historic.csv"}
    # Whoever declares another kind of path says here, and in `declared_files`, whether it is a file.
    keys = {
        key for key in keys_of(CompetitionDeclaration) if key.rpartition(".")[2] in ("file", "items", "gold", "path")
    }
    assert keys == {
        "boards.historic.file",
        "phases.tasks.gold",
        "phases.tasks.items",
        "phases.tasks.downloads.file",
        "phases.tasks.baselines.file",
    }


# ---------------------------------------------------------------------------------------------------------- properties

_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60) | st.text(
    " \t\n\r:-#'\"|>&*!%@`{}[],~=<?ab1.e_\x85\u2028\ufeff", max_size=30
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT | st.sampled_from(["no", "On", "null", "~", "1e5", "0x1F", "1_000", "12:30", "2026-01-10", "<<", "="]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=15,
)  # fmt: skip


@settings(max_examples=lanes.examples(25), deadline=None)
@given(st.dictionaries(_TEXT, _VALUES, max_size=5))
def test_whatever_a_file_can_hold_is_read_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, document: Any
) -> None:
    file = tmp_path_factory.getbasetemp() / "round-trip.yaml"
    file.write_text(declaration_text(document, "A comment\nof two lines"), encoding="utf-8", newline="\n")
    read, faults = read_yaml(file, "x")
    assert faults == []
    assert read is not None
    assert read.plain() == {"version": 1, "competitions": [document]}


_LINE = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=40)
_TYPED: dict[str, st.SearchStrategy[Any]] = {
    "description": _TEXT,
    "title": _LINE,
    "summary": st.text(max_size=40).filter(lambda text: "\0" not in text and text.isprintable()),
    "phases.evaluation.end": st.sampled_from(
        ["2026-07-09 10:00 +05:30", "2026-07-09T10:00:00Z", "2026-08-01 00:00 aoe"]
    ),
    "phases.evaluation.entry": st.sampled_from(["best", "last", "all", "chosen"]),
    "phases.evaluation.limits.total": st.integers(1, 2**31 - 1),
    "phases.evaluation.visibility.precision": st.integers(0, 10) | st.none(),
    "phases.evaluation.visibility.own_scores": st.sampled_from(["never", "after_close", "at_once"]),
    "phases.practice.tasks.detection.gold_is_public": st.booleans() | st.none(),
    "phases.practice.limits.per_day": st.integers(1, 10),
    "phases.evaluation.tasks.detection.visibility.slices": st.sampled_from(["none", "columns", "all"]),
    "boards.zero-shot.title": _LINE,
    "tasks.detection.description": _TEXT,
}


@settings(max_examples=lanes.examples(4), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.fixed_dictionaries({}, optional=_TYPED))
def test_after_any_edit_the_export_is_in_order_and_changes_nothing(
    place: Place, tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]
) -> None:
    place.edit(values)
    main = exported(place, tmp_path_factory.mktemp("home") / "demo")
    assert plan_of(place, main).changes == []
    (loaded,) = load_competitions(main)
    files = {file.path: file.sha256 for file in place.present().files}
    assert fingerprint(loaded.declaration, files) == place.present().fingerprint


# ------------------------------------------------------------------------------------------------------------- corners


def test_zip_and_folder_hold_the_same(place: Place, tmp_path: Path) -> None:
    exported(place, tmp_path / "home")
    pieces = export_zip(place.present(), "demo", FolderStorage(place.storage))
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            f"demo/{path.name}": path.read_bytes() for path in (tmp_path / "home").iterdir()
        }


def test_download_called_as_the_main_file_keeps_its_name(place: Place, tmp_path: Path) -> None:
    place.folder.change("template.csv, title", "competition.yaml, title")
    place.folder.write("competition.yaml", "not ours\n")
    place.apply()
    main = exported(place, tmp_path / "home")
    assert main.name == "competition-2.yaml"
    assert (main.parent / "competition.yaml").read_text() == "not ours\n"
    assert plan_of(place, main).changes == []
    assert main_file({"./competition.yaml": "", "competition-2.yaml": ""}) == "competition-3.yaml"


def test_nothing_is_written_over_what_is_there(place: Place, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "mine").write_text("mine")
    with pytest.raises(ExportImpossible, match="not empty"):
        exported(place, tmp_path / "home")
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["mine"]


def test_lost_file_is_said_before_anything_is_written(place: Place, tmp_path: Path) -> None:
    next(place.storage.glob("??/*")).unlink()
    with pytest.raises(ExportImpossible, match="lost 1 of the files"):
        exported(place, tmp_path / "home")
    assert not (tmp_path / "home").exists()


# --------------------------------------------------------------------------------------------------------------- paths


def test_values_are_set_and_taken_away_by_path() -> None:
    document = {"title": "T", "phases": [{"name": "p", "limits": {"total": 3}}]}
    changed = with_values(
        document, {("phases", "p", "limits", "total"): None, ("phases", "p", "visibility", "board"): "hidden"}
    )
    assert changed == {"title": "T", "phases": [{"name": "p", "visibility": {"board": "hidden"}}]}
    assert document["phases"] == [{"name": "p", "limits": {"total": 3}}]
    assert value_at(changed, ("phases", "p", "visibility", "board")) == "hidden"
    assert value_at(changed, ("phases", "q", "end")) is None


def test_differences_are_told_by_name_whatever_the_order() -> None:
    before = {"title": "A", "phases": [{"name": "p", "end": "x"}, {"name": "q"}]}
    after = {"title": "A", "phases": [{"name": "q"}, {"name": "p", "end": "y"}, {"name": "r"}]}
    assert [str(one) for one in differences(before, after)] == [
        "phases.p.end from 'x' to 'y'",
        'phases.r from nothing to \'{"name": "r"}\'',
        'phases (order) from \'["p", "q"]\' to \'["q", "p", "r"]\'',
    ]


def test_every_editable_value_has_a_name_of_its_own(everything: Place) -> None:
    names = [field.name for part in parts(everything.present().document) for field in part.fields]
    assert len(names) == len(set(names))
    assert not any(name.endswith((".gold", ".gold_version")) or "options" in name for name in names)
