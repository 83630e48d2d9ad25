"""The application as a whole: what surrounds every answer, how it starts, what it does not load."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import Engine

from app.base.config import Settings
from app.base.db import make_engine
from app.web import main
from app.web.html.rendering import STATIC
from app.web.main import DATABASE_SECONDS, DatabaseNotReady, create_app
from tests.services import free_port
from tests.web.site import BROWSER, Site, serving

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("path", ["/", "/api/v1/competitions", "/nothing", "/static/evergold.css", "/healthz", "/docs"])
def test_every_answer_is_guarded(site: Site, path: str) -> None:
    with site.client(**BROWSER) as browser:
        headers = browser.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert len(headers["X-Request-ID"]) == 16
    assert "Strict-Transport-Security" not in headers


def test_https_is_insisted_on_where_cookies_are_secure(sqlite_engine: Engine, tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, database_url=str(sqlite_engine.url), secure_cookies=True))
    with serving(app) as url:
        assert httpx.get(f"{url}/healthz", timeout=60).headers["Strict-Transport-Security"] == "max-age=31536000"
    app.state.server.engine.dispose()


@pytest.mark.parametrize("path", ["/", "/api/v1/competitions", "/static/evergold.css"])
def test_head_is_get_without_the_body(site: Site, path: str) -> None:
    with site.client() as client:
        head, get = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == get.headers["Content-Type"]


def test_health_asks_the_database(site: Site) -> None:
    with site.client() as client:
        response = client.get("/healthz")
    assert response.json()["status"] == "ok"


def test_static_files_are_kept_for_ever_by_their_digest(site: Site) -> None:
    with site.client(**BROWSER) as browser:
        addresses = re.findall(r'"(/static/[^"]+)"', browser.get("/").text)
        assert len(addresses) >= 3
        for address in addresses:
            assert "immutable" in browser.get(address).headers["Cache-Control"]
        assert browser.get("/static/evergold.css").headers["Cache-Control"] == "no-cache"


def test_a_server_without_tables_does_not_start(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path / 'empty.db'}"))
    with pytest.raises(DatabaseNotReady, match="no tables yet: create them with `evergold migrate`"):
        asyncio.run(_start(app))


def test_a_starting_process_waits_for_a_server_that_does_not_answer_and_for_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check half a minute, by a clock that continues while the process sleeps; restarting a database takes
    no longer.
    """
    waits = [0.0]
    clock = SimpleNamespace(monotonic=lambda: sum(waits), sleep=lambda seconds: waits.append(10 * seconds))
    monkeypatch.setattr(main, "time", clock)
    for address, seconds in (
        (f"postgresql+psycopg://nobody@127.0.0.1:{free_port()}/nothing", pytest.approx(DATABASE_SECONDS, abs=2.5)),
        (f"sqlite:///{tmp_path / 'no/folder.db'}", 0),
    ):
        waits[:] = [0.0]
        with pytest.raises(DatabaseNotReady, match="cannot be used .OperationalError."):
            main._check_database(make_engine(address))
        assert sum(waits) == seconds


async def _start(app: FastAPI) -> None:
    async with app.router.lifespan_context(app):
        pass


@pytest.mark.soak  # with each commit tests/test_imports.py asks the same, and more
def test_the_web_process_loads_no_scorer_and_no_worker() -> None:
    script = (
        "import sys, app.web.main; app.web.main.create_app().openapi(); "
        "print([name for name in ('torch', 'transformers', 'scipy', 'sklearn', 'workers', 'workers.gold') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("folder", ["swagger-ui", "htmx"])
def test_what_others_wrote_comes_with_its_licence(folder: str) -> None:
    assert (STATIC / "vendor" / folder / "LICENSE").read_text(encoding="utf-8").strip()


def test_nothing_of_ours_points_elsewhere() -> None:
    """Check that templates, styles and scripts of ours name no other server: nobody learns who reads a board."""
    ours = [
        p for p in [*STATIC.glob("*"), *(STATIC.parent / "templates").rglob("*")] if p.suffix != ".png" and p.is_file()
    ]
    assert len(ours) > 15
    for path in ours:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        without_checks = text.replace('replace("https://", "")', "").replace('replace("http://", "")', "")
        without_checks = without_checks.replace('<a href="https://orcid.org/{{ orcid }}"', "")  # asked only if followed
        assert "http://" not in without_checks, path
        assert "https://" not in without_checks, path
