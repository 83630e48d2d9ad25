"""Submissions scored per second by 1, 2 and 4 processes of a worker, and the overhead.

On PostgreSQL and Valkey. So many uploads wait in the queue, messages are sent, and the clock runs until the last one
is scored. Overhead is the processor time of the worker's processes, less what reading and scoring the same file takes
in this one with the gold at hand; it tells more than seconds where others use the machine. Loopback only.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from app.base.config import get_settings
from app.base.db import make_engine, reading, writing
from app.base.queue import _sender, send_run
from app.base.storage import FolderStorage, StoredFile, store_file
from app.competitions.find import find_phase_task
from app.models import RunStatus, ScoringRun, User
from app.submissions.accept import Sender, accept_submission
from bench._command import BenchParser, run
from bench._processors import family, processor_seconds, resident_mib
from bench.mwe import made_up_pairs
from bench.scoring import SEED, generate_detection
from evergold.scoring.task import AnyTask, read_options
from evergold.scoring.tasks import get_task
from tests import postgres, services
from tests.processes import Service, kill, short_folder, wait_until
from tests.services import environment_of, start_worker
from tests.world import add_user

TEAMS = 20
TASKS = ["detection", "mwes"]
PHASES = """\
version: 1
competitions:
  - name: bench
    title: "Bench"
    registration: {mode: open}
    tasks:
      - {name: detection, type: idiom-detection, title: "Detection"}
      - {name: mwes, type: mwe-identification, title: "MWEs", options: {language: xa}}
    boards:
      - name: zero-shot
        title: "Zero-shot"
        task: detection
        columns: [{metric: macro_f1, split: zero_shot/all, title: "All"}]
      - name: xa
        title: "XA"
        task: mwes
        columns: [{metric: mwe_f1, split: xa, title: "F1"}]
    phases:
      - name: open
        title: "Open"
        start: "2020-01-01 00:00 UTC"
        limits: {per_day: 1000000, total: 1000000, rejected_per_hour: 1000000}
        tasks: {detection: {gold: detection.csv}, mwes: {gold: xa.cupt}}
"""


@dataclass(frozen=True, slots=True)
class Work:
    """A task of the competition, its gold, and the submitted file."""

    name: str
    task: AnyTask
    options: dict[str, str]
    gold: Path
    prediction: Path


@dataclass(frozen=True, slots=True)
class Place:
    """The database, broker and folders of a run."""

    folder: Path
    environment: dict[str, str]
    engine: Engine
    users: list[User]


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print a table (or JSON)."""
    parser = BenchParser(__doc__, smoke={"submissions": 5, "processes": [1], "tasks": TASKS[:1]})
    parser.add_argument("--submissions", type=int, default=300, help="for each figure")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    arguments = parser.parse(argv)
    figures = []
    with a_place() as (place, works):
        for work in (one for one in works if one.name in arguments.tasks):
            alone = processor_ms_alone(work)
            for processes in arguments.processes:
                figures.append(measure(place, work, processes, arguments.submissions, alone))
                if not arguments.json:
                    print("  ".join(f"{name} {value}" for name, value in figures[-1].items()), flush=True)
    if arguments.json:
        print(json.dumps(figures, indent=1))
    return 0


def measure(place: Place, work: Work, processes: int, submissions: int, alone_ms: float) -> dict[str, object]:
    """Measure one worker with so many processes, after a few submissions to warm up."""
    worker = start_worker(place.folder, place.environment, processes=processes, name=f"{work.name}-{processes}")
    try:
        score_all(place, work, 5 * processes, worker)
        pids = family(worker.process.pid)
        before = sum(map(processor_seconds, pids))
        seconds = score_all(place, work, submissions, worker)
        spent_ms = 1000 * (sum(map(processor_seconds, pids)) - before) / submissions
        memory = max(resident_mib(pid) for pid in pids[1:])
    finally:
        kill(worker)
    return {
        "task": work.name,
        "processes": processes,
        "scored/s": round(submissions / seconds, 1),
        "processor of a run, ms": round(spent_ms, 1),
        "of it reading and scoring": round(alone_ms, 1),
        "overhead, ms": round(spent_ms - alone_ms, 1),
        "memory of a process, MiB": round(memory),
    }


