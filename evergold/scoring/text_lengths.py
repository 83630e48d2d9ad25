"""Maximum length of texts, gold or predicted, in the task types that read texts: their option `max_characters`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

#: Ten pages. Metrics that compare texts word by word take time quadratic in their length.
USUAL_CHARACTERS = 10_000
#: The csv module reads no longer cell.
MOST_CHARACTERS = 131_072

#: The option, of the same name in all task types.
MaxCharacters = Annotated[int, Field(ge=1, le=MOST_CHARACTERS)]

TOO_LONG = "too-long"


def length_fault(text: str, limit: int, noun: str = "text") -> str | None:
    """Return the fault of a text that has more characters than the limit; None if it has not."""
    if len(text) <= limit:
        return None
    return f"the {noun} has {len(text):,} characters, at most {limit:,} are allowed"
