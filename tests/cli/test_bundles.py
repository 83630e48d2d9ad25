"""`evergold import codabench` and `evalai`: from a bundle to a board; what is unclear or open is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from sqlalchemy import select

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.models import Competition, GoldVersion, ScoreRow, ScoringRun, Stage
from demo.codabench.pack import HERE
from evergold.cli import run
from evergold.cli.output import Code
from tests import programs
from tests.importers.bundles import made
from workers.sandbox.environments import ASKED, default_wanted
from workers.score import score_submission

Evergold = Callable[..., tuple[int, str, str]]

PHASES = 'version: 1\ninclude: ["competitions/*/competition.yaml"]\n'
DEMO = "expression-or-its-words-english-portuguese"


@pytest.fixture
def evergold(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Evergold:
    """`evergold …` in a folder whose phases.yaml includes competitions; exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVERGOLD_DATA_DIR")
    (tmp_path / "phases.yaml").write_text(PHASES)

    def evergold(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return evergold


@pytest.fixture
def _sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A sandbox whose default environment has no packages: the demo's programs need none."""
    for environment in programs.bare_environment():
        (environment.parent / ASKED / default_wanted().digest).write_text(environment.name)
        monkeypatch.setenv("EVERGOLD_ENVIRONMENTS_DIR", str(environment.parent))
        yield


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return made.written(tmp_path / "bundle.zip", made.version_2({"solutions:": "solutions: []\nothers:"}))


def test_dates_that_are_unclear_end_with_their_lines_and_nothing_is_written(evergold: Evergold, tmp_path: Path) -> None:
    changes = {"2026-01-01 00:00 UTC": "8-7-2025", "2026-02-15 00:00 UTC": "2025-09-30"}
    bundle = made.written(tmp_path / "bundle.zip", made.version_2(changes))
    code, _, err = evergold("import", "codabench", bundle, "--no-apply")
    assert code == Code.REFUSED
    assert "Decide with --assume-zone UTC|AoE|Europe/Paris and --assume-dates mdy|dmy." in err
    assert "competition.yaml, line 34: phases[1].start: '8-7-2025' is 7 August or 8 July 2025" in err
    assert not (tmp_path / "competitions").exists()


def test_answers_on_the_command_line_are_used(evergold: Evergold, tmp_path: Path) -> None:
    changes = {"2026-01-01 00:00 UTC": "8-7-2025", "2026-02-15 00:00 UTC": "2025-09-30", "solutions:": "others:"}
    bundle = made.written(tmp_path / "bundle.zip", made.version_2(changes))
    code, out, err = evergold(
        "import", "codabench", bundle, "--assume-zone", "Europe/Paris", "--assume-dates", "dmy", "--into", "mine"
    )
    assert code == Code.OK, err
    phase = yaml.safe_load((tmp_path / "mine/competition.yaml").read_text())["competitions"][0]["phases"][0]
    assert (phase["start"], phase["end"]) == ("2025-07-08 00:00 +02:00", "2025-09-30 00:00 +02:00")
    assert "evergold gold put spoons-and-forks/final/forks " in out


@pytest.mark.parametrize("option", [("--assume-zone", "Mars"), ("--assume-dates", "ymd")])
def test_an_answer_that_is_none_is_wrong_usage(evergold: Evergold, bundle: Path, option: tuple[str, str]) -> None:
    assert evergold("import", "codabench", bundle, *option)[0] == Code.USAGE


def test_what_is_wrong_is_told_in_full(evergold: Evergold, tmp_path: Path) -> None:
    changes = {"image: logo.png": "image: ../x", "start: 2026-01-01 00:00 UTC": "start: soon"}
    bundle = made.written(tmp_path / "bundle.zip", made.version_2(changes))
    code, _, err = evergold("import", "codabench", bundle)
    assert code == Code.ERROR
    assert err.startswith("Error: Nothing was imported:\n  ")
    assert "lies outside of the bundle" in err
    assert "is no date" in err


def test_an_import_is_a_sound_declaration(evergold: Evergold, bundle: Path) -> None:
    assert evergold("import", "codabench", bundle)[0] == Code.OK
    code, out, err = evergold("check")
    assert code == Code.OK, out + err


def test_an_import_of_1_5_and_one_of_evalai_are_sound_too(evergold: Evergold, tmp_path: Path) -> None:
    old = made.written(tmp_path / "old.zip", made.files(made.VERSION_15))
    challenge = made.written(tmp_path / "challenge.zip", made.files(made.EVALAI, "challenge_config.yaml"))
    assert evergold("import", "codabench", old)[0] == Code.OK
    # One phase of the challenge shows boards of two visibilities, of which one is lost.
    assert evergold("import", "evalai", challenge)[0] == Code.REFUSED
    code, out, err = evergold("check")
    assert code == Code.OK, out + err


def test_what_is_open_makes_a_draft(evergold: Evergold, tmp_path: Path) -> None:
    key = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    changes = {"reference_data: truth.txt": f"reference_data: {key}", "solutions:": "others:"}
    bundle = made.written(tmp_path / "bundle.zip", made.version_2(changes))
    code, out, err = evergold("import", "codabench", bundle, "--apply")
    assert code == Code.REFUSED
    assert f"open: line 20, tasks[1].reference_data: `{key}` is a data set on that server" in err
    assert "evergold life set spoons-and-forks --stage published" in out
    with reading(get_engine(get_settings().database_address)) as session:
        assert session.scalars(select(Competition.stage)).all() == [Stage.DRAFT]


@pytest.mark.usefixtures("_sandbox")
def test_two_commands_lead_from_the_demo_bundle_to_scores(evergold: Evergold, tmp_path: Path) -> None:
    code, out, err = evergold("import", "codabench", HERE / "results.zip", "--apply")
    assert code == Code.OK, err
    # Of the 27 English sentences 14 have the label 0, which the baseline gives all of them: F1 is 28/41 and 0.
    assert "Baseline 'Solution 1' of english in development: macro-F1 0.3414634146" in out
    assert (
        "| development | english | Solution 1 | macro-F1 0.3414634146, accuracy 0.5185185185, "
        in (tmp_path / f"competitions/{DEMO}/IMPORT.md").read_text()
    )
    assert (tmp_path / f"var/gold/{DEMO}/development/english/english.zip").is_file()
    engine = get_engine(get_settings().database_address)
    with writing(engine) as session:
        assert session.scalars(select(Competition.stage)).all() == [Stage.PUBLISHED]
        runs = session.scalars(select(ScoringRun.id).order_by(ScoringRun.id)).all()
    for run_id in runs:
        score_submission(run_id)
    with reading(engine) as session:
        scores = session.scalars(select(ScoreRow.value).where(ScoreRow.metric == "macro-F1").order_by(ScoreRow.run_id))
        assert scores.all() == pytest.approx([28 / 41 / 2, 1 / 3])
    assert evergold("apply")[1].splitlines()[-1] == "Nothing to change."


@pytest.mark.usefixtures("_sandbox")
def test_sealed_gold_leaves_no_plain_copy(evergold: Evergold, tmp_path: Path) -> None:
    code, out, err = evergold("import", "codabench", HERE / "tracks.zip", "--seal")
    assert code == Code.OK, out + err
    with reading(get_engine(get_settings().database_address)) as session:
        assert len(session.scalars(select(GoldVersion.id)).all()) == 3
    assert not [path for path in tmp_path.rglob("*") if path.name in ("labels.csv", "main.zip")]


@pytest.mark.usefixtures("_sandbox")
def test_a_baseline_that_its_program_cannot_score_is_open(evergold: Evergold, tmp_path: Path) -> None:
    program = made.zipped({"metadata": made.METADATA, "score.py": "import sys\nsys.exit('no answers at all')\n"})
    bundle = made.written(tmp_path / "bundle.zip", {**made.version_2(), "scoring.zip": program})
    code, _, err = evergold("import", "codabench", bundle)
    assert code == Code.REFUSED
    words = "the program ended with exit code 1 (no answers at all)"
    assert f"baseline 'Solution 1' of spoons in practice: {words}" in err
