"""Organisers' Markdown as HTML: no raw HTML, no images but the competition's own, headings below those of the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

#: Of most pages: their own headings are h1 and h2.
_HIGHEST_HEADING = 3
#: A group, no landmark: several texts of one page may each have a first table.
_SCROLLING = Markup('<div class="table-scroll" role="group" aria-label="{}" tabindex="0">')
_CAPTION = Markup('<caption class="visually-hidden">{}</caption>')


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image of ours; width, height: in pixels, None where they are not known."""

    address: str
    width: int | None = None
    height: int | None = None


#: By path, as texts name them.
Images = Mapping[str, ShownImage]


def render_markdown(text: str, highest: int = _HIGHEST_HEADING, images: Images | None = None) -> Markup:
    """The HTML, its headings from this one down; links to other sites do not tell them where the reader came from.

    images: those that the text may show; without any it has none at all.
    """
    parser = markdown_parser() if not images else _parser_with_images()
    tokens = parser.parse(text)
    _set_images(tokens, images or {})
    _lower_headings(tokens, highest)
    _mark_links(tokens)
    tokens = with_readable_tables(tokens)
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - the renderer escapes; html is off


@lru_cache(maxsize=1)
def _parser_with_images() -> MarkdownIt:
    return _made_parser().enable("image")


def _set_images(tokens: Sequence[Token], images: Images) -> None:
    """Ours have their address and their size, so that nothing moves as they come; of others the words stay."""
    for token in tokens:
        for inside in token.children or ():
            if inside.type == "image":
                _set_image(inside, images.get(unquote(str(inside.attrs.get("src", "")))))


def _set_image(token: Token, image: ShownImage | None) -> None:
    if image is None:
        token.type, token.tag, token.children = "text", "", None
        return
    size = {"width": image.width, "height": image.height}
    said = {name: str(value) for name, value in size.items() if value is not None}
    token.attrs = cast("dict[str, str | int | float]", {"src": image.address, "alt": "", **said, "loading": "lazy"})


def render_inline(text: str) -> Markup:
    """A sentence with `code` and *emphasis*, without a paragraph around it."""
    return Markup(markdown_parser().renderInline(text))  # noqa: S704 - as above


@lru_cache(maxsize=1)
def markdown_parser() -> MarkdownIt:
    """CommonMark with tables, without raw HTML and images."""
    return _made_parser()


def _made_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["image"])
    for kind in ("fence", "code_block"):
        parser.add_render_rule(kind, _scrolling_code)
    return parser


def _scrolling_code(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, context: EnvType
) -> str:
    """Code is not wrapped; what is wider than the page is reached by keyboard, too."""
    draw = renderer.fence if tokens[at].type == "fence" else renderer.code_block
    return draw(tokens, at, options, context).replace("<pre>", '<pre tabindex="0">', 1)


def with_readable_tables(tokens: Sequence[Token], title: str = "") -> list[Token]:
    """Tables have a name and say what their headings are for; wide ones scroll by themselves, by keyboard too."""
    found: list[Token] = []
    tables = 0
    for at, token in enumerate(tokens):
        if token.type == "th_open":
            token.attrSet("scope", "col")
            if not tokens[at + 1].content:  # the corner of a table is no heading
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
    """The text's highest heading becomes the highest that the page has left for it."""
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    highest = min((int(token.tag[1:]) for token in headings), default=1)
    for token in headings:
        token.tag = f"h{min(6, int(token.tag[1:]) - highest + to)}"


def _mark_links(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.type == "link_open":
            token.attrSet("rel", "noreferrer")
        _mark_links(token.children or ())


#: Letters of Hebrew, Arabic (Persian, Urdu), Syriac, Thaana, N'Ko and what is written like them.
_LETTER = r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
#: From the first such letter to the last of the same phrase: what stands between them belongs to it.
_PHRASE = re.compile(rf"{_LETTER}(?:[^\S\n]*[\w\u200c\u200d'\u2019.-]*[^\S\n]*{_LETTER})*")


def isolated(text: str) -> Markup:
    """The sentence, escaped, each of its right-to-left phrases in a <bdi>."""
    parts, end = [], 0
    for found in _PHRASE.finditer(text):
        parts += [escape(text[end : found.start()]), Markup("<bdi>{}</bdi>").format(found[0])]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])
