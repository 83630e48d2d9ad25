"""From a file that somebody brought to an image that everybody may be sent: made anew in a child with bounds.

Decoders of images are large and old, and files are strangers': neither the web process nor `evergold apply` reads one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore

from app.base.errors import EvergoldError

_CHILD = Path(__file__).with_name("child.py")
_SECONDS = 40
#: A process makes so many at a time; further ones wait.
_TURNS = BoundedSemaphore(2)


class InvalidImage(EvergoldError):
    """A file that no image can be made of."""

    status = 422
    code = "invalid_image"


@dataclass(frozen=True, slots=True)
class MadeImage:
    """media_type: image/png, image/jpeg or image/webp."""

    content: bytes
    media_type: str
    width: int
    height: int


def make_image(path: Path) -> MadeImage:
    """No wider than a page needs, without metadata. Raises InvalidImage with a sentence for whoever sent it."""
    command = [sys.executable, "-I", str(_CHILD)]
    with _TURNS, path.open("rb") as source:
        try:
            child = subprocess.run(command, stdin=source, capture_output=True, timeout=_SECONDS, check=False, env={})  # noqa: S603 - our own script
        except subprocess.TimeoutExpired:
            raise InvalidImage("It takes too long to read.") from None
    head, _, content = child.stdout.partition(b"\n")
    if child.returncode != 0:
        raise InvalidImage("It cannot be read.")
    said = json.loads(head)
    if "refused" in said:
        raise InvalidImage(said["refused"])
    return MadeImage(content, said["type"], said["width"], said["height"])
