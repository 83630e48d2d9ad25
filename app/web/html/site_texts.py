"""Texts by the operators of this server, in Markdown files named in the settings."""

from __future__ import annotations

from app.base.config import Settings
from app.base.errors import NotFound

#: Pages for people are shorter; a larger file was named by mistake.
LIMIT_BYTES = 200_000


def read_site_text(settings: Settings, name: str) -> str:
    """Return the text for this address. Raises NotFound if no file is configured or it cannot be read."""
    path = settings.site_texts[name]
    if path is None:
        raise NotFound("There is no page at this address.")
    try:
        with path.open("rb") as file:
            return file.read(LIMIT_BYTES).decode("utf-8", "replace")
    except OSError:
        raise NotFound(f"The file that EVERGOLD_{name.upper()}_FILE names cannot be read.") from None
