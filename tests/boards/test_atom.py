"""Feeds are XML whatever people write into them, and have what RFC 4287 requires."""

from __future__ import annotations

from datetime import UTC, datetime

from lxml import etree

from app.boards.feeds import Entry, atom

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)
ATOM = {"a": "http://www.w3.org/2005/Atom"}
PAGE, FEED = "https://scores.example.org/board?a=1&b=2", "https://scores.example.org/feed.atom"


def test_a_feed_has_what_readers_need_and_texts_come_back_without_control_characters() -> None:
    entries = [
        Entry(f"{PAGE}#1", "a\x08 <b> & \u200f \x00", PAGE, NOW, "x\ud800; y"),
        Entry(f"{PAGE}#2", "", PAGE, NOW, "<p>ä</p>", type="html", published=NOW),
    ]
    root = etree.fromstring(atom("Dates & data", entries, page=PAGE, feed=FEED, author="<me>", updated=NOW))
    assert root.tag == f"{{{ATOM['a']}}}feed"
    assert [root.findtext(f"a:{name}", namespaces=ATOM) for name in ("id", "title", "updated", "author/a:name")] == [
        PAGE,
        "Dates & data",
        "2026-01-10T12:00:00+00:00",
        "<me>",
    ]
    assert [dict(link.attrib) for link in root.findall("a:link", ATOM)] == [
        {"href": PAGE, "rel": "alternate"},
        {"href": FEED, "rel": "self"},
    ]
    first, second = root.findall("a:entry", ATOM)
    assert (first.findtext("a:title", namespaces=ATOM), first.find("a:published", ATOM)) == ("a <b> & \u200f ", None)
    assert [(one.text, one.get("type")) for one in (first.find("a:content", ATOM), second.find("a:content", ATOM))] == [
        ("x; y", "text"),
        ("<p>ä</p>", "html"),
    ]
    assert second.findtext("a:published", namespaces=ATOM) == "2026-01-10T12:00:00+00:00"
