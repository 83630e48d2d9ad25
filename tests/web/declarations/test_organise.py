"""A competition written in the browser: from the first answer to the draft, changed again, brought as zip or copy."""

from __future__ import annotations

import hashlib
import io
import random
import zipfile

import pytest
from sqlalchemy import select

from app.base.api_links import API
from app.base.db import reading, writing
from app.base.storage import storage_of, stored_name
from app.competitions.find import find_competition
from app.declarations.revisions.kept import present_revision
from app.models import Blueprint, Competition, GoldVersion, RevisionSource, Right, Role, Stage, User
from app.people.rights import grant_role, has_role, revoke_role
from app.web.http.arrival import BODY_LIMIT_BYTES
from tests.rich_world import fresh
from tests.web.declarations.linguist import BEGIN, EXAMPLE, Linguist, version_of, written
from tests.web.markup import read
from tests.web.reading import text_of
from tests.web.site import Site, log_in
from tests.world import COMPETITION, NOW


def test_a_two_language_task_is_written_without_a_shell_and_becomes_a_draft(site: Site, ada: Linguist) -> None:
    place = written(ada)
    assert "Everything is valid." in text_of(ada.browser.get(place).text)
    made = ada.send(f"{place}/build")
    assert made.url.path == "/competitions/irony/life"
    told = text_of(made.text)
    assert "Draft: only organisers and testers see it." in told
    assert "No gold yet: Evaluation." in told
    assert ada.browser.get(place).status_code == 404, "it is a competition now"
    with reading(site.engine) as session:
        found = find_competition(session, "irony")
        user = session.scalars(select(User).where(User.username == "ada")).one()
        assert (found.stage, found.owner_id) == (Stage.DRAFT, user.id)
        assert has_role(session, user, found, Role.ORGANISER)
        assert found.tasks[0].options == {
            "metrics": ["macro_f1", "mcc"],
            "labels": ["ironic", "sincere"],
            "groups": {"language": ["en", "pt"]},
        }
        assert [column["split"] for column in found.boards[0].columns] == ["language/mean", "all"]
        assert session.scalars(fresh(GoldVersion)).all() == []
    assert site.client().get("/competitions/irony").status_code == 404
    assert "From" in ada.browser.get("/competitions/irony/history").text


def test_what_is_wrong_stands_beside_its_field_and_is_kept(ada: Linguist) -> None:
    place = ada.begin()
    told = ada.say(place, "phases/0", start="tomorrow")
    assert "'tomorrow'" in told
    assert 'value="tomorrow"' in ada.browser.get(f"{place}/part", params={"at": "phases/0"}).text
    refused = ada.send(f"{place}/build")
    assert refused.status_code == 422
    assert "Phases › Evaluation › Start" in text_of(refused.text)


def test_a_form_takes_nothing_away_that_it_does_not_show(ada: Linguist) -> None:
    place = ada.begin()
    ada.say(place, "", **{"tracks.0.name": "closed", "tracks.0.title": "Closed"})
    ada.say(place, "registration", terms="Be kind.")
    ada.say(place, "", title="A better title")
    page = ada.browser.get(place).text
    for kept in ("A better title", "name: closed", "terms: Be kind.", "name: evaluation"):
        assert kept in page


def test_who_looked_at_an_earlier_version_writes_over_nothing(ada: Linguist) -> None:
    place = ada.begin()
    old = version_of(ada.browser.get(place).text)
    ada.say(place, "", title="A better title")
    for version in (old, "", "x", "-3", "²", "٣", "9" * 5_000):
        late = ada.browser.post(f"{place}/part", data={"csrf_token": ada.token, "version": version, "title": "Old"})
        assert late.status_code == 409, version
    assert "A better title" in ada.browser.get(place).text


def test_plain_gold_is_named_by_nobody_but_administrators(site: Site, ada: Linguist) -> None:
    """Check the reason: all share one folder, so that a name would let a stranger score against another competition's
    gold.
    """
    place = written(ada)
    ada.say(place, "phases/0/tasks/main", gold="gold.csv")
    refused = ada.send(f"{place}/build")
    assert refused.status_code == 422
    assert "Only administrators can name plain gold" in refused.text
    ada.say(place, "phases/0/tasks/main", gold="sealed")
    assert ada.send(f"{place}/build").url.path == "/competitions/irony/life"


