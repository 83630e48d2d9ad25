"""A server with competitions as their defaults are, whose gold attacks try to read; accounts, and a team that asks."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np

from tests.attacks.reading import Ask
from tests.server.processes import Server, embedded
from tests.web.site import PASSWORD

API = "/api/v1"
ITEMS = 1000
SECONDS = 120.0
DEMO_GOLD = Path(__file__).resolve().parents[2] / "demo" / "gold" / "evaluation" / "idiom-detection.csv"
#: All that is said of limits: a day's five would make ten days of it, and the phase's total of fifty stays.
_PHASE = """\
    phases:
      - name: evaluation
        title: "Evaluation"
        start: "2020-01-01 00:00 UTC"
        end: "2999-01-01 00:00 UTC"
        limits: {{per_day: 50}}
        tasks:
          main: {{gold: {name}/gold.csv, items: items.csv}}
"""
_HEAD = """\
version: 1
competitions:
  - name: {name}
    title: "{name}"
    registration: {{mode: open}}
    tasks: [{{name: main, type: {type}, title: "Main", options: {options}}}]
    boards: [{{name: main, title: "Main", task: main, columns: [{{metric: {metric}, split: {split}}}]}}]
"""


def add_competitions(folder: Path) -> None:
    """Add three competitions, with 1,000 labels or the demo's 217, and default settings."""
    labels = [int(one) for one in np.random.default_rng(11).integers(0, 2, ITEMS)]
    rows = "".join(f"i{place:04},{label}\n" for place, label in enumerate(labels))
    items = "id\n" + "".join(f"i{place:04}\n" for place in range(ITEMS))
    for name, metric in (("correlation", "pearson"), ("counting", "accuracy"), ("divided", "accuracy")):
        _add(folder, name, "table", f"{{metrics: [{metric}]}}", metric, "all", f"id,label\n{rows}", items)
    divided = folder / "imported" / "divided" / "competition.yaml"
    part = "private_part: {share: 0.5, seed: nobody-guesses-this-seed}"
    divided.write_text(divided.read_text().replace("items: items.csv}", f"items: items.csv, {part}}}"))
    gold = DEMO_GOLD.read_text(encoding="utf-8")
    read = list(csv.DictReader(io.StringIO(gold)))
    blind = "ID,Language,MWE,Target\n" + "".join(f"{row['ID']},{row['Language']},an idiom,A text.\n" for row in read)
    languages = ", ".join(sorted({row["Language"].lower() for row in read}))
    options = f"{{languages: [{languages}]}}"
    _add(folder, "idioms", "idiom-detection", options, "macro_f1", "zero_shot/all", gold, blind)


def _add(folder: Path, name: str, type_: str, options: str, metric: str, split: str, gold: str, items: str) -> None:
    place = folder / "imported" / name
    place.mkdir(parents=True)
    (folder / "gold" / name).mkdir(parents=True)
    (folder / "gold" / name / "gold.csv").write_text(gold, encoding="utf-8")
    (place / "items.csv").write_text(items, encoding="utf-8")
    head = _HEAD.format(name=name, type=type_, options=options, metric=metric, split=split)
    (place / "competition.yaml").write_text(head + _PHASE.format(name=name), encoding="utf-8")


@contextmanager
def attacked() -> Iterator[Server]:
    """Yield the running server."""
    with embedded(add_competitions) as server:
        yield server


def gold_of(server: Server, name: str) -> tuple[list[str], list[int]]:
    """Return the ids and the labels in the order of the gold, to count after an attack what it has read."""
    with (server.gold / name / "gold.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    key, label = ("ID", "Label") if "ID" in rows[0] else ("id", "label")
    return [row[key] for row in rows], [int(row[label]) for row in rows]


def language_of_ids() -> dict[str, str]:
    """Return the language of each item of the demo, from its blind file."""
    with DEMO_GOLD.open(encoding="utf-8") as file:
        return {row["ID"]: row["Language"] for row in csv.DictReader(file)}


@contextmanager
def account(server: Server, name: str) -> Iterator[httpx.Client]:
    """Yield the client of somebody who has just registered."""
    with httpx.Client(base_url=server.address, timeout=90.0) as client:
        form = {"username": name, "email": f"{name}@example.org", "password": PASSWORD}
        client.post(f"{API}/register", json=form).raise_for_status()
        made = client.post(f"{API}/tokens", json={"name": "attack", "username": name, "password": PASSWORD})
        client.headers["Authorization"] = f"Bearer {made.raise_for_status().json()['secret']}"
        yield client


def team(client: httpx.Client, competition: str, file_of: Callable[[Sequence[float | int | str]], str]) -> Ask:
    """Return a function that submits a prediction, as a team does, and returns the score. file_of: makes the file of a
    prediction.
    """
    place = f"{API}/competitions/{competition}/phases/evaluation/tasks/main/submissions"

    def ask(prediction: Sequence[float | int | str]) -> float:
        sent = client.post(place, files={"file": ("mine.csv", file_of(prediction))}).raise_for_status()
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            found = client.get(sent.headers["Location"], params={"wait": 5}).raise_for_status().json()
            if found["status"] == "scored":
                (value,) = [one["value"] for one in found["scores"] if one["value"] is not None]
                return float(value)
            if found["status"] in ("rejected", "failed"):
                raise RuntimeError(f"the server took no such file: {found}")
        raise RuntimeError("the server scored nothing")

    return ask
