"""A competition with its organisers' own program, all by forms in a browser: from a zip to a board with its scores."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import select

from app.base import api_links, links
from app.base.api_links import API
from app.base.db import reading, writing
from app.boards.freezing import freeze_due
from app.competitions.find import find_board, find_competition
from app.models import CompetitionTask, User
from app.runs.workers import NO_INTERVALS
from tests import programs
from tests.programs import COMPETITION, GOLD, GOOD, METADATA, PHASE, SCORE, TASK, answers, write_competition, zipped
from tests.web.declarations.linguist import Linguist
from tests.web.reading import text_of
from tests.web.site import Site, log_in
from tests.whole import open_to_organisers, work


@pytest.fixture(scope="module")
def environment() -> Iterator[Path]:
    yield from programs.bare_environment()


@pytest.fixture
def site(empty_site: Site, environment: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A server where anybody may organise; workers of this process have the key and a sandbox."""
    monkeypatch.setenv("EVERGOLD_ENVIRONMENTS_DIR", str(environment.parent))
    open_to_organisers(empty_site, monkeypatch)
    return empty_site


def person(site: Site, name: str) -> Linguist:
    """Return somebody in a browser, with a confirmed address."""
    browser = site.clients.enter_context(log_in(site, name))
    with writing(site.engine) as session:
        session.scalars(select(User).where(User.username == name)).one().email_confirmed_at = site.now
    return Linguist(browser, name)


def competition_zip(folder: Path) -> bytes:
    """The whole competition as somebody zips their folder."""
    (folder / "programs").mkdir(parents=True, exist_ok=True)
    (folder / "example.csv").write_text("lemma,form\n", encoding="utf-8")
    said = programs.document()
    said["phases"][0]["tasks"][TASK] = {"downloads": [{"file": "example.csv", "title": "Example"}]}
    main = write_competition(folder, {**said, "description": "Inflect each form."})
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert main.name in files
    return zipped(files, outer="forms/")


def texts_of(olga: Linguist, place: str) -> dict[str, str]:
    """Return the larger fields of the form of the options, which a browser sends along."""
    page = olga.browser.get(f"{place}/part", params={"at": "tasks/0/options"}).text
    fields = re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    return {name: html.unescape(text.removeprefix("\n")) for name, text in fields if text.strip()}


def made(site: Site, olga: Linguist, folder: Path) -> None:
    """The competition out of a zip, published, with sealed gold that the workers have checked."""
    place = olga.upload("/organise/zip", "forms.zip", competition_zip(folder)).url.path
    assert "Everything is valid." in text_of(olga.browser.get(place).text)
    assert olga.send(f"{place}/build").url.path == f"/competitions/{COMPETITION}/life"
    gold = links.gold(COMPETITION, PHASE, TASK)
    assert olga.upload(gold, "ref.zip", zipped({"gold.csv": GOLD})).status_code == 200
    work(site)
    assert "in use" in text_of(olga.browser.get(gold).text)
    assert olga.send(f"/competitions/{COMPETITION}/life", stage="published", halt="none").status_code == 200


def test_from_a_zip_to_a_board_by_forms_alone(site: Site, tmp_path: Path) -> None:
    olga = person(site, "olga")
    made(site, olga, tmp_path / "forms")

    team = person(site, "ada")
    page = links.submit(COMPETITION, PHASE, TASK)
    said = []
    for content in (GOOD, "id,word\n1,walked\n", answers("crash")):
        sent = team.upload(page, "answers.csv", content.encode())
        work(site)
        said.append((sent.url.path, text_of(team.browser.get(sent.url.path).text)))
    (good, scored), (_, rejected), (hostile, failed) = said
    assert "0.7500" in scored
    assert "the column form is missing" in rejected
    assert "The organisers' own program could not score your file." in failed
    for secret in ("the gold form is", "KeyError", "sang", "seen ["):
        assert secret not in scored + failed

    organisers = text_of(olga.browser.get(hostile).text)
    assert "The program ended with exit code 1." in organisers
    assert "KeyError: the gold form is walked" in organisers
    assert "'sang'" in text_of(olga.browser.get(good).text)

    with reading(site.engine) as session:
        program = session.scalars(select(CompetitionTask.program_sha256).where(CompetitionTask.name == TASK)).one()
    board = text_of(site.client().get(links.board(COMPETITION, PHASE, "forms")).text)
    assert "0.7500" in board
    assert f"program:{(program or '')[:12]}|environment:" in board
    assert "No intervals: this score comes from the organisers' own program." in board
    opened_everywhere(site, olga, team, good)
    frozen_without_intervals(site)


