"""`evergold import codabench` and `evalai`: from a bundle to a board; what is unclear or open is named."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from sqlalchemy import select

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.competitions.find import find_competition
from app.declarations.revisions.kept import present_revision
from app.models import Competition, GoldVersion, ScoreRow, ScoringRun, Stage
from demo.codabench.pack import HERE
from evergold.cli import run
from evergold.cli.output import Code
from tests import programs
from tests.importers.bundles import made
from workers.sandbox.environments import ASKED, default_environment
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
        (environment.parent / ASKED / default_environment().digest).write_text(environment.name)
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


def test_without_a_server_s_folder_nothing_is_written(evergold: Evergold, bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "phases.yaml").unlink()
    code, _, err = evergold("import", "codabench", bundle, "--apply")
    assert (code, "`evergold init`" in err) == (Code.ERROR, True), err
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


class Terminal(io.StringIO):
    """A terminal at which somebody types."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_asked_once_for_all_dates(
    evergold: Evergold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"2026-01-01 00:00 UTC": "8-7-2025", "2026-02-15 00:00 UTC": "8-9-2025", "solutions:": "others:"}
    bundle = made.written(tmp_path / "bundle.zip", made.version_2(changes))
    monkeypatch.setattr(sys, "stdin", Terminal("mdy\nAoE\n"))
    code, _, err = evergold("import", "codabench", bundle, "--into", "mine")
    assert code == Code.OK, err
    assert "'8-7-2025' is 7 August or 8 July 2025" in err
    phase = yaml.safe_load((tmp_path / "mine/competition.yaml").read_text())["competitions"][0]["phases"][0]
    assert (phase["start"], phase["end"]) == ("2025-08-07 00:00 AoE", "2025-08-09 00:00 AoE")


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
    assert "is not a date" in err


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


def test_what_is_open_makes_a_draft_and_nothing_is_said_of_other_competitions(
    evergold: Evergold, tmp_path: Path
) -> None:
    (tmp_path / "competitions/broken").mkdir(parents=True)
    (tmp_path / "competitions/broken/competition.yaml").write_text("version: 1\ncompetitions: [{name: broken}]\n")
    key = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    changes = {"reference_data: truth.txt": f"reference_data: {key}", "solutions:": "others:"}
    bundle = made.written(tmp_path / "bundle.zip", made.version_2(changes))
    code, out, err = evergold("import", "codabench", bundle, "--apply")
    assert code == Code.REFUSED
    assert "broken" not in out + err
    assert f"open: line 20, tasks[1].reference_data: `{key}` is a data set on the other server" in err
    assert "evergold life set spoons-and-forks --stage published" in out
    with reading(get_engine(get_settings().database_address)) as session:
        assert session.scalars(select(Competition.stage)).all() == [Stage.DRAFT]


@pytest.mark.usefixtures("_sandbox")
def test_two_commands_lead_from_the_demo_bundle_to_scores_to_confirm(evergold: Evergold, tmp_path: Path) -> None:
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
        assert session.scalars(select(Competition.stage)).all() == [Stage.DRAFT]
        runs = session.scalars(select(ScoringRun.id).order_by(ScoringRun.id)).all()
    code, _, err = evergold("life", "confirm", DEMO)
    assert code != Code.OK
    assert "Baseline 'Solution 1' of 'english' in phase 'development' has no score to compare: not scored yet." in err
    for run_id in runs:
        score_submission(run_id)
    assert "evergold life confirm" in evergold("life", "show", DEMO)[1]
    code, _, err = evergold("life", "set", DEMO, "--stage", "published")
    assert code != Code.OK
    assert "not confirmed yet: Its baselines had scores on the other system." in err
    code, out, _ = evergold("life", "confirm", DEMO)
    assert code == Code.OK
    assert "0.3414634146" in out
    assert evergold("life", "set", DEMO, "--stage", "published")[0] == Code.OK
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
    (line,) = (line for line in err.splitlines() if words in line)
    assert "no score of 'Solution 1' of spoons in practice" in line


