"""Images in texts: `![what is to be seen](figure.png)`, only as files next to the declaration."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt

from app.declarations.model import CompetitionDeclaration
from app.helper.process import Job, TooMuchWork, run
from app.helper.wire import Message
from app.texts.markdown import TextTooLarge, bound_tables
from evergold.scoring.characters import can_be_name

#: Allowed file suffixes.
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
#: Maximum number of images of a competition.
MOST_IMAGES = 50
#: Parts of a competition whose descriptions are Markdown.
_PARTS = ("tasks", "phases", "boards", "rankings")
_SCHEME = re.compile(r"^([a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Named:
    """An image in a text. path: of the file, or an external address; alt: the alternative text."""

    path: str
    alt: str

    @property
    def is_elsewhere(self) -> bool:
        """True if the image is on another site, or inline data; such images are not shown."""
        return _SCHEME.match(self.path) is not None

    @property
    def is_file(self) -> bool:
        """True if the path can be a file of the declaration."""
        path = PurePosixPath(self.path)
        is_inside = bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\\" not in self.path
        return not self.is_elsewhere and is_inside and path.suffix.lower() in SUFFIXES and can_be_name(self.path)


def images_in(text: str) -> tuple[Named, ...]:
    """Return the images in the order of the text; empty if the text is too large.

    It parses the text in this process, so the web process must not call it.
    """
    if "![" not in text:
        return ()
    found = []
    try:
        blocks = _parser().parse(text)
    except TextTooLarge:
        return ()
    for block in blocks:
        for token in block.children or ():
            if token.type == "image":
                alt = "".join(inside.content for inside in token.children or ())
                found.append(Named(unquote(str(token.attrs.get("src", ""))), alt))
    return tuple(found)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    bound_tables(parser)
    return parser


_FIND = Job("app.declarations.images.texts:find_images", processor_seconds=4, seconds=20, mebibytes=512)


def find_images(head: dict[str, Any], content: bytes) -> Message:
    """List the images of the text `content`: a job of the helper."""
    return {"images": [[image.path, image.alt] for image in images_in(content.decode())]}, b""


@lru_cache(maxsize=512)  # the same texts are parsed at each edit
def _images_of(text: str) -> tuple[Named, ...]:
    """Return the same as `images_in`, but parse the text in the helper."""
    if "![" not in text:
        return ()
    try:
        answer, _ = run(_FIND, {}, text.encode("utf-8", "replace"))
    except TooMuchWork:
        return ()
    return tuple(Named(path, alt) for path, alt in answer["images"])


def declared_images(declared: CompetitionDeclaration) -> list[str]:
    """Return the image files in texts, without duplicates."""
    texts = [declared.description, declared.registration.terms]
    for parts in (declared.tasks, declared.phases, declared.boards, declared.rankings):
        texts += [one.description for one in parts]
    return list(dict.fromkeys(image.path for text in texts for image in _images_of(text) if image.is_file))


def markdown_of(path: str, alt: str) -> str:
    """Return the Markdown of the image."""
    words = " ".join(alt.split()).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return f"![{words}]({path})"


def image_texts(fields: Iterable[Any], steps: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return (name, label) of the fields in a part's form whose text may show images."""
    is_shown = steps in ((), ("registration",)) or (len(steps) == 2 and steps[0] in _PARTS)
    named = ("description", "terms") if is_shown else ()
    return [(one.name, one.label) for one in fields if one.name in named]


def media_type_of(path: str) -> str | None:
    """Return the media type by file name; None if it is not an image."""
    suffix = PurePosixPath(path).suffix.lower()
    return f"image/{suffix.lstrip('.').replace('jpg', 'jpeg')}" if suffix in SUFFIXES else None


def file_name(sent: str) -> str:
    """Return a name that needs no escaping in Markdown or URLs; "" if it is not the name of an image."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", PurePosixPath(sent.replace("\\", "/")).name).lstrip(".-")
    return name if PurePosixPath(name).suffix.lower() in SUFFIXES and len(name) <= 100 else ""


def with_image(document: dict[str, Any], steps: tuple[str, ...], image: str) -> dict[str, Any]:
    """Return a copy with the image appended to the text at these steps."""
    changed = copy.deepcopy(document)
    place: Any = changed
    for step in steps[:-1]:
        place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
    before = str(place.get(steps[-1]) or "").rstrip()
    place[steps[-1]] = f"{before}\n\n{image}\n".lstrip()
    return changed


def text_nodes(competition: Any) -> Iterator[Any]:
    """Yield the nodes of Markdown texts that may show images."""
    whole = competition.entries
    yield whole.get("description")
    yield whole["registration"].entries.get("terms") if "registration" in whole else None
    for key in _PARTS:
        for part in whole[key].elements if key in whole else ():
            yield part.entries.get("description")
