"""NCIMP: the numbers of the authors' data and a real submission, from the spreadsheet and through the importer."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.declarations.check import check_phases
from app.importers.ncimp import ITEMS, TEMPLATE, import_ncimp
from evergold import scoring
from tests.conformance import conformance

TASK = "idiomaticity-probing"
SPREADSHEET = ("ncimp", "repository", "dataset", "human_compositionality scores.xlsx")
PREDICTION = ("ncimp", "submissions", "tfidf_char.csv")
NAMES = {
    "syn": "sim_syn",
    "comp": "sim_comp",
    "wordssyn": "sim_wordssyn",
    "rand": "sim_rand",
    "aff_syn_wordssyn": "affinity_syn_wordssyn",
    "aff_syn_rand": "affinity_syn_rand",
    "simr_syn": "simr_syn",
    "simr_wordssyn": "simr_wordssyn",
}
SUFFIXES = {"mean": "", "sd": "_sd", "rho": "_rho", "p": "_p"}


def expected_values() -> dict[tuple[str, str], float]:
    """(metric, split) -> value, in our names."""
    path = conformance("ncimp", "submissions", "tfidf_char.expected.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    return {
        (NAMES[measure] + suffix, split.replace("-", "/")): numbers[kind]
        for split, measures in document.items()
        for measure, numbers in measures.items()
        if measure in NAMES
        for kind, suffix in SUFFIXES.items()
    }


def test_all_values_agree_with_the_spreadsheet_as_gold() -> None:
    found = {(s.metric, s.split): s for s in scoring.score(TASK, conformance(*SPREADSHEET), conformance(*PREDICTION))}
    expected = expected_values()
    assert len(expected) == 6 * 8 * 4
    for key, value in expected.items():
        assert found[key].value == pytest.approx(value, rel=1e-9, abs=1e-12), key


def test_languages_that_were_left_out_are_not_entered() -> None:
    scores = scoring.score(TASK, conformance(*SPREADSHEET), conformance(*PREDICTION))
    assert {score.reason for score in scores if score.split.startswith("en/nat")} == {"not entered"}


def test_command_line_prints_them() -> None:
    command = [sys.executable, "-m", "evergold.scoring", TASK, "--format", "json"]
    command += ["--gold", str(conformance(*SPREADSHEET)), "--prediction", str(conformance(*PREDICTION))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    found = {(score["metric"], score["split"]): score["value"] for score in json.loads(done.stdout)["scores"]}
    for key, value in expected_values().items():
        assert found[key] == pytest.approx(value, rel=1e-9, abs=1e-12), key


def test_class_means_average_to_the_whole() -> None:
    """Check that the classes' means, weighted, give the mean: every compound of the Portuguese data has a class."""
    found = {
        (s.metric, s.split): s.value for s in scoring.score(TASK, conformance(*SPREADSHEET), conformance(*PREDICTION))
    }
    sizes = _class_sizes()
    whole = found["affinity_syn_rand", "pt/nat/sent"]
    parts = [(found["affinity_syn_rand", f"pt/nat/sent/{name}"] or 0.0) * size for name, size in sizes.items()]
    assert sum(sizes.values()) == 180
    assert sum(parts) / 180 == pytest.approx(whole, abs=1e-12)


def _class_sizes() -> dict[str, int]:
    import openpyxl

    sheet = openpyxl.load_workbook(conformance(*SPREADSHEET)).worksheets[0]
    classes = {row[3]: row[4] for row in sheet.iter_rows(min_row=2, values_only=True) if row[0] == "pt"}
    names = {"C": "compositional", "PC": "partly", "NC": "idiomatic"}
    return {name: list(classes.values()).count(short) for short, name in names.items()}


def test_imported_competition_scores_the_same(tmp_path: Path) -> None:
    import_ncimp(conformance("ncimp", "repository"), tmp_path / "competition", tmp_path / "gold")
    items, gold = tmp_path / "competition" / ITEMS, tmp_path / "gold" / "ncimp" / "human_scores.csv"
    imported = scoring.score(TASK, gold, conformance(*PREDICTION), items=items)
    assert imported == scoring.score(TASK, conformance(*SPREADSHEET), conformance(*PREDICTION))


def test_imported_template_has_every_row_of_the_submission(tmp_path: Path) -> None:
    import_ncimp(conformance("ncimp", "repository"), tmp_path, tmp_path / "gold")

    def keys(path: Path) -> set[str]:
        return {line.rpartition(",")[0] for line in path.read_text(encoding="utf-8").splitlines()}

    assert keys(tmp_path / TEMPLATE) == keys(conformance(*PREDICTION))


def test_imported_competition_passes_the_check(tmp_path: Path) -> None:
    import_ncimp(conformance("ncimp", "repository"), tmp_path / "competition", tmp_path / "gold")
    found = check_phases(tmp_path / "competition" / "competition.yaml", now=datetime(2026, 1, 1, tzinfo=UTC))
    assert [str(finding) for finding in found if finding.severity == "error"] == []


def test_blind_items_hold_no_human_score(tmp_path: Path) -> None:
    import_ncimp(conformance("ncimp", "repository"), tmp_path, tmp_path / "gold")
    lines = (tmp_path / ITEMS).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "language,context,compound,probe,sentence,nc"
    assert "en,neut,academy award,original,This is an academy award,0 0 0 1 1" in lines
    assert len(lines) == 1 + (281 + 180 * 4) * 10


@pytest.mark.parametrize(
    ("replaced", "by", "sentence"),
    [
        (",syn,sent,0.744028", ",syn,sent,0.744028x", "line 2, column sim: '0.744028x' is not a cosine"),
        ("pt,nat1,abalo sísmico,syn,sent,0.744028\n", "", "pt/nat/sent is half-filled, 1 of 4860"),
        (
            ",0.744028\n",
            ",0.744028\npt,nat1,abalo sísmico,syn,sent,0.7\n",
            "line 3, column compound: nat1 abalo sísmico",
        ),
        ("abalo sísmico,syn,sent", "abalo sismico,syn,sent", "pt/nat/sent is half-filled, 27 of 4887"),
    ],
)
def test_damaged_submission_is_refused(tmp_path: Path, replaced: str, by: str, sentence: str) -> None:
    text = conformance(*PREDICTION).read_text(encoding="utf-8")
    assert replaced in text
    path = tmp_path / "damaged.csv"
    path.write_text(text.replace(replaced, by, 1), encoding="utf-8")
    with pytest.raises(scoring.InvalidPrediction) as caught:
        scoring.score(TASK, conformance(*SPREADSHEET), path)
    assert str(caught.value.problems[0]).startswith(sentence)
    assert len(caught.value.problems) == 1
