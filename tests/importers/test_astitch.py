"""The AStitch importer on a small checkout written here: its result, and its messages about a wrong checkout."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from app.importers.astitch import import_astitch
from evergold.scoring.errors import InvalidFile
from tests import official_shapes
from tests.official_shapes import RAW


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return official_shapes.astitch(tmp_path / "checkout")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_task_1_keeps_the_authors_row_numbers(checkout: Path, tmp_path: Path) -> None:
    import_astitch(checkout, tmp_path / "competition", tmp_path / "gold")
    assert rows_of(tmp_path / "gold" / "astitch" / "dev" / "coarse-en.csv") == [
        {"ID": "dev.EN.0", "Language": "EN", "Label": "0"},
        {"ID": "dev.EN.1", "Language": "EN", "Label": "1"},
    ]
    fine = rows_of(tmp_path / "competition" / "public" / "test" / "fine-pt" / "items.csv")
    assert fine[3] == {
        "ID": "test.PT.3",
        "Language": "PT",
        "SentenceID": "test.PT.s1",
        "MWE": "big fish",
        "Sentence": "They caught a big fish.",
        "Meaning": "large animal",
    }


def test_task_2_target_without_a_number_is_the_other_pair(checkout: Path, tmp_path: Path) -> None:
    import_astitch(checkout, tmp_path / "competition", tmp_path / "gold")
    items = {
        row["ID"]: row for row in rows_of(tmp_path / "competition" / "public" / "dev" / "similarity-en" / "items.csv")
    }
    gold = {
        (items[row["ID"]]["sentence1"], items[row["ID"]]["sentence2"]): row
        for row in rows_of(tmp_path / "gold" / "astitch" / "dev" / "similarity-en.csv")
    }
    assert len(items) == 4  # two pairs, the one pair that is only a target, one STS pair
    right = gold["He is a big fish.", "He is an important person."]
    wrong = gold["He is a big fish.", "He is a large animal."]
    sts = gold["A man, eating.", "A man."]
    assert (right["sim"], right["otherID"], right["DataID"]) == ("1", "", "dev.EN.1.1")
    assert (sts["sim"], sts["otherID"], sts["DataID"]) == ("0.5", "", "dev.EN.sts.1")
    assert wrong["sim"] == ""
    other = items[wrong["otherID"]]
    assert (other["sentence1"], other["sentence2"]) == ("He is an important person.", "He is a large animal.")


def test_same_checkout_gives_the_same_files(checkout: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        import_astitch(checkout, tmp_path / name / "competition", tmp_path / name / "gold")
    one, two = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert one == two
    tasks, boards, phases = 6, 16, 2
    files = (3 * tasks + boards) * phases + 1  # items, template and gold; published results; the declaration
    baselines = 2 * ((2 + 1 + 1) + (3 + 1 + 1))  # of coarse, fine, similarity; on dev nothing to learn from
    assert len(one) == files + baselines


def test_all_that_is_missing_is_said_at_once_and_nothing_is_written(checkout: Path, tmp_path: Path) -> None:
    (checkout / "Dataset/Task1/SubTaskA/EN/ContextExcluded_IdiomIncluded/dev.csv").unlink()
    sts = checkout / "Dataset/Task2/CreateEvaluationData/EvalSTSData/pt_test_Eval_STS_Data.csv"
    sts.write_text("0.5,only one sentence\n", encoding="utf-8")
    with pytest.raises(InvalidFile) as caught:
        import_astitch(checkout, tmp_path / "competition", tmp_path / "gold")
    assert [(problem.code, problem.file, problem.line) for problem in caught.value.problems] == [
        ("missing-file", "Dataset/Task1/SubTaskA/EN/ContextExcluded_IdiomIncluded/dev.csv", None),
        ("wrong-field-count", "Dataset/Task2/CreateEvaluationData/EvalSTSData/pt_test_Eval_STS_Data.csv", 1),
    ]
    assert not (tmp_path / "competition").exists()
    assert not (tmp_path / "gold").exists()


def test_pair_that_is_there_twice_is_refused(checkout: Path, tmp_path: Path) -> None:
    raw = checkout / "Dataset/Task2/CreateEvaluationData/EN/WithResults/evalData/dev_rawSimData.csv"
    raw.write_text(RAW + RAW.splitlines()[1] + "\n", encoding="utf-8")
    with pytest.raises(InvalidFile, match="occurs twice"):
        import_astitch(checkout, tmp_path / "competition", tmp_path / "gold")


def test_competition_that_was_imported_before_is_not_written_over(checkout: Path, tmp_path: Path) -> None:
    written = import_astitch(checkout, tmp_path / "competition", tmp_path / "gold")
    assert set(written) == {path for path in tmp_path.rglob("*.*") if checkout not in path.parents}
    edited = tmp_path / "competition" / "competition.yaml"
    edited.write_text("# mine\n", encoding="utf-8")
    with pytest.raises(InvalidFile, match="this file exists already"):
        import_astitch(checkout, tmp_path / "competition", tmp_path / "gold")
    assert edited.read_text(encoding="utf-8") == "# mine\n"
