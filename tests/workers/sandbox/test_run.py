"""A program that does what programs of shared tasks do, and ends in all ways in which they end."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workers.sandbox.conftest import LIMITS, Place
from workers.sandbox import Ended, Environment, Program, SandboxUnavailable, run


def test_program_reads_gold_and_submission_and_its_scores_come_out(place: Place) -> None:
    outcome = place.run("""
        import json, sys
        folder, output = sys.argv[1:]
        gold, answer = (open(folder + name).read() for name in ("/ref/gold.txt", "/res/answer.txt"))
        json.dump({"accuracy": float(gold == answer)}, open(output + "/scores.json", "w"))
        open(output + "/detailed_results.html", "w").write("<p>all right")
        print("scored")
        print("a word of warning", file=sys.stderr)
    """)
    assert (outcome.ended, outcome.exit_code, outcome.detail) == (Ended.FINISHED, 0, "")
    assert (outcome.scores_name, outcome.scores) == ("scores.json", b'{"accuracy": 1.0}')
    assert outcome.page == b"<p>all right"
    assert (outcome.stdout, outcome.stderr) == (b"scored\n", b"a word of warning\n")
    assert outcome.seconds > 0


def test_words_of_the_command_are_replaced_as_codabench_does(place: Place) -> None:
    words = (
        "python3",
        "score.py",
        "$input/$output",
        "a$program",
        "$hidden",
        "$predictions",
        "$shared",
        "$tmp",
        "$HOME",
    )
    outcome = place.run("import sys; print(*sys.argv[1:])", command=words)
    expected = "/app/input//app/output a/app/program /app/input/ref /app/input/res /app/shared /app/output $HOME\n"
    assert outcome.stdout.decode() == expected


def test_program_may_write_beside_itself_and_into_the_submission_and_nothing_of_it_reaches_the_originals(
    place: Place,
) -> None:
    """PARSEME 2.0's program writes its results there."""
    outcome = place.run("""
        import os
        open("log.txt", "w").write("x")
        open("/app/input/res/results.txt", "w").write("x")
        open("/app/input/res/answer.txt", "w").write("x")
        os.remove("score.py")
    """)
    assert outcome.ended is Ended.FINISHED, outcome.stderr
    assert sorted(path.name for path in place.program.iterdir()) == ["metadata.yaml", "score.py"]
    assert [path.read_text() for path in place.submission.iterdir()] == ["right\n"]


def test_gold_can_be_read_and_not_changed(place: Place) -> None:
    outcome = place.run("""
        import os
        for change in (
            lambda: open("/app/input/ref/gold.txt", "w"),
            lambda: open("/app/input/ref/other.txt", "w"),
            lambda: os.remove("/app/input/ref/gold.txt"),
            lambda: os.chmod("/app/input/ref/gold.txt", 0o777),
            lambda: os.rename("/app/input/ref", "/app/input/other"),
        ):
            try:
                change()
            except OSError as error:
                print(error.strerror)
            else:
                print("changed")
    """)
    assert outcome.stdout.decode().splitlines() == [*4 * ["Read-only file system"], "Device or resource busy"]
    assert (place.gold / "gold.txt").read_text() == "right\n"


def test_folders_names_and_rights_of_files_stay_as_they_are(place: Place) -> None:
    place.write(
        {"program/lib/ö b.py": "", "submission/EN/deep/x.tsv": "1", "gold/FR/y.tsv": "2", "program/run": "#!/bin/sh\n"}
    )
    (place.program / "run").chmod(0o755)
    (place.submission / "empty").mkdir()
    outcome = place.run("""
        import os
        for root in ("/app/program", "/app/input"):
            for folder, names, files in sorted(os.walk(root)):
                print(folder, sorted(names), sorted((name, os.access(folder + "/" + name, os.X_OK)) for name in files))
    """)
    said = outcome.stdout.decode()
    assert "('run', True)" in said
    assert "('score.py', False)" in said
    assert "/app/program/lib [] [('ö b.py', False)]" in said
    assert "/app/input/res/EN/deep [] [('x.tsv', False)]" in said
    assert "/app/input/ref/FR [] [('y.tsv', False)]" in said
    assert "/app/input/res/empty [] []" in said


