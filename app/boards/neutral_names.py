"""What a team is called while names are hidden: the same in all of a phase, and saying nothing of who it is.

Made from a salt that nobody outside learns, so that it follows neither from ids nor from names, nor orders as they do.
Another phase has other names: whoever learns one by the end of its anonymity learns nothing about the other.
"""

from __future__ import annotations

import hashlib
import hmac

#: Without vowels and look-alikes: nothing that could be read as a word, or misread.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ2456789"
_LENGTH = 6


def neutral_name(salt: str, phase_id: int, team_id: int) -> str:
    """`Team K7QXB2`."""
    digest = hmac.new(salt.encode(), f"{phase_id} {team_id}".encode(), hashlib.sha256).digest()
    number = int.from_bytes(digest[:16], "big")
    letters = []
    for _ in range(_LENGTH):
        number, place = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[place])
    return f"Team {''.join(letters)}"
