"""Gold is for organisers with that right alone: pages and API."""

from __future__ import annotations

from app.models import Right
from tests.web.one_right import Organisers, only

TASK, API_TASK = (f"{start}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}" for start in ("", "/api/v1"))
FOR_GOLD = (
    "GET /api/v1/competitions/{competition}/leaks",
    *(
        route
        for task in (TASK, API_TASK)
        for route in (
            f"GET {task}/gold",
            f"POST {task}/gold",
            f"POST {task}/gold/{{version}}/check",
            f"POST {task}/gold/{{version}}/publish",
        )
    ),
)


def test_each_route_is_for_the_right_to_gold(organisers: Organisers) -> None:
    assert organisers.let_in(FOR_GOLD) == only(Right.GOLD, FOR_GOLD)
