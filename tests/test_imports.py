"""Imports: who may import whom, as design and contracts define, and what a process really loads."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import grimp
import pytest

from app.base.config import Settings
from app.web import pages
from app.web.main import create_app
from tests.processes import REPOSITORY
from tests.services import environment_of
from tests.web.routes import routes_of

#: What only workers that score with models may load.
#: obstore: only where files lie in a bucket.
HEAVY = ("torch", "transformers", "bert_score", "sklearn", "scipy", "pandas", "obstore")


WITH_A_BROKER = "import os; os.environ['EVERGOLD_BROKER_URL'] = 'redis://127.0.0.1:1/0'"
SENDING = "from app.base.queue import send_run; send_run(1)"
#: What each kind of process does at least; whoever asks about one looks at the same fresh process.
WEB = (
    f"{WITH_A_BROKER}; import app.operations.health; from app.web.main import create_app; create_app().openapi();"
    f"{SENDING}"
)
SWEEP = (
    f"{WITH_A_BROKER}; from datetime import UTC, datetime; from app.base.config import get_settings;"
    "from workers import sweep; from app.base.db import Base, make_engine; engine = make_engine('sqlite://');"
    "now = datetime.now(UTC); Base.metadata.create_all(engine); sweep._forgotten_task_types = list;"
    "sweep.sweep(engine, now); sweep.check_standings(engine, 0); sweep.clear_rejected(engine, get_settings(), now);"
    f"sweep.clear_held_uploads(engine, now); sweep.clear_blueprints(engine, get_settings(), now); {SENDING}"
)
WORKER = (
    f"{WITH_A_BROKER}; import workers.score; from celery.apps.worker import Worker;"
    "import warnings; warnings.simplefilter('ignore');"  # Celery's, for root
    "Worker.start = lambda worker: print(worker.pool_cls); from workers import start;"
    "start.run_celery(start.Presence(1, queues=('cpu',)), None)"
)


@cache
def modules_after(statement: str) -> frozenset[str]:
    """Return every module that a fresh process has loaded after the statement."""
    listing = f"import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-W", "error", "-c", listing]
    environment = environment_of(data_dir="/nonexistent/evergold")
    ran = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return frozenset(json.loads(ran.stdout.splitlines()[-1]))


def loaded_by(statement: str, *packages: str) -> set[str]:
    """Return which of these packages are loaded after the statement."""
    return {name.split(".")[0] for name in modules_after(statement)} & set(packages)


def test_the_import_contracts_hold() -> None:
    """Check the same as `make contracts`; the contracts are in pyproject.toml."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    assert f"Contracts: {len(contracts)} kept, 0 broken." in ran.stdout


def test_the_contract_of_pages_and_api_knows_every_one_of_them() -> None:
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    [contract] = [one for one in contracts if one["name"].startswith("no page imports the API")]
    all_pages = {route.endpoint.__module__ for route in routes_of(pages.router.routes)}
    everything = {route.endpoint.__module__ for route in routes_of(create_app(Settings()).router.routes)}
    assert set(contract["source_modules"]) == all_pages
    assert set(contract["forbidden_modules"]) == everything - all_pages - {"app.web.docs"}


def test_only_the_scoring_task_and_the_workers_own_commands_import_gold() -> None:
    graph = grimp.build_graph("app", "evergold", "workers")
    tasks = {
        "workers.score",
        "workers.check",
        "workers.version_check",
        "workers.describing",
        "workers.power",
        "workers.programs",
    }
    commands = {"workers.gold_commands"}
    knowing_its_folder = {"workers.device"}
    importers = graph.find_modules_that_directly_import("workers.gold")
    assert importers == {*tasks, *commands, *knowing_its_folder}
    opening = graph.find_modules_that_directly_import("workers.sealed")
    assert opening == {"workers.gold", "workers.score"}


