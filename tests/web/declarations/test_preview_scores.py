"""Previews of rewritten boards contain the scores of the competition's baselines, for every column."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import GoldVersion, Right, Role, RunStatus, ScoringRun, User
from app.people.rights import grant_role
from tests.rich_world import fresh
from tests.sealed import make_key
from tests.web.declarations.linguist import EXAMPLE, Linguist, written
from tests.web.reading import text_of
from tests.web.site import Site, log_in
from tests.world import NOW
from workers.score import score_submission
from workers.version_check import check_gold_version

GOLD = "/competitions/irony/phases/evaluation/tasks/main/gold"


@pytest.fixture
def place(site: Site, ada: Linguist, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of the competition's new draft, with its baseline scored."""
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", site.engine.url.render_as_string(hide_password=False))
    monkeypatch.setenv("EVERGOLD_DATA_DIR", str(site.settings.data_dir))
    get_settings.cache_clear()
    make_key(site.engine)
    begun = written(ada)
    ada.say(begun, "phases/0", start="2020-01-01 00:00 UTC")
    ada.send(f"{begun}/build")
    ada.upload(GOLD, "gold.csv", (EXAMPLE / "gold/irony/gold.csv").read_bytes())
    with reading(site.engine) as session:
        version = session.scalars(fresh(GoldVersion)).one().id
    check_gold_version(version)
    with reading(site.engine) as session:
        [run] = session.scalars(select(ScoringRun.id).where(ScoringRun.status == RunStatus.QUEUED))
    score_submission(run)
    return ada.send("/competitions/irony/rewrite").url.path


def preview(ada: Linguist, place: str) -> str:
    return text_of(ada.browser.get(f"{place}/preview").text)


def test_a_column_that_is_no_column_yet_shows_what_the_baseline_has(ada: Linguist, place: str) -> None:
    ada.say(place, "boards/0", **{"columns.2.metric": "mcc", "columns.2.split": "language/pt"})
    shown = preview(ada, place)
    assert "Scores are those of its baselines" in shown
    assert shown.count("after scoring") == 0
    row = shown.split("Always ironic", 1)[1].split()[:3]
    with_gold = ada.browser.get("/competitions/irony/phases/evaluation/boards/main").text
    assert row[0] in text_of(with_gold), "the first column is one of the board's"
    assert len([score for score in row if float(score) <= 1]) == 3


@pytest.mark.parametrize(
    ("at", "fields"),
    [
        ("tasks/0/options", {"labels": "sincere\nironic\nboth"}),
        ("phases/0/tasks/main/private_part", {"share": "0.5", "seed": "nobody-guesses-this-of-a-test"}),
        ("phases/0/tasks/main/baselines/0", {"file": "items.csv"}),
    ],
)
def test_what_would_be_scored_otherwise_has_no_score_yet(
    ada: Linguist, place: str, at: str, fields: dict[str, str]
) -> None:
    ada.say(place, at, **fields)
    assert preview(ada, place).count("after scoring") == 2


def test_what_was_scored_before_and_is_not_any_more_shows_no_score(site: Site, ada: Linguist, place: str) -> None:
    """A run that failed has replaced one that did not."""
    assert preview(ada, place).count("after scoring") == 0
    with writing(site.engine) as session:
        run = session.scalars(select(ScoringRun).order_by(ScoringRun.id.desc()).limit(1)).one()
        before = ScoringRun(submission_id=run.submission_id, is_current=False, gold=run.gold, report=run.report)
        before.status, before.attempts = RunStatus.SCORED, 1
        before.queued_at, before.finished_at = run.queued_at, run.finished_at
        session.add(before)
        run.status, run.report = RunStatus.FAILED, None
    assert preview(ada, place).count("after scoring") == 2


def test_who_may_edit_and_see_no_scores_sees_none_here(site: Site, place: str) -> None:
    with log_in(site, "edda") as browser:
        with writing(site.engine) as session:
            edda = session.scalars(select(User).where(User.username == "edda")).one()
            grant_role(
                session,
                find_competition(session, "irony"),
                edda,
                Role.ORGANISER,
                NOW,
                rights=[one for one in Right if one is not Right.SUBMISSIONS],
            )
        editor = Linguist(browser, "edda")
        own = editor.send("/competitions/irony/rewrite").url.path
        assert own != place
        assert editor.send("/competitions/irony/rewrite").url.path == own, "the same one goes on"
        assert preview(editor, own).count("after scoring") == 2
