"""Organisers' Markdown as HTML: no raw HTML, no pictures from elsewhere, headings below those of the page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

#: The page's own headings are h1 and h2.
_HIGHEST_HEADING = 3


def render_markdown(text: str) -> Markup:
    """The HTML; links to other sites do not tell them where the reader came from."""
    parser = markdown_parser()
    tokens = parser.parse(text)
    _lower_headings(tokens)
    _mark_links(tokens)
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - the renderer escapes; html is off


def render_inline(text: str) -> Markup:
    """A sentence with `code` and *emphasis*, without a paragraph around it."""
    return Markup(markdown_parser().renderInline(text))  # noqa: S704 - as above


@lru_cache(maxsize=1)
def markdown_parser() -> MarkdownIt:
    """CommonMark with tables, without raw HTML and pictures."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["image"])


def _lower_headings(tokens: Sequence[Token]) -> None:
    """The text's highest heading becomes the highest that the page has left for it."""
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    highest = min((int(token.tag[1:]) for token in headings), default=1)
    for token in headings:
        token.tag = f"h{min(6, int(token.tag[1:]) - highest + _HIGHEST_HEADING)}"


def _mark_links(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.type == "link_open":
            token.attrSet("rel", "noreferrer")
        _mark_links(token.children or ())