def test_everything_that_is_declared_can_be_changed_later(site: Site, ada: Linguist) -> None:
    ada.send(f"{written(ada)}/build")
    place = ada.send("/competitions/irony/rewrite").url.path
    assert ada.send("/competitions/irony/rewrite").url.path == place, "the same one goes on"
    ada.say(place, "boards/0", **{"columns.2.metric": "mcc", "columns.2.split": "language/pt"})
    shown = ada.send(f"{place}/build", action="preview")
    assert "What would change" in shown.text
    previewed = shown.text.split('name="previewed" value="', 1)[1].split('"', 1)[0]
    applied = ada.send(f"{place}/build", action="apply", previewed=previewed, note="Portuguese apart")
    assert applied.url.path == "/competitions/irony/history/2"
    with reading(site.engine) as session:
        found = find_competition(session, "irony")
        assert len(found.boards[0].columns) == 3
        assert present_revision(session, found).source == RevisionSource.EDIT
        assert session.scalars(fresh(Blueprint)).all() == []


def test_it_goes_out_as_a_zip_and_comes_in_again_without_gold(site: Site, ada: Linguist) -> None:
    ada.send(f"{written(ada)}/build")
    exported = ada.browser.get(f"{API}/competitions/irony/declaration.zip").content
    brought = ada.upload("/organise/zip", "irony.zip", exported)
    place = brought.url.path
    page = ada.browser.get(place).text
    assert "items.csv" in page
    assert "This server already has a competition 'irony'" in text_of(ada.send(f"{place}/build").text)
    ada.say(place, "", name="irony-again")
    assert ada.send(f"{place}/build").url.path == "/competitions/irony-again/life"


def test_a_copy_has_files_and_declaration_and_another_name(site: Site, ada: Linguist) -> None:
    ada.send(f"{written(ada)}/build")
    place = ada.begin(copy="irony", name="irony-2028", title="Next year")
    assert ada.send(f"{place}/build").url.path == "/competitions/irony-2028/life"
    taken_home = ada.browser.get("/api/v1/competitions/irony-2028/declaration.zip").headers["Content-Disposition"]
    assert taken_home == 'attachment; filename="irony-2028-1.zip"', "numbers are those of a competition"
    stolen = {**BEGIN, "copy": COMPETITION, "name": "stolen"}
    assert ada.send("/organise", **stolen).status_code == 403
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == "ada")).one()
        grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW, rights=(Right.GOLD,))
    assert ada.send("/organise", **stolen).status_code == 403, "it takes the right to edit"


@pytest.mark.parametrize("at", ["phases/x/visibility", "phases/²/visibility", "phases/²"])
def test_a_part_that_is_not_there_is_not_found(ada: Linguist, at: str) -> None:
    assert ada.browser.get(f"{ada.begin()}/part", params={"at": at}).status_code == 404


def test_a_blueprint_is_its_owner_s_alone(site: Site, ada: Linguist) -> None:
    place = ada.begin()
    with log_in(site, "eve") as browser:
        eve = Linguist(browser)
        for path in (place, f"{place}/part"):
            assert browser.get(path).status_code == 404
        for page in ("build", "discard", "files/remove", "yaml", "part", "add?at=tasks", "remove?at=tasks"):
            assert eve.send(f"{place}/{page}", version="1").status_code == 404, page
        assert eve.upload(f"{place}/files", "items.csv", b"id\n1\n").status_code == 404
    assert ada.browser.get(place).status_code == 200
    assert ada.send(f"{place}/discard").url.path == "/organise"
    assert ada.browser.get(place).status_code == 404


def test_who_leaves_a_competition_leaves_the_changes_of_it(site: Site, ada: Linguist) -> None:
    ada.send(f"{written(ada)}/build")
    place = ada.send("/competitions/irony/rewrite").url.path
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == "ada")).one()
        found = find_competition(session, "irony")
        found.owner_id = None  # handed over
        revoke_role(session, found, user, Role.ORGANISER, NOW)
    assert ada.browser.get(place).status_code == 404


