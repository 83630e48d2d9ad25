"""Neutral team names while names are hidden: constant within a phase, and unrelated to the team.

Derived from a secret salt, so that they follow neither from ids nor from names, nor sort like them. Another phase has
other names: a name revealed at the end of its anonymity reveals nothing about the other phase.
"""

from __future__ import annotations

import hashlib
import hmac

#: Without vowels and look-alikes: nothing that could be read as a word, or misread.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ2456789"
_LENGTH = 6


def neutral_name(salt: str, phase_id: int, team_id: int) -> str:
    """Return a name such as `Team K7QXB2`."""
    digest = hmac.new(salt.encode(), f"{phase_id} {team_id}".encode(), hashlib.sha256).digest()
    number = int.from_bytes(digest[:16], "big")
    letters = []
    for _ in range(_LENGTH):
        number, place = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[place])
    return f"Team {''.join(letters)}"
