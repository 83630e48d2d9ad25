"""Programs without a sandbox, for people who trust them on their own machine."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workers.sandbox.conftest import LIMITS, Place
from workers.sandbox import Ended, Limits, Outcome, Program
from workers.sandbox.trusted import run_trusted


@pytest.fixture
def home(tmp_path: Path) -> Place:
    """Folders for a program; no sandbox is needed."""
    place = Place(tmp_path, tmp_path)
    place.write({"program/lib.py": "", "gold/gold.txt": "right\n", "submission/answer.txt": "right\n"})
    return place


def call(home: Place, code: str, limits: Limits = LIMITS) -> Outcome:
    (home.program / "score.py").write_text(textwrap.dedent(code))
    program = Program(home.program, ("python3", "$program/score.py", "$input", "$output"))
    return run_trusted(program, home.gold, home.submission, limits, Path(sys.executable).parent)


def test_program_scores_as_in_the_sandbox_on_copies(home: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGOLD_GOLD_KEY_FILE", "/keys")
    outcome = call(
        home,
        """
        import json, os, sys
        folder, output = sys.argv[1:]
        gold, answer = (open(folder + name).read() for name in ("/ref/gold.txt", "/res/answer.txt"))
        json.dump({"accuracy": float(gold == answer)}, open(output + "/scores.json", "w"))
        open(output + "/a.html", "w").write("page")
        open("log.txt", "w").close()
        print(os.path.basename(os.getcwd()), [name for name in os.environ if name.startswith("EVERGOLD_")])
        print("warned", file=sys.stderr)
        """,
    )
    assert (outcome.ended, outcome.exit_code, outcome.detail) == (Ended.FINISHED, 0, "")
    assert (outcome.scores_name, outcome.scores, outcome.page) == ("scores.json", b'{"accuracy": 1.0}', b"page")
    assert (outcome.stdout, outcome.stderr) == (b"program []\n", b"warned\n")
    assert sorted(path.name for path in home.program.iterdir()) == ["lib.py", "score.py"]


def test_ends_and_bounds_are_told_as_by_the_sandbox(home: Place) -> None:
    outcome = call(home, "raise SystemExit(3)")
    assert (outcome.ended, outcome.exit_code, outcome.detail) == (Ended.FAILED, 3, "it ended with exit code 3")
    outcome = call(home, "import os; os.kill(os.getpid(), 9)")
    assert (outcome.ended, outcome.detail) == (Ended.FAILED, "it was ended by the signal SIGKILL")
    outcome = call(home, "import time; print('began', flush=True); time.sleep(600)", replace(LIMITS, seconds=2.0))
    assert (outcome.ended, outcome.exit_code, outcome.stdout) == (Ended.TOO_LATE, None, b"began\n")
    outcome = call(home, "print('y' * 100_000)", replace(LIMITS, output=10))
    assert (outcome.ended, outcome.stdout) == (Ended.FINISHED, b"y" * 10)
    outcome = call(home, "open('../output/scores.txt', 'w').write('x' * 100)", replace(LIMITS, scores=10))
    assert (outcome.ended, outcome.detail) == (Ended.TOO_MUCH_WRITTEN, "scores.txt is larger than 10 bytes")
    program = Program(home.program, ("no-such-command",))
    outcome = run_trusted(program, home.gold, home.submission, LIMITS, None)
    assert (outcome.ended, outcome.exit_code) == (Ended.FAILED, 127)
    assert outcome.stderr == b"the command cannot be started: No such file or directory: no-such-command\n"


def test_links_in_the_output_are_not_followed_here_either(home: Place) -> None:
    outcome = call(home, "import os; os.symlink('../input/ref/gold.txt', '../output/scores.json')")
    assert (outcome.ended, outcome.scores) == (Ended.FINISHED, None)
