"""Every page of a competition has the competition's head and tabs, and no other head: seen where there is all."""

from __future__ import annotations

import pytest

from tests.leaks.place import Place
from tests.web.markup import read
from tests.web.routes import Address, addresses


def pages_of(guarded: Place) -> list[Address]:
    """Of the competition, and of what was sent to it."""
    heads = ("/competitions/{competition}", "/submissions/{submission_id}", "/validations/{validation_id}")
    asked = [one for one in addresses(guarded.site.app) if one.method == "GET" and one.template.startswith(heads)]
    return [one for one in asked if not one.template.endswith((".svg", "/live"))]


@pytest.mark.parametrize("role", ["participant", "annotator", "organiser"])
def test_all_pages_of_a_competition_have_one_head(guarded: Place, role: str) -> None:
    wrong, seen = [], 0
    with guarded.client(role) as visitor:
        for address in pages_of(guarded):
            answer = visitor.send("GET", guarded.fill(address))
            if answer.status_code != 200:
                continue
            seen += 1
            page = read(answer.text)
            heads = [head.get("class", "") for head in page.all("header")]
            if heads[:2] != ["site-header", "workspace"] or "page-head" in heads or len(page.all("h1")) != 1:
                wrong.append((str(address), heads))
            if sum(link.get("href") == "/competitions/idioms/data" for link in page.all("a")) != 1:
                wrong.append((str(address), ["tabs"]))
    assert wrong == []
    assert seen >= {"participant": 15, "annotator": 12, "organiser": 30}[role]
