"""Citations of a competition, its paper, or an official board: BibTeX, text, and metadata for search engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from app.boards.snapshots import Official
from app.boards.tables import latex_text
from app.competitions.views import citation_of
from app.models import Board, Competition, Phase
from evergold.moments import date_words

# -------------------------------------------------------------------------------------------------------------- BibTeX


def cite_competition(competition: Competition, address: str, now: datetime) -> str:
    """Return `@misc` for the whole competition. address: of its page; now: date of access."""
    return _entry(
        key=competition.name,
        author=_author(competition),
        title=competition.title,
        year=_year(competition),
        address=address,
        note=f"Accessed {now.date().isoformat()}",
    )


def cite_paper(competition: Competition) -> str:
    """Return a BibTeX entry for the overview paper; "" if there is none."""
    paper = citation_of(competition).paper
    if paper is None:
        return ""
    fields = {
        "author": _names(paper.authors),
        "title": f"{{{latex_text(paper.title)}}}",
        "booktitle": latex_text(paper.venue),
        "year": str(paper.year or ""),
        "doi": paper.doi,
        "url": paper.url,
    }
    return _lines("inproceedings" if paper.venue else "misc", f"{competition.name}-overview", fields)


def cite_official(competition: Competition, phase: Phase, board: Board, official: Official, address: str) -> str:
    """Return `@misc` for the official board, which never changes. address: its permanent address."""
    snapshot = official.snapshot
    later = f", superseded by {official.successor.name}" if official.successor else ""
    return _entry(
        key=f"{competition.name}-{phase.name}-{board.name}-{snapshot.number}",
        author=_author(competition),
        title=f"{competition.title}: {board.title}, {phase.title}, official results",
        year=snapshot.closed_at.year,
        address=address,
        note=f"Official board no. {snapshot.number}, frozen {date_words(snapshot.made_at)}{later}",
    )


def _entry(*, key: str, author: str, title: str, year: int, address: str, note: str) -> str:
    fields = {
        "author": author,
        "title": f"{{{latex_text(title)}}}",
        "year": str(year),
        "howpublished": rf"\url{{{address}}}",
        "note": latex_text(note),
    }
    return _lines("misc", key, fields)


def _lines(kind: str, key: str, fields: Mapping[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"]) + "\n"


def _author(competition: Competition) -> str:
    return _names(citation_of(competition).authors) or f"{{The organisers of {latex_text(competition.title)}}}"


def _names(authors: Sequence[str]) -> str:
    """Return the names joined for BibTeX; a name that contains " and " stays one name."""
    return " and ".join(f"{{{latex_text(one)}}}" if " and " in one else latex_text(one) for one in authors)


def _year(competition: Competition) -> int:
    return min((phase.starts_at for phase in competition.phases), default=competition.created_at).year


# ------------------------------------------------------------------------------------------------- for other readers


def plain_citation(competition: Competition, address: str, now: datetime) -> str:
    """Return a one-line citation for use without BibTeX."""
    names = "; ".join(citation_of(competition).authors) or f"The organisers of {competition.title}"
    return f"{names} ({_year(competition)}). {competition.title}. {address} (accessed {now.date().isoformat()})."


def described(competition: Competition, address: str) -> list[dict[str, Any]]:
    """Return a schema.org Dataset and, if a paper is declared, a ScholarlyArticle. address: of the page."""
    citation = citation_of(competition)
    paper = citation.paper
    dataset = {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": competition.title,
        "description": competition.summary or f"Data and results of the shared task {competition.title}.",
        "url": address,
        "sameAs": competition.website,
        "creator": _people(citation.authors)
        or [{"@type": "Organization", "name": f"The organisers of {competition.title}"}],
        "datePublished": min((one.starts_at for one in competition.phases), default=competition.created_at)
        .date()
        .isoformat(),
        "license": citation.licence,
        "citation": paper.address if paper else "",
        "isAccessibleForFree": True,
    }
    article = {
        "@context": "https://schema.org",
        "@type": "ScholarlyArticle",
        "headline": paper.title,
        "author": _people(paper.authors),
        "isPartOf": paper.venue,
        "datePublished": str(paper.year or ""),
        "url": paper.address,
        "sameAs": paper.url,
    } if paper else {}  # fmt: skip
    return [{name: value for name, value in one.items() if value} for one in (dataset, article) if one]


def _people(names: Sequence[str]) -> list[dict[str, str]]:
    return [{"@type": "Person", "name": name} for name in names]
