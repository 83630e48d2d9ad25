"""A site with a planted score, report and name, its visitors, and a look at the answer of every GET route."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import httpx
from fastapi.routing import iter_route_contexts
from sqlalchemy import select

from app.base.db import writing
from app.competitions.find import find_competition
from app.models import PublicFile, Role, ScoringRun, User
from app.people.rights import grant_role
from app.runs.outcomes import RunResult, record_scores
from evergold.scoring.task import Score
from tests import world
from tests.competitions.embargo import add_phase, declare
from tests.web.site import Person, Site, csrf_of, log_in
from tests.world import COMPETITION, DAY, HOUR, NOW, ONE_SHOT, PHASE, TASK, ZERO_SHOT

#: The planted score, and what would give it away: its digits, as a fraction, in percent, and those of its half.
SCORE = 0.6180339887
SIGNS = ("0.618", "61.80", "6180339", "0.309", "30.90", "3090169", "281/455")
#: The planted report: counts tell a score as well as its digits do.
TEXT = "* MWE-based: P=281/455=0.6180 R=281/455=0.6180 F=0.6180"
NAME = "Quixotic Zephyr"
REVEAL = NOW + 2 * HOUR
CLOSE = NOW + HOUR


@dataclass
class Planted:
    """A site with the planted submission, and its visitors: an unknown one, another team, its own team, organisers."""

    site: Site
    submission: UUID
    owner: Person
    other: Person
    organiser: Person
    helper: Person
    nobody: httpx.Client
    owner_browser: httpx.Client
    organiser_browser: httpx.Client


@contextmanager
def planted_site(site: Site, eve: Person) -> Iterator[Planted]:
    """Yield a site with the score in both settings, in a report, and carried over to a second phase."""
    declare(site.engine, ends_at=CLOSE)
    add_phase(site.engine, "post", starts_at=NOW - DAY, carry_over=PHASE)
    with log_in(site, "quixote") as owner_browser, log_in(site, "sancho") as organiser_browser:
        owner, helper = token_of(site, owner_browser, "quixote"), token_of(site, organiser_browser, "sancho")
        with writing(site.engine) as session:
            competition = find_competition(session, COMPETITION)
            grant_role(session, competition, helper.user, Role.ORGANISER, NOW)
        root = site.person("root", is_administrator=True)
        world.add_team(site.engine, owner.user, name=NAME)
        submission = plant(site, owner)
        with owner.client, helper.client, root.client, site.client() as nobody:
            yield Planted(site, submission, owner, eve, root, helper, nobody, owner_browser, organiser_browser)


def token_of(site: Site, browser: httpx.Client, username: str) -> Person:
    """Return the same person with a token, for the API."""
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
    page = browser.get("/account").text
    form = dict(
        re.findall(r'name="(\w+)" value="(\w+)"', page.split('action="/account/tokens"')[1].split("</form>")[0])
    )
    fields = {**form, "name": "test", "scopes": ["read", "submit", "organise"], "csrf_token": csrf_of(page)}
    page = browser.post("/account/tokens", data=fields).text
    secret = re.search(r"evg_[A-Za-z0-9_-]{20,}", page)
    assert secret, "no token was made"
    return Person(site, user, site.client(Authorization=f"Bearer {secret[0]}"))


def plant(site: Site, person: Person) -> UUID:
    accepted = world.submit(site.engine, person.user, content="planted", method="a windmill")
    held = world.sure(world.claim(site.engine, accepted.run_id))
    scores = [*world.scores_of(ZERO_SHOT, SCORE), *world.scores_of(ONE_SHOT, SCORE)]
    slice_ = Score("macro_f1", "zero_shot/en", SCORE, None, "idiom-detection:1|macro_f1|zero_shot/en")
    with writing(site.engine) as session:
        record_scores(
            session,
            held,
            RunResult(
                scores=[*scores, slice_],
                columns=frozenset((score.metric, score.split) for score in scores),
                task_version=1,
                aggregates={"by_language": {"en": {"f1": SCORE, "counts": [281, 455]}}},
                texts={"official": TEXT},
            ),
            now=NOW,
        )
    return accepted.submission.id


# ---------------------------------------------------------------------------------------------------- every GET route


def get_paths(planted: Planted) -> list[str]:
    """Return every GET route with its parameters filled in, with harmless values for those that only other
    tests know.
    """
    site = planted.site
    with writing(site.engine) as session:
        run_id = session.scalars(select(ScoringRun.id)).first()
        files = session.scalars(select(PublicFile.name)).all()
    known = {
        "competition": [COMPETITION],
        "phase": [PHASE, "post"],
        "board": ["zero-shot"],
        "task": [TASK],
        "submission_id": [str(planted.submission)],
        "number": ["1"],
        "run_id": [str(run_id)],
        "name": ["official", "probes", *files],
    }
    paths: list[str] = []
    for route in iter_route_contexts(site.app.routes):
        if "GET" in (route.methods or ()):
            paths += filled(route.path or "", known)
    assert len(paths) > 50
    return paths


def filled(template: str, known: dict[str, list[str]]) -> Iterable[str]:
    found = re.search(r"\{(\w+)(?::\w+)?\}", template)
    if found is None:
        yield template
        return
    for value in known.get(found[1], ["1"]):
        yield from filled(template.replace(found[0], value, 1), known)


#: How long answers took is nobody's score, whatever digits it has.
_SECONDS = re.compile(r"^evergold_http_request_seconds.*$", re.MULTILINE)


def answers(planted: Planted, client: httpx.Client) -> Iterator[tuple[str, str]]:
    """Yield (path, the whole answer: status, headers, body) of every GET route.

    A browser requests pages, a client with a token the rest, and one with neither everything.
    """
    asks = {planted.owner_browser: False, planted.organiser_browser: False, planted.owner.client: True}.get(client)
    for path in get_paths(planted):
        if asks is not None and path.startswith("/api/") is not asks:
            continue
        kinds = ("application/json", "text/csv") if "/boards/" in path else ("application/json",)
        for accept in kinds if path.startswith("/api/") else ("text/html",):
            response = client.get(path, headers={"Accept": accept}, follow_redirects=False)
            assert response.status_code != 500, (path, response.text)
            text = _SECONDS.sub("", response.text) if path == "/metrics" else response.text
            heads = "\n".join(f"{name}: {value}" for name, value in response.headers.items() if name != "x-request-id")
            yield f"{path} as {accept}", f"{response.status_code}\n{heads}\n{text}"


def told(planted: Planted, client: httpx.Client, signs: Iterable[str]) -> list[str]:
    """Return the answers that contain one of the signs."""
    return [path for path, answer in answers(planted, client) for sign in signs if sign in answer]


def tells(planted: Planted, client: httpx.Client, signs: Iterable[str]) -> bool:
    """Return whether any answer contains one of the signs."""
    return any(sign in answer for _, answer in answers(planted, client) for sign in signs)


def outsiders(planted: Planted) -> list[httpx.Client]:
    return [planted.nobody, planted.other.client]
