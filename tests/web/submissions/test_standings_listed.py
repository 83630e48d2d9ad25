"""The list of submissions, in the API and as `evergold status` prints it, has ranks now and, on request, at arrival."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from evergold.cli.look import _standings
from tests import world
from tests.competitions.embargo import enter
from tests.web.site import Person, Site

MINUTE = timedelta(minutes=1)


@pytest.fixture
def runs(site: Site, ada: Person) -> None:
    """ada 0.5, then 0.7; bob has 0.6 before."""
    enter(site.engine, world.add_user(site.engine, "bob"), 0.6, at=site.now)
    for number, score in enumerate((0.5, 0.7), 1):
        enter(site.engine, ada.user, score, at=site.now + number * MINUTE)
    site.set_clock(site.now + 5 * MINUTE)


def standings(client: httpx.Client, **asked: str) -> list[dict[str, object]]:
    answer = client.get("/api/v1/submissions", params=asked)
    return [one["standings"][0] for one in answer.json()["submissions"]]


def test_a_list_tells_the_ranks_of_then_to_who_asks(runs: None, ada: Person) -> None:
    plain, told = standings(ada.client), standings(ada.client, ranks_then="true")
    assert [(one["rank"], one["of"], one["rank_then"]) for one in plain] == [(1, 2, None), (2, 2, None)]
    assert [(one["rank"], one["of"], one["rank_then"], one["up"]) for one in told] == [(1, 2, 1, 1), (2, 2, 2, None)]


def test_status_prints_the_ranks_of_each_run(runs: None, ada: Person) -> None:
    listed = ada.client.get("/api/v1/submissions", params={"ranks_then": "true"}).json()["submissions"]
    assert [_standings(one) for one in listed] == [
        "zero-shot 0.7000, rank 1 of 2 (then 1), counts",
        "zero-shot 0.5000, rank 2 of 2 (then 2)",
    ]


def test_status_understands_servers_that_tell_less() -> None:
    told = {"board": "zero-shot", "value": None, "counts": None}
    assert _standings({"standings": [told]}) == "zero-shot –"
    assert _standings({}) == ""
