"""Every route of the application, for tests that must not forget one; addresses are filled with the values
of a test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from app.base.config import Settings
from app.web.main import create_app
from tests.world import COMPETITION, PHASE, TASK

#: What the site of the tests calls its things; what is not there is named like a thing that is nowhere.
NAMES = {
    "competition": COMPETITION,
    "phase": PHASE,
    "task": TASK,
    "board": "zero-shot",
    "ranking": "overall",
    "scheme": "light",
}
NOWHERE = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True, slots=True)
class Address:
    """A method and a template of a path; operation: its name in the API's description, "" for pages.

    numbers, ids: the parts of the path that are numbers or ids.
    """

    method: str
    template: str
    operation: str
    numbers: frozenset[str]
    ids: frozenset[str]

    @property
    def is_api(self) -> bool:
        return self.template.startswith("/api/")

    def path(self, names: Mapping[str, str] = NAMES) -> str:
        return re.sub(r"{(\w+)(?::\w+)?}", lambda found: self._part(found[1], names), self.template)

    def _part(self, name: str, names: Mapping[str, str]) -> str:
        if name in self.ids:
            return names.get(name, NOWHERE)
        return names.get(name, "1" if name in self.numbers else "nowhere")

    def __str__(self) -> str:
        return f"{self.method} {self.template}"


@cache
def application() -> FastAPI:
    """Return the application, to look at its routes and its description, which take seconds to make."""
    return create_app(Settings())


@cache
def addresses(app: FastAPI) -> list[Address]:
    """Return all addresses, by path."""
    found = {
        Address(
            method,
            route.path,
            (route.operation_id or "") if route.include_in_schema else "",
            _of_type(route, int),
            _of_type(route, UUID),
        )
        for route in routes_of(app.router.routes)
        for method in route.methods or ()
    }
    return sorted(found, key=lambda address: (address.template, address.method))


def routes_of(routes: Iterable[BaseRoute]) -> list[APIRoute]:
    return [route for route in routes if isinstance(route, APIRoute)]


def _of_type(route: APIRoute, kind: type) -> frozenset[str]:
    return frozenset(field.alias for field in route.dependant.path_params if field.field_info.annotation is kind)
