"""PARSEME 1.2 from the official folder to the board, over HTTP: a track, the official numbers, the official report."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.importers.parseme import import_parseme
from tests.conformance import ABSENT
from tests.official_cases import Parseme, parseme
from tests.server.processes import Server, embedded, on_real_parts
from tests.test_end_to_end import API, board_rows, open_to_all, register, until_final
from tests.web.site import csrf_of

pytestmark = [pytest.mark.services, pytest.mark.soak]

PHASE = f"{API}/competitions/parseme-1-2/phases/post-evaluation"
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Parseme:
    return parseme(tmp_path_factory.mktemp("parseme"))


def add_parseme(task: Parseme, folder: Path) -> None:
    import_parseme(task.root, folder / "imported" / "parseme", folder / "gold", "1.2")
    open_to_all(folder / "imported" / "parseme" / "competition.yaml")


@pytest.fixture(scope="module", params=["embedded", "real parts"])
def server(request: pytest.FixtureRequest, task: Parseme) -> Iterator[Server]:
    """A running server with the shared task as `evergold import parseme` makes it."""
    if request.param == "embedded":
        started = embedded(partial(add_parseme, task))
    else:
        started = on_real_parts(request.getfixturevalue("postgres_server"), partial(add_parseme, task))
    with started as running:
        yield running


def upload(client: httpx.Client, task: Parseme, **fields: str) -> httpx.Response:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(task.system, f"{task.language}/test.system.cupt")
    files = {"file": ("system.zip", content.getvalue())}
    return client.post(f"{PHASE}/tasks/mwe-identification/submissions", files=files, data=fields)


def scored(client: httpx.Client, task: Parseme) -> dict[str, Any]:
    """The perturbed predictions, scored in the open track."""
    accepted = upload(client, task, track="open", method="Perturbed")
    assert accepted.status_code == 202, accepted.text
    found = until_final(client, accepted.headers["Location"])
    assert (found["status"], found["track"]) == ("scored", "open")
    assert [problem for problem in found["problems"] if problem["severity"] != "warning"] == []
    return found


def test_unseen_f1_on_the_boards_of_its_track_is_the_official_one(server: Server, task: Parseme) -> None:
    with register(server.address, "aoife") as aoife:
        scored(aoife, task)
        expected = task.scores["Unseen-in-train: MWE-based"]
        for board in ("unseen", "unseen-open"):
            columns = aoife.get(f"{PHASE}/boards/{board}").json()["columns"]
            places = {(column["metric"], column["split"]): place for place, column in enumerate(columns)}
            row = board_rows(aoife, f"{PHASE}/boards/{board}")["aoife"]
            assert (row["rank"], row["track"]) == (1, "open")
            for metric, name in (("mwe_precision", "P"), ("mwe_recall", "R"), ("mwe_f1", "F")):
                value = row["cells"][places[metric, "macro/unseen"]]["value"]
                assert value == pytest.approx(expected[name], abs=5e-5), "printed with four decimals"
            assert row["cells"][places["languages", "macro"]]["value"] == 1
        assert "aoife" not in board_rows(aoife, f"{PHASE}/boards/unseen-closed")


def test_the_text_report_is_the_official_one_line_by_line(server: Server, task: Parseme) -> None:
    if task.report is None:
        pytest.skip(ABSENT)
    with register(server.address, "brigid") as brigid:
        link = brigid.get(scored(brigid, task)["links"]["report"]).json()["links"]["texts"]["parseme"]
        text = brigid.get(link).raise_for_status().text
        assert [line for line in text.splitlines() if line.strip()] == task.report


def test_the_heat_map_has_the_official_f1_of_every_category(server: Server, task: Parseme) -> None:
    with register(server.address, "cormac") as cormac:
        page = scored(cormac, task)["links"]["page"]
    with httpx.Client(
        base_url=server.address, headers={"Accept": "text/html"}, follow_redirects=True, timeout=60
    ) as browser:
        form = {"username": "cormac", "password": PASSWORD, "csrf_token": csrf_of(browser.get("/login").text)}
        assert "Log out" in browser.post("/login", data=form).text
        found = browser.get(f"{page}/report", params={"view": "categories"}).raise_for_status().text
    names = re.findall(r"<bdi>([^<]+)</bdi>", found.split("<thead>")[1].split("</thead>")[0])[1:]
    (row,) = re.findall(rf"<tr><th scope=\"row\"><bdi>{task.language}</bdi></th>(.*?)</tr>", found, re.DOTALL)
    values = re.findall(r'<td class="num tone-\d+"[^>]*>([\d.]+)</td>', row)
    cells = zip(names, map(float, values), strict=True)
    shown = {name: value for name, value in cells if f"{name}: MWE-based" in task.scores}  # some have no category
    assert shown == {name: pytest.approx(100 * task.scores[f"{name}: MWE-based"]["F"], abs=0.06) for name in shown}
    assert {"LVC.full", "VID"} <= set(shown)


def test_without_a_track_nothing_is_accepted(server: Server, task: Parseme) -> None:
    with register(server.address, "dara") as dara:
        refused = upload(dara, task)
        assert refused.status_code == 422
        assert "'closed', 'open'" in refused.json()["error"]["details"]["fields"]["track"]
        assert dara.get(f"{API}/submissions").json()["submissions"] == []
