"""Addresses lead to the route that they are of, each name in its own place."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from fastapi.routing import APIRoute

from app.base import api_links, links
from tests.web.routes import application

#: What places are called in addresses; the last part of one is called in many ways.
PLACES = ("competition", "phase", "task", "board", "picture", "number")
#: Beginnings of addresses, at which there is nothing to read or send.
UNFINISHED = {"links.board_figures", "links.board_rows", "links.phase", "links.question", "links.tab", "links.task"}


def addresses() -> dict[str, Callable[..., str]]:
    """Return functions of names and numbers alone, by their own names."""
    found: dict[str, Callable[..., str]] = {}
    for module in (links, api_links):
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and _is_of_names(function):
                found[f"{_short(module)}.{name}"] = function
    return found


def _short(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def _is_of_names(function: Callable[..., str]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return "competition_name" in (one.name for one in parameters) and all(
        one.annotation in ("str", "int", "int | None") and one.kind is one.POSITIONAL_OR_KEYWORD for one in parameters
    )


@pytest.mark.parametrize("name", addresses())
def test_each_name_stands_in_its_own_place(name: str) -> None:
    function = addresses()[name]
    said: dict[str, Any] = {
        one.name: 7 if "int" in one.annotation else f"the-{one.name.removesuffix('_name')}"
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty or "int" in one.annotation
    }
    path = function(**said).partition("?")[0]
    routes = [route for route in application().routes if isinstance(route, APIRoute)]
    found = [match.groupdict() for route in routes if (match := route.path_regex.match(path))]
    assert bool(found) == (name not in UNFINISHED), path
    mine = {place: str(said.get(f"{place}_name", said.get(place, ""))) for place in PLACES}
    for values in found:
        assert {place: mine[place] for place in values if mine.get(place)} == {
            place: value for place, value in values.items() if mine.get(place)
        }
