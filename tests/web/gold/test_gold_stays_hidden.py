"""Hidden gold that an organiser in an open phase declares public: the worker checks the seal, and shows no item."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from nacl.public import PrivateKey
from sqlalchemy import delete, select, update

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.base.storage import FolderStorage
from app.competitions.find import find_competition
from app.declarations.apply.apply import apply_phases
from app.declarations.check import load_competitions
from app.gold.sealing import key_id_of
from app.models import GoldVersion, PhaseTask, Role, RunStatus, ScoringRun, SealedKey, WorkerKey
from app.people.rights import grant_role
from tests.declarations.competition_folder import GOLD, MAJORITY, NOW, make_competition
from tests.sealed import make_key
from tests.web.site import Person, Site, run_of
from workers import gold
from workers.keys import key_file, read_keys
from workers.score import score_submission
from workers.version_check import check_gold_version

API = "/api/v1/competitions/demo"
TASK = f"{API}/phases/evaluation/tasks/detection"
PUBLIC = "phases.evaluation.tasks.detection.gold_is_public"


@pytest.fixture
def olga(empty_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    """An organiser of a competition whose evaluation is open; workers are functions of this process."""
    address = empty_site.engine.url.render_as_string(hide_password=False)
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", address)
    get_settings.cache_clear()
    gold._cache.clear()
    empty_site.set_clock(NOW)
    with writing(empty_site.engine) as session:
        loaded = load_competitions(make_competition(tmp_path / "demo").phases)
        apply_phases(session, loaded, storage=FolderStorage(empty_site.settings.storage_dir), now=NOW)
    make_key(empty_site.engine)
    person = empty_site.person("olga")
    with writing(empty_site.engine) as session:
        grant_role(session, find_competition(session, "demo"), person.user, Role.ORGANISER, NOW)
    with person.client:
        yield person
    get_engine(address).dispose()


def put(olga: Person, **fields: str) -> httpx.Response:
    files = {"file": ("gold.csv", GOLD.encode())}
    response = olga.client.post(f"{TASK}/gold", files=files, data={"publish": "true", **fields})
    assert response.status_code == 201, response.text
    check_gold_version(newest_version())
    return response


def newest_version() -> int:
    with reading(get_engine(get_settings().database_address)) as session:
        return session.scalars(select(GoldVersion.id).order_by(GoldVersion.id.desc())).first() or 0


def patch(olga: Person) -> None:
    changed = olga.client.patch(f"{API}/declaration", json={"base": 1, "values": {PUBLIC: True}})
    assert changed.status_code == 200, changed.text


def has_items(site: Site, person: Person) -> bool:
    """Return whether the worker's result for a new submission contains items."""
    accepted = person.submit(MAJORITY.encode(), path=f"{TASK}/submissions")
    assert accepted.status_code == 202, accepted.text
    run_id = run_of(site, accepted.json())
    score_submission(run_id)
    with reading(site.engine) as session:
        assert session.scalars(select(PhaseTask.gold_is_public).where(PhaseTask.gold_is_public)).first(), "declared"
        asked = select(ScoringRun.status, ScoringRun.failure, ScoringRun.item_results)
        status, failure, packed = session.execute(asked.where(ScoringRun.id == run_id)).one()
    assert status == RunStatus.SCORED, failure
    return packed is not None


def test_a_patch_in_an_open_phase_opens_no_gold_that_was_sealed_as_hidden(empty_site: Site, olga: Person) -> None:
    put(olga)
    patch(olga)
    assert not has_items(empty_site, olga)


def test_gold_that_is_put_after_such_a_patch_is_hidden_unless_whoever_puts_it_says_so(
    empty_site: Site, olga: Person
) -> None:
    patch(olga)
    put(olga)
    assert not has_items(empty_site, olga)
    put(olga, public="true")
    assert has_items(empty_site, olga)


def test_what_gold_is_bound_to_must_be_said_before_the_file(empty_site: Site, olga: Person) -> None:
    """Check a field after the file, which comes when the file is sealed already."""
    body = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="gold.csv"\r\n\r\ngold\r\n'
        b'--b\r\nContent-Disposition: form-data; name="public"\r\n\r\ntrue\r\n--b--\r\n'
    )
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    refused = olga.client.post(f"{TASK}/gold", content=body, headers=headers)
    assert refused.status_code == 422
    assert "before the file" in refused.json()["error"]["details"]["fields"]["public"]
    assert [path for path in empty_site.settings.sealed_dir.rglob("*") if path.is_file()] == []


# ------------------------------------------------------------------------------------------------------- keys by name


@pytest.fixture
def attacker(empty_site: Site) -> str:
    """A key that somebody added to the database; its id."""
    public = bytes(PrivateKey.generate().public_key)
    with writing(empty_site.engine) as session:
        session.add(WorkerKey(key_id=key_id_of(public), public_key=public, created_at=NOW, retired_at=None))
    return key_id_of(public)


def sealed_to(site: Site) -> set[str]:
    with reading(site.engine) as session:
        return set(session.scalars(select(SealedKey.key_id)))


def test_a_server_that_names_its_workers_keys_seals_gold_to_no_other(
    empty_site: Site, olga: Person, attacker: str
) -> None:
    (own,) = read_keys(key_file())
    empty_site.settings.sealing_keys = own
    put(olga)
    assert sealed_to(empty_site) == {own}


def test_a_key_under_the_id_of_another_gets_nothing(empty_site: Site, olga: Person, attacker: str) -> None:
    (own,) = read_keys(key_file())
    with writing(empty_site.engine) as session:
        session.execute(delete(WorkerKey).where(WorkerKey.key_id == own))
        session.execute(update(WorkerKey).values(key_id=own))
    refused = olga.client.post(f"{TASK}/gold", files={"file": ("gold.csv", GOLD.encode())})
    assert refused.json()["error"]["code"] == "no_worker_key"
    assert sealed_to(empty_site) == set()
