"""Web and workers on machines that share a database and a bucket and no disk; a bucket that is away, or serves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from sqlalchemy import update

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.base.storage import storage_of, store_upload
from app.models import PublicFile, ScoringRun
from app.web.http.context import Server
from tests.faulty_store import FaultyStore, faulty_store
from tests.s3 import SECRET, new_bucket, s3_environment, s3_server
from tests.web.site import TASK_PATH, Site
from tests.workers.files import GOLD, PREDICTION
from tests.world import the_phase_task, the_run
from workers.score import score_submission

ITEMS = b"ID,Language\n1,EN\n2,EN\n3,EN\n4,EN\n"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def store(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyStore]:
    with faulty_store(server) as proxy:
        environment = {**s3_environment(proxy.address, new_bucket(server)), "EVERGOLD_S3_TRIES": "1"}
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        get_settings.cache_clear()
        yield proxy


@dataclass
class Machines:
    site: Site
    folder: Path
    monkeypatch: pytest.MonkeyPatch

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """The web process and the workers of this machine, which has a data folder of its own."""
        data = self.folder / name
        (data / "gold").mkdir(parents=True, exist_ok=True)
        (data / "gold" / "gold.csv").write_text(GOLD)
        server: Server = self.site.app.state.server
        places = {"data_dir": data, "cache_dir": data / "cache", "sealed_dir": data / "sealed"}
        self.site.app.state.server = replace(server, environment=server.environment.model_copy(update=places))
        self.monkeypatch.setenv("EVERGOLD_DATA_DIR", str(data))
        self.monkeypatch.setenv("EVERGOLD_DATABASE_URL", self.site.settings.database_url)
        get_settings.cache_clear()
        try:
            yield
        finally:
            self.site.app.state.server = server
            get_engine(self.site.settings.database_url).dispose()


@pytest.fixture
def machines(store: FaultyStore, quick_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machines:
    return Machines(quick_site, tmp_path, monkeypatch)


def add_items(site: Site) -> None:
    """Applied on the machine where one is at the moment."""
    stored = store_upload([ITEMS], storage_of(get_settings()), 1000)
    with writing(site.engine) as session:
        task = the_phase_task(session)
        task.items_sha256 = stored.sha256
        session.add(
            PublicFile(
                phase_task_id=task.id, name="items.csv", title="", sha256=stored.sha256, size_bytes=stored.size_bytes
            )
        )


def test_what_one_machine_takes_another_scores_and_a_third_serves(machines: Machines) -> None:
    site = machines.site
    ada = site.person("ada")
    with machines.at("first"):
        add_items(site)
        sent = ada.submitted(PREDICTION.encode())
    with reading(site.engine) as session:
        run_id = session.query(ScoringRun).one().id
    with machines.at("second"):
        score_submission(run_id)
    assert the_run(site.engine, run_id).status == "scored"
    with machines.at("third"):
        assert ada.client.get(f"/api/v1/submissions/{sent['id']}/file").content == PREDICTION.encode()
        assert ada.client.get(f"{TASK_PATH}/files/items.csv").content == ITEMS
    for name in ("first", "second", "third"):
        assert not (machines.folder / name / "storage").exists()


def test_while_the_store_is_away_an_upload_is_refused_in_words_and_nothing_is_kept(
    machines: Machines, store: FaultyStore
) -> None:
    ada = machines.site.person("ada")
    with machines.at("first"):
        store.always = "refuse"
        refused = ada.submit(PREDICTION.encode(), headers={"Idempotency-Key": "one"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "storage_away")
        assert machines.site.submissions() == 0
        assert [path for path in (machines.folder / "first" / "cache").rglob("*") if path.is_file()] == []
        store.always = "pass"
        again = ada.submit(PREDICTION.encode(), headers={"Idempotency-Key": "one"})
    assert again.status_code == 202
    assert machines.site.submissions() == 1


def test_files_for_everyone_may_be_fetched_from_the_store_and_no_others(
    machines: Machines, store: FaultyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGOLD_S3_PUBLIC_ENDPOINT", store.address)
    ada, path = machines.site.person("ada"), f"{TASK_PATH}/files/items.csv"
    with machines.at("first"), machines.site.client() as anonymous:
        add_items(machines.site)
        sent = ada.submitted(PREDICTION.encode())
        answer = anonymous.get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (307, "no-store")
        assert SECRET not in answer.headers["location"]
        download = httpx.get(answer.headers["location"], timeout=60)
        assert download.content == ITEMS
        assert "items.csv" in download.headers["content-disposition"]
        assert ada.client.get(f"/api/v1/submissions/{sent['id']}/file").status_code == 200, "by the server itself"
        with writing(machines.site.engine) as session:
            task = the_phase_task(session)
            session.execute(update(type(task)).values(files_for={"items.csv": "participants"}))
        assert anonymous.get(path).status_code in (401, 403)
        assert ada.client.get(path).status_code in (200, 403), "never an address"
