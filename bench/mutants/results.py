"""Results of a sample that takes hours: a file for each room, written as soon as the room is done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from bench.mutants.faults import Fault, Key, key_of

#: By the room's own tests, by tests/leaks, by none; None where the tests fail without the fault, or time was up.
Outcome = Literal["own", "leaks", "no"] | None
_HEAD = f"{'room':28} {'drawn':>5} {'own':>5} {'+leaks':>6} {'alive':>5} {'untried':>7}"


class Results:
    """The outcome of each fault, by room: `app+people.json` lists them with the outcome as `noticed`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def outcome(self, room: str, fault: Fault) -> Outcome:
        return self._read(room).get(key_of(fault))

    def add(self, room: str, faults: Sequence[Fault], outcomes: Sequence[Outcome]) -> None:
        """Write the outcomes of these faults beside those of others."""
        self._write(room, self._read(room) | dict(zip(map(key_of, faults), outcomes, strict=True)))

    def forget_alive(self) -> None:
        """Mark every survivor as not tried."""
        for path in self._folder.glob("*.json"):
            room = path.stem.replace("+", "/")
            self._write(room, {key: None if one == "no" else one for key, one in self._read(room).items()})

    def table(self, shares: Mapping[str, Sequence[Fault]]) -> str:
        """Return the figures of each room, and of all."""
        found = {room: [self.outcome(room, one) for one in faults] for room, faults in shares.items()}
        every = [outcome for outcomes in found.values() for outcome in outcomes]
        return "\n".join([_HEAD, *(_line(room, outcomes) for room, outcomes in found.items()), _line("all", every)])

    def _read(self, room: str) -> dict[Key, Outcome]:
        if not self._file(room).exists():
            return {}
        rows = json.loads(self._file(room).read_text(encoding="utf-8"))
        return {(row["module"], row["function"], row["was"], row["becomes"]): row["noticed"] for row in rows}

    def _write(self, room: str, outcomes: Mapping[Key, Outcome]) -> None:
        names = ("module", "function", "was", "becomes")
        rows = [dict(zip(names, key, strict=True)) | {"noticed": outcome} for key, outcome in outcomes.items()]
        self._file(room).write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")

    def _file(self, room: str) -> Path:
        return self._folder / f"{room.replace('/', '+')}.json"


def _line(room: str, outcomes: Sequence[Outcome]) -> str:
    own, leaks, no, untried = (outcomes.count(outcome) for outcome in ("own", "leaks", "no", None))
    return f"{room:28} {len(outcomes):5} {own:5} {own + leaks:6} {no:5} {untried:7}"
