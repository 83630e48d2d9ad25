"""`evergold score program`: a program run locally, in a sandbox or trusted, with the usual exit codes of scoring."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from evergold.cli import run
from tests import programs
from tests.programs import GOLD, GOOD, OPTIONS, answers, document, write_competition, zipped

GOLDEN = Path(__file__).parents[2] / "golden" / "program"


@pytest.fixture(scope="module")
def environment() -> Iterator[Path]:
    yield from programs.bare_environment()


@pytest.fixture
def forms(tmp_path: Path) -> Path:
    """The folder of the competition, with gold where it is looked for."""
    write_competition(tmp_path / "forms")
    (tmp_path / "forms" / "gold").mkdir()
    (tmp_path / "forms" / "gold" / "gold.csv").write_text(GOLD)
    return tmp_path / "forms"


def scored(forms: Path, content: str | bytes, *more: str, name: str = "answers.csv") -> int:
    file = forms.parent / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return run(["score", "program", "--competition", str(forms), "--prediction", str(file), *more])


def test_the_sandbox_gives_the_servers_scores_and_signatures(
    forms: Path, environment: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVERGOLD_ENVIRONMENTS_DIR", str(environment.parent))
    assert scored(forms, GOOD, "--format", "json") == 0
    document = json.loads(capfd.readouterr().out)
    assert [(one["metric"], one["value"]) for one in document["scores"]] == [
        ("accuracy", 0.75), ("covered", 4.0), ("both", 2.375),
    ]  # fmt: skip
    assert f"|environment:{environment.name[:12]}|" in document["scores"][0]["signature"]
    assert document["log"]["undeclared"] == {"secret": "'sang'"}


@pytest.mark.parametrize("trust", [True, False])
def test_the_golden_program_gives_what_was_calculated_by_hand(
    trust: bool,
    environment: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("EVERGOLD_ENVIRONMENTS_DIR", str(environment.parent))
    case = json.loads((GOLDEN / "case.json").read_text(encoding="utf-8"))
    said = document()
    said["tasks"][0].update(program="golden", options=case["options"])
    said["boards"][0]["columns"] = [{"metric": "accuracy", "split": "all"}]
    main = write_competition(tmp_path, said)
    shutil.copytree(GOLDEN / "program", tmp_path / "golden")
    files = ["--gold", str(GOLDEN / "gold"), "--prediction", str(GOLDEN / "prediction.csv"), "--format", "json"]
    assert run(["score", "program", "--competition", str(main), *files, *(["--trust"] if trust else [])]) == 0
    found = {one["metric"]: one["value"] for one in json.loads(capfd.readouterr().out)["scores"]}
    assert found == {name: float(Fraction(value)) for name, value in case["scores"].items()}


def test_a_trusted_program_runs_without_a_sandbox_and_says_so(forms: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert scored(forms, zipped({"answers.csv": GOOD}, outer="mine/"), "--trust", name="sent.zip") == 0
    said = capfd.readouterr()
    assert said.out.splitlines()[1:] == ["accuracy\tall\t0.750000", "covered\tall\t4.000000", "both\tall\t2.375000"]
    assert "The program runs without a sandbox: it can read, change and send everything that you can." in said.err
    left = sorted(path.name for path in (forms / "programs" / "forms").iterdir())
    assert left == sorted(programs.files_of()), "copies alone are run"


@pytest.mark.parametrize(
    ("content", "code", "sentences"),
    [
        ("id,word\n1,a\n", 2, ["answers.csv, line 1: the column form is missing"]),
        (answers("crash"), 4, ["The program ended with exit code 1.", "KeyError: the gold form is walked"]),
    ],
)
def test_exit_codes_say_whose_fault_it_is_and_what_the_program_said_is_printed(
    forms: Path, content: str, code: int, sentences: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert scored(forms, content, "--trust") == code
    said = capfd.readouterr().err
    assert [sentence for sentence in sentences if sentence not in said] == []


def test_gold_may_lie_elsewhere_as_a_file_that_keeps_its_name(
    forms: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (forms / "gold" / "gold.csv").rename(tmp_path / "gold.csv")
    (forms / "gold").rmdir()
    assert scored(forms, GOOD, "--trust") == 64
    assert "name the gold with --gold" in capfd.readouterr().err
    assert scored(forms, GOOD, "--trust", "--gold", str(tmp_path / "gold.csv")) == 0


def test_a_wrong_declaration_is_told_by_line(forms: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (forms / "programs" / "forms" / "metadata.yaml").unlink()
    assert scored(forms, GOOD, "--trust") == 64
    assert "has no command" in capfd.readouterr().err


def test_other_types_need_gold_and_know_no_competition(forms: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = forms / "gold" / "gold.csv"
    assert run(["score", "table", "--prediction", str(file)]) == 64
    assert run(["score", "table", "--prediction", str(file), "--gold", str(file), "--trust"]) == 64
    assert "--competition and --trust are only for `evergold score program`" in capfd.readouterr().err


def test_a_file_is_validated_at_home_by_the_options_alone(forms: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = forms / "answers.csv"
    options = [part for name in ("metrics", "tables") for part in ("--option", f"{name}={json.dumps(OPTIONS[name])}")]
    file.write_text(GOOD)
    assert run(["validate", str(file), "--task", "program", *options]) == 0
    file.write_text("id,form\n1\n")
    assert run(["validate", str(file), "--task", "program", *options]) == 2
    assert "1 field, the header has 2" in capfd.readouterr().out
