"""Two distributions from one checkout: the one that teams install (`evergold/pyproject.toml`), and the server."""

from __future__ import annotations

import io
import json
import subprocess
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, select

from app.base.db import reading
from app.exports.client_wheel import client_wheel
from app.models import ScoringRun
from app.web.competitions.pages import GUIDES
from evergold.version import VERSION
from tests.distributions import build_server_wheel, build_wheel, make_environment
from tests.processes import REPOSITORY, stop, wait_until
from tests.services import start_web
from tests.web.site import Person, Site
from tests.whole import open_competition, site_of, taking_part
from workers.score import score_submission

EVERGOLD = REPOSITORY / "evergold"
TABLE = REPOSITORY / "docs" / "examples" / "table"
#: What the version before has left where wheels are built: a module that is gone, and one that is another now.
STALE, STALE_SERVER = ("evergold/gone.py", "evergold/version.py"), ("app/gone.py", "app/cli/__init__.py")


def project(path: str) -> dict[str, Any]:
    return tomllib.loads((REPOSITORY / path).read_text(encoding="utf-8"))


def test_server_and_client_have_one_version() -> None:
    """Both read it from `evergold.version`, and the server takes no other client."""
    client, server = project("evergold/pyproject.toml"), project("pyproject.toml")
    for document in (client, server):
        assert document["project"]["dynamic"] == ["version"]
        assert document["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "evergold.version.VERSION"}
    assert server["project"]["dependencies"] == [f"evergold=={VERSION}"]


def test_every_folder_of_the_package_is_named_where_it_is_built() -> None:
    folders = {path.parent for path in EVERGOLD.rglob("__init__.py") if "build" not in path.parts}
    names = {".".join(folder.relative_to(REPOSITORY).parts) for folder in folders}
    assert set(project("evergold/pyproject.toml")["tool"]["setuptools"]["packages"]) == names


def test_both_have_the_same_licence() -> None:
    assert (EVERGOLD / "LICENSE").read_bytes() == (REPOSITORY / "LICENSE").read_bytes()


def test_an_upgrade_in_the_same_checkout_ships_no_module_of_the_version_before(
    laptop: Laptop, server_wheel: Path
) -> None:
    for wheel, stale in ((laptop.wheel, STALE), (server_wheel, STALE_SERVER)):
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            assert not {stale[0], "setup.py"} & {*names, *(name.rpartition("/")[2] for name in names)}
            assert archive.read(stale[1]) == (REPOSITORY / stale[1]).read_bytes()


# ------------------------------------------------------------------------------------------------------ what teams have


@dataclass(frozen=True)
class Laptop:
    """An environment where somebody did `pip install evergold`, and has packages called `app` and `workers` besides."""

    wheel: Path
    python: Path

    def run(self, *command: object, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command of this environment, in a folder without any code."""
        ran = self.start(*command, **environment)
        out, err = ran.communicate(timeout=120)
        assert ran.returncode == code, out + err
        return subprocess.CompletedProcess(ran.args, ran.returncode, out, err)

    def start(self, *command: object, **environment: str) -> subprocess.Popen[str]:
        program, *arguments = (str(part) for part in command)
        return subprocess.Popen(
            [str(self.python.parent / program), *arguments],
            cwd=self.wheel.parent / "empty",
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.wheel.parent / "empty"), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture(scope="session")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Laptop:
    folder = tmp_path_factory.mktemp("laptop")
    (folder / "empty").mkdir()
    wheel = build_wheel(EVERGOLD, folder, STALE)
    python = make_environment(folder / "environment", wheel)
    [site] = (folder / "environment" / "lib").glob("python*/site-packages")
    for name in ("app", "workers", "migrations", "demo"):
        (site / f"{name}.py").write_text("raise AssertionError('this is not ours')\n")
    return Laptop(wheel, python)


def test_the_wheel_has_one_package_with_its_types(laptop: Laptop) -> None:
    names = zipfile.ZipFile(laptop.wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"evergold", f"evergold-{VERSION}.dist-info"}
    assert "evergold/py.typed" in names
    assert not [name for name in names if name.endswith((".toml", ".md"))]


def test_the_wheel_that_the_server_offers_is_the_one_that_is_built(laptop: Laptop) -> None:
    """Compare all files except the manifests: RECORD contains sha256 of the same files, WHEEL another generator."""
    built = zipfile.ZipFile(laptop.wheel)
    offered = zipfile.ZipFile(io.BytesIO(client_wheel().content))
    assert (set(offered.namelist()), client_wheel().filename) == (set(built.namelist()), laptop.wheel.name)
    for name in set(built.namelist()):
        if not name.endswith((".dist-info/RECORD", ".dist-info/WHEEL")):
            assert offered.read(name) == built.read(name), name


def test_every_module_is_imported_with_what_the_wheel_declares_to_need(laptop: Laptop) -> None:
    """Check an environment without a database, torch, or even scipy."""
    code = """
import importlib, importlib.util, pkgutil, sys, evergold
for module in pkgutil.walk_packages(evergold.__path__, "evergold."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
server = ("sqlalchemy", "fastapi", "celery", "redis", "pydantic_settings", "torch", "scipy", "sklearn", "structlog")
print([name for name in server if importlib.util.find_spec(name)], len([n for n in sys.modules if "evergold." in n]))
"""
    left_over, count = laptop.run("python", "-c", code).stdout.rsplit(" ", 1)
    assert left_over == "[]"
    assert int(count) > 60


def test_its_commands_are_those_for_teams(laptop: Laptop) -> None:
    assert laptop.run("evergold", "--version").stdout == f"evergold {VERSION}\n"
    helped = laptop.run("evergold", "--help").stdout
    assert "submit" in helped
    assert "Running a server" not in helped
    for command in (["serve"], ["apply", "--migrate"], ["gold", "list"], ["export", "yaml", "demo"]):
        refused = laptop.run("evergold", *command, code=64)
        assert refused.stderr.count("\n") == 1
        assert "needs the server's package, which is not installed here: pip install" in refused.stderr


def test_it_scores_at_home(laptop: Laptop) -> None:
    golden = REPOSITORY / "tests" / "golden" / "idiom-detection"
    files = ["--gold", golden / "gold.csv", "--prediction", golden / "prediction.csv"]
    by_command = laptop.run("evergold", "score", "idiom-detection", *files).stdout
    assert "macro_f1\tzero-shot · all\t0.666667\n" in by_command
    assert laptop.run("python", "-m", "evergold.scoring", "idiom-detection", *files).stdout == by_command
    files = ["--gold", TABLE / "gold" / "irony" / "gold.csv", "--prediction", TABLE / "prediction.csv"]
    missing = laptop.run("evergold", "score", "table", *files, code=1)
    assert missing.stderr.endswith(" is needed for this: pip install 'evergold[metrics]'.\n")


@pytest.fixture
def place(sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Site, Person]]:
    """A server with the competition of docs/examples/table, and a team that takes part."""
    with site_of(sqlite_engine) as site:
        open_competition(site, TABLE / "competition.yaml", TABLE / "gold", monkeypatch)
        with taking_part(site) as (ada, _):
            yield site, ada


def test_it_submits_to_a_running_server(laptop: Laptop, place: tuple[Site, Person]) -> None:
    site, ada = place
    token = ada.client.headers["Authorization"].removeprefix("Bearer ")
    where = {"EVERGOLD_SERVER": site.url, "EVERGOLD_TOKEN": token}
    code = """
from evergold.client import Client
with Client() as client:
    submission = client.submit("{file}", to="{to}", method="by Python", wait=True)
    best = client.board("{board}").rows[0]
    print(submission.status, len(submission.scores), len(client.submissions()), best["method"])
"""
    to, board = _places(site)
    running = laptop.start("python", "-c", code.format(file=TABLE / "prediction.csv", to=to, board=board), **where)
    wait_until(lambda: len(_runs(site)) == 1, "the submission has arrived")
    score_submission(_runs(site)[0])
    out, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    status, scores, submissions, method = out.split(maxsplit=3)
    assert (status, submissions, method.strip()) == ("scored", "1", "by Python")
    assert int(scores) > 0
    sent = laptop.run(
        "evergold", "submit", TABLE / "prediction.csv", "--to", to, "--no-wait", "--json", code=0, **where
    )
    assert json.loads(sent.stdout)["status"] == "queued"
    assert len(_runs(site)) == 2


def _runs(site: Site) -> list[int]:
    with reading(site.engine) as session:
        return list(session.scalars(select(ScoringRun.id).order_by(ScoringRun.id)))


def _places(site: Site) -> tuple[str, str]:
    """The only task, and its first board."""
    with site.client() as reader:
        [competition] = reader.get("/api/v1/competitions").json()["competitions"]
    [phase] = competition["phases"]
    place = f"{competition['name']}/{phase['name']}"
    return f"{place}/{phase['tasks'][0]['name']}", f"{place}/{phase['boards'][0]['name']}"


# ---------------------------------------------------------------------------------------------------- what servers have


@pytest.fixture(scope="session")
def server_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_server_wheel(tmp_path_factory.mktemp("server"), STALE_SERVER)


def test_the_server_s_wheel_has_every_file_of_its_packages_and_nothing_of_the_demo(server_wheel: Path) -> None:
    names = zipfile.ZipFile(server_wheel).namelist()
    packages = ("app", "migrations", "workers")
    assert {name.partition("/")[0] for name in names if not name.startswith("evergold_server-")} == set(packages)
    files = {path for package in packages for path in (REPOSITORY / package).rglob("*") if path.is_file()}
    ours = {str(path.relative_to(REPOSITORY)) for path in files if "__pycache__" not in path.parts}
    assert ours <= set(names)


def test_a_server_from_the_wheels_has_the_whole_guide(
    laptop: Laptop, server_wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Check an installation by `pip install 'evergold-server[web]'`, without a checkout."""
    folder = tmp_path_factory.mktemp("host")
    python = make_environment(folder / "environment", laptop.wheel, server_wheel, extras=["web"])
    ours = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "EVERGOLD_DATA_DIR": str(folder / "var")}
    (folder / "phases.yaml").write_text("version: 1\ncompetitions: []\n")
    migrate = [str(python), "-P", "-m", "evergold.cli", "apply", "--migrate"]
    subprocess.run(migrate, cwd=folder, env=ours, check=True, capture_output=True)
    web, address = start_web(folder, ours, python=str(python))
    try:
        with httpx.Client(base_url=address, timeout=60) as reader:
            index = reader.get("/guide").text
            for name in GUIDES:
                assert f'href="/guide/{name}"' in index
                assert reader.get(f"/guide/{name}").status_code == 200
    finally:
        stop(web)
