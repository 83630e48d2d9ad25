"""Organisers' Markdown as HTML: no raw HTML, only the competition's own images, headings below those of the page.

Pure functions, with limits on the size of the HTML; `app.texts.html` runs them in the helper and caches results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import cast
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

#: A group, not a landmark: several texts of one page may each have a first table.
_SCROLLING = Markup('<div class="table-scroll" role="group" aria-label="{}" tabindex="0">')
_CAPTION = Markup('<caption class="visually-hidden">{}</caption>')

#: Limit on the HTML of a text: a multiple of its length plus a few pages, and an absolute maximum. Real texts are far
#: below: lists of single letters reach nine times their length.
GROWTH_LIMIT, GROWTH_FREE, HTML_LIMIT = 25, 20_000, 400_000
#: Cells of all tables of a text, including those that Markdown adds to short rows.
CELLS_LIMIT = 5_000

#: Attributes of images by path, as named in texts: `src`, and `width` and `height` in pixels if known.
ImageAttributes = Mapping[str, Mapping[str, str]]


class TextTooLarge(ValueError):
    """The HTML of a text is larger than a page can show. The message is a sentence for its author."""


def markdown_html(text: str, highest: int, images: ImageAttributes) -> str:
    """Return the HTML, with headings from level `highest` down; links to other sites send no referrer.

    images: those that the text may show; if empty, images are disabled. Raises TextTooLarge.
    """
    parser = markdown_parser() if not images else _parser_with_images()
    tokens = parser.parse(text)
    _set_images(tokens, images)
    _lower_headings(tokens, highest)
    _mark_links(tokens)
    tokens = with_readable_tables(tokens)
    html: str = parser.renderer.render(tokens, parser.options, {})
    bound = html_bound(text)
    if len(html) > bound:
        raise TextTooLarge(
            f"It becomes {len(html):,} characters of HTML; a text of this length may have {bound:,}. "
            "Use fewer tables, lists and links."
        )
    return html


def html_bound(text: str) -> int:
    """Return the maximum size of the HTML for this text, in characters."""
    return min(GROWTH_LIMIT * len(text) + GROWTH_FREE, HTML_LIMIT)


@lru_cache(maxsize=1)
def _parser_with_images() -> MarkdownIt:
    return _made_parser().enable("image")


def _set_images(tokens: Sequence[Token], images: ImageAttributes) -> None:
    """Set address and size of our images, so that the layout does not shift on loading; others become plain text."""
    for token in tokens:
        for inside in token.children or ():
            if inside.type == "image":
                _set_image(inside, images.get(unquote(str(inside.attrs.get("src", "")))))


def _set_image(token: Token, image: Mapping[str, str] | None) -> None:
    if image is None:
        token.type, token.tag, token.children = "text", "", None
        return
    token.attrs = cast("dict[str, str | int | float]", {"src": image["src"], "alt": "", **image, "loading": "lazy"})


def render_inline(text: str) -> Markup:
    """Return a sentence with `code` and *emphasis* as HTML, without a paragraph around it."""
    return Markup(markdown_parser().renderInline(text))  # noqa: S704 - as above


@lru_cache(maxsize=1)
def markdown_parser() -> MarkdownIt:
    """Return a CommonMark parser with tables, without raw HTML and images."""
    return _made_parser()


def _made_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["image"])
    for kind in ("fence", "code_block"):
        parser.add_render_rule(kind, _scrolling_code)
    bound_tables(parser)
    return parser


def bound_tables(parser: MarkdownIt) -> None:
    """Make the parser raise TextTooLarge as soon as a text has too many cells.

    A table of 1,500 characters can have 60,000, because rows are padded to the width of the first.
    """

    too_many = TextTooLarge(f"Its tables have more than {CELLS_LIMIT:,} cells, empty ones included.")

    def counted(state: StateBlock, first: int, last: int, silent: bool) -> bool:
        is_table = table(state, first, last, True)  # looks at two lines
        if silent or not is_table:
            return is_table
        if _at_most(state, first, last) > 2 * CELLS_LIMIT:
            raise too_many
        begins = len(state.tokens)
        found = table(state, first, last, False)
        cells = sum(token.type in ("td_open", "th_open") for token in state.tokens[begins:])
        state.env["cells"] = state.env.get("cells", 0) + cells
        if state.env["cells"] > CELLS_LIMIT:
            raise too_many
        return found

    parser.block.ruler.at("table", counted, {"alt": ["paragraph", "reference"]})


def _at_most(state: StateBlock, first: int, last: int) -> int:
    """Return an upper bound on the cells of a table that would begin on this line, without rendering any."""
    heading = state.getLines(first, first + 1, 0, False).strip().strip("|")
    rows = next((line for line in range(first, last) if state.isEmpty(line)), last) - first
    return (heading.count("|") + 1) * rows


def _scrolling_code(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, context: EnvType
) -> str:
    """Return code as HTML without wrapping, scrollable by keyboard."""
    draw = renderer.fence if tokens[at].type == "fence" else renderer.code_block
    return draw(tokens, at, options, context).replace("<pre>", '<pre tabindex="0">', 1)


def with_readable_tables(tokens: Sequence[Token], title: str = "") -> list[Token]:
    """Return the tokens with names and scoped headings for tables; wide tables can be scrolled, also by keyboard."""
    found: list[Token] = []
    tables = 0
    for at, token in enumerate(tokens):
        if token.type == "th_open":
            token.attrSet("scope", "col")
            if not tokens[at + 1].content:  # an empty corner cell is not a heading
                token.tag = tokens[at + 2].tag = "td"
                token.attrs.pop("scope")
        if token.type == "table_open":
            tables += 1
            name = f"{title}, table {tables}" if title else f"Table {tables}"
            found += [_html(_SCROLLING.format(name)), token, _html(_CAPTION.format(name))]
        else:
            found.append(token)
        if token.type == "table_close":
            found.append(_html("</div>\n"))
    return found


def _html(content: str) -> Token:
    return Token("html_block", "", 0, content=content)


def _lower_headings(tokens: Sequence[Token], to: int) -> None:
    """Lower the headings so that the text's highest one gets this level."""
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    highest = min((int(token.tag[1:]) for token in headings), default=1)
    for token in headings:
        token.tag = f"h{min(6, int(token.tag[1:]) - highest + to)}"


def _mark_links(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.type == "link_open":
            token.attrSet("rel", "noreferrer")
        _mark_links(token.children or ())
