"""Measure waiting times for checks and scores while a board's statistics are computed and its gold is checked."""

from __future__ import annotations

import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import httpx
from sqlalchemy import Engine, delete, func, select, update
from sqlalchemy.exc import OperationalError

from app.base.db import make_engine, reading, writing
from app.models import BoardStatistics, GoldCheck, GoldVersion, RunStatistics, StatisticsWork
from app.people.auth import create_token
from bench._people import token_of
from tests.world import add_user

ROWS = 33
COMPETITION = "competitions/bench/phases/open/tasks"
DETECTION, LARGE = f"{COMPETITION}/detection", f"{COMPETITION}/large"
PHASES = """\
version: 1
competitions:
  - name: bench
    title: "Bench"
    registration: {mode: open}
    tasks:
      - {name: detection, type: idiom-detection, title: "Detection"}
      - {name: large, type: idiom-detection, title: "Large"}
    boards:
      - name: zero-shot
        title: "Zero-shot"
        task: detection
        columns:
          - {metric: macro_f1, split: zero_shot/all, title: "All"}
          - {metric: macro_f1, split: one_shot/all, title: "One-shot"}
      - name: large
        title: "Large"
        task: large
        columns: [{metric: macro_f1, split: zero_shot/all, title: "All"}]
    phases:
      - name: open
        title: "Open"
        start: "2020-01-01 00:00 UTC"
        limits: {per_day: 100000, total: 100000}
        tasks: {detection: {gold: gold.csv}, large: {}}
"""
#: Settings of the server: statistics begin soon after the board was filled, and one team may ask often.
#: The sweep comes thirty times as often as by default: the slowest uploads mostly wait while it holds SQLite's lock.
SETTINGS = {
    "EVERGOLD_SWEEP_SECONDS": "1",
    "EVERGOLD_UPLOADS_PER_MINUTE": "0",
    "EVERGOLD_VALIDATIONS_PER_HOUR": "0",
    "EVERGOLD_CHECKED_MEBIBYTES_PER_DAY": "100000",
}
LARGE_ITEMS = 60_000
START_SECONDS = 120.0
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Waits:
    """Waiting times in seconds. going: the share of them during which statistics were being computed."""

    seconds: Sequence[float]
    going: float

    def figures(self, name: str) -> dict[str, float]:
        """Return the median, the 95th percentile and the maximum, in milliseconds."""
        ordered = sorted(self.seconds)
        return {
            f"{name}_p50_ms": round(1000 * statistics.median(ordered), 1),
            f"{name}_p95_ms": round(1000 * ordered[int(0.95 * (len(ordered) - 1))], 1),
            f"{name}_max_ms": round(1000 * ordered[-1], 1),
        }


class BusyServer:
    """A started server with accounts. rows: number of teams that the board will have."""

    def __init__(self, engine: Engine, url: str, prediction: Path, rows: int) -> None:
        self._engine = engine
        self._url, self._prediction = url, prediction.read_text(encoding="utf-8")
        self.teams = [token_of(self._engine, f"team{number}") for number in range(rows)]
        self._organiser = administrator_token(self._engine)
        self._once = 0

    def fill(self) -> None:
        """Submit a system for every team, each better than the one before."""
        for number, token in enumerate(self.teams):
            with self._client(token) as client:
                score(client, better(self._prediction, number))

    def waits_for_checks(self, number: int, pause: float = 0.0) -> Waits:
        """Return how long each of so many files waits until it is found valid."""
        with self._client(self.teams[0]) as client:
            return self._waits(number, lambda: check(client, self._prediction), pause)

    def waits_for_scores(self, number: int, pause: float = 0.0) -> Waits:
        """Return how long each of so many uploads waits until it is scored."""
        with self._client(self.teams[0]) as client:
            return self._waits(number, lambda: score(client, f"{self._prediction}{self._blank_lines()}"), pause)

    def wait_for_statistics(self) -> None:
        """Wait until a worker has started to compute statistics."""
        give_up_at = time.monotonic() + START_SECONDS
        while not self.computes():
            if time.monotonic() > give_up_at:
                raise SystemExit("no worker has begun to compute statistics")
            time.sleep(0.05)

    def computes(self) -> bool:
        """Return whether a worker is computing statistics at this moment."""
        with reading(self._engine) as session:
            begun = select(func.count()).where(StatisticsWork.lease_expires_at > datetime.now(UTC))
            return bool(session.scalar(begun))

    @contextmanager
    def background_work(self) -> Iterator[list[float]]:
        """Compute statistics and check a large version of gold again and again while the block runs; yield the
        seconds that each gold check took."""
        stop, seconds = threading.Event(), list[float]()
        with self._client(self._organiser) as client:
            put_gold(client)
            works = [partial(self._check_gold, client, stop, seconds), partial(self._forget_statistics, stop)]
            threads = [threading.Thread(target=work, daemon=True) for work in works]
            for thread in threads:
                thread.start()
            try:
                yield seconds
            finally:
                stop.set()
                for thread in threads:
                    thread.join()

    def _check_gold(self, client: httpx.Client, stop: threading.Event, seconds: list[float]) -> None:
        while not stop.is_set():
            began = time.monotonic()
            client.post(f"/{LARGE}/gold/1/check").raise_for_status()
            while self._is_unchecked() and not stop.wait(0.05):
                pass
            seconds.append(time.monotonic() - began)

    def _forget_statistics(self, stop: threading.Event) -> None:
        """Delete the statistics as soon as they are known, so that they are computed again."""
        while not stop.wait(0.2):
            if not self.computes():
                with suppress(OperationalError), writing(self._engine) as session:  # others write longer: once more
                    for table in (BoardStatistics, RunStatistics):
                        session.execute(delete(table))
                    session.execute(update(StatisticsWork).values(computed_for=None, sent_at=None, seen_at=LONG_AGO))

    def _is_unchecked(self) -> bool:
        with reading(self._engine) as session:
            waiting = select(func.count()).where(GoldVersion.check_state == GoldCheck.WAITING)
            return bool(session.scalar(waiting))

    def _waits(self, number: int, wait: Callable[[], float], pause: float) -> Waits:
        seconds, going = list[float](), 0
        for _ in range(number):
            seconds.append(wait())
            going += self.computes()
            time.sleep(pause)
        return Waits(seconds, going / number)

    def _blank_lines(self) -> str:
        """Return a prefix that makes every file different."""
        self._once += 1
        return "\n" * self._once

    def _client(self, token: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=f"{self._url}/api/v1", timeout=600, headers=headers)