@pytest.mark.parametrize(
    ("rule", "is_confirmed", "is_approved", "status"),
    [
        ("anybody", True, False, 200),
        ("anybody", False, True, 403),
        ("approved", True, False, 403),
        ("approved", True, True, 200),
        ("admins", True, True, 403),
    ],
)
def test_the_server_says_who_may(
    site: Site, ada: Linguist, rule: str, is_confirmed: bool, is_approved: bool, status: int
) -> None:
    site.settings.organise = rule  # type: ignore[assignment]
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == "ada")).one()
        user.email_confirmed_at = NOW if is_confirmed else None
        user.is_approved_organiser = is_approved
    assert ada.send("/organise", **BEGIN).status_code == status
    assert ("You cannot create a competition here yet" in ada.browser.get("/organise").text) is (status == 403)


def test_there_is_an_end_to_competitions_and_bytes(site: Site, ada: Linguist) -> None:
    before = site.settings.competitions_per_organiser, site.settings.mebibytes_per_organiser
    site.settings.competitions_per_organiser, site.settings.mebibytes_per_organiser = 1, 1
    try:
        ada.send(f"{written(ada)}/build")
        second = ada.begin(copy="irony", name="second")
        refused = ada.send(f"{second}/build")
        assert refused.status_code == 409
        assert "You own 1 competition, and may own 1 on this server" in text_of(refused.text)
        site.settings.mebibytes_per_organiser = 0
        more = ada.upload(f"{second}/files", "more.csv", b"id\n")
        assert more.status_code == 409
        assert "this file does not fit" in text_of(more.text)
        stored = storage_of(site.settings).find(stored_name(hashlib.sha256(b"id\n").hexdigest()))
        assert stored is None, "it is refused before it is stored"
    finally:
        site.settings.competitions_per_organiser, site.settings.mebibytes_per_organiser = before


def zip_of(**files: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/"), text)
    return out.getvalue()


def packed(*names_and_texts: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in zip(names_and_texts[::2], names_and_texts[1::2], strict=True):
            archive.writestr(name, text)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"no zip at all", "This is a plain file: send a zip"),
        (zip_of(readme="hello"), "The zip has no competition.yaml"),
        (zip_of(**{"competition.yaml": "version: 1\n"}), "'competitions' with one competition"),
        (zip_of(**{"competition.yaml": "a: [", "x.csv": "1"}), "line"),
        (zip_of(**{"competition.yaml": "version: 1", "..__up.csv": "1"}), "names with .. are not allowed"),
        (packed("competition.yaml", "- " * 200_000), "Its declaration is larger than 256 KiB"),
        (packed("competition.yaml", "- " * 100_000), "nested more than 50 deep"),
        (zip_of(**{"competition.yaml": "a", **{f"{number}.csv": "" for number in range(1_001)}}), "1002 entries"),
        (
            packed("competition.yaml", "version: 1\ncompetitions: [{}]", "a.csv", "0" * 5_000_000),
            "this looks like a zip bomb",
        ),
    ],
)
def test_a_zip_that_cannot_be_taken_says_why(ada: Linguist, content: bytes, sentence: str) -> None:
    refused = ada.upload("/organise/zip", "any.zip", content)
    assert refused.status_code == 422
    assert sentence in text_of(refused.text)


def test_files_of_a_draft_may_be_larger_than_a_form(site: Site, ada: Linguist) -> None:
    large = random.Random(1).randbytes(2 * BODY_LIMIT_BYTES)
    assert "This is a plain file" in text_of(ada.upload("/organise/zip", "any.zip", large).text)
    assert (
        "This is a plain file"
        in site.person("root", is_administrator=True)
        .client.post(f"{API}/competitions", files={"file": ("any.zip", large)})
        .text
    )
    assert ada.upload(f"{written(ada)}/files", "more.csv", large).status_code == 200
    for place in (f"{written(ada)}/images", "/competitions/irony/edit/images"):
        assert ada.upload(place, "logo.png", large).status_code != 413


