"""How to cite a competition, or a board as it was frozen: BibTeX."""

from __future__ import annotations

from datetime import datetime

from app.boards.tables import latex_text
from app.models import Board, Competition, Phase, Snapshot


def cite_competition(competition: Competition, address: str, now: datetime) -> str:
    """`@misc` for the competition as a whole; `address`: of its page, `now`: when it was looked at."""
    begun = min((phase.starts_at for phase in competition.phases), default=competition.created_at)
    return _entry(
        key=competition.name,
        author=f"{{The organisers of {latex_text(competition.title)}}}",
        title=competition.title,
        year=begun.year,
        address=address,
        note=f"Accessed {now.date().isoformat()}",
    )


def cite_snapshot(competition: Competition, phase: Phase, board: Board, snapshot: Snapshot, address: str) -> str:
    """`@misc` for the official board, which never changes; `address`: its permanent one."""
    return _entry(
        key=f"{competition.name}-{phase.name}-{board.name}-{snapshot.number}",
        author=f"{{The organisers of {latex_text(competition.title)}}}",
        title=f"{competition.title}: {board.title}, {phase.title}, official results",
        year=snapshot.closed_at.year,
        address=address,
        note=f"Official board no. {snapshot.number}, frozen {snapshot.made_at.date().isoformat()}",
    )


def _entry(*, key: str, author: str, title: str, year: int, address: str, note: str) -> str:
    fields = {
        "author": author,
        "title": f"{{{latex_text(title)}}}",
        "year": str(year),
        "howpublished": rf"\url{{{address}}}",
        "note": latex_text(note),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{key},", *lines, "}"]) + "\n"
