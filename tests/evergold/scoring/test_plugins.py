"""External task types: which are used, how their scores are signed, and the messages about unusable ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.declarations.check import check_phases
from evergold.cli import run
from evergold.scoring import Score, UnknownTask, tasks as registry
from evergold.scoring.plugins import UnusablePlugin, load_plugins
from evergold.scoring.task import API_VERSION
from evergold.scoring.tasks import OWN, get_task, needs_gpu
from tests.whole import NOW

#: A task type made of one that is there.
GOOD = """\
from dataclasses import replace
from evergold.scoring.tasks.idiom_detection import TASK as IDIOMS
TASK = replace(IDIOMS, name="quiz", api_version=1)
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Lay out a distribution as pip does, with one module that registers `TASK` under a name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(distribution: str, source: str = GOOD, *, name: str = "quiz", version: str = "1.0") -> None:
        module = f"made_up_{distribution.replace('-', '_')}"
        (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
        folder = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (folder / "entry_points.txt").write_text(f"[evergold.tasks]\n{name} = {module}:TASK\n")
        monkeypatch.delitem(sys.modules, module, raising=False)

    return install


def sentences() -> list[str]:
    tasks, unusable = load_plugins(own=OWN)
    assert tasks == {}
    return [str(plugin) for plugin in unusable]


def test_without_plug_ins_there_is_nothing() -> None:
    assert load_plugins(own=OWN) == ({}, ())


def test_a_plug_in_is_there_under_its_name_and_says_where_it_is_from(install: Install) -> None:
    install("team-quiz", version="2.3")
    tasks, unusable = load_plugins(own=OWN)
    assert (list(tasks), unusable) == (["quiz"], ())
    assert tasks["quiz"].distribution == "team-quiz 2.3"


def test_two_releases_sign_the_same_numbers_differently(install: Install, tmp_path: Path) -> None:
    """Check that value, reason and order are the plug-in's; only the signature is extended."""
    source = GOOD + (
        "from evergold.scoring import Score\n"
        "TASK = replace(TASK, score=lambda g, p, o: [Score('m', 'all', 0.5, None, 'quiz:1|m|all'),\n"
        "    Score('m', 'en', None, 'no item', 'quiz:1|m|en')])\n"
    )
    install("team-quiz", source, version="1.0")
    first = load_plugins(own=OWN)[0]["quiz"].score(None, None, None)
    (tmp_path / "team_quiz-1.0.dist-info").rename(tmp_path / "team_quiz-1.1.dist-info")
    (tmp_path / "team_quiz-1.1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: team-quiz\nVersion: 1.1\n"
    )
    second = load_plugins(own=OWN)[0]["quiz"].score(None, None, None)
    assert first == [
        Score("m", "all", 0.5, None, "quiz:1|m|all|from:team-quiz 1.0"),
        Score("m", "en", None, "no item", "quiz:1|m|en|from:team-quiz 1.0"),
    ]
    assert [score.signature for score in second] == [
        "quiz:1|m|all|from:team-quiz 1.1",
        "quiz:1|m|en|from:team-quiz 1.1",
    ]
    assert [replace(one, signature="") for one in first] == [replace(one, signature="") for one in second]


@pytest.mark.parametrize(
    ("source", "name", "reason"),
    [
        (
            GOOD.replace("api_version=1", "api_version=3"),
            "quiz",
            f"has api_version 3; this Evergold needs 1 or {API_VERSION}",
        ),
        (
            GOOD.replace(", api_version=1", ""),
            "quiz",
            f"does not declare its api_version; this Evergold needs 1 or {API_VERSION}",
        ),
        (
            "import nowhere\n",
            "quiz",
            "cannot be loaded (made_up_team_quiz:TASK): ModuleNotFoundError: No module named 'nowhere'",
        ),
        ("TASK = (\n", "quiz", "cannot be loaded (made_up_team_quiz:TASK): SyntaxError: '(' was never closed"),
        ("raise SystemExit(3)\n", "quiz", "cannot be loaded (made_up_team_quiz:TASK): SystemExit: 3"),
        ("task = 1\n", "quiz", "cannot be loaded (made_up_team_quiz:TASK): AttributeError: module 'made_up_team_quiz'"),
        ("TASK = 1\n", "quiz", "cannot be used: made_up_team_quiz:TASK is not an evergold.scoring.task.Task"),
        (GOOD, "riddle", "cannot be used: it calls itself 'quiz'"),
        (GOOD.replace('"quiz"', '"table"'), "table", "has the name of a task type of Evergold itself"),
        (GOOD, "The_Quiz", "has an invalid name: use only letters a-z, digits and hyphens"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_distribution(
    install: Install, source: str, name: str, reason: str
) -> None:
    install("team-quiz", source, name=name)
    [sentence] = sentences()
    assert sentence.startswith(f"the task type '{name}' of team-quiz 1.0 {reason}")


def test_of_two_with_one_name_neither_is_used_and_others_are(install: Install) -> None:
    install("team-quiz")
    install("other-quiz", version="0.9")
    install("team-riddle", GOOD.replace('"quiz"', '"riddle"'), name="riddle")
    tasks, unusable = load_plugins(own=OWN)
    assert list(tasks) == ["riddle"]
    assert [str(plugin) for plugin in unusable] == [
        "the task type 'quiz' of other-quiz 0.9 has the same name as that of team-quiz 1.0; neither is used",
        "the task type 'quiz' of team-quiz 1.0 has the same name as that of other-quiz 0.9; neither is used",
    ]


def test_a_broken_one_stops_no_command(install: Install, tmp_path: Path) -> None:
    install("team-quiz", "import nowhere\n")
    command = [sys.executable, "-m", "evergold.cli", "tasks"]
    done = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "\nidiom-detection\t" in done.stdout
    assert done.stderr.startswith("Left out: the task type 'quiz' of team-quiz 1.0 cannot be loaded")


# ----------------------------------------------------------------------------- where one is asked for that is not there


@pytest.fixture
def left_out(monkeypatch: pytest.MonkeyPatch) -> str:
    plugin = UnusablePlugin("quiz", "team-quiz 1.0", "has api_version 2; this Evergold needs 1")
    monkeypatch.setattr(registry, "unusable_plugins", lambda: (plugin,))
    return str(plugin)


def test_whoever_asks_for_it_is_told_why_it_is_not_there(left_out: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnknownTask, match="of team-quiz 1.0 has api_version 2"):
        get_task("quiz")
    assert run(["tasks", "quiz"]) == 64
    assert left_out in capsys.readouterr().err
    assert not needs_gpu("quiz")


def test_organisers_are_told_why_it_is_not_there(left_out: str, tmp_path: Path) -> None:
    declared = "version: 1\ncompetitions: [{name: a, title: A, tasks: [{name: t, type: quiz, title: T}], boards: []}]\n"
    (tmp_path / "phases.yaml").write_text(declared, encoding="utf-8")
    found = [str(finding) for finding in check_phases(tmp_path / "phases.yaml", now=NOW)]
    assert any(f"there is no task type 'quiz'; {left_out}" in sentence for sentence in found), found
