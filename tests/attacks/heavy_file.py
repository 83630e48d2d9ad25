"""A heavy file blocks the worker: one team sends heavy files, another an honest one, whose waiting time is reported.

`python -m tests.attacks.heavy_file` starts a server with its default settings and one worker, and tries every heavy
file.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from tests.attacks.server import API, account
from tests.server.processes import Server, embedded

TEXTS, WORDS_OF_GOLD = 16, 700
#: 16 of these are the 2.1 MB that kept a worker for 231 s.
LONG_TEXT = "a b " * (131_072 // 4 - 1)
#: All words in another order: what sacreBLEU's TER takes longest for.
SHUFFLED = " ".join(str(word * 389 % WORDS_OF_GOLD) for word in range(WORDS_OF_GOLD))
#: The competition, its task's options, and the text that its heavy file has for each item.
ATTACKS = {
    "rouge": ("{metrics: [rouge_l]}", LONG_TEXT),
    "rouge-long": ("{metrics: [rouge_l], max_characters: 131072}", LONG_TEXT),
    "ter": ("{metrics: [ter]}", SHUFFLED),
}
HEAVY_FILES = 2
#: The bound of one run, and as much again for a machine that has other things to do.
LONGEST_WAIT_SECONDS = 240.0
_PHASES = """\
version: 1
competitions:
  - name: {name}
    title: "{name}"
    registration: {{mode: open}}
    tasks: [{{name: main, type: table, title: "Main", options: {options}}}]
    boards: [{{name: main, title: "Main", task: main, columns: [{{metric: {metric}, split: all}}]}}]
    phases:
      - name: open
        title: "Open"
        start: "2020-01-01 00:00 UTC"
        tasks:
          main: {{gold: {name}.csv, items: items.csv}}
"""


def file_of(text: str, items: int = TEXTS) -> bytes:
    """Return a prediction that has this text for every item."""
    return ("id,label\n" + "".join(f"{item},{text}\n" for item in range(items))).encode()


def gold() -> bytes:
    """Return gold with texts of 700 words, all different."""
    return file_of(" ".join(map(str, range(WORDS_OF_GOLD))))


def main() -> int:
    """Print a line for each attack; return 1 if an honest file waited for longer than one run may take."""
    longest = 0.0
    with embedded(_prepare) as server:
        for name, (_, text) in ATTACKS.items():
            heavy, honest, waited = _attack(server, name, text)
            longest = max(longest, waited)
            print(f"{name:<12} heavy files {', '.join(heavy)}; the honest file {honest} after {waited:.1f} s")
    return int(longest > LONGEST_WAIT_SECONDS)


def _attack(server: Server, name: str, text: str) -> tuple[list[str], str, float]:
    """Return what became of the heavy files and of the honest one, and how long the honest one waited."""
    place = f"{API}/competitions/{name}/phases/open/tasks/main/submissions"
    with account(server, f"mallory-{name}") as mallory, account(server, f"ada-{name}") as ada:
        _ended(ada, _sent(ada, place, file_of("0 1 2")))  # an honest file was scored before
        heavy = [_sent(mallory, place, file_of(text + str(number))) for number in range(HEAVY_FILES)]
        began = time.monotonic()
        honest = _ended(ada, _sent(ada, place, file_of("0 1 2 3")))
        waited = time.monotonic() - began
        return [_ended(mallory, one) for one in heavy], honest, waited


def _prepare(folder: Path) -> None:
    for name, (options, _) in ATTACKS.items():
        place = folder / "imported" / name
        place.mkdir(parents=True)
        (folder / "gold" / f"{name}.csv").write_bytes(gold())
        (place / "items.csv").write_text("id\n" + "".join(f"{item}\n" for item in range(TEXTS)))
        metric = options.partition("[")[2].partition("]")[0]
        (place / "competition.yaml").write_text(_PHASES.format(name=name, options=options, metric=metric))


def _sent(client: httpx.Client, place: str, content: bytes) -> str:
    return client.post(place, files={"file": ("mine.csv", content)}).raise_for_status().headers["Location"]


def _ended(client: httpx.Client, location: str, ends: Sequence[str] = ("scored", "rejected", "failed")) -> str:
    """Return the status in which a submission ends, and the first of its problems."""
    while True:
        found = client.get(location, params={"wait": 5}).raise_for_status().json()
        if found["status"] in ends:
            problems = found.get("problems") or []
            return f"{found['status']} ({problems[0]['sentence']})" if problems else str(found["status"])


if __name__ == "__main__":
    sys.exit(main())