def frozen_without_intervals(site: Site) -> None:
    """Check that the official board gives the reason why it has no intervals, as do both answers of the API."""
    live = site.client().get(f"{API}{links.board(COMPETITION, PHASE, 'forms')}").json()
    page = site.client().get(links.board(COMPETITION, PHASE, "forms")).text
    assert "are not shown while the phase is open" not in page
    with writing(site.engine) as session:
        find_board(find_competition(session, COMPETITION), PHASE, "forms")[0].ends_at = site.now - timedelta(minutes=5)
    with writing(site.engine) as session:
        assert len(freeze_due(session, site.now)) == 1
    official = links.official(COMPETITION, PHASE, "forms", 1)
    assert NO_INTERVALS in text_of(site.client().get(official).text)
    frozen = site.client().get(api_links.official(COMPETITION, PHASE, "forms", 1)).json()
    for answer in (live, frozen):
        assert answer["statistics"] == {"state": "none", "version": None, "note": NO_INTERVALS}


def opened_everywhere(site: Site, olga: Linguist, team: Linguist, submission: str) -> None:
    """Check that every page and response about a task, a board and a scored file works for a program, too."""
    places = (COMPETITION, PHASE, "forms")
    api = f"{API}/competitions/{COMPETITION}"
    board = f"{API}/competitions/{COMPETITION}/phases/{PHASE}/boards/forms"
    seen = {
        olga: [f"{api}/leaks", f"/competitions/{COMPETITION}/desk", f"{API}{submission}/program-log"],
        team: [
            *(f"{submission}{end}" for end in ("", "/report")),
            links.compare(UUID(submission.rsplit("/", 1)[1])),
            *(f"{API}{submission}{end}" for end in ("", "/report", "/report.csv")),
            links.board(*places),
            f"/competitions/{COMPETITION}",
            f"/competitions/{COMPETITION}/data",
            links.results(COMPETITION, TASK),
            links.runs(COMPETITION),
            "/guide/metrics",
            "/guide/tasks",
            *(f"{board}{end}" for end in ("", ".csv", "/table", "/feed.atom")),
            api,
            f"{api}/phases/{PHASE}/tasks/{TASK}",
        ],
    }
    for who, paths in seen.items():
        for path in paths:
            assert who.browser.get(path).status_code == 200, (who.name, path)
    log = f"{API}{submission}/program-log"
    assert team.browser.get(log).json()["error"]["code"] == "no_program_log"
    assert person(site, "bea").browser.get(log).json()["error"]["code"] == "not_found"
    assert site.client().get(log).status_code == 401


