"""Perform every attack against a server of its own, and print how many labels each has read for certain.

Fails if a read label is wrong, or if one attack reads more than is documented in docs/statistics.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from sqlalchemy import select

from app.base.db import writing
from app.competitions.find import find_competition
from app.models import Right, Role, User
from app.people.rights import grant_role
from tests.attacks import baselines, correlation, counting, macro_f1
from tests.attacks.reading import Ask, Reading
from tests.attacks.server import account, attacked, gold_of, language_of_ids, team
from tests.server.processes import Server
from tests.web.site import PASSWORD, csrf_of
from tests.world import NOW

SUBMISSIONS, DECIMALS = 50, 4
#: Competition, attack, and the most that it may read: what docs/statistics.md says.
Attack = Callable[[Ask, int], Reading]
ATTACKS: dict[str, tuple[str, Attack, int]] = {
    "powers of two, Pearson's r": (
        "correlation",
        lambda ask, items: correlation.attack(ask, items, SUBMISSIONS, DECIMALS),
        490,
    ),
    "counting, accuracy": (
        "counting",
        lambda ask, items: counting.attack(ask, items, SUBMISSIONS, any_label=True),
        163,
    ),
    "the same, half private": (
        "divided",
        lambda ask, items: counting.attack_divided(ask, items, SUBMISSIONS),
        60,
    ),
    "counting, macro F1": ("idioms", lambda ask, items: macro_f1.attack(ask, items, SUBMISSIONS), 116),
}


def main() -> int:
    """Run the attacks named by the arguments (competitions, or `edit`; none: all); return 1 if one got too far."""
    worst, chosen = 0, sys.argv[1:]
    with attacked() as server:
        for number, (title, (competition, attack, most)) in enumerate(ATTACKS.items()):
            if chosen and competition not in chosen:
                continue
            ids, gold = gold_of(server, competition)
            with account(server, f"mallory{number}") as client:
                found = attack(team(client, competition, _file_of(competition, ids)), len(ids))
            read = found.right(gold)
            share = 100 * read / len(gold)
            print(f"{title:<28} {read:>5} of {len(gold):,} labels ({share:.1f} %) in {found.submissions} submissions")
            worst = max(worst, read - most)
        scored = 0
        for probes, status, said, number in _edit_alone(server) if not chosen or "edit" in chosen else ():
            print(f"{f'{probes} baselines by edit alone':<28} {number:>5} scored; {status}: {said}")
            scored += number
    return int(worst > 0 or scored > 0)


def _file_of(competition: str, ids: Sequence[str]) -> Callable[[Sequence[float | int | str]], str]:
    languages = language_of_ids() if competition == "idioms" else {}

    def text(prediction: Sequence[float | int | str]) -> str:
        rows = zip(ids, prediction, strict=True)
        if competition == "idioms":
            lines = (f"{one},{languages[one]},zero_shot,{value}\n" for one, value in rows)
            return "ID,Language,Setting,Label\n" + "".join(lines)
        return "id,label\n" + "".join(f"{one},{value}\n" for one, value in rows)

    return text


def _edit_alone(server: Server) -> list[tuple[int, int, str, int]]:
    """Return how many baselines were declared, the answer's status and sentence, and how many baselines were scored."""
    ids, _ = gold_of(server, "counting")
    with account(server, "edda") as browser:
        del browser.headers["Authorization"]
        with writing(server.engine) as session:
            user = session.scalars(select(User).where(User.username == "edda")).one()
            grant_role(session, find_competition(session, "counting"), user, Role.ORGANISER, NOW, rights=(Right.EDIT,))
        browser.follow_redirects = True
        token = csrf_of(browser.get("/login").text)
        browser.post("/login", data={"csrf_token": token, "username": "edda", "password": PASSWORD})
        return [(probes, *baselines.attack(browser, "counting", ids, probes)) for probes in baselines.PROBES]


if __name__ == "__main__":
    sys.exit(main())
