"""A ranking across tasks over hidden boards reveals its teams to nobody but organisers."""

from __future__ import annotations

from tests.leaks.place import ROLES, Place

PAGE = "/competitions/idioms/phases/evaluation/rankings/overall"


def test_while_a_board_is_hidden_its_ranking_has_no_rows_but_for_organisers(guarded: Place) -> None:
    told = {}
    for role in ROLES:
        with guarded.client(role) as visitor:
            answer = visitor.send("GET", f"/api/v1{PAGE}")
            page = visitor.send("GET", PAGE)
            assert (answer.status_code, page.status_code) == (200, 200), role
            told[role] = (len(answer.json()["rows"]) > 0, "Alpha" in page.text)
    seen = {"organiser", "administrator", "submissions alone"}
    unseen = set(ROLES) - seen
    assert {role: told[role] for role in seen} == dict.fromkeys(seen, (True, True))
    assert {role: told[role][0] for role in unseen} == dict.fromkeys(unseen, False)
    assert not any(told[role][1] for role in unseen - {"participant"}), "who is alpha reads their own name in the head"
