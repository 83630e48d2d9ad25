"""Pages of bundles as Markdown: HTML is cleaned of all that is not text, then rewritten."""

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
_IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]*)[^)]*\)")


def page_text(written: str, is_html: bool) -> str:
    """Return a page as Markdown; pictures become links to where they are.

    is_html: whether the file's name is that of HTML; a Markdown page with tags in it is rewritten, too.
    """
    text = markdown_of(written) if is_html or _HTML.search(written) else written
    text = _IMAGE.sub(lambda match: f"[{match[1] or 'Picture'}]({match[2]})" if match[2] else match[1], text)
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\t", "    ").split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def markdown_of(html: str) -> str:
    """Return HTML as Markdown, without scripts, styles, forms, pictures and frames."""
    import nh3
    from markdownify import markdownify

    clean = nh3.clean(
        html, tags=set(_TAGS), attributes={"a": {"href"}}, url_schemes=_SCHEMES, link_rel=None, strip_comments=True
    )
    converted: str = markdownify(clean, heading_style="ATX", bullets="-", escape_misc=False, newline_style="backslash")
    return converted


def lowered(text: str) -> str:
    """Return Markdown whose headings begin below that of the page it becomes part of."""
    return re.sub(r"^(#{1,5}) ", r"#\1 ", text, flags=re.MULTILINE)
