"""Atom feeds (RFC 4287)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from app.base.text import is_control


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a feed. id: unique and never changed; published: None if it equals `updated`."""

    id: str
    title: str
    page: str
    updated: datetime
    content: str
    type: Literal["text", "html"] = "text"
    published: datetime | None = None


def atom(title: str, entries: Iterable[Entry], *, page: str, feed: str, author: str, updated: datetime) -> bytes:
    """Build the document. page, feed: addresses of the described page, and of the feed itself."""
    root = Element("feed", xmlns="http://www.w3.org/2005/Atom")
    _put(root, "id", page)
    _put(root, "title", title)
    _put(root, "updated", updated.isoformat())
    _put(_put(root, "author"), "name", author)
    _put(root, "link", href=page, rel="alternate")
    _put(root, "link", href=feed, rel="self")
    for entry in entries:
        one = _put(root, "entry")
        _put(one, "id", entry.id)
        _put(one, "title", entry.title)
        _put(one, "updated", entry.updated.isoformat())
        if entry.published is not None:
            _put(one, "published", entry.published.isoformat())
        _put(one, "link", href=entry.page, rel="alternate")
        _put(one, "content", entry.content, type=entry.type)
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _put(parent: Element, name: str, text: str | None = None, **attributes: str) -> Element:
    """Add an element, without control characters, which XML forbids."""
    child = SubElement(parent, name, attributes)
    is_plain = text is None or text.isprintable()  # true for nearly all of thousands
    child.text = text if is_plain else "".join(one for one in text or "" if not is_control(one))
    return child
