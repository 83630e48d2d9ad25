"""Gain of a team that submits random labels again and again, and takes the majority vote of those that scored well.

The attack of Blum & Hardt (2015), section 5: n hidden items with two labels, k random submissions; the final vector is
the majority vote of the submissions that the board called better than chance. Nothing was learnt, so its true accuracy
is 0.5; what the board shows beyond that is gain from noise alone. Shown for boards that tell every digit, that round,
and that are a Ladder; the shown score is the one that the board itself reports for the final vector. Seeded: the same
numbers on every machine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence

import numpy as np

from bench._command import BenchParser, run
from evergold.scoring.ladder import ladder

#: Of the first attack; each has one of its own.
SEED = 0
Board = Callable[[list[float]], list[float]]
#: How a board answers k submissions.
BOARDS: dict[str, Board] = {
    "every digit": lambda scores: scores,
    "2 decimals": lambda scores: [round(score, 2) for score in scores],
    "Ladder, step 0.01": lambda scores: [told for told in ladder(scores, 0.01) if told is not None],
    "Ladder, step 0.02": lambda scores: [told for told in ladder(scores, 0.02) if told is not None],
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = BenchParser(__doc__, smoke={"items": 50, "turns": 1})
    parser.add_argument("--items", type=int, default=1000, help="hidden items (default: 1000)")
    parser.add_argument("--turns", type=int, default=20, help="attacks of each kind, averaged (default: 20)")
    chosen = parser.parse(argv)
    found = [
        {"submissions": k, "board": name, "gain": mean_gain(BOARDS[name], chosen.items, k, chosen.turns)}
        for k in (10, 100, 500)
        for name in BOARDS
    ]
    if chosen.json:
        print(json.dumps(found, indent=1))
        return
    print(
        f"{chosen.items} items, random labels: accuracy shown beyond the true 0.5, in points (mean of {chosen.turns})"
    )
    for row in found:
        print(f"{row['submissions']:>5} submissions  {row['board']:<18} {100 * row['gain']:+6.2f}")


def mean_gain(board: Board, items: int, submissions: int, turns: int) -> float:
    """Return the accuracy shown for the attacker's final vector minus 0.5, as the mean over `turns` attacks."""
    gains = [_attack(board, items, submissions, np.random.default_rng(SEED + turn)) for turn in range(turns)]
    return float(np.mean(gains))


def _attack(board: Board, items: int, submissions: int, random: np.random.Generator) -> float:
    gold = random.integers(0, 2, items)
    sent = random.integers(0, 2, (submissions, items))
    scores = [float(score) for score in (sent == gold).mean(axis=1)]
    told = board(scores)
    # On a board that says nothing of most submissions, the attacker keeps those that visibly moved the record.
    moved = [score > 0.5 and (at == 0 or score != told[at - 1]) for at, score in enumerate(told)]
    chosen = sent[np.array(moved)] if any(moved) else sent[:1]
    vote = (chosen.mean(axis=0) + random.uniform(-1e-9, 1e-9, items) > 0.5).astype(int)
    return board([*scores, float((vote == gold).mean())])[-1] - 0.5


if __name__ == "__main__":
    sys.exit(run(main))
