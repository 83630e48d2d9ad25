"""Names and texts that run from right to left are isolated from their surroundings, wherever they are shown."""

from __future__ import annotations

from datetime import timedelta
from unicodedata import bidirectional

from lxml import html
from sqlalchemy import select, update

from app.base.db import reading, writing
from app.models import Board, Competition, CompetitionTask, Phase, Submission, Team, User
from tests import world
from tests.web.site import Site, log_in
from tests.world import NOW, TASK

HEBREW, ARABIC = "צוות ניבים", "فريق المجاز"
PHASE = "/competitions/idioms/phases/evaluation"
PAGES = (
    "/",
    "/competitions/idioms",
    "/competitions/idioms/data",
    "/competitions/idioms/runs",
    "/competitions/idioms/cite",
    f"{PHASE}/boards/zero-shot",
    f"{PHASE}/tasks/{TASK}/submit",
    f"/embed{PHASE}/boards/zero-shot",
    "/submissions",
    "/account",
)
#: Nothing around these is read together with them; of options and titles, browsers take care. Nor is what only
#: screen readers are told.
ALONE = ("title", "option", "textarea", "pre", "script")


def name_all(site: Site) -> None:
    """Give everything that people name a Hebrew or Arabic name."""
    with reading(site.engine) as session:
        ada = session.scalars(select(User).where(User.username == "ada")).one()
    world.score(site.engine, world.submit(site.engine, ada, NOW - timedelta(minutes=1)).run_id, 0.6)
    with writing(site.engine) as session:
        session.execute(update(Competition).values(title=HEBREW, summary=HEBREW, description=HEBREW))
        for table in (CompetitionTask, Board, Phase):
            session.execute(update(table).values(title=HEBREW, description=HEBREW))
        session.execute(update(Team).values(name=ARABIC))
        session.execute(update(User).values(display_name=ARABIC))
        session.execute(update(Submission).values(method=HEBREW, description=ARABIC))


def bare(page: str) -> list[str]:
    """Return texts that run from right to left without `bdi` or `dir` around them, with their places."""
    found = []
    for element in html.fromstring(page).iter():
        if not isinstance(element.tag, str):
            continue
        for text, holder in ((element.text, element), (element.tail, element.getparent())):
            if text and any(bidirectional(letter) in ("R", "AL") for letter in text) and not _is_apart(holder):
                found.append(f"<{holder.tag} class={holder.get('class')}> {text.strip()[:60]}")
    return found


def _is_apart(element: html.HtmlElement) -> bool:
    lines = [element, *element.iterancestors()]
    return any(one.tag in ("bdi", *ALONE) or one.get("dir") or "visually-hidden" in one.classes for one in lines)


def test_what_is_bare_is_found() -> None:
    assert bare(f"<p>by {HEBREW}</p>") == [f"<p class=None> by {HEBREW}"]
    assert bare(f"<p>by <b>1</b> {HEBREW}</p>")
    assert bare(f"<p>by <bdi>{HEBREW}</bdi></p><p dir=auto><b>{ARABIC}</b></p><title>{HEBREW}</title>") == []


def test_every_name_and_text_is_isolated(site: Site) -> None:
    wrong = []
    with log_in(site, "ada") as browser:
        name_all(site)
        for path in PAGES:
            answer = browser.get(path)
            assert answer.status_code == 200, path
            assert HEBREW in answer.text or ARABIC in answer.text, path
            wrong += [f"{path}: {one}" for one in bare(answer.text)]
    assert not wrong, "\n".join(wrong)