def score_all(place: Place, work: Work, submissions: int, worker: Service) -> float:
    """Return the seconds from the first message to the last score."""
    stored = store_file(work.prediction, FolderStorage(Path(place.environment["EVERGOLD_DATA_DIR"]) / "storage"))
    runs = [accept(place, work, stored, place.users[n % len(place.users)]) for n in range(submissions)]
    began = time.monotonic()
    for run_id in runs:
        send_run(run_id)
    wait_until(lambda: unfinished(place.engine) == 0, "all is scored", worker, seconds=600)
    seconds = time.monotonic() - began
    with reading(place.engine) as session:
        failed = session.scalars(select(func.count()).where(ScoringRun.status != RunStatus.SCORED)).one()
    if failed:
        raise SystemExit(f"{failed} runs were not scored")
    return seconds


def accept(place: Place, work: Work, stored: StoredFile, user: User) -> int:
    """Add a waiting run and return its ID."""
    with writing(place.engine) as session:
        phase_task = find_phase_task(session, "bench", "open", work.name)
        now = datetime.now(UTC)
        return accept_submission(session, phase_task, stored, Sender(user, now)).run_id


def unfinished(engine: Engine) -> int:
    """Return how many runs are waiting or being scored."""
    with reading(engine) as session:
        open_ones = ScoringRun.status.in_((RunStatus.QUEUED, RunStatus.RUNNING))
        return session.scalars(select(func.count()).select_from(ScoringRun).where(open_ones)).one()


def processor_ms_alone(work: Work, turns: int = 30) -> float:
    """Return the processor time of reading and scoring in this process with cached gold, the best of some turns."""
    options = read_options(work.task, work.options)
    gold = work.task.read_gold(work.gold, options)
    items = work.task.items_of(gold, options)

    def turn() -> object:
        return work.task.score(gold, work.task.read_prediction(work.prediction, items, options), options)

    return 1000 * min(_processor_seconds_of(turn) for _ in range(turns))


def _processor_seconds_of(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@contextmanager
def a_place() -> Iterator[tuple[Place, list[Work]]]:
    """Start database and broker and create the competition, without a worker."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        works = make_files(folder)
        (folder / "phases.yaml").write_text(PHASES, encoding="utf-8")
        database = stack.enter_context(postgres.breakable())
        broker = stack.enter_context(services.valkey())
        environment = environment_of(
            database_url=database.address,
            broker_url=broker.address,
            data_dir=folder / "data",
            gold_dir=folder / "gold",
            phases_file=folder / "phases.yaml",
            make_gold_key="true",  # as a server has one: outcomes of items are sealed
        )
        stack.enter_context(as_settings(environment))
        services.set_up(environment)
        engine = make_engine(database.address)
        stack.callback(engine.dispose)
        yield Place(folder, environment, engine, [add_user(engine, f"user{n}") for n in range(TEAMS)]), works


@contextmanager
def as_settings(environment: Mapping[str, str]) -> Iterator[None]:
    """Make this process read its settings from here as well."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            if name.startswith("EVERGOLD_"):
                patch.setenv(name, value)
        get_settings.cache_clear()
        _sender.cache_clear()
        yield
    get_settings.cache_clear()
    _sender.cache_clear()


def make_files(folder: Path) -> list[Work]:
    """Write gold and predictions, of the size of SemEval-2022 and of one language of PARSEME 1.1."""
    (folder / "gold").mkdir()
    (folder / "made").mkdir()
    detection = generate_detection(folder, random.Random(SEED))
    pair = made_up_pairs(folder / "made")[0]
    works = []
    for name, task, options, gold, target, prediction in (
        ("detection", "idiom-detection", {}, detection[0], "detection.csv", detection[1]),
        ("mwes", "mwe-identification", {"language": "xa"}, pair.gold, "xa.cupt", pair.prediction),
    ):
        in_place = gold.rename(folder / "gold" / target)
        works.append(Work(name, get_task(task), options, in_place, prediction))
    return works


if __name__ == "__main__":
    sys.exit(run(main))
