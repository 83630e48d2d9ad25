"""Two submissions item by item, on the page and over the API: filters, pages, addresses; and nobody else sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import update

from app.base.db import writing
from app.models import PhaseTask, User
from evergold.scoring.task import ItemResult
from tests import world
from tests.web import markup
from tests.web.reading import text_of
from tests.web.site import BROWSER, Person, Site
from tests.world import HOUR, NOW, ZERO_SHOT

EN = ("zero_shot/en",)
Pair = tuple[UUID, UUID]


def entered(site: Site, user: User, hours: int, results: list[ItemResult] | None) -> UUID:
    accepted = world.submit(site.engine, user, NOW - hours * HOUR, content=str(hours))
    held = world.sure(world.claim(site.engine, accepted.run_id))
    world.finish(site.engine, held, world.scores_of(ZERO_SHOT, 0.5), items=results)
    return accepted.submission.id


def labels(*pairs: str) -> list[ItemResult]:
    """`01`: gold 0, predicted 1; ids are i1, i2, …"""
    return [
        ItemResult(f"i{number}", EN, pair[0], pair[1], is_right=pair[0] == pair[1])
        for number, pair in enumerate(pairs, start=1)
    ]


def declare(site: Site, *, public: bool) -> None:
    with writing(site.engine) as session:
        session.execute(update(PhaseTask).values(gold_is_public=public))


@pytest.fixture
def pair_of(site: Site, ada: Person) -> Callable[..., Pair]:
    """Return a function that makes two submissions of Ada's with these items, the older one first."""

    def make(a: list[ItemResult] | None, b: list[ItemResult] | None) -> Pair:
        declare(site, public=True)
        return entered(site, ada.user, 2, a), entered(site, ada.user, 1, b)

    return make


@pytest.fixture
def pair(pair_of: Callable[..., Pair]) -> Pair:
    """Return a pair with five items: both right, only B, only A, both wrong and the same, both wrong and different."""
    return pair_of(labels("00", "01", "11", "10", "20"), labels("00", "00", "10", "10", "21"))


def page(person: Person, pair: Pair, more: str = "") -> str:
    answer = person.client.get(f"/submissions/compare?a={pair[0]}&b={pair[1]}{more}", headers=BROWSER)
    assert answer.status_code == 200, answer.text
    markup.check(answer.text)
    return answer.text


def asked(person: Person, pair: Pair, **more: Any) -> dict[str, Any]:
    answer = person.client.get(f"/api/v1/submissions/{pair[0]}/comparison/{pair[1]}", params=more)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


# ---------------------------------------------------------------------------------------------------------------- page


def test_a_summary_the_filters_and_every_item(ada: Person, pair: Pair) -> None:
    found = page(ada, pair)
    told = text_of(found)
    assert "How many of 5 items are right and wrong. Newer right Newer wrong Older right 1 1 Older wrong 1 2" in told
    assert "All (5) Predictions differ (3) Only older right (1) Only newer right (1) Both wrong (2)" in told
    assert "All: 1 to 5 of 5, in gold's order." in told
    assert "i2 zero-shot · English 0 1 ✗ wrong 0 ✓ right ▲ newer" in told
    assert "i3 zero-shot · English 1 1 ✓ right 0 ✗ wrong ▼ older" in told
    assert "i4 zero-shot · English 1 0 ✗ wrong 0 ✗ wrong equal" in told


@pytest.mark.parametrize(
    ("show", "shown"),
    [
        ("differ", ["i2", "i3", "i5"]),
        ("a", ["i3"]),
        ("b", ["i2"]),
        ("wrong", ["i4", "i5"]),
        ("nonsense", list("12345")),
    ],
)
def test_a_filter_is_an_address(ada: Person, pair: Pair, show: str, shown: list[str]) -> None:
    found = page(ada, pair, f"&show={show}")
    there = [f"i{number}" for number in range(1, 6) if f"<bdi>i{number}</bdi>" in found]
    assert there == [one if one.startswith("i") else f"i{one}" for one in shown]
    assert f"/submissions/compare?a={pair[0]}&amp;b={pair[1]}&amp;show=differ#items" in found
    assert found.partition("Items to show")[2].count("aria-current=") == 1


