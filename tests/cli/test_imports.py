"""`evergold import …`: every importer writes, checks and applies; all faults of the source are reported."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evergold.cli import run
from evergold.cli.output import Code
from tests import official_shapes

Evergold = Callable[..., tuple[int, str, str]]

PHASES = 'version: 1\ninclude: ["competitions/*/competition.yaml"]\n'


@pytest.fixture
def evergold(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Evergold:
    """`evergold …` in a folder whose phases.yaml includes competitions; exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVERGOLD_DATA_DIR")
    (tmp_path / "phases.yaml").write_text(PHASES)

    def evergold(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return evergold


@pytest.mark.parametrize(
    ("name", "source", "options", "folder", "competition", "gold"),
    [
        (
            "parseme",
            official_shapes.parseme,
            ("--edition", "1.2"),
            "parseme-1.2",
            "parseme-1-2",
            "parseme-1.2/evaluation/FR/test.cupt",
        ),
        ("astitch", official_shapes.astitch, (), "astitch", "astitch", "astitch"),
        ("ncimp", official_shapes.ncimp, (), "ncimp", "ncimp", "ncimp/human_scores.csv"),
    ],
)
def test_an_imported_competition_is_applied_and_found_sound(
    evergold: Evergold,
    tmp_path: Path,
    name: str,
    source: Callable[[Path], Path],
    options: tuple[str, ...],
    folder: str,
    competition: str,
    gold: str,
) -> None:
    if name == "ncimp":
        pytest.importorskip("openpyxl")
    code, out, err = evergold("import", name, source(tmp_path / "checkout"), *options)
    assert code == Code.OK, err
    assert f"Wrote competitions/{folder}/competition.yaml and " in out
    assert f"added competition '{competition}'" in out
    assert (tmp_path / "var/gold" / gold).exists()
    assert evergold("apply")[1].splitlines()[-1] == "Nothing to change."
    assert evergold("check")[0] == Code.OK


def test_importing_one_competition_says_nothing_of_others(evergold: Evergold, tmp_path: Path) -> None:
    """Check one that was imported before, and one whose file is broken."""
    assert evergold("import", "astitch", official_shapes.astitch(tmp_path / "first"))[0] == Code.OK
    broken = tmp_path / "competitions/broken/competition.yaml"
    broken.parent.mkdir(parents=True)
    broken.write_text("version: 1\ncompetitions:\n  - name: Not a name\n")
    code, out, err = evergold("import", "parseme", official_shapes.parseme(tmp_path / "second"), "--edition", "1.1")
    assert code == Code.OK, err
    assert "added competition 'parseme-1-1'" in out
    assert "astitch" not in out + err
    assert "broken" not in out + err


def test_without_apply_the_database_is_left_alone(evergold: Evergold, tmp_path: Path) -> None:
    gold = tmp_path / "secret"
    source = official_shapes.parseme(tmp_path / "checkout")
    code, out, _ = evergold("import", "parseme", source, "--edition", "1.1", "--no-apply", "--gold-dir", gold)
    assert code == Code.OK
    assert "`evergold check`, then `evergold apply`" in out
    assert not (tmp_path / "var").exists()
    assert (gold / "parseme-1.1/evaluation/FR/test.cupt").is_file()


@pytest.mark.parametrize("edition", [(), ("--edition", "1.0")])
def test_the_edition_is_one_of_those_there_are(evergold: Evergold, tmp_path: Path, edition: tuple[str, ...]) -> None:
    code, _, err = evergold("import", "parseme", tmp_path, *edition)
    assert code == Code.USAGE
    assert "--edition" in err


@pytest.mark.parametrize("arguments", [("parseme", "--edition", "1.2"), ("astitch",), ("ncimp",)])
def test_what_a_folder_lacks_is_said_and_nothing_is_written(
    evergold: Evergold, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "empty").mkdir()
    name, *options = arguments
    code, _, err = evergold("import", name, tmp_path / "empty", *options)
    assert code == Code.ERROR
    assert err.startswith("Error: Nothing was imported:\n  ")
    assert not (tmp_path / "competitions").exists()


def test_an_edited_competition_is_not_written_over(evergold: Evergold, tmp_path: Path) -> None:
    mine = tmp_path / "mine" / "competition.yaml"
    mine.parent.mkdir()
    mine.write_text("# mine\n")
    code, _, err = evergold(
        "import", "parseme", official_shapes.parseme(tmp_path / "checkout"), "--edition", "1.2", "--into", "mine"
    )
    assert (code, mine.read_text()) == (Code.ERROR, "# mine\n")
    assert "exists already" in err


# ----------------------------------------------------------------------------------------------------------- results

TABLE = "Team,Global F1,Tokens,Rank\nAlpha,41.5,50.25,1\nBeta,40,-,2\n"
COLUMNS = ("--column", "Global F1=mwe_f1 macro", "--column", "Tokens=token_f1 macro", "--column", "Rank=")


def test_a_results_list_becomes_historic_rows(evergold: Evergold, tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(TABLE)
    code, out, err = evergold("import", "results", "results.csv", "--into", "historic/all.csv", "--percent", *COLUMNS)
    assert (code, err) == (Code.OK, "")
    assert "Wrote 3 scores into historic/all.csv." in out
    with (tmp_path / "historic/all.csv").open(newline="") as file:
        rows = [(row["team"], row["metric"], row["split"], float(row["value"])) for row in csv.DictReader(file)]
    assert rows == [
        ("Alpha", "mwe_f1", "macro", 0.415),
        ("Alpha", "token_f1", "macro", 0.5025),
        ("Beta", "mwe_f1", "macro", 0.4),
    ]


def test_a_column_that_nobody_explained_is_warned_of(evergold: Evergold, tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(TABLE)
    _, _, err = evergold("import", "results", "results.csv", "--into", "all.csv", "--percent", *COLUMNS[:4])
    assert err.startswith("Warning: ")
    assert "Rank" in err


def test_a_results_list_that_cannot_be_used_is_refused(evergold: Evergold, tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(TABLE)
    for wrong, said in (("Global F1=f1 macro", "no metric f1"), ("Globe=mwe_f1 macro", "no such column")):
        code, _, err = evergold("import", "results", "results.csv", "--into", "all.csv", "--column", wrong)
        assert code == Code.ERROR
        assert said in err
    code, _, err = evergold("import", "results", "results.csv", "--into", "all.csv", "--column", "Global F1")
    assert code == Code.USAGE
    assert not (tmp_path / "all.csv").exists()


def test_existing_historic_rows_are_not_written_over(evergold: Evergold, tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(TABLE)
    (tmp_path / "all.csv").write_text("mine")
    code, _, err = evergold("import", "results", "results.csv", "--into", "all.csv", *COLUMNS)
    assert (code, (tmp_path / "all.csv").read_text()) == (Code.ERROR, "mine")
    assert "all.csv exists already" in err


def test_an_unknown_task_type_is_said(evergold: Evergold, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps({}))
    code, _, err = evergold(
        "import", "results", "results.json", "--into", "all.csv", "--task", "mwe", "--column", "a=mwe_f1 macro"
    )
    assert code == Code.ERROR
    assert "mwe" in err