def test_nothing_but_the_workers_side_can_open_what_is_sealed() -> None:
    """Neither a private key nor a way to decrypt is anywhere in app or evergold: not in reach of the web process."""
    openers = re.compile(r"PrivateKey|SecretBox|\.decrypt\(|secretstream_\w+_(?:init_)?pull|box_seal_open|box_open")
    sources = [path for package in ("app", "evergold") for path in (REPOSITORY / package).rglob("*.py")]
    assert [str(path) for path in sources if openers.search(path.read_text("utf-8"))] == []
    assert openers.search((REPOSITORY / "workers" / "sealed.py").read_text("utf-8")), "the pattern finds an opener"


def test_migrations_stand_on_their_own() -> None:
    """A revision that imported models, or types of theirs, would change its meaning with them."""
    folder = REPOSITORY / "migrations"
    revisions = sorted((folder / "versions").glob("*.py"))
    assert revisions
    sources = [path.read_text("utf-8") for path in (*revisions, folder / "types.py", folder / "script.py.mako")]
    ours = re.compile(r"^\s*(?:import|from) ((?:app|evergold|workers)\b[\w.]*)", re.MULTILINE)
    assert [found for source in sources for found in ours.findall(source)] == []
    assert ours.findall((folder / "env.py").read_text("utf-8")), "the pattern finds an import"


def test_no_module_of_routes_makes_a_second_router() -> None:
    """Check it, since the routes of the first would be lost without an error."""
    modules = sorted((REPOSITORY / "app" / "web").rglob("*.py"))
    routers = {path: path.read_text("utf-8").count("\nrouter = ") for path in modules}
    assert max(routers.values()) == 1, [str(path) for path, count in routers.items() if count > 1]


def test_scoring_alone_is_light() -> None:
    assert (
        loaded_by("import evergold.scoring", "numpy", "sqlalchemy", "celery", "fastapi", "httpx", "app", *HEAVY)
        == set()
    )


def test_the_task_types_load_neither_scipy_nor_torch() -> None:
    assert loaded_by("import evergold.scoring.tasks", "sqlalchemy", "celery", "fastapi", "app", *HEAVY) == set()


def test_the_list_of_task_types_loads_none_of_them() -> None:
    """Check that plug-ins are not loaded either, as long as no name is requested that is not our own."""
    asked = (
        "from evergold.scoring.tasks import TASKS, needs_gpu; assert 'ranking' in TASKS and needs_gpu('mwe-paraphrase')"
    )
    assert task_types_after(asked) == set()
    assert {"numpy", "pydantic", "evergold.scoring.plugins"} & modules_after(asked) == set()


def test_a_task_type_is_loaded_alone() -> None:
    asked = "from evergold.scoring import get_task; get_task('idiom-detection')"
    assert task_types_after(asked) == {"idiom_detection"}
    assert "evergold.scoring.plugins" not in modules_after(asked)


def test_the_sweep_sweeps_without_a_task_type_or_a_board() -> None:
    """Check that numpy is not loaded either, which both need; modules for freezing are loaded when
    something is frozen.
    """
    assert task_types_after(SWEEP) == set()
    loaded = modules_after(SWEEP)
    assert "app.boards.freezing" in loaded
    assert {"app.boards.leaderboard", "app.declarations.model", "markdown_it", "numpy"} & loaded == set()


def task_types_after(statement: str) -> set[str]:
    """The modules of task types that are loaded after the statement."""
    start = "evergold.scoring.tasks."
    return {name.removeprefix(start) for name in modules_after(statement) if name.startswith(start)}


#: A message is sent without it, for decision 068 says why.
CELERY = ("celery", "kombu")


def test_web_and_sweep_send_messages_without_celery() -> None:
    for process in (WEB, SWEEP):
        assert loaded_by(process, *CELERY) == set()


def test_the_web_process_loads_no_worker_and_nothing_heavy() -> None:
    assert loaded_by(WEB, "workers", *HEAVY) == set()