def test_long_lists_have_pages(ada: Person, pair_of: Callable[..., Pair]) -> None:
    pair = pair_of(labels(*["01"] * 120), labels(*["00"] * 120))
    first, last = page(ada, pair, "&show=b"), page(ada, pair, "&show=b&page=3")
    assert "Only newer right: 1 to 50 of 120" in text_of(first)
    assert "show=b&amp;page=2#items" in first
    assert 'rel="prev"' not in first
    assert "Only newer right: 101 to 120 of 120" in text_of(last)
    assert 'rel="next"' not in last
    assert "101 to 120 of 120" in text_of(page(ada, pair, "&show=b&page=999")), "the last one"
    assert "No items match." in page(ada, pair, "&show=a")
    answer = ada.client.get(f"/submissions/compare?a={pair[0]}&b={pair[1]}&page=0", headers=BROWSER)
    assert answer.status_code == 422


def test_numbers_are_closer_or_farther(ada: Person, pair_of: Callable[..., Pair]) -> None:
    a = [ItemResult("x", EN, 0.5, 0.75, error=0.25), ItemResult("y", EN, None, 0.1)]
    b = [ItemResult("x", EN, 0.5, 0.4, error=-0.1), ItemResult("y", EN, None, 0.2)]
    told = text_of(page(ada, pair_of(a, b)))
    assert "Which prediction is closer to gold, of 2 items. Older closer Newer closer Equally far 0 1 0" in told
    assert "x zero-shot · English 0.5000 0.7500 (+0.2500) 0.4000 (−0.1000) ▲ newer" in told
    assert "y zero-shot · English – none 0.1000 0.2000" in told
    assert "Both wrong" not in told


def test_several_answers_are_counted(ada: Person, pair_of: Callable[..., Pair]) -> None:
    a = [ItemResult("fr-1", ("fr",), 2, 3, False, 3, matched=1)]
    b = [ItemResult("fr-1", ("fr",), 2, 2, True, 0, matched=2)]
    pair = pair_of(a, b)
    assert "fr-1 French 2 3, 1 found ✗ wrong 2, 2 found ✓ right ▲ newer" in text_of(page(ada, pair))
    (row,) = asked(ada, pair)["items"]["rows"]
    assert (repr(row["gold"]), row["a"]) == ("2", {"predicted": 3, "is_right": False, "error": 3.0, "found": 1})


def test_what_is_in_one_alone_is_said(ada: Person, pair_of: Callable[..., Pair]) -> None:
    told = text_of(page(ada, pair_of(labels("00", "01"), labels("00"))))
    assert "1 item left out: scored in only one of the two, or against another gold." in told


def test_two_without_a_common_item(ada: Person, pair_of: Callable[..., Pair]) -> None:
    assert "The two have no item in common." in page(ada, pair_of([], []))


def test_a_text_of_a_team_is_escaped(ada: Person, pair_of: Callable[..., Pair]) -> None:
    text = ItemResult("<b>", ("all",), "<i>", "<script>alert(1)</script>", is_right=False)
    found = page(ada, pair_of([text], [text]))
    assert "<script>alert" not in found
    assert "&lt;script&gt;alert(1)" in found


# ------------------------------------------------------------------------------------------------------------- embargo


def test_where_gold_is_hidden_there_is_a_sentence_and_no_item(site: Site, ada: Person, pair: Pair) -> None:
    declare(site, public=False)
    found = page(ada, pair, "&show=b")
    assert "it would reveal the gold" in found
    assert "<bdi>i" not in found
    document = asked(ada, pair, show="b")["items"]
    assert document["hidden"].endswith("it would reveal the gold.")
    assert (document["rows"], document["both_right"], document["left_out"], document["next"]) == ([], 0, 0, None)
    assert set(document["shows"].values()) == {0}


