"""Pages after a run cost the same on a board of few rows and of thousands, with few submissions or many.

As many statements, and hardly more steps of SQLite's machine.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import Engine, select

from app.base.config import Settings
from app.base.db import reading
from app.models import Submission, User
from tests import world
from tests.filled_board import FOR_A_ROW, filled
from tests.plans import statements, steps
from tests.web.conftest import IN_PROCESS
from tests.web.in_process import InProcess
from tests.web.site import a_site

pytestmark = pytest.mark.soak

#: Statements of each answer, at most.
MOST_STATEMENTS = {"page": 39, "list": 25, "runs": 39, "submission": 24, "submissions": 22, "comparison": 9}

#: Steps for each further submission of a team whose best one was sent before those that are looked at.
FOR_ONE_MORE = 50


def answers(app: FastAPI, transport: InProcess, engine: Engine, folder: Path) -> dict[str, tuple[int, int]]:
    """Ask for what a team looks at: statements and steps, by name."""
    address = engine.url.render_as_string(hide_password=False)
    settings = Settings(data_dir=folder, database_url=address)
    with reading(engine) as session:
        ada = session.scalars(select(User).where(User.username == "ada")).one()
        newest, before = session.scalars(select(Submission.id).order_by(Submission.submitted_at.desc()).limit(2))
    found: dict[str, tuple[int, int]] = {}
    with a_site(app, IN_PROCESS, engine, settings) as site:
        site.transport = transport
        browser, program = site.browser(ada), site.with_token(ada)
        asked = {
            "page": (browser, f"/submissions/{newest}"),
            "list": (browser, "/submissions"),
            "runs": (browser, f"/competitions/{world.COMPETITION}/runs"),
            "submission": (program, f"/api/v1/submissions/{newest}"),
            "submissions": (program, "/api/v1/submissions"),
            "comparison": (program, f"/api/v1/submissions/{newest}/comparison/{before}"),
        }
        for name, (client, path) in asked.items():
            assert client.get(path).status_code == 200, path
            with steps(engine) as counted, statements(engine) as sent:
                client.get(path)
            found[name] = len(sent), sum(counted.values())
    return found


def test_answers_to_a_team_cost_the_same(answering: tuple[FastAPI, InProcess], tmp_path: Path) -> None:
    sizes = [(10, 100), (5_000, 100), (10, 1_000), (5_000, 1_000), (10, 10)]
    told = {size: answers(*answering, filled(tmp_path, *size), tmp_path) for size in sizes}
    usual = told[10, 100]
    for (rows, own), found in told.items():
        for name, (asked, done) in found.items():
            # Whether a place was counted before decides on one statement; a long past may be told with fewer.
            assert asked <= usual[name][0] + 1, (rows, own, name, asked)
            assert asked <= MOST_STATEMENTS[name], (rows, own, name, asked)
            more = rows * FOR_A_ROW * 3 + max(0, own - 100) * FOR_ONE_MORE
            assert done < usual[name][1] + more, (rows, own, name, done, usual[name][1])
