"""HTML of organisers' Markdown: rendered in the helper, and cached by hash, so that page views are fast.

A text beyond the limits is shown as plain text.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from app.base.errors import Busy
from app.helper.process import Job, TooMuchWork, run_now
from app.texts.markdown import ImageAttributes

_RENDER = Job("app.texts.child:render", processor_seconds=4, seconds=20, mebibytes=512)
#: Increment when the output of `app.texts.markdown` changes.
_RENDERER = 1
CACHE_LIMIT_BYTES = 32 * 1024 * 1024
#: Overhead of a cached text besides its HTML.
_ENTRY_BYTES = 300
#: Retry interval for a text that took too long: the machine may have been busy.
_TRIED_AGAIN_SECONDS = 60.0
_HIGHEST_HEADING = 3
_TOO_LONG = "Laying out this text takes too long."
_AS_WRITTEN = Markup('<p class="quiet">This text is too large to be laid out; it is shown as it was written.</p>\n')
_PLAIN = Markup('<div class="as-written">{}</div>\n')


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image on this server. width, height: in pixels, None if unknown."""

    address: str
    width: int | None = None
    height: int | None = None


#: Images by path, as named in texts.
Images = Mapping[str, ShownImage]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered text.

    fault: a sentence on why it could not be rendered; until: when to retry (monotonic time).
    """

    html: Markup
    fault: str = ""
    until: float = float("inf")


def render_markdown(text: str, highest: int = _HIGHEST_HEADING, images: Images | None = None) -> Markup:
    """Return the HTML, with headings from level `highest` down. images: those that the text may show."""
    try:
        return rendered(text, highest, images).html
    except Busy:  # readable as written, and laid out the next time
        return _PLAIN.format(text)


def text_fault(text: str) -> str:
    """Return a sentence on why pages cannot render the text; "" if they can. Raises Busy."""
    return rendered(text).fault if text else ""


def rendered(text: str, highest: int = _HIGHEST_HEADING, images: Images | None = None) -> Rendered:
    """Return the rendered text, from the cache if possible. Raises Busy."""
    head = {"highest": highest, "images": _attributes(images or {}) if "![" in text else {}}
    key = hashlib.sha256(json.dumps([_RENDERER, head, text]).encode()).digest()
    found = _CACHE.get(key)
    if found is not None:
        return found
    with _RENDER.turn():  # another request may have rendered it meanwhile
        return _CACHE.get(key) or _CACHE.keep(key, _render(text, head))


def _render(text: str, head: Mapping[str, object]) -> Rendered:
    try:
        answer, html = run_now(_RENDER, head, text.encode("utf-8", "replace"))
    except TooMuchWork:
        return _as_written(text, _TOO_LONG, time.monotonic() + _TRIED_AGAIN_SECONDS)
    if "refused" in answer:
        return _as_written(text, answer["refused"])
    return Rendered(Markup(html.decode()))  # noqa: S704 - the renderer escapes; raw HTML is off


def _as_written(text: str, fault: str, until: float = float("inf")) -> Rendered:
    return Rendered(_AS_WRITTEN + _PLAIN.format(text), fault, until)


def _attributes(images: Images) -> ImageAttributes:
    return {
        path: {"src": image.address}
        | {name: str(value) for name in ("width", "height") if (value := getattr(image, name)) is not None}
        for path, image in images.items()
    }


class _Cache:
    """Rendered texts by key; evicts the least recently used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[bytes, Rendered] = OrderedDict()
        self._bytes = 0

    def get(self, key: bytes) -> Rendered | None:
        with self._lock:
            found = self._found.get(key)
            if found is None or found.until < time.monotonic():
                return None
            self._found.move_to_end(key)
            return found

    def keep(self, key: bytes, one: Rendered) -> Rendered:
        with self._lock:
            before = self._found.pop(key, None)
            self._bytes += _size_bytes(one) - (_size_bytes(before) if before is not None else 0)
            self._found[key] = one
            while self._bytes > CACHE_LIMIT_BYTES and len(self._found) > 1:
                self._bytes -= _size_bytes(self._found.popitem(last=False)[1])
        return one


def _size_bytes(one: Rendered) -> int:
    """Return an upper bound of the size in bytes: Python uses up to four per character."""
    return _ENTRY_BYTES + len(one.html) * (1 if one.html.isascii() else 4)


_CACHE = _Cache()