def test_a_program_makes_one_from_a_zip(site: Site) -> None:
    root = site.person("root", is_administrator=True)
    text = (EXAMPLE / "competition.yaml").read_text().replace("gold: irony/gold.csv, ", "")
    files = {"irony/competition.yaml": text, "irony/items.csv": (EXAMPLE / "items.csv").read_text()}
    made = root.client.post(f"{API}/competitions", files={"file": ("irony.zip", zip_of(**files))})
    assert (made.status_code, made.json()["name"]) == (201, "irony")
    again = root.client.post(f"{API}/competitions", files={"file": ("irony.zip", zip_of(**files))})
    assert again.json()["error"]["code"] == "name_taken"
    with reading(site.engine) as session:
        assert session.scalars(select(Competition.stage).where(Competition.name == "irony")).one() == Stage.DRAFT
        assert session.scalars(fresh(Blueprint)).all() == []
    nobody = site.person("nora")
    refused = nobody.client.post(f"{API}/competitions", files={"file": ("irony.zip", zip_of(**files))})
    assert refused.status_code == 403


def test_a_story_sets_the_keys_of_who_sees_what(ada: Linguist) -> None:
    place, at = ada.begin(), "phases/0/visibility"
    ada.say(place, at, story="until-close")
    page = ada.browser.get(place).text
    assert "public_from: close" in page
    shown = read(ada.browser.get(f"{place}/part", params={"at": at}).text)
    assert [one["value"] for one in shown.all("input") if one.get("name") == "story" and "checked" in one] == [
        "until-close"
    ]
    ada.say(place, at, story="until-close", board="ranks_only")
    told = ada.browser.get(f"{place}/part", params={"at": at}).text
    assert "Your own settings" in told, "a key that was changed beside the same story counts"
    ada.say(place, at, story="open")
    assert "visibility" not in yaml_of(ada, place)
    assert "private_part" not in yaml_of(ada, place)
    ada.say(place, at, story="live")
    assert "private_part" in yaml_of(ada, place), "it has the same keys as the one before, and divides the items"
    ada.say(place, at, story="open")
    assert "private_part" not in yaml_of(ada, place)


def yaml_of(ada: Linguist, place: str) -> str:
    """The declaration as the overview shows it."""
    return ada.browser.get(place).text.split('id="yaml"', 1)[1].split("</textarea>", 1)[0]


def test_phases_are_drawn_and_what_overlaps_is_told(ada: Linguist) -> None:
    place = ada.begin()
    ada.say(place, "phases/0", start="2027-01-10 12:00 UTC", end="2027-01-20 12:00 UTC")
    token = {"csrf_token": ada.token, "version": version_of(ada.browser.get(place).text), "name": "again"}
    ada.browser.post(f"{place}/add", params={"at": "phases"}, data=token)
    assert "Not drawn" in text_of(ada.browser.get(place).text)
    ada.say(place, "phases/1", title="Again", start="2027-01-18 12:00 UTC", end="2027-01-25 12:00 UTC")
    for page in (ada.browser.get(place).text, ada.browser.get(f"{place}/part", params={"at": "phases/1"}).text):
        assert "“Evaluation” and “Again” are both open from Mon 18 Jan 2027, 00:00 AoE (18 Jan, 12:00 UTC)" in text_of(
            page
        )
        assert page.count('class="fig-overlap"') == 2, "once wide, once for a phone"


def test_a_preview_shows_texts_phases_and_boards_and_no_score_that_nobody_computed(ada: Linguist) -> None:
    place = written(ada)
    ada.say(place, "phases/0/tasks/main/baselines/0", method="One label", scores="mcc all: 0.25")
    ada.say(place, "", description="# Why\n\nBecause.")
    shown = text_of(ada.browser.get(f"{place}/preview").text)
    for said in ("Because.", "Always ironic", "One label", "after gold", "0.2500 declared", "While it is open"):
        assert said in shown
    ada.say(place, "phases/0", start="tomorrow")
    assert "what to correct" in text_of(ada.browser.get(f"{place}/preview").text)