def test_runs_from_before_the_declaration_say_what_to_do(ada: Person, pair_of: Callable[..., Pair]) -> None:
    told = text_of(page(ada, pair_of(None, labels("00"))))
    assert (
        "The older one has no item results: only submissions scored since their gold was declared public have them."
        in told
    )


@pytest.mark.parametrize("visibility", [{"own_scores": "never"}, {"precision": 1}, {"slices": "none"}])
def test_scores_that_are_held_back_hold_items_back(
    site: Site, ada: Person, pair: Pair, visibility: dict[str, object]
) -> None:
    with writing(site.engine) as session:
        world.the_phase_task(session).phase.visibility = {**world.SHOWN_WHOLE, **visibility}
    assert "<bdi>i" not in page(ada, pair)
    document = asked(ada, pair)
    assert document["items"]["rows"] == []
    assert document["items"]["hidden"]


def test_nobody_else_sees_them(site: Site, ada: Person, eve: Person, pair: Pair) -> None:
    hers = entered(site, eve.user, 3, labels("00"))
    for one, other in (pair, (pair[0], hers), (hers, pair[0])):
        for who, expected in ((eve, 404), (ada, 200 if (one, other) == pair else 404)):
            answer = who.client.get(f"/api/v1/submissions/{one}/comparison/{other}")
            assert answer.status_code == expected, answer.text
    with site.client() as anybody:
        assert anybody.get(f"/api/v1/submissions/{pair[0]}/comparison/{pair[1]}").status_code == 401
        assert anybody.get(f"/submissions/compare?a={pair[0]}&b={pair[1]}").status_code == 303


# ----------------------------------------------------------------------------------------------------------------- API


def test_the_api_says_the_same_as_json(ada: Person, pair: Pair) -> None:
    document = asked(ada, pair)
    assert (document["a"], document["b"], document["hidden"]) == (str(pair[0]), str(pair[1]), None)
    (score,) = [one for one in document["scores"] if (one["metric"], one["split"]) == ("macro_f1", ZERO_SHOT)]
    assert (score["a"]["value"], score["difference"], score["better"]) == (0.5, 0.0, "equal")
    items = document["items"]
    assert items["shows"] == {"all": 5, "differ": 3, "a": 1, "b": 1, "wrong": 2}
    assert (items["both_right"], items["equal"], items["left_out"], items["next"]) == (1, 3, 0, None)
    assert items["rows"][1] == {
        "item": "i2",
        "splits": ["zero_shot/en"],
        "gold": "0",
        "a": {"predicted": "1", "is_right": False, "error": None, "found": None},
        "b": {"predicted": "0", "is_right": True, "error": None, "found": None},
        "better": "b",
    }


def test_the_api_goes_on_where_it_says(ada: Person, pair: Pair) -> None:
    first = asked(ada, pair, show="differ", limit=2)["items"]
    assert [row["item"] for row in first["rows"]] == ["i2", "i3"]
    rest = ada.client.get(first["next"]).json()["items"]
    assert ([row["item"] for row in rest["rows"]], rest["next"]) == (["i5"], None)
    assert asked(ada, pair, start=99)["items"]["rows"] == []


def test_what_cannot_be_compared_is_refused(site: Site, ada: Person, pair: Pair) -> None:
    waiting = world.submit(site.engine, ada.user, NOW, content="waiting").submission.id
    for other in (pair[0], waiting):
        answer = ada.client.get(f"/api/v1/submissions/{pair[0]}/comparison/{other}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_comparable")
    for more in ({"show": "nonsense"}, {"start": -1}, {"limit": 0}, {"limit": 5001}):
        answer = ada.client.get(f"/api/v1/submissions/{pair[0]}/comparison/{pair[1]}", params=more)
        assert answer.status_code == 422