def test_an_edit_by_form_or_by_the_api_does_not_open_the_gold_with_another_command(site: Site, tmp_path: Path) -> None:
    olga = person(site, "olga")
    made(site, olga, tmp_path / "forms")
    with reading(site.engine) as session:
        user = session.scalars(select(User).where(User.username == "olga")).one()
    api = site.with_token(user)
    where = f"{API}/competitions/{COMPETITION}/declaration"
    for name, value in (("tasks.reinflection.program", "other"), ("tasks.reinflection.options.command", "cat $hidden")):
        refused = api.patch(where, json={"base": 1, "values": {name: value}})
        assert refused.status_code == 422, "neither is among what can be edited so"

    place = olga.send(f"/competitions/{COMPETITION}/rewrite").url.path
    command = "python3 -u $program/score.py $input $output"
    olga.say(place, "tasks/0/options", **{**texts_of(olga, place), "command": command})
    shown = olga.send(f"{place}/build", action="preview")
    assert "sealed for the previous program, command and environment: upload it again" in text_of(shown.text)
    previewed = shown.text.split('name="previewed" value="', 1)[1].split('"', 1)[0]
    assert olga.send(f"{place}/build", action="apply", previewed=previewed).status_code == 200

    team = person(site, "ada")
    sent = team.upload(links.submit(COMPETITION, PHASE, TASK), "answers.csv", GOOD.encode())
    work(site)
    waiting = text_of(team.browser.get(sent.url.path).text)
    assert "waiting for gold sealed for this program since" in waiting
    assert "is scored as soon as the organisers have uploaded the gold again" in waiting
    assert "command" not in waiting
    assert "this gold was not sealed for this program" in text_of(olga.browser.get(sent.url.path).text)

    gold = {"publish": (None, b"true"), "file": ("ref.zip", zipped({"gold.csv": GOLD}))}
    kept = f"{API}/competitions/{COMPETITION}/phases/{PHASE}/tasks/{TASK}/gold"
    again = "Upload the gold again. The program, its command or its environment has changed"
    assert api.get(kept).json()["is_for_another_program"] is True
    assert again in text_of(olga.browser.get(links.gold(COMPETITION, PHASE, TASK)).text)
    assert api.post(kept, files=gold).status_code == 201
    work(site)
    assert api.get(kept).json()["is_for_another_program"] is False
    assert again not in text_of(olga.browser.get(links.gold(COMPETITION, PHASE, TASK)).text)
    assert "0.7500" in text_of(team.browser.get(sent.url.path).text)


def test_what_goes_out_as_a_zip_comes_in_again_as_the_same_program(site: Site, tmp_path: Path) -> None:
    olga = person(site, "olga")
    made(site, olga, tmp_path / "forms")
    exported = olga.browser.get(f"{API}/competitions/{COMPETITION}/declaration.zip").content
    with zipfile.ZipFile(io.BytesIO(exported)) as archive:
        names = sorted(archive.namelist())
        assert archive.read("forms/programs/forms/score.py").decode() == SCORE
        assert archive.read("forms/programs/forms/metadata.yaml").decode() == METADATA
        declared = archive.read("forms/competition.yaml").decode()
    inside = [f"forms/programs/forms/{name}" for name in ("metadata.yaml", "requirements.txt", "score.py")]
    assert names == ["forms/competition.yaml", "forms/example.csv", *inside]
    renamed = declared.replace("name: forms\n    title: Forms\n    tasks", "name: again\n    title: Forms\n    tasks")
    programs_files = {f"programs/forms/{name}": text for name, text in programs.files_of().items()}
    again = zipped({"competition.yaml": renamed, "example.csv": "lemma,form\n", **programs_files})
    place = olga.upload("/organise/zip", "again.zip", again).url.path
    assert olga.send(f"{place}/build").url.path == "/competitions/again/life"
    with reading(site.engine) as session:
        stored = session.scalars(select(CompetitionTask.program_sha256).where(CompetitionTask.name == TASK)).all()
    assert len(stored) == 2
    assert len(set(stored)) == 1


def test_a_program_is_not_begun_by_a_form_that_cannot_take_its_files(site: Site) -> None:
    refused = person(site, "olga").send("/organise", title="Forms", name="forms", type="program")
    assert refused.status_code == 422
    assert "For your own program, zip its folder together with a competition.yaml" in text_of(refused.text)


def test_nobody_downloads_the_program(site: Site, tmp_path: Path) -> None:
    made(site, person(site, "olga"), tmp_path / "forms")
    team = person(site, "ada")
    assert team.browser.get(f"{API}/competitions/{COMPETITION}/declaration.zip").status_code == 403
    page = team.browser.get(f"/competitions/{COMPETITION}/data").text
    assert "score.py" not in page
    assert "programs/forms" not in page
