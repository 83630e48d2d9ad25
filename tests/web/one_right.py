"""Checks of who is let in by a route: organisers of the test's own competition with one right each, and
one of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import select

from app.base.db import reading
from app.models import Right, User
from tests.beside import one_right_each
from tests.rich_world import ORGANISER
from tests.web.bodies import body_of
from tests.web.routes import NAMES, NOWHERE, addresses
from tests.web.site import Client, Site, secrets_of

LetIn = Mapping[str, list[Right | None]]


@dataclass(frozen=True, slots=True)
class Organisers:
    """Organisers by their right; None: one with every right in another competition, and none in this one."""

    site: Site
    clients: Mapping[Right | None, Client]

    def without(self, right: Right) -> Organisers:
        """Return the organisers who lack this right."""
        return Organisers(self.site, {held: client for held, client in self.clients.items() if held is not right})

    def let_in(self, routes: Iterable[str], *, refused: int = 403, **names: str) -> LetIn:
        """Return, by route (`METHOD template`), the rights of those who are not refused. names: parts of the paths."""
        by_name = {str(address): address for address in addresses(self.site.app)}
        parts = {**NAMES, "submission_id": NOWHERE, **names}
        found: dict[str, list[Right | None]] = {}
        for route in routes:
            address, body = by_name[route], body_of(route, parts)
            statuses = {
                right: client.send(address.method, address.path(parts), **body).status_code
                for right, client in self.clients.items()
            }
            found[route] = [right for right, status in statuses.items() if status != refused]
        return found


def only(right: Right, routes: Iterable[str]) -> LetIn:
    """Return the result of `let_in` if each of these routes is for one right."""
    return {route: [right] for route in routes}


def organisers_of(site: Site) -> Organisers:
    with reading(site.engine) as session:
        stranger = session.scalars(select(User).where(User.username == ORGANISER)).one()
    # The stranger first: who is let in may close the door behind them.
    people: list[tuple[Right | None, User]] = [(None, stranger), *one_right_each(site.engine).items()]
    return Organisers(site, {right: Client(site.client(), *secrets_of(site.engine, user)) for right, user in people})
