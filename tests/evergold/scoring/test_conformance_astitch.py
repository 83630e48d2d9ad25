"""AStitchInLanguageModels: the importer's files and the registered tasks give the numbers of the authors' measures."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.declarations.check import check_phases
from app.importers.astitch import NAME, PARTS, Part, declaration, import_astitch, options_of
from evergold import scoring
from tests.conformance import conformance

BY_NAME = {part.name: part for part in PARTS}


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("astitch")
    import_astitch(conformance("astitch", "repository"), folder / "competition", folder / "gold")
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def expected(key: str) -> dict[str, float]:
    document = json.loads(conformance("astitch", "submissions", "expected.json").read_text(encoding="utf-8"))
    values: dict[str, float] = document[key]
    return values


def fill(imported: Path, part: Part, language: str, phase: str, setting: str, values: Mapping[str, str]) -> Path:
    """Return the template with one setting filled in by id, the others left empty."""
    rows = rows_of(imported / "competition" / "public" / phase / f"{part.name}-{language}" / "template.csv")
    column = list(rows[0])[-1]
    for row in rows:
        row[column] = values[row["ID"]] if row["Setting"] == setting else ""
    path = imported / f"{part.name}-{language}-{phase}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def scored(imported: Path, part: Part, language: str, phase: str, prediction: Path) -> dict[str, float | None]:
    gold = imported / "gold" / NAME / phase / f"{part.name}-{language}.csv"
    items = imported / "competition" / "public" / phase / f"{part.name}-{language}" / "items.csv"
    found = scoring.score(part.type, gold, prediction, options_of(part, language), items)
    return {f"{score.metric} {score.split}": score.value for score in found}


@pytest.mark.parametrize("language", ["en", "pt"])
@pytest.mark.parametrize("name", ["coarse", "fine"])
@pytest.mark.parametrize("setting", ["zero_shot", "few_shot"])
def test_task_1_agrees(imported: Path, name: str, language: str, setting: str) -> None:
    submission = conformance("astitch", "submissions", f"task1_{name}", language.upper(), "test_noisy.csv")
    labels = {f"test.{language.upper()}.{row['row']}": row["label"] for row in rows_of(submission)}
    prediction = fill(imported, BY_NAME[name], language, "test", setting, labels)
    found = scored(imported, BY_NAME[name], language, "test", prediction)
    numbers = expected(f"task1_{name}/{language.upper()}/test")
    assert len(labels) == numbers["rows"]
    for metric in ("macro_f1", "accuracy"):
        assert found[f"{metric} {setting}/{language}"] == pytest.approx(numbers[metric], abs=1e-9)
        assert found[f"{metric} {setting}/all"] == pytest.approx(numbers[metric], abs=1e-9)
        assert found[f"{metric} one_shot/all"] is None


@pytest.mark.parametrize("phase", ["dev", "test"])
@pytest.mark.parametrize("language", ["en", "pt"])
def test_task_2_agrees(imported: Path, language: str, phase: str) -> None:
    submission = conformance("astitch", "submissions", "task2", language.upper(), f"{phase}_submission_tfidf.csv")
    sims = {(row["sentence1"], row["sentence2"]): row["sim"] for row in rows_of(submission)}
    items = rows_of(imported / "competition" / "public" / phase / f"similarity-{language}" / "items.csv")
    by_id = {row["ID"]: sims[row["sentence1"], row["sentence2"]] for row in items}
    part = BY_NAME["similarity"]
    found = scored(imported, part, language, phase, fill(imported, part, language, phase, "pre_train", by_id))
    numbers = expected(f"task2/{language.upper()}/{phase}")
    for ours, theirs in (("all", "all"), ("idiom", "non_sts"), ("sts", "sts")):
        assert found[f"spearman pre_train/{language}/{ours}"] == pytest.approx(numbers[f"spearman_{theirs}"], abs=1e-9)
        assert found[f"spearman pre_train/all/{ours}"] == pytest.approx(numbers[f"spearman_{theirs}"], abs=1e-9)
        assert found[f"spearman fine_tune/all/{ours}"] is None


def test_gold_as_prediction_is_perfect(imported: Path) -> None:
    for name in ("coarse", "fine"):
        for language in ("en", "pt"):
            for phase in ("dev", "test"):
                gold = rows_of(imported / "gold" / NAME / phase / f"{name}-{language}.csv")
                labels = {row["ID"]: row["Label"] for row in gold}
                prediction = fill(imported, BY_NAME[name], language, phase, "one_shot", labels)
                found = scored(imported, BY_NAME[name], language, phase, prediction)
                assert {v for n, v in found.items() if "one_shot" in n} == {1.0}


def test_blind_items_hold_no_answer(imported: Path) -> None:
    for part in PARTS:
        for path in (imported / "competition").glob(f"public/*/{part.name}-*/items.csv"):
            assert {"Label", "label", "sim", "otherID", "DataID"}.isdisjoint(rows_of(path)[0])


def test_order_of_task_2_pairs_tells_nothing(imported: Path) -> None:
    """Gold keeps the authors' order; the ids, and the blind file with them, are shuffled against it."""
    for path in (imported / "gold" / NAME).glob("*/similarity-*.csv"):
        numbers = [int(row["ID"].rpartition(".")[2]) for row in rows_of(path)]
        rising = sum(a < b for a, b in zip(numbers, numbers[1:], strict=False))
        assert 0.4 < rising / len(numbers) < 0.6


def test_competition_passes_the_check_with_its_historic_rows(imported: Path) -> None:
    found = check_phases(imported / "competition" / "competition.yaml", now=datetime(2026, 1, 1, tzinfo=UTC))
    assert [str(finding) for finding in found if finding.severity == "error"] == []
    figures = set()
    for path in (imported / "competition" / "historic").iterdir():
        part, language, *_, phase = path.stem.split("-")
        figures |= {(part, language, phase, *row.values()) for row in rows_of(path)}
    assert len(figures) == 128  # those of tables 4 to 9, 12 and 13, each on the board of its setting


def test_gold_stands_where_the_declaration_says(imported: Path) -> None:
    names = {task["gold"] for phase in declaration()["phases"] for task in phase["tasks"].values()}
    assert names == {path.relative_to(imported / "gold").as_posix() for path in (imported / "gold").rglob("*.csv")}


def test_a_published_figure_stands_where_it_belongs(imported: Path) -> None:
    rows = rows_of(imported / "competition" / "historic" / "coarse-en-few-shot-test.csv")
    best = {"team": "XLNet base (cased), no context, with MWE", "metric": "macro_f1", "split": "few_shot/all"}
    assert [row["value"] for row in rows if best.items() <= row.items()] == ["0.971"]
    similar = rows_of(imported / "competition" / "historic" / "similarity-pt-fine-tune-test.csv")
    tuned = {"team": "All Tokenized", "metric": "spearman", "split": "fine_tune/all/idiom"}
    assert [row["value"] for row in similar if tuned.items() <= row.items()] == ["0.379"]