@pytest.mark.usefixtures("_sandbox")
@pytest.mark.parametrize(
    ("phase", "task", "shares"),
    [("dev", "task-1", ["seen_Share"]), ("test", "task-2", ["seen_Share", "unseen_Share"])],
)
def test_an_evaluation_script_scores_each_split(
    evergold: Evergold, tmp_path: Path, phase: str, task: str, shares: list[str]
) -> None:
    challenge = made.written(tmp_path / "challenge.zip", made.files(made.EVALAI, "challenge_config.yaml"))
    evergold("import", "evalai", challenge)
    (tmp_path / "answers.txt").write_text("a b c c")
    code, out, err = evergold(
        *("score", "program", "--competition", "competitions/spoons-again", "--prediction", "answers.txt"),
        *("--gold", f"var/gold/spoons-again/{phase}/{task}/truth.txt", "--task", task, "--phase", phase),
        *("--format", "json"),
    )
    assert code == Code.OK, err
    scores = {one["metric"]: one["value"] for one in json.loads(out)["scores"]}
    # Three of four are right.
    assert {name: value for name, value in scores.items() if name.endswith("Share")} == dict.fromkeys(shares, 0.75)


# --------------------------------------------------------------------------------------------------------------- export


def document_of(name: str) -> tuple[dict[str, object], dict[str, str]]:
    """Return the current declaration, and the sha256 of its files by path."""
    with reading(get_engine(get_settings().database_address)) as session:
        revision = present_revision(session, find_competition(session, name))
        return revision.document, {file.path: file.sha256 for file in revision.files}


def test_an_exported_bundle_imports_again_as_it_was(evergold: Evergold, bundle: Path, tmp_path: Path) -> None:
    evergold("import", "codabench", bundle, "--apply")
    out = tmp_path / "out.zip"
    code, said, err = evergold("export", "codabench", "spoons-and-forks", "--to", out, "--gold", tmp_path / "var/gold")
    assert code == Code.OK, said + err
    assert "phases follow each other there: 'practice' has to end before 'final' starts" in err
    assert "gold" not in err
    before, files = document_of("spoons-and-forks")
    assert evergold("import", "codabench", out, "--name", "again", "--apply")[0] == Code.OK
    after, files_after = document_of("again")
    assert after == {**before, "name": "again"}
    assert files_after == files
    with reading(get_engine(get_settings().database_address)) as session:
        assert len(session.scalars(select(GoldVersion.id)).all()) == 6


def test_an_exported_bundle_that_was_changed_is_read_by_its_keys(
    evergold: Evergold, bundle: Path, tmp_path: Path
) -> None:
    evergold("import", "codabench", bundle, "--apply")
    out = tmp_path / "out.zip"
    evergold("export", "codabench", "spoons-and-forks", "--to", out, "--gold", tmp_path / "var/gold")
    with zipfile.ZipFile(out) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    main = content["competition.yaml"].decode()
    content["competition.yaml"] = made.replaced(main, {"title: Spoons and forks\n": "title: Knives\n"}).encode()
    evergold("import", "codabench", made.written(tmp_path / "changed.zip", content))
    competition = yaml.safe_load((tmp_path / "competitions/knives/competition.yaml").read_text())["competitions"][0]
    assert competition["title"] == "Knives"
    assert [(one["start"], one["end"]) for one in competition["phases"]] == [
        ("2026-01-01 00:00 UTC", "2026-02-15 00:00 UTC"),
        ("2026-02-01 10:00 UTC", "2026-03-02 11:59 UTC"),
    ]
    metrics = {one["name"] for task in competition["tasks"] for one in task["options"]["metrics"]}
    assert {"share", "other-score"} <= metrics


