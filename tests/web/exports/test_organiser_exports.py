"""Exports for organisers: a zip of all predictions, and the participants; recorded, complete, and for nobody else."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import delete, select, update

from app.base.api_links import API
from app.base.config import get_settings
from app.base.db import writing
from app.base.storage import FolderStorage, store_upload
from app.competitions.find import find_competition
from app.exports import predictions
from app.exports.predictions import ExportedSubmission, Packed, packed, safe_name, team_folders, zip_chunks
from app.models import AuditEntry, CardVersion, Phase, PhaseTask, Role, Submission, Team, TeamKind, User
from app.people.act import Act
from app.people.rights import grant_role
from app.rescoring.sets import start_rescoring
from tests import world
from tests.competitions.embargo import add_phase
from tests.rich_rows import add_gold
from tests.rich_world import EARLIER_TEAM, EARLIER_USER
from tests.web import markup
from tests.web.paraphrase_world import set_visibility
from tests.web.reading import COMPETITION_PAGE
from tests.web.site import CONTENT, SUBMIT, Person, Site, csv_text, file_of, log_in, run_of, sha256
from tests.world import COMPETITION, DAY, EARLIER_PHASE, NOW, PHASE, TASK

HERE = f"{API}/competitions/{COMPETITION}"
ZIP = f"{HERE}/predictions.zip"


@pytest.fixture
def olga(site: Site) -> Iterator[Person]:
    """The organiser."""
    person = site.person("olga")
    with writing(site.engine) as session:
        grant_role(session, find_competition(session, COMPETITION), person.user, Role.ORGANISER, NOW)
    with person.client:
        yield person


def opened(answer: httpx.Response) -> zipfile.ZipFile:
    assert answer.status_code == 200, answer.text
    found = zipfile.ZipFile(io.BytesIO(answer.content))
    assert found.testzip() is None
    return found


def manifest(answer: httpx.Response) -> list[dict[str, str]]:
    """Return the manifest without the entry of the earlier phase, of which there is no file."""
    lines = csv.DictReader(io.StringIO(opened(answer).read("manifest.csv").decode("utf-8-sig"), newline=""))
    return [line for line in lines if line["team"] != EARLIER_TEAM]


def scored(site: Site, person: Person, value: float, content: bytes = CONTENT, **more: str) -> str:
    submission = person.submitted(content, **more)
    world.score(site.engine, run_of(site, submission), value)
    return str(submission["id"])


# ---------------------------------------------------------------------------------------------------------- predictions


def test_every_submission_is_there_with_its_card_and_a_line_in_the_manifest(
    site: Site, ada: Person, eve: Person, olga: Person
) -> None:
    set_visibility(site.engine, board="hidden", own_scores="never")
    first = scored(site, ada, 0.25, b"ID\n1\n", method="=HYPERLINK(1)")
    best = scored(site, ada, 0.5, b"ID\n2\n", method="second", description="seed 17")
    rejected = eve.submitted(b"broken")
    world.reject(site.engine, run_of(site, rejected))
    with writing(site.engine) as session:
        card = {"method": "second", "paper": "https://example.org/paper"}
        wanted = session.scalars(select(Submission).where(Submission.method == "second")).one()
        kept = CardVersion(
            system_id=wanted.system_id, number=1, is_current=True, document=card, user_id=ada.user.id, changed_at=NOW
        )
        session.add(kept)
    answer = olga.client.get(ZIP)
    assert answer.headers["Content-Type"] == "application/zip"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="idioms-predictions.zip"'
    assert answer.headers["Cache-Control"] == "private, no-store"
    found = opened(answer)
    assert sorted(found.namelist()) == sorted(
        ["manifest.csv", "manifest.json"]
        + [f"Ada/{one}/{name}" for one in (first, best) for name in ("card.json", "predictions.csv")]
        + [f"Eve/{rejected['id']}/{name}" for name in ("card.json", "predictions.csv")]
    )
    assert found.read(f"Ada/{best}/predictions.csv") == b"ID\n2\n"
    about = json.loads(found.read(f"Ada/{best}/card.json"))
    assert (about["card"], about["notes"]) == (card, "seed 17")
    assert json.loads(found.read(f"Ada/{first}/card.json"))["card"] == {"method": "=HYPERLINK(1)"}
    lines = {line["submission"]: line for line in manifest(answer)}
    assert lines[first]["method"] == "'=HYPERLINK(1)", "no spreadsheet runs it"
    line = lines[best]
    assert (line["stands_on"], lines[first]["stands_on"]) == ("evaluation/zero-shot", "")
    told = ("team", "kind", "username", "phase", "task", "submitted_at", "state", "sha256", "size_bytes")
    assert [line[name] for name in told] == [
        "Ada",
        "team",
        "ada",
        "evaluation",
        "detection",
        "2026-01-10T12:00:00+00:00",
        "scored",
        sha256(b"ID\n2\n"),
        "5",
    ]
    assert line["macro_f1 zero_shot/all"] == "0.5"
    assert (lines[rejected["id"]]["state"], lines[rejected["id"]]["macro_f1 zero_shot/all"]) == ("rejected", "")
    document = json.loads(found.read("manifest.json"))
    whole = {one["submission"]: one for one in document["submissions"]}
    assert {"metric": "macro_f1", "split": "zero_shot/all", "value": 0.5, "reason": None} in whole[best]["scores"]
    assert document["made_at"] == "2026-01-10T12:00:00+00:00"


def test_only_what_counts_and_only_what_is_asked_for(site: Site, ada: Person, eve: Person, olga: Person) -> None:
    add_phase(site.engine, "practice", starts_at=NOW - DAY)
    scored(site, ada, 0.9, b"ID\n1\n")
    last = scored(site, ada, 0.5, b"ID\n2\n")
    world.reject(site.engine, run_of(site, eve.submitted(b"broken")))
    practised = eve.submit(b"ID\n3\n", SUBMIT.replace("evaluation", "practice")).json()["id"]
    with writing(site.engine) as session:
        session.execute(update(Phase).values(entry_rule="last"))

    def asked(**query: str) -> list[str]:
        return sorted(line["submission"] for line in manifest(olga.client.get(ZIP, params=query)))

    assert asked(only="entries") == [last]
    assert asked(phase="practice", task="") == [practised]
    assert len(asked()) == 4
    assert asked(phase="practice", only="entries") == []
    assert len(asked(task="detection")) == 4


def test_a_submission_that_is_rescored_is_there_once_as_it_counts(site: Site, ada: Person, olga: Person) -> None:
    sent = scored(site, ada, 0.5)
    add_gold(site.engine, COMPETITION, PHASE, TASK, NOW)
    with writing(site.engine) as session:
        here = find_competition(session, COMPETITION)
        start_rescoring(
            Act(session, olga.user, NOW, get_settings()), here, [f"{PHASE}/{TASK}"], note="Labels were wrong."
        )
    lines = manifest(olga.client.get(ZIP))
    told = [(line["submission"], line["state"], line["macro_f1 zero_shot/all"]) for line in lines]
    assert told == [(sent, "scored", "0.5")]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"phase": "nowhere"}, 404),
        ({"task": "nothing"}, 404),
        ({"only": "some"}, 422),
        ({"phase": "NUL\0"}, 404),
        ({"phase": "x" * 101}, 422),
    ],
)
def test_what_there_is_not_is_said(olga: Person, query: dict[str, str], status: int) -> None:
    assert olga.client.get(ZIP, params=query).status_code == status


def test_a_competition_without_submissions_has_a_zip_with_an_empty_manifest(olga: Person) -> None:
    assert manifest(olga.client.get(ZIP)) == []


def test_a_phase_without_tasks_has_a_zip_with_an_empty_manifest(site: Site, ada: Person, olga: Person) -> None:
    ada.submitted()
    with writing(site.engine) as session:
        add_phase(site.engine, "empty", starts_at=NOW)
        session.execute(delete(PhaseTask).where(PhaseTask.phase.has(name="empty")))
    assert manifest(olga.client.get(ZIP, params={"phase": "empty"})) == []


def test_what_is_read_in_parts_is_there_once(
    site: Site, ada: Person, olga: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predictions, "_AT_ONCE", 1)
    sent = [scored(site, ada, value, f"{value}".encode()) for value in (0.5, 0.6)]
    document = json.loads(opened(olga.client.get(ZIP)).read("manifest.json"))
    told = {one["submission"]: [score["value"] for score in one["scores"]] for one in document["submissions"]}
    assert [told[one][0] for one in sent] == [0.5, 0.6]
    assert {len(told[one]) for one in sent} == {4}, "two metrics on two splits"


def test_a_file_that_is_gone_is_told_and_the_rest_is_there(site: Site, ada: Person, olga: Person) -> None:
    gone, there = ada.submitted(b"ID\n1\n")["id"], ada.submitted(b"ID\n2\n")["id"]
    file_of(site, b"ID\n1\n").unlink()
    answer = olga.client.get(ZIP)
    assert {line["submission"]: bool(line["file"]) for line in manifest(answer)} == {gone: False, there: True}
    assert sorted(opened(answer).namelist())[:2] == [f"Ada/{there}/card.json", f"Ada/{there}/predictions.csv"]


def test_every_export_is_recorded_before_it_goes(site: Site, ada: Person, olga: Person) -> None:
    ada.submitted()
    olga.client.get(ZIP, params={"phase": "evaluation"})
    olga.client.get(f"{HERE}/participants")
    olga.client.get(f"{HERE}/participants.csv")
    olga.client.get(ZIP, params={"phase": "nowhere"})
    with writing(site.engine) as session:
        entries = session.scalars(select(AuditEntry).where(AuditEntry.action.startswith("export"))).all()
    assert [(one.actor, one.action) for one in entries] == [
        ("olga", "export.predictions"),
        ("olga", "export.participants"),
        ("olga", "export.participants"),
    ]
    assert entries[0].details == {"phase": "evaluation", "task": "", "only": "all", "submissions": 1}


def test_nobody_else_gets_any_of_it(site: Site, ada: Person, olga: Person) -> None:
    world.add_competition(site.engine, name="proverbs")
    ada.submitted()
    for path in (ZIP, f"{HERE}/participants", f"{HERE}/participants.csv"):
        assert ada.client.get(path).status_code == 403
        assert olga.client.get(path.replace(COMPETITION, "proverbs")).status_code == 403
        with site.client() as nobody:
            assert nobody.get(path).status_code == 401


def test_the_zip_is_made_piece_by_piece(tmp_path: Path) -> None:
    """Check that of a file of 8 MiB that cannot be compressed, no more than a piece is held at a time."""
    content = os.urandom(2**23)
    storage = FolderStorage(tmp_path)
    stored = store_upload([content], storage, len(content))
    one = replace(exported("Ada", 1, size_bytes=len(content)), sha256=stored.sha256)
    pieces = list(zip_chunks([Packed(one, f"Ada/{one.id}/x.csv", storage)], NOW))
    assert max(map(len, pieces)) < 2**19
    found = zipfile.ZipFile(io.BytesIO(b"".join(pieces)))
    assert found.read(f"Ada/{one.id}/x.csv") == content


# ---------------------------------------------------------------------------------------------------------------- names


def exported(team: str, team_id: int, filename: str = "predictions.csv", size_bytes: int = 1) -> ExportedSubmission:
    return ExportedSubmission(
        id=uuid4(),
        team_id=team_id,
        team=team,
        kind="team",
        username="ada",
        phase="evaluation",
        task="detection",
        submitted_at=datetime(1970, 1, 1, tzinfo=UTC),
        withdrawn_at=None,
        filename=filename,
        size_bytes=size_bytes,
        sha256="0" * 64,
        state="scored",
        track="",
        method="",
        notes="",
    )


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("predictions.csv", "predictions.csv"),
        ("../../etc/passwd", "etc_passwd"),
        ("..", ""),
        ("", ""),
        ("a/b\\c:d", "a_b_c_d"),
        ("CON", "_CON"),
        ("nul.csv", "_nul.csv"),
        ("צוות חיפה", "צוות_חיפה"),
        ("\u202eexe.csv", "exe.csv"),
        ("x" * 200 + ".zip", "x" * 56 + ".zip"),
        ("🦄", ""),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_names_are_safe_everywhere(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_teams_have_folders_of_their_own_on_every_file_system() -> None:
    names = {1: "Ada", 2: "ada", 3: "🦄", 4: "🐢", 5: "Ada-1", 6: "Zoe", 7: "A/B", 8: "A\\B"}
    folders = team_folders(names)
    assert len({folder.casefold() for folder in folders.values()}) == len(names)
    assert (folders[6], folders[3], folders[4]) == ("Zoe", "team-3", "team-4")


def test_a_file_called_like_our_card_does_not_take_its_place(tmp_path: Path) -> None:
    (tmp_path / "00").mkdir()
    (tmp_path / "00" / ("0" * 64)).write_bytes(b"mine")
    files = packed([exported("Ada", 1, "Card.JSON")], FolderStorage(tmp_path))
    found = zipfile.ZipFile(io.BytesIO(b"".join(zip_chunks(files, NOW))))
    folder = f"Ada/{files[0].submission.id}"
    assert found.read(f"{folder}/file-Card.JSON") == b"mine"
    assert json.loads(found.read(f"{folder}/card.json"))["team"] == "Ada"
    assert found.getinfo(f"{folder}/card.json").date_time == (1980, 1, 1, 0, 0, 0), "zips know no earlier date"


# --------------------------------------------------------------------------------------------------------- participants


def test_participants_with_their_teams_and_what_they_sent(site: Site, ada: Person, eve: Person, olga: Person) -> None:
    add_phase(site.engine, "practice", starts_at=NOW - DAY)
    for _ in range(2):
        ada.submitted()
    world.add_competition(site.engine, name="proverbs", ends_at=NOW + 9 * DAY)
    world.add_team(site.engine, ada.user, name="Elsewhere", competition="proverbs")
    world.submit(site.engine, ada.user, NOW + DAY, competition="proverbs")
    eve.submit(path=SUBMIT.replace("evaluation", "practice"))
    with writing(site.engine) as session:
        session.execute(update(Team).where(Team.name == "Eve").values(name="+1"))
        session.execute(update(User).where(User.username == "eve").values(display_name="@eve"))
    listed = {one["username"]: one for one in olga.client.get(f"{HERE}/participants").json()["participants"]}
    assert set(listed) == {"ada", EARLIER_USER, "eve"}
    assert (listed["ada"]["team"], listed["ada"]["submissions"]) == (
        "Ada",
        {"evaluation": 2, "practice": 0, EARLIER_PHASE: 0},
    )
    assert listed["ada"]["registered_at"] == "2026-01-10T12:00:00Z"
    answer = olga.client.get(f"{HERE}/participants.csv")
    told = csv.DictReader(io.StringIO(csv_text(answer), newline=""))
    rows = [row for row in told if row["username"] != EARLIER_USER]
    assert [row["email"] for row in rows] == ["ada@example.org", "eve@example.org"]
    assert (rows[1]["team"], rows[1]["display_name"], rows[1]["sent practice"]) == ("'+1", "'@eve", "1")


def test_who_entered_a_baseline_has_no_team_in_the_list(site: Site, olga: Person) -> None:
    bot = world.add_user(site.engine, "bot")
    world.add_team(site.engine, bot, name="Majority", kind=TeamKind.BASELINE)
    world.submit(site.engine, bot)
    listed = {one["username"]: one for one in olga.client.get(f"{HERE}/participants").json()["participants"]}
    assert (listed["bot"]["team"], listed["bot"]["submissions"]["evaluation"]) == ("", 1)


def test_the_page_leads_there(site: Site, cheap_passwords: None) -> None:
    page = f"{COMPETITION_PAGE}/exports"
    with log_in(site, "olga") as browser:
        assert browser.get(page).status_code == 403
        with writing(site.engine) as session:
            user = session.scalars(select(User).where(User.username == "olga")).one()
            grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
        shown = browser.get(page).text
        markup.check(shown)
        assert f'action="{ZIP}"' in shown
        assert opened(browser.get(ZIP, params={"phase": "", "task": "", "only": "all"})).namelist()
        assert f'href="{page}"' in browser.get(f"{COMPETITION_PAGE}/desk").text


# -------------------------------------------------------------------------------------------------------------- grades


def graded(client: httpx.Client) -> list[dict[str, str]]:
    answer = client.get(f"{HERE}/grades.csv")
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(csv_text(answer))))


def test_grades_have_the_best_score_of_each_person_its_date_and_whether_it_was_late(
    site: Site, olga: Person, ada: Person, eve: Person
) -> None:
    """The second of 0.5, 0.75 and 0.75 counts, the earliest of the best; one that was withdrawn does not."""
    set_visibility(site.engine, board="hidden", own_scores="never", precision=1)
    for minute, value in enumerate((0.5, 0.75123456789, 0.75123456789, 0.9)):
        site.set_clock(NOW + minute * DAY / 1000)
        run = world.submit(site.engine, ada.user, now=site.now)
        world.score(site.engine, run.run_id, value)
    with writing(site.engine) as session:
        session.execute(update(Submission).where(Submission.id == run.submission.id).values(withdrawn_at=NOW))
        session.execute(update(Submission).where(Submission.submitted_at == NOW + DAY / 1000).values(is_late=True))
    world.submit(site.engine, eve.user)
    found = {one["username"]: one for one in graded(olga.client) if one["phase"] == PHASE and one["task"] == TASK}
    assert {key: found["ada"][key] for key in ("name", "email", "best", "late", "submissions")} == {
        "name": "Ada",
        "email": "ada@example.org",
        "best": "0.75123456789",
        "late": "yes",
        "submissions": "3",
    }
    assert found["ada"]["submitted_at"] == (NOW + DAY / 1000).isoformat()
    assert (found["eve"]["best"], found["eve"]["late"], found["eve"]["submissions"]) == ("", "", "0")
    assert ada.client.get(f"{HERE}/grades.csv").status_code == 403
    with writing(site.engine) as session:
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "export.grades")).one()
        assert entry.details["grades"] >= 2
