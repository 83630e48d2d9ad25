"""The guide: the files of `docs/` as pages, and the definition of every metric, straight from the task types.

The texts are those of the repository; only their links are changed to addresses of this server.
"""

from __future__ import annotations

import re
import sysconfig
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fastapi import Request, Response
from markdown_it.token import Token
from markupsafe import Markup

from app.base.errors import NotFound
from app.texts.markdown import markdown_parser, with_readable_tables
from app.web.html.rendering import APP, render
from app.web.http.identity import VisitorHere
from app.web.http.routers import page_router
from evergold.scoring.tasks import TASKS

router = page_router()

_BESIDE_THE_CODE = APP.parent / "docs"  # in a checkout, and in images
DOCS = (
    _BESIDE_THE_CODE
    if (_BESIDE_THE_CODE / "submitting.md").is_file()
    else Path(sysconfig.get_path("data"), "share", "evergold", "docs")  # where pip installs them
)
#: File -> title and audience, in the order of the guide's first page.
GUIDES = {
    "submitting": ("Submitting", "For teams: from the first file to the entry that counts."),
    "tasks": ("Tasks", "For teams and organisers: each task's files, checks and scores."),
    "statistics": ("How sure is a score?", "For everybody who compares systems: intervals, tests, ranges of ranks."),
    "annotating": ("Annotating", "For annotators: judging paraphrases without knowing whose they are."),
    "organising": ("Organising", "For organisers: a competition from the first idea to the everlasting board."),
    "phases-yaml": ("phases.yaml", "For organisers: every key."),
    "cli": ("Command line", "For everybody who likes a terminal: every command."),
    "client": ("Python client", "For notebooks and scripts in Python."),
    "api": ("Web API", "For programs in any language."),
    "running": ("Running a server", "For administrators."),
    "scaling": ("Scaling", "For administrators: what many competitions at a deadline need."),
    "performance": ("Performance", "For everybody: how fast it is, and how that was measured."),
    "adding-a-task": ("Adding a task type", "For developers."),
    "glossary": ("Glossary", "For everybody: one word for each thing."),
}
_NO_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Guide:
    """A page of the guide: HTML without its first heading, and (id, text) of its sections."""

    title: str
    body: Markup
    sections: tuple[tuple[str, str], ...]


@router.get("/guide")
def read_guides(request: Request, visitor: VisitorHere) -> Response:
    found = [(name, title, hint) for name, (title, hint) in GUIDES.items() if _path(name).is_file()]
    return render(request, "competitions/guide_index.html", guides=found)


@router.get("/guide/metrics")
def read_metrics(request: Request, visitor: VisitorHere) -> Response:
    return render(request, "competitions/guide_metrics.html", tasks=sorted(TASKS.values(), key=lambda task: task.name))


@router.get("/guide/{name}")
def read_guide(request: Request, visitor: VisitorHere, name: str) -> Response:
    if name not in GUIDES or not _path(name).is_file():
        raise NotFound(f"The guide has no page {name!r}.")
    return render(request, "competitions/guide.html", guide=guide(name), name=name, guides=GUIDES)


@lru_cache(maxsize=len(GUIDES))
def guide(name: str) -> Guide:
    """Return the page, rendered once."""
    parser = markdown_parser()
    tokens = parser.parse(_path(name).read_text(encoding="utf-8"))
    sections = _anchor_headings(tokens)
    title, tokens = _without_title(tokens, GUIDES[name][0])
    _bend_links(tokens)
    html = parser.renderer.render(with_readable_tables(tokens, title), parser.options, {})
    body = Markup(html)  # noqa: S704 - escaped by the renderer; html is off
    return Guide(title, body, tuple(sections))


def _path(name: str) -> Path:
    return DOCS / f"{name}.md"


def _anchor_headings(tokens: list[Token]) -> list[tuple[str, str]]:
    """Give every heading the id that links in these texts use; return (id, text) of the second-level headings."""
    sections = []
    taken: set[str] = set()
    for opening, content in zip(tokens, tokens[1:], strict=False):
        if opening.type != "heading_open":
            continue
        text = "".join(child.content for child in content.children or ())
        slug = _NO_SLUG.sub("", text.lower()).strip().replace(" ", "-")
        while slug in taken:
            slug += "-1"
        taken.add(slug)
        opening.attrSet("id", slug)
        if opening.tag == "h2":
            sections.append((slug, text))
    return sections


def _without_title(tokens: list[Token], otherwise: str) -> tuple[str, list[Token]]:
    """Return the text of the first heading, which the page shows as its own, and the remaining tokens."""
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        return "".join(child.content for child in tokens[1].children or ()), tokens[3:]
    return otherwise, tokens


def _bend_links(tokens: list[Token]) -> None:
    """Point links between the texts to pages; replace links to files that only the repository has by their text."""
    for token in tokens:
        children = token.children or []
        _bend_links(children)
        for at, child in enumerate(children):
            if child.type == "link_open":
                address = _page_of(str(child.attrGet("href") or ""))
                if address is None:
                    _unlink(children, at)
                else:
                    child.attrSet("href", address)


def _page_of(address: str) -> str | None:
    if "://" in address or address.startswith(("#", "mailto:", "/")):
        return address
    file, _, section = address.partition("#")
    name = file.removesuffix(".md")
    return f"/guide/{name}{'#' if section else ''}{section}" if name in GUIDES else None


def _unlink(children: list[Token], opening: int) -> None:
    """Remove the link and keep its text."""
    closing = next(at for at in range(opening, len(children)) if children[at].type == "link_close")
    for at in (opening, closing):
        children[at] = Token("text", "", 0)
