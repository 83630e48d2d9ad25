"""Search for competitions, tasks and boards by words of their titles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.base.text import folded
from app.competitions.current import current_phase
from app.competitions.find import boards_of
from app.models import Board, Competition, Phase

#: Maximum shown on a page.
MOST_HITS = 50


@dataclass(frozen=True, slots=True)
class Hit:
    """A competition, or one of its boards, in the phase that matters now or else the last phase that has the board."""

    competition: Competition
    phase: Phase | None = None
    board: Board | None = None


def search(competitions: Sequence[Competition], words: str, now: datetime) -> list[Hit]:
    """Return hits whose title, name and summary contain every word, ignoring case and accents; no words, no hits.

    A board is found by its own words combined with those of its competition and task.
    """
    wanted = folded(words).split()
    if not wanted:
        return []
    hits = (hit for competition in competitions for hit in _hits(competition, wanted, now))
    return [hit for _, hit in zip(range(MOST_HITS), hits, strict=False)]


def _hits(competition: Competition, wanted: Sequence[str], now: datetime) -> Iterator[Hit]:
    about = f"{competition.title} {competition.name} {competition.summary or ''}"
    if _has(about, wanted):
        yield Hit(competition)
    for board in competition.boards:
        words = f"{board.title} {board.name} {board.task.title} {board.task.name}"
        if any(word in folded(words) for word in wanted) and _has(f"{about} {words}", wanted):
            phase = _phase_of(competition, board, now)
            if phase is not None:
                yield Hit(competition, phase, board)


def _has(text: str, wanted: Sequence[str]) -> bool:
    return all(word in folded(text) for word in wanted)


def _phase_of(competition: Competition, board: Board, now: datetime) -> Phase | None:
    current = current_phase(competition, now)
    phases = [*([current.phase] if current else []), *reversed(competition.phases)]
    return next((phase for phase in phases if board in boards_of(competition, phase)), None)
