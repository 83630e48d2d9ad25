"""Clients of Codabench create competitions from bundles, by the rules of the browser's import."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

import httpx
import pytest
from sqlalchemy import delete, select, update

from app.base.db import reading, writing
from app.base.errors import Busy
from app.declarations.bundle_uploads import KEPT, KEPT_AT_ONCE, LONGEST, claim_bundle, sender_of
from app.models import BundleUpload, Competition, CompetitionRole, GoldVersion, Phase, Stage, TokenScope, User
from app.people.auth import create_token, find_token
from app.people.client_tokens import client_token
from app.submissions.held_uploads import UploadedAlready
from demo.codabench.pack import HERE
from tests.importers.bundles import made
from tests.processes import wait_until
from tests.rich_world import fresh
from tests.sealed import make_key
from tests.web.declarations.test_bundles import in_memory
from tests.web.site import PASSWORD, Site, log_in
from tests.world import NOW
from workers.sweep import clear_held_uploads

RESULTS = (HERE / "results.zip").read_bytes()
SECRET = "an-answer-that-nobody-else-has"  # noqa: S105 - what gold holds


@pytest.fixture
def site(empty_site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(empty_site.settings, "organise", "anybody")
    make_key(empty_site.engine)
    return empty_site


class Organiser:
    """Somebody whose scripts log in by name and password, as these clients do."""

    def __init__(self, site: Site, name: str, client: httpx.Client) -> None:
        self.site, self.name, self.client = site, name, client
        form = {"username": name, "password": PASSWORD}
        client.headers["Authorization"] = f"Token {client.post('/api/api-token-auth/', data=form).json()['token']}"

    def announce(self, **more: str) -> httpx.Response:
        form = {"type": "competition_bundle", "request_sassy_file_name": "bundle.zip", **more}
        return self.client.post("/api/datasets/", data=form)

    def put(self, address: str, content: bytes) -> httpx.Response:
        with self.site.client() as anybody:
            return anybody.put(address, content=content)

    def bring(self, content: bytes) -> int:
        """Send a bundle; return the number by which it can be requested."""
        announced = self.announce().json()
        put = self.put(announced["sassy_url"], content)
        assert put.status_code == 200, put.text
        completed = self.client.put(f"/api/datasets/completed/{announced['key']}/")
        assert completed.status_code == 200, completed.text
        number: int = completed.json()["status_id"]
        return number

    def asked(self, number: int) -> httpx.Response:
        return self.client.get(f"/api/competitions/{number}/creation_status/")


@contextmanager
def organiser(site: Site, name: str) -> Iterator[Organiser]:
    with log_in(site, name), site.client() as client:
        yield Organiser(site, name, client)


@pytest.fixture
def olga(site: Site) -> Iterator[Organiser]:
    with organiser(site, "olga") as found:
        yield found


def test_a_bundle_becomes_a_draft_of_its_sender_with_sealed_gold(site: Site, olga: Organiser) -> None:
    found = olga.asked(olga.bring(RESULTS)).json()
    assert found["status"] == "Finished", found
    with reading(site.engine) as session:
        (created,) = session.scalars(fresh(Competition)).all()
        assert (created.stage, created.id) == (Stage.DRAFT, found["resulting_competition"])
        assert session.get_one(User, created.owner_id).username == "olga"
        assert len(session.scalars(fresh(GoldVersion)).all()) == 2
    assert f"/competitions/{created.name}/life" in found["details"].partition("\n")[0]
    described = olga.client.get(f"/api/competitions/{created.id}/").json()
    assert {one["key"] for board in described["leaderboards"] for one in board["columns"]} >= {"accuracy", "macro-F1"}
    with site.client() as nobody:
        assert nobody.get(f"/api/competitions/{created.id}/").status_code == 404
    with writing(site.engine) as session:  # as it is once somebody else has it
        session.execute(delete(CompetitionRole).where(CompetitionRole.competition_id == created.id))
    assert olga.client.get(f"/api/competitions/{created.id}/").status_code == 404
    assert olga.asked(found["id"]).json() == {**found, "resulting_competition": None}


def test_dates_are_read_as_there_and_what_was_assumed_is_told(site: Site, olga: Organiser) -> None:
    changes = {"2026-01-01 00:00 UTC": "8-7-2025", "2026-02-15 00:00 UTC": "2025-09-30"}
    found = olga.asked(olga.bring(made.zipped(made.version_2(changes)))).json()
    assert found["status"] == "Finished", found
    with reading(site.engine) as session:
        dates = {one.starts_at.isoformat(): one.ends_at for one in session.scalars(fresh(Phase))}
    ends = dates["2025-08-07T00:00:00+00:00"]
    assert ends is not None
    assert ends.isoformat() == "2025-09-30T00:00:00+00:00"
    assert (
        "assumed: line 34, phases[1].start: '8-7-2025': no zone is given: UTC, as chosen for the import"
        in found["details"]
    )


def test_what_is_wrong_with_a_bundle_is_told_in_full(site: Site, olga: Organiser) -> None:
    changes = {"image: logo.png": "image: ../x", "start: 2026-01-01 00:00 UTC": "start: soon"}
    found = olga.asked(olga.bring(made.zipped(made.version_2(changes)))).json()
    assert (found["status"], found["resulting_competition"]) == ("Failed", None)
    assert "lies outside of the bundle" in found["details"]
    assert "is not a date" in found["details"]
    with reading(site.engine) as session:
        assert session.scalars(fresh(Competition)).all() == []


def test_a_name_that_is_taken_is_kept_to_be_mended(olga: Organiser) -> None:
    first, second = (olga.asked(olga.bring(RESULTS)).json() for _ in range(2))
    assert (first["status"], second["status"]) == ("Finished", "Failed")
    assert "/organise/" in second["details"]
    assert "This server already has a competition" in second["details"]


def test_nothing_of_a_bundle_stays_in_clear(site: Site, olga: Organiser) -> None:
    content = made.version_2({"solutions:": "others:"})
    content["gold/truth.txt"] = content["truth.txt"] = SECRET
    content["scoring.zip"] = made.zipped({"metadata.yaml": made.METADATA, "score.py": "import json\n"})
    assert olga.asked(olga.bring(made.zipped(content))).json()["status"] == "Finished"
    for path in site.settings.data_dir.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
    wait_until(lambda: not in_memory(), "nothing of it is left")


def test_a_bundle_makes_one_competition_however_often_it_is_sent(site: Site, olga: Organiser) -> None:
    announced = olga.announce().json()
    early = olga.client.put(f"/api/datasets/completed/{announced['key']}/")
    assert (early.status_code, early.json()["error"]["code"]) == (409, "not_uploaded_yet")
    answers = [olga.put(announced["sassy_url"], RESULTS).status_code for _ in range(2)]
    assert answers == [200, 409]
    with reading(site.engine) as session:
        assert len(session.scalars(fresh(Competition)).all()) == 1
    secret = announced["sassy_url"].rstrip("/").rpartition("/")[2]
    with writing(site.engine) as session, pytest.raises(UploadedAlready):
        claim_bundle(session, secret, NOW)  # a request that came at the same moment, and was slower
    with reading(site.engine) as session, pytest.raises(UploadedAlready):
        sender_of(session, secret, NOW)


def test_a_busy_server_takes_it_again_and_an_interrupted_one_says_so(
    site: Site, olga: Organiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise Busy("Very much is done here at this moment.")

    announced = olga.announce().json()
    with monkeypatch.context() as patched:
        patched.setattr("app.web.declarations.bundle_receiving.read_bundle", full)
        assert olga.put(announced["sassy_url"], RESULTS).status_code == 503
    assert olga.put(announced["sassy_url"], RESULTS).status_code == 200
    number = olga.bring(made.zipped({"readme.txt": "no bundle"}))
    with writing(site.engine) as session:  # as a process leaves it that was killed in between
        cut = update(BundleUpload).where(BundleUpload.id == number)
        session.execute(cut.values(finished_at=None, details=""))
    assert olga.asked(number).json()["status"] == "Starting"
    site.set_clock(NOW + LONGEST)
    found = olga.asked(number).json()
    assert (found["status"], "Upload the bundle again" in found["details"]) == ("Failed", True)


def test_who_may_not_create_competitions_announces_none(
    site: Site, olga: Organiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    announced = olga.announce().json()
    monkeypatch.setattr(site.settings, "organise", "admins")
    refused = olga.announce()
    assert (refused.status_code, "You cannot create a competition" in refused.text) == (403, True)
    number = olga.client.put(f"/api/datasets/completed/{announced['key']}/")
    assert number.status_code == 409
    assert olga.put(announced["sassy_url"], RESULTS).status_code == 200
    found = olga.client.put(f"/api/datasets/completed/{announced['key']}/").json()["status_id"]
    assert "You cannot create a competition" in olga.asked(found).json()["details"], (
        "the right was taken away meanwhile"
    )
    with reading(site.engine) as session:
        assert session.scalars(fresh(Competition)).all() == []


def test_a_token_creates_drafts_by_its_scope_alone_whatever_its_name(site: Site, olga: Organiser) -> None:
    base = {TokenScope.READ, TokenScope.SUBMIT}
    statuses = []
    for scopes in (base, base | {TokenScope.CREATE}, base | {TokenScope.ORGANISE}):
        with writing(site.engine) as session:
            user = session.scalars(select(User).where(User.username == "olga")).one()
            _, secret = create_token(session, user, "ci", NOW, scopes=scopes)
        olga.client.headers["Authorization"] = f"Token {secret}"
        statuses.append(olga.announce().status_code)
    assert statuses == [403, 201, 201]


def test_a_days_token_without_the_scope_creates_nothing(site: Site, olga: Organiser) -> None:
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == "olga")).one()
        secret = client_token(session, user, PASSWORD, NOW)
        given = find_token(session, secret, NOW)
        assert given is not None
        given.scopes = "read submit"  # as it was before the scope was there
    olga.client.headers["Authorization"] = f"Token {secret}"
    refused = olga.announce()
    assert (refused.status_code, refused.json()["error"]["details"]["needed"]) == (403, ["create"])


def test_nobody_asks_after_the_bundle_of_another(site: Site, olga: Organiser) -> None:
    announced = olga.announce().json()
    number = olga.bring(RESULTS)
    with organiser(site, "eve") as eve:
        hidden, never = eve.asked(number), eve.asked(99_999)
        assert (hidden.status_code, hidden.text) == (404, never.text)
        assert eve.client.put(f"/api/datasets/completed/{announced['key']}/").status_code == 404
    with site.client() as nobody:
        assert nobody.get(f"/api/competitions/{number}/creation_status/").status_code == 401


def test_what_became_of_bundles_is_kept_for_a_day_and_of_a_few(site: Site, olga: Organiser) -> None:
    keys = []
    for second in range(KEPT_AT_ONCE + 1):
        site.set_clock(NOW + timedelta(seconds=second))
        keys.append(UUID(olga.announce().json()["key"]))
    with reading(site.engine) as session:
        assert {one.key for one in session.scalars(fresh(BundleUpload))} == set(keys[1:])
    address = olga.announce().json()["sassy_url"]
    site.set_clock(NOW + KEPT + timedelta(minutes=1))
    assert olga.put(address, RESULTS).status_code == 404
    clear_held_uploads(site.engine, NOW + KEPT + timedelta(minutes=1))
    with reading(site.engine) as session:
        assert session.scalars(select(BundleUpload)).all() == []


def test_a_bundle_that_is_too_large_or_empty_is_refused_as_it_comes(site: Site, olga: Organiser) -> None:
    limit = site.settings.upload_limit_bytes
    assert olga.announce(file_size=str(limit + 1)).status_code == 413
    address = olga.announce().json()["sassy_url"]
    assert olga.put(address, b"").status_code == 422
    assert olga.put(address, bytes(limit + 1)).status_code == 413
    wait_until(lambda: not in_memory(), "nothing of it is left")
    assert olga.put(address, RESULTS).status_code == 200, "the address waits for the bundle"
