"""Whoever has the repository can run every benchmark: their data lie in it, or are made from a seed."""

from __future__ import annotations

import json
import random
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lanes import in_soak
from tests.processes import REPOSITORY

BENCHMARKS = sorted((REPOSITORY / "bench").glob("[a-z]*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_no_benchmark_looks_outside_the_repository(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert re.findall(r"ROOT\.parent|CONFORMANCE|expanduser|Path\.home", source) == []


def test_files_of_the_idiom_tasks_are_the_same_at_every_run(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    from bench.scoring import generate_detection, generate_similarity

    for generate in (generate_detection, generate_similarity):
        contents = []
        for turn in ("first", "second"):
            (tmp_path / turn).mkdir(exist_ok=True)
            contents.append([path.read_bytes() for path in generate(tmp_path / turn, random.Random(1))])
        assert contents[0] == contents[1]


def test_the_benchmark_of_the_idiom_tasks_runs_and_agrees_with_the_reference() -> None:
    """It ends with an error where a score differs from that of scikit-learn or scipy."""
    command = [sys.executable, "-m", "bench.scoring", "--turns", "1", "--json"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert [(row["task"], row["rows"]) for row in json.loads(done.stdout)] == [
        ("idiom-detection", 2 * 739),
        ("idiom-similarity", 2 * (1775 + 406)),
    ]


def test_made_up_cupt_files_are_the_same_at_every_run(tmp_path: Path) -> None:
    from bench.mwe import made_up_file, made_up_sentence

    texts = []
    for _ in range(2):
        chance = random.Random(7)
        texts.append(made_up_file([made_up_sentence(chance) for _ in range(50)], chance))
    assert texts[0] == texts[1]
    assert ":VID" in texts[0]


def test_the_benchmark_of_a_boards_statistics_runs_and_tells_how_much_faster_than_a_loop() -> None:
    from bench.statistics import measure

    for ranks in (False, True):
        result = measure(systems=3, items=40, resamples=100, ranks=ranks, rounds=2)
        assert result["pairs"] == 3
        assert ("ratio" in result) is not ranks


def test_coverage_is_measured_for_every_family_of_populations() -> None:
    from bench._populations import POPULATIONS
    from bench.coverage import line, measure

    for population in {one.family: one for one in POPULATIONS}.values():
        row = measure(population, 40, sets=1, resamples=20, truth_items=400)
        assert row["chosen"] in row["coverage"]
        assert population.title in line(row)


def test_pairs_and_boards_of_equal_systems_are_measured() -> None:
    from bench.pairs import BOARDS, POPULATIONS, coverage, is_separated

    for draw in POPULATIONS.values():
        assert coverage(draw, 40, 2, 50)[0] <= 1
    assert [is_separated(board, 0, 30) for board in BOARDS.values()] == [False, False]


@pytest.mark.parametrize("database", [in_soak("sqlite"), "postgresql"])
def test_boards_are_measured_on_both_databases(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    from bench.boards import PATHS, figures_on

    found = list(figures_on(database, [(3, 10)], [1], seconds=0.05))
    assert [(one["form"], one["submissions"]) for one in found] == [(form, 10) for form in PATHS]
    assert all(("made, ms of PostgreSQL" in one) == (database == "postgresql") for one in found)
    assert "runs: 10 of 10" in capsys.readouterr().err


def test_an_upload_that_is_never_answered_is_counted_and_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench import _open_loop

    monkeypatch.setattr(_open_loop, "ANSWER_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        sender = _open_loop.Sender(f"http://127.0.0.1:{silent.getsockname()[1]}/", "evg_x")
        [tried] = _open_loop.send_all([_open_loop.Plan(0.0, sender, "one", impatient=False)])
    assert (tried.key, tried.status, tried.was_lost) == ("one", _open_loop.UNANSWERED, False)
    assert tried.status not in (202, 409), "neither accepted nor refused: `wrongs` says so"
