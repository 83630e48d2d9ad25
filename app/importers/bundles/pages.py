"""Pages of bundles as Markdown: HTML is reduced to text, then converted."""

from __future__ import annotations

import re

_TAGS = frozenset(
    {
        *("a", "b", "blockquote", "br", "caption", "center", "code", "dd", "div", "dl", "dt", "em", "hr", "i", "li"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "s", "span", "strong", "sub", "sup", "u", "ul"),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr"),
    }
)
_SCHEMES = {"http", "https", "mailto"}
_HTML = re.compile(r"<(?:!doctype|html|head|body|div|p|h[1-6]|ul|ol|table|br|span|b|strong|a)\b[^>]*>", re.IGNORECASE)
#: Repetitions are bounded, so that a page of opening brackets takes no time.
_IMAGE = re.compile(r"!\[([^\]]{0,300})\]\(([^)\s]{0,300})(?:\s[^)]{0,300})?\)")
#: Maximum numbers of tags and of list items of a page; more take long to parse, and pages written by people have less.
TAGS_MOST, LIST_ITEMS_MOST = 5_000, 1_000


class PageTooLarge(ValueError):
    """The page has too many tags, or too deeply nested ones. The message is a sentence."""


def page_text(written: str, is_html: bool) -> str:
    """Return a page as Markdown, in which pictures become links.

    is_html: True if the file's extension is that of HTML; a Markdown page with HTML tags is converted, too. Raises
    PageTooLarge.
    """
    text = markdown_of(written) if is_html or _HTML.search(written) else written
    text = _IMAGE.sub(lambda match: f"[{match[1] or 'Picture'}]({match[2]})" if match[2] else match[1], text)
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\t", "    ").split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def markdown_of(html: str) -> str:
    """Return HTML as Markdown, without scripts, styles, forms, pictures and frames. Raises PageTooLarge."""
    import nh3
    from markdownify import markdownify

    if html.count("<") > TAGS_MOST:
        raise PageTooLarge(f"the page has more than {TAGS_MOST:,} tags")
    if html.lower().count("<li") > LIST_ITEMS_MOST:
        raise PageTooLarge(f"the page has lists of more than {LIST_ITEMS_MOST:,} items")
    clean = nh3.clean(
        html, tags=set(_TAGS), attributes={"a": {"href"}}, url_schemes=_SCHEMES, link_rel=None, strip_comments=True
    )
    try:
        converted: str = markdownify(
            clean, heading_style="ATX", bullets="-", escape_misc=False, newline_style="backslash"
        )
    except RecursionError:  # its parser recurses once for each level
        raise PageTooLarge("the tags of the page are nested too deep") from None
    return converted


def lowered(text: str) -> str:
    """Return Markdown with its headings lowered below the heading of the page that includes it."""
    return re.sub(r"^(#{1,5}) ", r"#\1 ", text, flags=re.MULTILINE)


def without_heading(text: str, title: str) -> str:
    """Return Markdown without its first line if that is a heading equal to the page's title."""
    first, _, rest = text.partition("\n")
    heading = re.fullmatch(r"#{1,6} +(.*?)[ #]*", first)
    return rest.lstrip("\n") if heading and heading[1].strip().casefold() == title.strip().casefold() else text
