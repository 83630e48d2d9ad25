"""The sections of the administrators' pages, and the rendering of such a page. New sections are added here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi.responses import HTMLResponse

from app.base import links
from app.web.html.rendering import render_page
from app.web.http.visit import UserVisit

#: The first page of administration, and the prefix of the addresses of all sections except webhooks.
ADMIN = "/admin"


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its title in the navigation, and the address of its first page."""

    title: str
    address: str


SECTIONS = (
    Section("Overview", ADMIN),
    Section("People", f"{ADMIN}/people"),
    Section("Requests", f"{ADMIN}/requests"),
    Section("Moderation", f"{ADMIN}/moderation"),
    Section("Competitions", f"{ADMIN}/competitions"),
    Section("Announcements", f"{ADMIN}/announcements"),
    Section("Settings", f"{ADMIN}/settings"),
    Section("Looks", f"{ADMIN}/looks"),
    Section("Webhooks", links.webhooks()),
    Section("Queue", f"{ADMIN}/queue"),
    Section("Storage", f"{ADMIN}/storage"),
    Section("Mails", f"{ADMIN}/mails"),
    Section("Limits", f"{ADMIN}/limits"),
    Section("Health", f"{ADMIN}/health"),
)


def render_section(visit: UserVisit, template: str, status: int = 200, /, **context: Any) -> HTMLResponse:
    """Return a page for administrators; its navigation marks the section to which the page's address belongs."""
    path = visit.request.url.path
    current = next((one for one in SECTIONS if _is_in(path, one)), None)
    return render_page(visit, template, status, sections=SECTIONS, section=current, **context)


def _is_in(path: str, section: Section) -> bool:
    return path == section.address or (section.address != ADMIN and path.startswith(f"{section.address}/"))
