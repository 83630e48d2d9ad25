"""Bundles of Codabench and CodaLab become competitions: what is in them is declared, and every key is named."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.importers.bundles.archive import InvalidBundle
from app.importers.bundles.imported import Imported, Target
from app.importers.bundles.moments import Assumed, DateOrder, Unanswered, find_zone
from app.importers.bundles.notes import Fate
from app.importers.bundles.pages import without_heading
from app.importers.codabench.importing import import_codabench
from demo.codabench.pack import BUNDLES, HERE, pack as pack_demo
from tests.importers.bundles import made

NOTHING = Assumed()


def imported(
    tmp_path: Path, content: Mapping[str, made.Content], assumed: Assumed = NOTHING, *, takes_results: bool = False
) -> tuple[Imported, dict[str, Any]]:
    """The import, and the competition as it is written."""
    bundle = made.written(tmp_path / "bundle.zip", content)
    found = import_codabench(bundle, Target(tmp_path / "to", tmp_path / "gold"), assumed, takes_results=takes_results)
    document = yaml.safe_load((tmp_path / "to/competition.yaml").read_text())
    return found, document["competitions"][0]


def by_name(listed: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in listed}


# ------------------------------------------------------------------------------------------------------------ version 2


def test_phases_stand_in_their_order_with_their_own_zones_and_overlaps(tmp_path: Path) -> None:
    _, competition = imported(tmp_path, made.version_2())
    phases = [(one["name"], one["start"], one["end"]) for one in competition["phases"]]
    assert phases == [
        ("practice", "2026-01-01 00:00 UTC", "2026-02-15 00:00 UTC"),
        ("final", "2026-02-01 12:00 +02:00", "2026-03-01 23:59 AoE"),
    ]


def test_limits_entry_and_visibility(tmp_path: Path) -> None:
    _, competition = imported(tmp_path, made.version_2())
    practice, final = competition["phases"]
    assert practice["limits"] == {"per_day": 3, "total": 9}
    assert final["limits"] == {"per_day": 5, "total": 100}
    assert {one["entry"] for one in competition["phases"]} == {"last"}
    assert final["visibility"] == {"slices": "columns", "own_scores": "after_close"}
    assert final["carry_over"] == "practice"
    assert practice["tasks"]["spoons"]["downloads"] == [
        {"file": "downloads/practice/spoons/public_data.zip", "title": "Public data"}
    ]


def test_time_that_differs_between_phases_stands_at_the_phase(tmp_path: Path) -> None:
    _, competition = imported(tmp_path, made.version_2())
    tasks = by_name(competition["tasks"])
    assert tasks["forks"]["options"]["limits"]["seconds"] == 60
    assert tasks["spoons"]["options"]["limits"]["seconds"] == 600
    final = by_name(competition["phases"])["final"]["tasks"]
    assert final["spoons"]["options"] == {"limits": {"seconds": 60, "processor_seconds": 60}}
    assert "options" not in final["forks"]


def test_columns_are_metrics_and_hidden_ones_are_declared_but_not_shown(tmp_path: Path) -> None:
    _, competition = imported(tmp_path, made.version_2())
    spoons = by_name(competition["tasks"])["spoons"]
    assert spoons["options"]["metrics"] == [
        {"name": "share", "title": "Share", "better": "higher", "decimals": 2},
        {"name": "other-score", "title": "Other", "better": "lower", "decimals": 3},
        {"name": "Mean_Error", "key": "Mean Error", "title": "Secret", "better": "higher", "decimals": 2},
        {"name": "both", "mean_of": ["share", "other-score"], "title": "Both", "better": "higher", "decimals": 2},
    ]
    board = by_name(competition["boards"])["spoons-main"]
    assert [(one["metric"], one["title"], one["decimals"]) for one in board["columns"]] == [
        ("share", "Share", 2),
        ("other-score", "Other", 3),
        ("both", "Both", 2),
    ]


def test_programs_gold_and_samples_lie_where_they_belong(tmp_path: Path) -> None:
    found, competition = imported(tmp_path, made.version_2())
    tasks = by_name(competition["tasks"])
    assert {one["program"] for one in tasks.values()} == {"programs/scoring"}
    assert (tmp_path / "to/programs/scoring/score.py").read_text() == made.SCORE
    with zipfile.ZipFile(tmp_path / "gold/spoons-and-forks/practice/spoons/spoons.zip") as gold:
        assert gold.namelist() == ["truth.txt"]
    assert (tmp_path / "gold/spoons-and-forks/final/forks/truth.txt").read_text() == "a b c d"
    assert not list((tmp_path / "to").rglob("truth.txt"))
    practice = by_name(competition["phases"])["practice"]["tasks"]["spoons"]
    assert practice["baselines"] == [{"name": "Solution 1", "file": "baselines/spoons/solution-1.zip"}]
    assert set(found.written.gold) == {("practice", "spoons"), ("final", "spoons"), ("final", "forks")}


def test_pages_terms_and_fact_sheet(tmp_path: Path) -> None:
    _, competition = imported(tmp_path, made.version_2())
    text = competition["description"]
    assert text == "![Logo of Spoons and forks](images/logo.png)\n\n## Overview\n\n## Hello\n\nWorld\n"
    assert competition["registration"] == {"mode": "approval", "terms": "Be kind."}
    assert competition["method_card"]["fields"] == [
        {"name": "size", "title": "Size", "required": True, "on_board": True},
        {"name": "open", "title": "Open?", "kind": "yes_no"},
    ]


@pytest.mark.parametrize("main", [made.VERSION_2, made.VERSION_15])
def test_every_key_of_the_bundle_is_named(tmp_path: Path, main: str) -> None:
    main += "quota: 5\nnew_things: {inside: 1}\n"
    imported(tmp_path, made.files(main))
    report = (tmp_path / "to/IMPORT.md").read_text()
    named = set(re.findall(r"^\| `([^`]+)`", report, re.MULTILINE))
    for path in leaves(yaml.safe_load(main)):
        general = re.sub(r"\[[0-9]+\]", "[]", path)
        assert any(general == one or general.startswith((f"{one}.", f"{one}[")) for one in named), path
    assert "| `new_things` | " in report.partition("## No counterpart here")[2].partition("## What")[0]


def leaves(value: Any, path: str = "") -> list[str]:
    if isinstance(value, dict):
        return [one for key, child in value.items() for one in leaves(child, f"{path}.{key}" if path else str(key))]
    if isinstance(value, list) and value:
        return [one for place, child in enumerate(value) for one in leaves(child, f"{path}[{place}]")]
    return [path]


def test_what_became_what_lists_nothing_that_is_open_assumed_or_without_counterpart(tmp_path: Path) -> None:
    found, _ = imported(tmp_path, made.files(f"{made.VERSION_2}new_things: 1\n"))
    became = (tmp_path / "to/IMPORT.md").read_text().partition("## What became what")[2]
    others = {one.path for one in found.notes if one.fate is not Fate.BECAME}
    assert "new_things" in others
    assert others.isdisjoint(re.findall(r"^\| `([^`]+)`", became, re.MULTILINE))


@pytest.mark.parametrize(
    ("main", "path"),
    [(made.VERSION_2, "tasks[0].scoring_program"), (made.VERSION_15, "phases.1.scoring_program")],
)
def test_a_program_without_a_command_is_open(tmp_path: Path, main: str, path: str) -> None:
    content = {**made.files(main), "scoring.zip": made.zipped({"score.py": made.SCORE, "metadata": "description: x\n"})}
    found, _ = imported(tmp_path, content)
    open_ones = [one.path for one in found.open_notes if "names no command" in one.text]
    assert path in open_ones


def test_a_phase_without_a_program_is_open(tmp_path: Path) -> None:
    main = made.VERSION_15.replace("scoring_program: scoring.zip, ", "", 1)
    found, competition = imported(tmp_path, made.files(main))
    assert [one.path for one in found.open_notes if "no scoring program" in one.text] == ["phases.1.scoring_program"]
    assert "Practice" not in {one["title"] for one in competition["phases"]}


def test_leaderboard_without_s_is_read_too(tmp_path: Path) -> None:
    _, competition = imported(tmp_path, made.version_2({"leaderboards:": "leaderboard:"}))
    assert [one["name"] for one in competition["boards"]] == ["spoons-main", "forks-main"]


@pytest.mark.parametrize(
    ("rule", "entry"),
    [
        ("Add", "chosen"),
        ("Add_And_Delete", "chosen"),
        ("Add_And_Delete_Multiple", "all"),
        ("Force_Last", "last"),
        ("Force_Latest_Multiple", "all"),
        ("Force_Best", "best"),
    ],
)
def test_submission_rules_are_entry_rules(tmp_path: Path, rule: str, entry: str) -> None:
    _, competition = imported(tmp_path, made.version_2({"Force_Last": rule}))
    assert {one["entry"] for one in competition["phases"]} == {entry}


def test_a_task_that_runs_code_is_closed_until_it_takes_results(tmp_path: Path) -> None:
    content = made.version_2({"reference_data: gold/": "reference_data: gold/\n    ingestion_program: scoring.zip"})
    found, competition = imported(tmp_path, content)
    assert ("practice", "spoons") not in found.written.gold
    assert "never code of teams" in by_name(competition["tasks"])["spoons"]["description"]
    assert "baselines" not in by_name(competition["phases"])["practice"]["tasks"]["spoons"]
    assert any(note.path == "tasks[0].ingestion_program" for note in found.open_notes)
    (tmp_path / "second").mkdir()
    found, competition = imported(tmp_path / "second", content, takes_results=True)
    assert ("practice", "spoons") in found.written.gold
    assert not found.open_notes


def test_what_another_server_keeps_is_a_named_gap(tmp_path: Path) -> None:
    key = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    found, competition = imported(tmp_path, made.version_2({"reference_data: truth.txt": f"reference_data: {key}"}))
    assert [(one.path, one.text.split("`")[1]) for one in found.open_notes] == [("tasks[1].reference_data", key)]
    assert ("final", "forks") not in found.written.gold
    assert "forks" in by_name(competition["tasks"])


def test_a_hidden_column_that_ranks_is_named(tmp_path: Path) -> None:
    found, competition = imported(
        tmp_path, made.version_2({"key: share, index: 0}": "key: share, index: 0, hidden: true}"})
    )
    assert [one.path for one in found.open_notes] == ["leaderboards[0].columns"]
    assert competition["boards"][0]["columns"][0]["metric"] == "other-score"


def test_a_task_of_another_server_is_left_out_and_named(tmp_path: Path) -> None:
    key = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    found, competition = imported(tmp_path, made.version_2({"    name: Forks\n": f"    key: {key}\n"}))
    assert [one["name"] for one in competition["tasks"]] == ["spoons"]
    assert [list(one["tasks"]) for one in competition["phases"]] == [["spoons"], ["spoons"]]
    assert [one.path for one in found.open_notes] == ["tasks[1].key"]


def test_a_bundle_without_any_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidBundle) as refused:
        imported(tmp_path, made.version_2({"scoring_program: scoring.zip": "scoring_program: gone.zip"}))
    assert any("no task has a scoring program" in one.message for one in refused.value.problems)


def test_gold_among_the_downloads_is_named(tmp_path: Path) -> None:
    content = {**made.version_2({"public_data: public": "public_data: kit.zip"})}
    content["kit.zip"] = made.zipped({"inside/answers.txt": content["gold/truth.txt"], "readme.txt": "Hello."})
    found, _ = imported(tmp_path, content)
    assert [(one.path, one.text) for one in found.open_notes] == [
        (
            "phases[1].public_data",
            "it contains gold of final/forks, so everybody could download the answers: `inside/answers.txt`",
        )
    ]


def test_a_solution_that_is_not_there_is_a_gap_and_code_is_no_baseline(tmp_path: Path) -> None:
    found, _ = imported(tmp_path, made.version_2({"path: sample": "path: solution.zip"}))
    assert [one.text for one in found.open_notes] == ["`solution.zip` is not in the bundle"]
    (tmp_path / "second").mkdir()
    code = made.zipped({"model.py": "class Model: ...\n"})
    found, competition = imported(
        tmp_path / "second", {**made.version_2({"path: sample": "path: code.zip"}), "code.zip": code}
    )
    assert not found.open_notes
    assert "baselines" not in by_name(competition["phases"])["practice"]["tasks"]["spoons"]


# -------------------------------------------------------------------------------------------------------- version 1.5


def test_a_phase_ends_at_the_next_later_start_and_tracks_are_parallel(tmp_path: Path) -> None:
    _, competition = imported(tmp_path, made.files(made.VERSION_15))
    assert [(one["name"], one["start"], one["end"]) for one in competition["phases"]] == [
        ("practice", "2020-01-01 00:00 UTC", "2020-03-01 00:00 UTC"),
        ("english", "2020-03-01 00:00 UTC", "2020-05-01 00:00 UTC"),
        ("french", "2020-03-01 00:00 UTC", "2020-05-01 00:00 UTC"),
        ("late", "2020-05-01 00:00 UTC", "2020-06-01 00:00 UTC"),
    ]


def test_a_phase_that_never_ends_has_no_end(tmp_path: Path) -> None:
    main = made.replaced(made.VERSION_15, {"label: English,": "label: English, phase_never_ends: true,"})
    _, competition = imported(tmp_path, made.files(main))
    assert "end" not in by_name(competition["phases"])["english"]


def test_second_boards_and_computed_columns_are_kept(tmp_path: Path) -> None:
    _, competition = imported(tmp_path, made.files(made.VERSION_15))
    boards = by_name(competition["boards"])
    assert {name: [one["metric"] for one in board["columns"]] for name, board in boards.items()} == {
        "results": ["share"],
        "others": ["other-score", "sum"],
    }
    metrics = by_name(competition["tasks"][0]["options"]["metrics"])
    assert metrics["sum"]["sum_of"] == ["share", "other-score"]
    assert metrics["other-score"]["better"] == "lower"


def test_hidden_results_migration_and_approval(tmp_path: Path) -> None:
    _, competition = imported(tmp_path, made.files(made.VERSION_15))
    phases = by_name(competition["phases"])
    assert phases["french"]["visibility"] == {"slices": "columns", "board": "hidden"}
    assert phases["english"]["carry_over"] == "practice"
    assert competition["registration"] == {"mode": "approval", "terms": "Be **kind**."}


def test_parallel_phases_of_1_8_all_stay(tmp_path: Path) -> None:
    main = made.replaced(
        made.VERSION_15,
        {
            "label: Practice,": "label: Practice, is_parallel_parent: true,",
            "label: English,": "label: English, parent_phasenumber: 1,",
        },
    )
    found, competition = imported(tmp_path, made.files(main))
    assert [one["name"] for one in competition["phases"]] == ["practice", "english", "french", "late"]
    assert found.source.version == "a bundle of CodaLab, version 1.8"


# ----------------------------------------------------------------------------------------------------------- questions


def test_unclear_dates_are_asked_by_line_and_answers_are_used(tmp_path: Path) -> None:
    content = made.version_2({"2026-01-01 00:00 UTC": "8-7-2025", "2026-02-15 00:00 UTC": "9-30-2025"})
    with pytest.raises(Unanswered) as asked:
        imported(tmp_path, content)
    assert [(one.path, one.line, one.about) for one in asked.value.questions] == [
        ("phases[1].start", 34, "order"),
        ("phases[1].start", 34, "zone"),
        ("phases[1].end", 35, "zone"),
    ]
    question = asked.value.questions[0].text
    assert question == "'8-7-2025' is 7 August or 8 July 2025 ('9-30-2025' in this bundle has the month first)"
    assert not (tmp_path / "to").exists()
    _, competition = imported(tmp_path, content, Assumed(find_zone("AoE"), DateOrder.DAY_FIRST))
    assert competition["phases"][0]["start"] == "2025-07-08 00:00 AoE"
    assert competition["phases"][0]["end"] == "2025-09-30 00:00 AoE"


def test_what_was_assumed_is_named(tmp_path: Path) -> None:
    found, _ = imported(tmp_path, made.version_2({"2026-01-01 00:00 UTC": "2026-01-01"}), Assumed(find_zone("UTC")))
    assumed = [one.text for one in found.notes if one.fate is Fate.ASSUMED and one.path == "phases[1].start"]
    assert assumed == [
        "'2026-01-01': no time of day is given: 00:00, the start of the day",
        "'2026-01-01': no zone is given: UTC, as chosen for the import",
    ]


# ------------------------------------------------------------------------------------------------------------- problems


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("title: Spoons and forks", "title: Pop: metal", "not YAML"),
        ("version: 2", "version: 3", "bundle version 3 is not known"),
        ("tasks: [7, 9]", "tasks: [7, 8]", "no task has the index '8'"),
        ("index: 9", "index: 7", "another task has the index 7"),
        ("end: 2026-03-01 23:59 AoE", "end: 2026-01-01 23:59 AoE", "ends before it starts"),
        ("image: logo.png", "image: ../../etc/passwd", "lies outside of the bundle"),
        ("image: logo.png", "image: /etc/passwd", "lies outside of the bundle"),
        ("start: 2026-01-01 00:00 UTC", "start: soon", "is not a date"),
        ("max_submissions: 9", "max_submissions: many", "is a whole number"),
    ],
)
def test_what_is_wrong_is_refused_by_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(InvalidBundle) as refused:
        imported(tmp_path, made.version_2({old: new}))
    problem = refused.value.problems[0]
    assert words in problem.message
    assert problem.line == 1 + made.VERSION_2[: made.VERSION_2.index(old)].count("\n")
    assert not (tmp_path / "to").exists()


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    content = made.version_2({"image: logo.png": "image: ../x", "start: 2026-01-01 00:00 UTC": "start: soon"})
    with pytest.raises(InvalidBundle) as refused:
        imported(tmp_path, content)
    assert len(refused.value.problems) == 2


def test_an_edited_competition_is_not_written_over(tmp_path: Path) -> None:
    imported(tmp_path, made.version_2())
    with pytest.raises(InvalidBundle, match="exists already"):
        imported(tmp_path, made.version_2())


# ----------------------------------------------------------------------------------------------------------------- demo


@pytest.mark.parametrize("name", BUNDLES)
def test_the_demo_zips_hold_their_folders(tmp_path: Path, name: str) -> None:
    pack_demo(tmp_path)
    with zipfile.ZipFile(tmp_path / f"{name}.zip") as made_now, zipfile.ZipFile(HERE / f"{name}.zip") as kept:
        assert {one: kept.read(one) for one in kept.namelist()} == {
            one: made_now.read(one) for one in made_now.namelist()
        }


@pytest.mark.parametrize("name", BUNDLES)
def test_nothing_is_open_in_the_demo_bundles(tmp_path: Path, name: str) -> None:
    target = Target(tmp_path / "to", tmp_path / "gold")
    found = import_codabench(HERE / f"{name}.zip", target, NOTHING, takes_results=False)
    assert found.open_notes == []


@pytest.mark.parametrize(
    ("written", "stands"),
    [
        ("# Overview\n\nText.", "Text."),
        ("### overview ###\nText.\n# Overview\nMore.", "Text.\n# Overview\nMore."),
        ("# Overview of it\n\nText.", "# Overview of it\n\nText."),
        ("Overview\n\nText.", "Overview\n\nText."),
        ("", ""),
    ],
)
def test_a_page_that_begins_with_its_title_has_it_once(written: str, stands: str) -> None:
    assert without_heading(written, "Overview ") == stands
