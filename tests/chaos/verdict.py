"""A comparison of a storm with a calm run of the same files, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.chaos.storm import CLIENTS, Outcome, name_of

#: Rows of scores that a run of the storm's task has: macro F1 and accuracy, zero-shot and one-shot, English and all.
SCORES_PER_RUN = 8
#: Among as many files some are rejected; of fewer, drawn at random, all may be good.
BOTH_FROM = 100


def wrongs(calm: Outcome, chaos: Outcome, count: int) -> list[str]:
    """Return the differences and inconsistencies; [] if the two are alike and each is consistent in itself."""
    return [*_alone("calm", calm, count), *_alone("chaos", chaos, count), *_compared(calm, chaos, count)]


def _alone(name: str, outcome: Outcome, count: int) -> Iterator[str]:
    yield from (f"{name}: {complaint}" for complaint in outcome.complaints)
    for what, number in (("files", len(outcome.files)), ("submissions", outcome.submissions), ("runs", outcome.runs)):
        if number != count:
            yield f"{name}: {number} {what} instead of {count}"
    states = Counter(run[0] for runs in outcome.files.values() for run in runs)
    if not states["scored"] or set(states) - {"scored", "rejected"} or (count >= BOTH_FROM and not states["rejected"]):
        yield f"{name}: the states are {dict(states)}"
    if outcome.score_rows != SCORES_PER_RUN * states["scored"]:
        yield f"{name}: {outcome.score_rows} rows of scores for {states['scored']} scored runs"
    if outcome.board_version < states["scored"]:
        yield f"{name}: the board changed {outcome.board_version} times for {states['scored']} scored runs"
    for who in range(CLIENTS):
        mine = [run[0] for n in range(who, count, CLIENTS) for run in outcome.files.get(n, ())]
        expected = (mine.count("scored"), mine.count("scored"), mine.count("rejected"))
        if outcome.quotas.get(name_of(who)) != expected:
            yield f"{name}: {name_of(who)} has used {outcome.quotas.get(name_of(who))} instead of {expected}"


def _compared(calm: Outcome, chaos: Outcome, count: int) -> Iterator[str]:
    for number in range(count):
        if calm.files.get(number) != chaos.files.get(number):
            yield f"file {number}: {chaos.files.get(number)} instead of {calm.files.get(number)}"
    if calm.board != chaos.board:
        yield f"the board is {chaos.board} instead of {calm.board}"
    if calm.quotas != chaos.quotas:
        yield f"the quotas are {chaos.quotas} instead of {calm.quotas}"
    if calm.board_version != chaos.board_version:
        yield f"the board changed {chaos.board_version} times instead of {calm.board_version}"
