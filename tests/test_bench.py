"""Benchmarks that everybody with the repository can run: their data are in it, or are made from a seed."""

from __future__ import annotations

import importlib
import json
import os
import random
import re
import socket
from pathlib import Path

import pytest

from bench import __main__ as bench_main, readme
from bench._benches import BENCHES, Bench
from bench._command import run
from bench._figures import FIGURES, value_of
from tests.lanes import in_soak
from tests.processes import REPOSITORY

MODULES = sorted((REPOSITORY / "bench").glob("[a-z]*.py"))
#: Commands of the folder that measure nothing.
COMMANDS = {"readme"}
SERVICES = {"boards", "chaos", "memory", "rush", "server", "throughput"}
#: Its smoke test is `tests/workers/test_bench_bertscore.py`, in the process that loads torch.
WITH_TORCH = {"bertscore"}
#: Their tables stand in decisions.
NOT_QUOTED = {"pairs", "sandbox"}
LANES = {"wide_board": [pytest.mark.browser]} | {name: [pytest.mark.services] for name in SERVICES}
SMOKED = [
    pytest.param(one, marks=LANES.get(one.name, []), id=one.name) for one in BENCHES if one.name not in WITH_TORCH
]


@pytest.mark.parametrize("bench", SMOKED)
def test_a_benchmark_runs_and_prints_json(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(f"bench.{bench.name}")
    assert not module.main(["--smoke", "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert figures
    if "skipped" in figures and os.environ.get("CI") == "true":
        pytest.fail(figures["skipped"])
    if "--seed" not in bench.arguments:
        assert getattr(module, "SEED", None) == bench.seed, "results.json names the seed"


@pytest.mark.soak
@pytest.mark.services
def test_a_program_is_measured_from_an_upload_until_it_is_scored(capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module("bench.sandbox")
    module.main(["--turns", "1", "--uploads", "1", "--json"])
    assert json.loads(capsys.readouterr().out)["upload to scored by the program, ms"] > 50  # what it computes for


def test_every_module_is_a_benchmark_that_make_bench_runs_or_a_command() -> None:
    assert {path.stem for path in MODULES} == {bench.name for bench in BENCHES} | COMMANDS


def test_a_benchmark_that_cannot_be_run_here_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> int:
        pytest.skip("no PostgreSQL here")

    assert run(main) == 0
    assert capsys.readouterr().out == "not measured: no PostgreSQL here\n"


def test_a_benchmark_whose_time_has_run_out_is_stopped_or_not_begun_and_one_that_fails_says_why() -> None:
    assert bench_main.run(Bench("scoring", 1), 0, is_smoke=True)["failed"] == "no time was left"
    assert bench_main.run(Bench("split", 1), 0.2, is_smoke=False)["failed"] == "stopped after 0 s"
    assert (
        "unrecognized arguments: --wrong"
        in bench_main.run(Bench("split", 1, ("--wrong",)), 60, is_smoke=False)["failed"]
    )
    measured = bench_main.run(Bench("hill_climbing", 0), 60, is_smoke=True)
    assert measured["command"] == "python -m bench.hill_climbing"
    assert len(measured["figures"]) == 12


def test_every_figure_has_a_claim_of_its_own_and_a_value() -> None:
    assert len({figure.claim for figure in FIGURES}) == len(FIGURES)
    assert sum(figure.is_in_front for figure in FIGURES) == 6
    results = json.loads(bench_main.RESULTS.read_text(encoding="utf-8"))
    assert [figure.claim for figure in FIGURES if value_of(figure, results) == "not measured"] == []
    assert {figure.bench for figure in FIGURES} == set(results["benches"]) - NOT_QUOTED


@pytest.mark.parametrize("path", [readme.README, readme.PERFORMANCE], ids=lambda path: path.stem)
def test_figures_of_the_documentation_are_those_that_were_measured(path: Path) -> None:
    """`make bench`, then `python -m bench.readme`."""
    text = path.read_text(encoding="utf-8")
    assert readme.with_figures(path, text, json.loads(bench_main.RESULTS.read_text(encoding="utf-8"))) == text


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
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


def test_made_up_cupt_files_are_the_same_at_every_run(tmp_path: Path) -> None:
    from bench.mwe import made_up_file, made_up_sentence

    texts = []
    for _ in range(2):
        chance = random.Random(7)
        texts.append(made_up_file([made_up_sentence(chance) for _ in range(50)], chance))
    assert texts[0] == texts[1]
    assert ":VID" in texts[0]


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


@pytest.mark.parametrize("database", [in_soak("sqlite"), in_soak("postgresql")])
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