def test_a_task_type_of_ours_is_scored_there_by_evergold_score(evergold: Evergold, tmp_path: Path) -> None:
    folder = tmp_path / "competitions/words"
    folder.mkdir(parents=True)
    (folder / "competition.yaml").write_text(WORDS)
    assert evergold("apply", "--migrate")[0] == Code.OK
    gold = tmp_path / "gold/words/main/words"
    gold.mkdir(parents=True)
    (gold / "gold.csv").write_text("id,label\n1,a\n2,b\n3,a\n")
    code, _, err = evergold("export", "codabench", "words", "--to", tmp_path / "out.zip", "--gold", tmp_path / "gold")
    assert code == Code.OK, err
    app = tmp_path / "app"
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        main = yaml.safe_load(archive.read("competition.yaml"))
        archive.extractall(app)
    for name in ("input/res", "output"):
        (app / name).mkdir(parents=True)
    (app / main["tasks"][0]["reference_data"]).rename(app / "input/ref")
    (app / "input/res/answers.csv").write_text("id,label\n1,a\n2,b\n3,b\n")
    program = app / main["tasks"][0]["scoring_program"]
    command = [sys.executable, "score.py", str(app / "input"), str(app / "output")]
    subprocess.run(command, cwd=program, check=True)
    scores = json.loads((app / "output/scores.json").read_text())
    keys = [column["key"] for column in main["leaderboards"][0]["columns"]]
    # Two of three are right.
    assert [scores[key] for key in keys] == pytest.approx([2 / 3])


def test_each_phase_has_its_own_tasks_there_and_a_board_ranks_by_the_same_score(
    evergold: Evergold, tmp_path: Path
) -> None:
    """The column that ranks is not the first here, and shares its measure with the first."""
    folder = tmp_path / "competitions/two"
    folder.mkdir(parents=True)
    (folder / "competition.yaml").write_text(TWO)
    code, _, err = evergold("apply", "--migrate")
    assert code == Code.OK, err
    code, _, err = evergold("export", "codabench", "two", "--to", tmp_path / "out.zip")
    assert code == Code.OK, err
    assert "the gold of words in main is not in the bundle: add it as reference_data of task 2" in err
    assert "has to end before" not in err
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        main = yaml.safe_load(archive.read("competition.yaml"))
        tasks = [json.loads(archive.read(f"{one['scoring_program']}/task.json"))[0] for one in main["tasks"]]
    assert [one["name"] for one in main["tasks"]] == ["Words (Practice)", "Idioms (Practice)", "Words (Main)"]
    assert tasks == ["table", "idiom-detection", "table"]
    assert main["registration_auto_approve"] is False
    told = ("name", "tasks", "hide_score_output", "max_submissions_per_day", "max_submissions", "execution_time_limit")
    assert [[one[name] for name in told] for one in main["phases"]] == [
        ["Practice", [0, 1], True, 5, 50, 600],
        ["Main", [2], False, 3, 7, 600],
    ]
    boards = {
        one["key"]: [(column["index"], column["key"]) for column in one["columns"]] for one in main["leaderboards"]
    }
    assert boards == {
        "words": [(0, "accuracy all")],
        "idioms": [(0, "macro_f1 zero_shot/all"), (1, "macro_f1 one_shot/all"), (2, "accuracy zero_shot/all")],
    }


TWO = """\
version: 1
competitions:
  - name: two
    title: Two
    registration: {mode: approval}
    tasks:
      - {name: words, type: table, title: Words, options: {metrics: [accuracy], labels: [a, b]}}
      - {name: idioms, type: idiom-detection, title: Idioms}
    boards:
      - {name: words, title: Words, task: words, columns: [{metric: accuracy, split: all}]}
      - name: idioms
        title: Idioms
        task: idioms
        rank_by: {metric: macro_f1, split: zero_shot/all}
        columns:
          - {metric: macro_f1, split: one_shot/all}
          - {metric: accuracy, split: zero_shot/all}
          - {metric: macro_f1, split: zero_shot/all}
    phases:
      - name: practice
        title: Practice
        start: 2026-01-01 00:00 UTC
        end: 2026-02-01 00:00 UTC
        visibility: {own_scores: never}
        tasks: {words: {}, idioms: {}}
      - name: main
        title: Main
        start: 2026-02-02 00:00 UTC
        end: 2026-03-02 00:00 UTC
        limits: {per_day: 3, total: 7}
        tasks: {words: {}}
"""
WORDS = """\
version: 1
competitions:
  - name: words
    title: Words
    tasks:
      - {name: words, type: table, title: Words, options: {metrics: [accuracy], labels: [a, b]}}
    boards:
      - {name: words, title: Words, task: words, columns: [{metric: accuracy, split: all}]}
    phases:
      - {name: main, title: Main, start: 2026-01-01 00:00 UTC, tasks: {words: {}}}
"""
