"""Metadata of public pages for sharing and indexing: canonical address, picture, feeds, documents.

Addresses are absolute only if the server knows its public name (`EVERGOLD_BASE_URL`): a page cached for everybody must
not repeat the host name that one visitor happened to use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.base import api_links, links
from app.boards.citations import described
from app.models import Board, Competition, Phase
from app.web.http.context import Server


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed to subscribe to."""

    media_type: str
    title: str
    address: str


@dataclass(frozen=True, slots=True)
class Sharing:
    """Metadata of a page.

    address, image: absolute, empty if the server does not know its public name; documents: structured data of
    schema.org.
    """

    title: str
    description: str
    address: str = ""
    image: str = ""
    feeds: tuple[Feed, ...] = ()
    documents: tuple[Mapping[str, Any], ...] = ()


def share_competition(server: Server, competition: Competition, path: str = "") -> Sharing:
    """Return the metadata of a competition page. path: its address, if it is not the first page."""
    api, first = api_links.competition(competition.name), links.competition(competition.name)
    return Sharing(
        title=competition.title,
        description=competition.summary,
        address=whole_address(server, path or first),
        feeds=(
            Feed("application/atom+xml", "Announcements", f"{api}/announcements.atom"),
            Feed("text/calendar", "Dates", f"{api}/dates.ics"),
        ),
        documents=tuple(described(competition, whole_address(server, first) or first)) if not path else (),
    )


def share_board(server: Server, competition: Competition, phase: Phase, board: Board, *, is_public: bool) -> Sharing:
    """Return the metadata of a board. is_public: everybody may see its rows, so a picture of them may be shared."""
    place = (competition.name, phase.name, board.name)
    return Sharing(
        title=f"{board.title}, {phase.title} · {competition.title}",
        description=board.description or competition.summary,
        address=whole_address(server, links.board(*place)),
        image=whole_address(server, links.board_picture(*place)) if is_public else "",
        feeds=(Feed("application/atom+xml", f"{board.title}, {phase.title}", f"{api_links.board(*place)}/feed.atom"),),
    )


def share_team(server: Server, competition: Competition, team: str, orcids: Sequence[str]) -> Sharing:
    """Return the metadata of a team's public page. orcids: the ORCID iDs that its members show."""
    address = whole_address(server, links.public_team(competition.name, team))
    described = {
        "@context": "https://schema.org",
        "@type": "Organization",
        "name": team,
        "member": [{"@type": "Person", "@id": f"https://orcid.org/{orcid}"} for orcid in orcids],
    }
    return Sharing(
        title=f"{team} · {competition.title}",
        description=" · ".join([f"Systems and places of {team}", *(f"ORCID {orcid}" for orcid in orcids)]),
        address=address,
        documents=(described,) if orcids else (),
    )


def whole_address(server: Server, path: str) -> str:
    """Return the absolute public address, or "" if the server's public name is not configured."""
    base = server.settings.base_url.rstrip("/")
    return base + path if base else ""
