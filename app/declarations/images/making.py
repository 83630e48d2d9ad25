"""Images that may be sent to everybody: uploaded files, re-encoded in the helper within limits.

Image decoders are large and old, and files come from strangers: neither the web process nor `evergold apply` decodes
any.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.base.errors import EvergoldError
from app.helper.process import Job, TooMuchWork, run

READ_BYTES = 16 * 1024 * 1024
_MAKE = Job("app.declarations.images.child:make", processor_seconds=20, seconds=40, mebibytes=1024, waiting=30)


class InvalidImage(EvergoldError):
    """The file cannot be converted to an image."""

    status = 422
    code = "invalid_image"


@dataclass(frozen=True, slots=True)
class MadeImage:
    """A re-encoded image. media_type: image/png, image/jpeg or image/webp."""

    content: bytes
    media_type: str
    width: int
    height: int


def make_image(path: Path) -> MadeImage:
    """Return the image without metadata, and no wider than pages need. Raises InvalidImage with a sentence, or Busy."""
    with path.open("rb") as source:
        sent = source.read(READ_BYTES + 1)
    try:
        made, content = run(_MAKE, {}, sent)
    except TooMuchWork:
        raise InvalidImage("Reading the image takes too long.") from None
    if "refused" in made:
        raise InvalidImage(made["refused"])
    return MadeImage(content, made["type"], made["width"], made["height"])
