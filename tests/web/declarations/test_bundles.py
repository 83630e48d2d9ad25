"""A bundle of another system in the browser: it becomes a draft with sealed gold, and what is in the way is named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.models import Blueprint, Competition, GoldVersion, RunStatus, ScoreRow, ScoringRun, Stage, User
from demo.codabench.pack import HERE
from tests import programs
from tests.importers.bundles import made
from tests.processes import wait_until
from tests.rich_world import fresh
from tests.sealed import make_key
from tests.web.declarations.linguist import Linguist
from tests.web.reading import text_of
from tests.web.site import Site, log_in
from workers.sandbox.environments import ASKED, default_environment
from workers.score import score_submission
from workers.version_check import check_gold_version


@pytest.fixture(scope="module")
def environments() -> Iterator[Path]:
    """The folder of environments, whose default one has no packages: the demo's programs need none."""
    for environment in programs.bare_environment():
        (environment.parent / ASKED / default_environment().digest).write_text(environment.name)
        yield environment.parent


@pytest.fixture
def site(empty_site: Site, environments: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(empty_site.settings, "organise", "anybody")
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", empty_site.engine.url.render_as_string(hide_password=False))
    monkeypatch.setenv("EVERGOLD_DATA_DIR", str(empty_site.settings.data_dir))
    monkeypatch.setenv("EVERGOLD_ENVIRONMENTS_DIR", str(environments))
    get_settings.cache_clear()
    make_key(empty_site.engine)
    return empty_site


@pytest.fixture
def olga(site: Site) -> Linguist:
    return person(site, "olga")


def person(site: Site, name: str) -> Linguist:
    """Return somebody in a browser, with a confirmed address."""
    browser = site.clients.enter_context(log_in(site, name))
    with writing(site.engine) as session:
        session.scalars(select(User).where(User.username == name)).one().email_confirmed_at = site.now
    return Linguist(browser, name)


def bring(person: Linguist, content: bytes, **fields: str) -> httpx.Response:
    """Send fields before the file, as the form does."""
    files: list[tuple[str, tuple[str | None, bytes]]] = [("csrf_token", (None, person.token.encode()))]
    files += [(name, (None, value.encode())) for name, value in fields.items()]
    return person.browser.post("/organise/bundle", files=[*files, ("file", ("bundle.zip", content))])


def test_a_bundle_becomes_a_draft_whose_baselines_are_scored(site: Site, olga: Linguist) -> None:
    page = bring(olga, (HERE / "results.zip").read_bytes())
    assert page.status_code == 200
    text = text_of(page.text)
    assert "Gold is sealed for the workers: development/english, final/portuguese." in text
    assert "Nothing is open." in text
    with reading(site.engine) as session:
        assert [one.stage for one in session.scalars(fresh(Competition))] == [Stage.DRAFT]
        assert session.scalars(fresh(Blueprint)).all() == []
        golds = session.scalars(fresh(GoldVersion)).all()
        assert {one.is_public for one in golds} == {False}
        versions = [one.id for one in golds]
    for version in versions:
        check_gold_version(version)
    with reading(site.engine) as session:
        waiting = [one.id for one in session.scalars(fresh(ScoringRun)) if one.status == RunStatus.QUEUED]
    for run in waiting:
        score_submission(run)
    with reading(site.engine) as session:
        wanted = select(ScoreRow.value).where(ScoreRow.metric == "macro-F1", ScoreRow.run_id.in_(waiting))
        # Calculated in demo/codabench/README.md.
        assert session.scalars(wanted.order_by(ScoreRow.run_id)).all() == pytest.approx([28 / 41 / 2, 1 / 3])
    status = "/competitions/expression-or-its-words-english-portuguese/life"
    assert "0.3414634146" in text_of(olga.browser.get(status).text)
    early = send(olga, status, stage="published")
    assert early.status_code == 409
    assert "The scores of its baselines are not confirmed yet" in text_of(early.text)
    assert send(olga, f"{status}/confirmation", verdict="confirmed").status_code == 200
    assert "Confirmed by olga" in text_of(send(olga, status, stage="published").text)
    with reading(site.engine) as session:
        assert [one.stage for one in session.scalars(fresh(Competition))] == [Stage.PUBLISHED]


def send(person: Linguist, address: str, **fields: str) -> httpx.Response:
    """Send a form, and follow where it leads."""
    return person.browser.post(address, data={"csrf_token": person.token, **fields}, follow_redirects=True)


def in_memory() -> list[Path]:
    """List the folders in which this process unpacks bundles; parallel tests have their own."""
    return list(Path("/dev/shm").glob(f"evergold-import-{os.getpid()}-*"))  # noqa: S108 - only looked at


def test_nothing_of_a_bundle_stays_in_clear(site: Site, olga: Linguist) -> None:
    content = made.version_2({"solutions:": "others:"})
    secret = "an-answer-that-nobody-else-has"
    content["gold/truth.txt"] = content["truth.txt"] = secret
    content["scoring.zip"] = made.zipped({"metadata.yaml": made.METADATA, "score.py": "import json\n"})
    assert bring(olga, made.zipped(content)).status_code == 200
    for path in site.settings.data_dir.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path
    wait_until(lambda: not in_memory(), "nothing of it is left")


def test_unclear_dates_are_named_and_answers_are_taken(site: Site, olga: Linguist) -> None:
    changes = {"2026-01-01 00:00 UTC": "8-7-2025", "2026-02-15 00:00 UTC": "2025-09-30"}
    content = made.zipped(made.version_2(changes))
    refused = bring(olga, content)
    assert refused.status_code == 422
    assert "line 34: phases[1].start: '8-7-2025' is 7 August or 8 July 2025." in text_of(refused.text)
    again = bring(olga, content, zone="Mars", order="dmy")
    assert again.status_code == 422
    assert 'value="Mars"' in again.text
    assert '<option value="dmy" selected>' in again.text
    assert bring(olga, content, zone="AoE", order="dmy").status_code == 200
    with reading(site.engine) as session:
        assert [one.name for one in session.scalars(fresh(Competition))] == ["spoons-and-forks"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"no zip", "this is a plain file"),
        (b"no zip" * 50_000, "this is a plain file"),  # more than a form without files may have
        (b"", "The file is empty"),
        (made.zipped({"readme.txt": "hello"}), "there is no competition.yaml"),
        (made.zipped(made.version_2({"image: logo.png": "image: ../../x"})), "line 4"),
        (made.zipped({"competition.yaml": "a: [" * 5_000}), "nested more than"),
        (made.zipped({"competition.yaml": made.VERSION_2, "zeros": bytes(64 << 20)}), "zip bomb"),
    ],
)
def test_what_is_wrong_is_told_on_the_page(site: Site, olga: Linguist, content: bytes, sentence: str) -> None:
    refused = bring(olga, content)
    assert refused.status_code == 422
    assert sentence in text_of(refused.text)
    with reading(site.engine) as session:
        assert session.scalars(fresh(Competition)).all() == []
        assert session.scalars(fresh(Blueprint)).all() == []


def test_a_name_that_is_taken_leaves_a_draft_to_finish(olga: Linguist) -> None:
    content = made.zipped(made.version_2({"solutions:": "others:"}))
    assert "It is a draft" in text_of(bring(olga, content).text)
    again = text_of(bring(olga, content).text)
    assert "this server already has a competition 'spoons-and-forks'" in again.lower()
    assert "Its gold was not stored" in again


def test_who_may_not_create_competitions_brings_none(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site.settings, "organise", "admins")
    ada = person(site, "ada")
    assert bring(ada, made.zipped(made.version_2())).status_code == 403
