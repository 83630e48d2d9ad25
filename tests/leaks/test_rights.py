"""Organisers with one right find no link and no form that would be refused, on any page that they see."""

from __future__ import annotations

import re
from urllib.parse import urldefrag

import pytest

from tests.leaks.place import ONE_RIGHT, ROLES, Place
from tests.leaks.table import rows
from tests.leaks.test_heads import pages_of
from tests.web.markup import read
from tests.web.routes import addresses

LEAVING = "/competitions/idioms/people/revoke"
HERE = re.compile(r"/(api/v1/)?(competitions/idioms|submissions/|validations/)")


def posts(guarded: Place) -> list[tuple[re.Pattern[str], str]]:
    """Return every route that takes a form, as a pattern of its address."""
    found = [one for one in addresses(guarded.site.app) if one.method == "POST" and not one.is_api]
    return [(re.compile(re.sub(r"{(\w+)(?::\w+)?}", "[^/]+", one.template)), str(one)) for one in found]


@pytest.mark.parametrize(
    "role",
    [
        "editor",
        "messages alone",
        *(pytest.param(one, marks=pytest.mark.soak) for one in ("submissions alone", "gold alone")),
    ],
)
def test_no_link_and_no_form_leads_to_a_refusal(guarded: Place, role: str) -> None:
    table, taken, column = rows(), posts(guarded), ROLES.index(role)
    followed: dict[str, str] = {}
    refused, forms, seen = [], set(), 0
    with guarded.client(role) as visitor:
        for address in pages_of(guarded):
            answer = visitor.send("GET", guarded.fill(address))
            if answer.status_code != 200:
                continue
            seen += 1
            page = read(answer.text)
            for link in page.all("a"):
                target = urldefrag(link.get("href", ""))[0]
                if HERE.match(target) and "?as=" not in target:  # borrowed eyes see less on purpose
                    followed.setdefault(target, str(address))
            sent = {form["action"] for form in page.all("form") if form.get("method") == "post"}
            if "Revoke: " not in answer.text:
                sent.discard(LEAVING)  # the table asks for another's role, and this is one's own
            forms |= {(action, str(address)) for action in sent}
        refused += [
            (target, page)
            for target, page in followed.items()
            if visitor.send("GET", target).status_code in (401, 403, 404)
        ]
    for action, where in sorted(forms):
        route = next((name for pattern, name in taken if pattern.fullmatch(action.partition("?")[0])), None)
        assert route is not None, (action, where)
        statuses = table[route]
        if len(statuses) == len(ROLES) and statuses[column] in (403, 404):
            refused.append((action, where))
    assert refused == []
    assert seen > 15
    assert len(followed) > 20
    assert f"/competitions/idioms/{'people' if role != 'gold alone' else 'desk'}" in followed


def test_the_refusal_says_which_right_and_who_gives_it(guarded: Place) -> None:
    with guarded.client("messages alone") as mel:
        answer = mel.send("GET", "/api/v1/competitions/idioms/submissions").json()["error"]
        page = mel.send("GET", "/competitions/idioms/submissions")
    assert (answer["code"], answer["details"]) == ("right_missing", {"needed": ["submissions"], "rights": ["messages"]})
    assert "the right 'submissions' (to see submissions and scores, and decide about them)" in answer["message"]
    assert answer["message"].endswith("An administrator of this server can give it to you.")
    assert page.status_code == 403
    assert "An administrator of this server can give it to you." in page.text


def test_the_gold_page_is_linked_where_there_is_the_right_to_it(guarded: Place) -> None:
    board, gold = "phases/practice/boards/zero-shot", "phases/practice/tasks/detection/gold"
    told = {}
    for role in ONE_RIGHT:
        with guarded.client(role) as visitor:
            told[role] = (
                f'href="/competitions/idioms/{gold}"' in visitor.send("GET", f"/competitions/idioms/{board}").text
            )
    assert told == {role: role == "gold alone" for role in ONE_RIGHT}
