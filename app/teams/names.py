"""Which names of teams people cannot tell apart: those that differ in case alone, or in letters that look alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Competition, Team


def is_name_taken(session: Session, competition_id: int, name: str, own: Team | None = None) -> bool:
    """Whether another team of the competition is called so, or so nearly that people would mistake one for the other.

    Until the transaction ends, nobody else takes a name in this competition.
    """
    # What refers to the competition may still be written meanwhile.
    session.execute(select(Competition.id).where(Competition.id == competition_id).with_for_update(key_share=True))
    others = select(Team.name).where(Team.competition_id == competition_id)
    if own is not None:
        others = others.where(Team.id != own.id)
    return any(look_alike(name, other) for other in session.scalars(others))


def look_alike(name: str, other: str) -> bool:
    """Whether the names differ in nothing but case and letters that look alike (Unicode's confusables)."""
    return any(a == b for a, b in zip(_looks(name), _looks(other), strict=True))


@lru_cache(maxsize=10_000)
def _looks(name: str) -> tuple[str, str]:
    """How it looks as it is, and in small letters: a capital I looks like an l, and is the same letter as i."""
    plain = unicodedata.normalize("NFKC", name)
    return _skeleton(plain).casefold(), _skeleton(plain.casefold()).casefold()


def _skeleton(text: str) -> str:
    return "".join(map(_prototype, text))


@lru_cache(maxsize=10_000)
def _prototype(letter: str) -> str:
    """The one letter (or two) that stands for all those that look like this one.

    In the library's table it stands beside each of these alone, and all of these stand beside it.
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
    """Unicode's table, read when the first name is compared: it takes 7 MB, and most processes never ask."""
    from confusable_homoglyphs.confusables import confusables_data

    table: Mapping[str, list[dict[str, Any]]] = confusables_data
    return table