def test_a_worker_loads_no_web_framework_and_nothing_heavy() -> None:
    assert loaded_by(WORKER, "fastapi", "starlette", "uvicorn", "jinja2", "argon2", *HEAVY) == set()


def test_a_worker_is_no_command_line_of_celery() -> None:
    """Check that Celery's command line is not loaded, with all its commands and a prompt for terminals: 9 MB in each
    process.
    """
    assert {"celery.concurrency.prefork", "numpy"} <= modules_after(WORKER)
    assert {"celery.bin", "click_repl", "prompt_toolkit"} & modules_after(WORKER) == set()


def test_the_sweep_loads_no_web_framework_and_nothing_heavy() -> None:
    assert loaded_by(SWEEP, "fastapi", "starlette", "uvicorn", *HEAVY) == set()


def test_the_command_line_needs_no_server_to_start() -> None:
    """`evergold submit` works where only the core is installed."""
    assert loaded_by("import evergold.cli", "sqlalchemy", "celery", "fastapi", "uvicorn", "workers", *HEAVY) == set()


def test_help_loads_nothing_that_only_commands_need() -> None:
    """Check that they are not loaded, which would take a fifth of a second."""
    packages = ("pydantic", "numpy", "httpx", "yaml", "rich", "sqlalchemy", "fastapi", "celery", *HEAVY)
    assert loaded_by("from evergold.cli import run; run(['--help'])", *packages) == set()


def test_a_small_file_is_scored_without_what_takes_long_to_load(tmp_path: Path) -> None:
    """Check that numpy is not loaded, which takes longer than scoring some sentences, and that pydantic does not search
    for plug-ins in all distributions.
    """
    file = tmp_path / "test.cupt"
    file.write_text("# global.columns = ID FORM LEMMA PARSEME:MWE\n1\tso\tso\t1:VID\n2\twhat\twhat\t1\n\n")
    arguments = ["score", "mwe-identification", "--gold", str(file), "--prediction", str(file), "--format", "parseme"]
    statement = f"from evergold.cli import run; assert run({arguments}) == 0"
    packages = ("numpy", "httpx", "yaml", "rich", "sqlalchemy", "fastapi", "celery", *HEAVY)
    assert loaded_by(statement, *packages) == set()
    told = f"{statement}; import os; assert os.environ['PYDANTIC_DISABLE_PLUGINS'] == '__all__'"
    assert loaded_by(told, "pydantic") == {"pydantic"}


def test_no_module_of_the_web_process_knows_where_gold_lies() -> None:
    loaded = modules_after(WEB)
    ours = [REPOSITORY.joinpath(*name.split(".")) for name in loaded if name.split(".")[0] in ("app", "evergold")]
    sources = [path for place in ours for path in (place.with_suffix(".py"), place / "__init__.py") if path.exists()]
    assert len(sources) > 20, "the application itself was looked at"
    ways = ("gold_dir", "gold_key_file", "workers.key", "make_gold_key")
    texts = {str(path.relative_to(REPOSITORY)): path.read_text("utf-8").lower() for path in sources}
    assert [path for path, text in texts.items() if any(way in text for way in ways)] == []


def test_the_settings_of_the_web_process_do_not_hold_the_way_to_gold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGOLD_GOLD_DIR", "/safe/place")
    monkeypatch.setenv("EVERGOLD_GOLD_KEY_FILE", "/safe/key")
    settings = Settings()
    assert "/safe" not in repr(settings)
    assert not [name for name in Settings.model_fields if "gold" in name]


def test_what_few_ask_for_is_loaded_when_they_do() -> None:
    """Tables of look-alike letters and calendars take 15 MB, XML 5, in each process that holds them."""
    on_demand = ("confusable_homoglyphs", "icalendar", "lxml", "alembic")
    assert loaded_by(WEB, *on_demand) == set()
    assert loaded_by(SWEEP, *on_demand, "fastapi", "celery", "jinja2") == set()
    assert "numpy.random" not in modules_after(WEB), "for gold that is checked with made-up answers"