@contextmanager
def busy_server(url: str, folder: Path, prediction: Path, rows: int = ROWS) -> Iterator[BusyServer]:
    """Return the server at this address, with its data in the folder."""
    engine = make_engine(f"sqlite:///{folder / 'var' / 'evergold.db'}")
    try:
        yield BusyServer(engine, url, prediction, rows)
    finally:
        engine.dispose()


def score(client: httpx.Client, prediction: str) -> float:
    """Return the seconds from the first byte of an upload to the response that it is scored."""
    began = time.perf_counter()
    sent = client.post(f"/{DETECTION}/submissions", files={"file": ("mine.csv", prediction)}).raise_for_status().json()
    until_ended(client, f"/submissions/{sent['id']}", "scored")
    return time.perf_counter() - began


def check(client: httpx.Client, prediction: str) -> float:
    """Return the seconds from the first byte of a validated file to the response that it is valid."""
    began = time.perf_counter()
    sent = client.post(f"/{DETECTION}/validations", files={"file": ("mine.csv", prediction)}).raise_for_status().json()
    until_ended(client, f"/validations/{sent['id']}", "valid")
    return time.perf_counter() - began


def until_ended(client: httpx.Client, path: str, status: str) -> None:
    """Wait for the final state; raise if it is not the expected one."""
    found = ""
    while found in ("", "queued", "running"):
        found = client.get(path, params={"wait": 30}).raise_for_status().json()["status"]
    if found != status:
        raise SystemExit(f"expected {status}, got {found}")


def better(prediction: str, number: int) -> str:
    """Return the prediction with some labels changed, different ones for each number."""
    chance = random.Random(number)
    header, *rows = prediction.splitlines()
    changed = (f"{row[:-1]}{1 - int(row[-1])}" if chance.random() < 0.3 else row for row in rows)
    return "\n".join([header, *changed]) + "\n"


def put_gold(client: httpx.Client) -> None:
    rows = "".join(f"{number},d{number},EN,{number % 2}\n" for number in range(LARGE_ITEMS))
    gold = ("gold.csv", f"ID,DataID,Language,Label\n{rows}")
    client.post(f"/{LARGE}/gold", files={"file": gold}).raise_for_status()


def administrator_token(engine: Engine) -> str:
    user = add_user(engine, "organiser", is_administrator=True)
    with writing(engine) as session:
        return create_token(session, user, "bench", datetime.now(UTC))[1]


def measure_waits(busy: BusyServer, number: int) -> dict[str, float]:
    """Return the waiting times of so many checks and uploads, first on an idle server, then under load.

    Those under load are spread out: statistics are being computed while most of them wait.
    """
    busy.waits_for_scores(3)  # the worker may still be starting
    found = busy.waits_for_checks(number).figures("check") | busy.waits_for_scores(number).figures("upload_to_scored")
    busy.fill()
    busy.wait_for_statistics()
    with busy.background_work() as gold_seconds:
        checks, scores = busy.waits_for_checks(number), busy.waits_for_scores(number)
    found |= checks.figures("check_with_statistics") | scores.figures("upload_to_scored_with_statistics")
    return found | {
        "rows": len(busy.teams),
        "gold_checks": len(gold_seconds),
        "share_of_waits_with_statistics": round((checks.going + scores.going) / 2, 2),
    }
