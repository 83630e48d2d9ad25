"""Results of a sample that takes hours: a file for each room, written as soon as the room is done."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from bench.mutants.faults import Fault, Key, key_of

#: By the room's own tests, by tests/leaks, by none; None where the tests fail without the fault, or time was up.
Outcome = Literal["own", "leaks", "no"] | None
_HEAD = f"{'room':28} {'drawn':>5} {'own':>5} {'+leaks':>6} {'alive':>5} {'untried':>7}"


class Results:
    """What became of each fault, by room: `app+people.json` lists them with the outcome as `noticed`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def has(self, room: str) -> bool:
        return self._file(room).exists()

    def write(self, room: str, faults: Sequence[Fault], outcomes: Sequence[Outcome]) -> None:
        rows = [
            {"module": fault.module, "function": fault.function, "kind": fault.kind}
            | dict(zip(("was", "becomes"), fault.lines(), strict=True))
            | {"noticed": outcome}
            for fault, outcome in zip(faults, outcomes, strict=True)
        ]
        self._file(room).write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")

    def outcomes(self, room: str, faults: Sequence[Fault]) -> list[Outcome]:
        """Return the outcome of each fault; None for one that is not in the room's file."""
        known = dict(self._read(room)) if self.has(room) else {}
        return [known.get(key_of(fault)) for fault in faults]

    def table(self, shares: Mapping[str, Sequence[Fault]]) -> str:
        """Return the figures of each room, and of all."""
        found = {room: self.outcomes(room, faults) for room, faults in shares.items()}
        every = [outcome for outcomes in found.values() for outcome in outcomes]
        return "\n".join([_HEAD, *(_line(room, outcomes) for room, outcomes in found.items()), _line("all", every)])

    def _read(self, room: str) -> Iterator[tuple[Key, Outcome]]:
        for row in json.loads(self._file(room).read_text(encoding="utf-8")):
            yield (row["module"], row["function"], row["was"], row["becomes"]), row["noticed"]

    def _file(self, room: str) -> Path:
        return self._folder / f"{room.replace('/', '+')}.json"


def _line(room: str, outcomes: Sequence[Outcome]) -> str:
    own, leaks, no, untried = (outcomes.count(outcome) for outcome in ("own", "leaks", "no", None))
    return f"{room:28} {len(outcomes):5} {own:5} {own + leaks:6} {no:5} {untried:7}"
