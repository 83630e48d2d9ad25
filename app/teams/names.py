"""Team names that people would confuse: those that differ only in case or in letters that look alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Competition, Team


def is_name_taken(session: Session, competition_id: int, name: str, own: Team | None = None) -> bool:
    """True if another team of the competition has this name or one easily confused with it.

    Until the transaction ends, nobody else can take a name in this competition.
    """
    # Rows that refer to the competition can still be written meanwhile.
    session.execute(select(Competition.id).where(Competition.id == competition_id).with_for_update(key_share=True))
    others = select(Team.name).where(Team.competition_id == competition_id)
    if own is not None:
        others = others.where(Team.id != own.id)
    return any(look_alike(name, other) for other in session.scalars(others))


def look_alike(name: str, other: str) -> bool:
    """True if the names differ only in case and in letters that look alike (Unicode's confusables)."""
    return any(a == b for a, b in zip(_looks(name), _looks(other), strict=True))


@lru_cache(maxsize=10_000)
def _looks(name: str) -> tuple[str, str]:
    """Return the skeleton as written and in lower case: a capital I looks like an l, but is the same letter as i."""
    plain = unicodedata.normalize("NFKC", name)
    return _skeleton(plain).casefold(), _skeleton(plain.casefold()).casefold()


def _skeleton(text: str) -> str:
    return "".join(map(_prototype, text))


@lru_cache(maxsize=10_000)
def _prototype(letter: str) -> str:
    """Return the one letter (or two) that represents all lookalikes of this one.

    In the library's table a prototype is listed with each lookalike, and each lookalike only with the prototype.
    """
    table = _confusables()
    alike = table.get(letter, [])
    if len(alike) != 1:
        return letter
    found: str = alike[0]["c"]
    is_prototype = len(table.get(found, [])) > 1
    return found if is_prototype else min(letter, found)


@cache
def _confusables() -> Mapping[str, list[dict[str, Any]]]:
    """Load Unicode's table on first use: it takes 7 MB, and most processes never need it."""
    from confusable_homoglyphs.confusables import confusables_data

    table: Mapping[str, list[dict[str, Any]]] = confusables_data
    return table