@pytest.mark.parametrize(
    ("code", "exit_code", "detail"),
    [
        ("raise SystemExit(3)", 3, "it ended with exit code 3"),
        ("1 / 0", 1, "it ended with exit code 1"),
        ("import os; os.kill(os.getpid(), 11)", -11, "it was ended by the signal SIGSEGV"),
    ],
)
def test_another_end_than_exit_code_0_is_failed_and_has_no_scores(
    place: Place, code: str, exit_code: int, detail: str
) -> None:
    outcome = place.run(f"open('/app/output/scores.txt', 'w').write('a: 1')\n{code}")
    assert (outcome.ended, outcome.exit_code, outcome.detail) == (Ended.FAILED, exit_code, detail)
    assert outcome.scores is None


def test_command_that_is_not_there_fails_and_says_so(place: Place) -> None:
    outcome = place.run("", command=("java", "-jar", "scorer.jar"))
    assert (outcome.ended, outcome.exit_code) == (Ended.FAILED, 127)
    assert outcome.stderr == b"the command cannot be started: there is no java\n"


def test_no_scores_is_no_failure_of_the_sandbox(place: Place) -> None:
    outcome = place.run("print('nothing')")
    assert (outcome.ended, outcome.scores_name, outcome.scores, outcome.page) == (Ended.FINISHED, None, None, None)


def test_scores_json_comes_before_scores_txt_and_the_first_page_by_name_stands_in_for_the_usual_one(
    place: Place,
) -> None:
    outcome = place.run("""
        for name in ("scores.txt", "scores.json", "b.html", "a.html"):
            open("/app/output/" + name, "w").write(name)
    """)
    assert (outcome.scores_name, outcome.scores, outcome.page) == ("scores.json", b"scores.json", b"a.html")


def test_a_link_in_a_folder_is_refused_before_anything_is_started(place: Place) -> None:
    os.symlink("/etc/hostname", place.submission / "link.txt")
    with pytest.raises(ValueError, match=r"link\.txt is neither a file nor a folder"):
        place.run("print('started')")


def test_image_needs_containers_and_environment_must_be_built(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGOLD_ENVIRONMENTS_DIR", str(place.folder / "none"))
    program = Program(place.program, ("true",))
    with pytest.raises(SandboxUnavailable, match="EVERGOLD_SANDBOX_CONTAINERS"):
        run(program, place.gold, place.submission, Environment(image=f"a@sha256:{'0' * 64}"), LIMITS)
    with pytest.raises(SandboxUnavailable, match="is not an environment"):
        run(program, place.gold, place.submission, Environment(place.folder), LIMITS)
    with pytest.raises(SandboxUnavailable, match="the default environment is not built here"):
        run(program, place.gold, place.submission, Environment(), LIMITS)
    monkeypatch.setenv("EVERGOLD_SANDBOX_BACKEND", "none")
    with pytest.raises(SandboxUnavailable, match="EVERGOLD_SANDBOX_BACKEND is 'none'"):
        place.run("")


def test_ceiling_of_the_server_holds_whatever_a_task_declares(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGOLD_SANDBOX_FILES", "32")
    outcome = place.run(
        "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))", replace(LIMITS, files=100)
    )
    assert outcome.stdout == b"(32, 32)\n"


def test_nothing_of_a_run_stays_with_the_worker(place: Place) -> None:
    """Neither descriptors nor children nor copies of gold, however the run ended."""

    def held() -> tuple[int, list[str], list[str]]:
        tasks = Path("/proc/self/task").glob("*/children")
        children = sorted(child for path in tasks for child in path.read_text().split())
        copies = [path.name for path in Path("/dev/shm").glob(f"evergold-run-{os.getpid()}-*")]  # noqa: S108
        return len(os.listdir("/proc/self/fd")), children, copies

    place.run("print('warm')")
    before = held()
    place.run("print('well')")
    place.run("raise SystemExit(1)")
    place.run("import time; time.sleep(600)", replace(LIMITS, seconds=1.0))
    with pytest.raises(SandboxUnavailable, match="the sandbox could not be started: bwrap:"):
        Place(place.folder, _broken(place)).run("")
    os.symlink("/", place.gold / "link")
    with pytest.raises(ValueError, match="link is neither a file nor a folder"):
        place.run("")
    assert held() == before


def _broken(place: Place) -> Path:
    """Return an environment that is described but not there."""
    folder = place.folder / "broken"
    folder.mkdir()
    (folder / "environment.json").write_bytes((place.environment / "environment.json").read_bytes())
    return folder
