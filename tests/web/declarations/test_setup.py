"""A draft set up a question a page, by somebody who knows no key: from the kind of answers to a published task."""

from __future__ import annotations

import html
import json
import re
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from sqlalchemy import select

from app.base.db import reading, writing
from app.base.storage import local_file, storage_of
from app.boards.leaderboard import is_same_question
from app.competitions.find import find_competition
from app.declarations.revisions.kept import present_revision
from app.declarations.setup.boards import rank_of, shown_metrics
from app.gold.versions import list_gold
from app.models import Right, Role, Stage, User
from app.people.rights import grant_role
from evergold.scoring.halves import Division, Half
from tests.sealed import make_key
from tests.web.declarations.linguist import Linguist, version_of
from tests.web.reading import text_of
from tests.web.site import Site, log_in
from tests.whole import open_to_organisers, work

ITEMS = b"id,language,text\n" + b"".join(
    f"{language}-{number},{language},words {number}\n".encode() for language in ("en", "pt") for number in range(8)
)
#: What the script of the page sends for a gold with these columns.
COLUMNS = {
    "column.0.name": "id",
    "column.0.role": "id",
    "column.1.name": "language",
    "column.1.role": "group",
    "column.1.values": "en\npt",
    "column.2.name": "label",
    "column.2.role": "answer",
    "column.3.name": "text",
    "column.3.role": "shown",
    "labels": "insult\npraise",
    "usual": "praise",
    "baseline.majority": "yes",
    "baseline.random": "yes",
}


def begun(ada: Linguist, kind: str = "label", title: str = "Praise, or insulté?") -> str:
    """The address of the setup of a draft just begun."""
    made = ada.send("/organise", title=title, kind=kind)
    assert made.status_code == 200, made.text
    return made.url.path.removesuffix("/files")


def send_items(ada: Linguist, place: str, answers: dict[str, str], content: bytes = ITEMS) -> httpx.Response:
    files: list[tuple[str, tuple[str | None, bytes]]] = [
        ("csrf_token", (None, ada.token.encode())),
        ("answers", (None, urlencode(answers).encode())),
        ("file", ("items.csv", content)),
    ]
    return ada.browser.post(f"{place}-items", files=files)


def document_of(site: Site, name: str) -> dict[str, Any]:
    with reading(site.engine) as session:
        return present_revision(session, find_competition(session, name)).document


def grant_to(site: Site, username: str, *rights: Right) -> None:
    """Let somebody organise the draft with these rights alone."""
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
        found = find_competition(session, "praise-or-insulte")
        grant_role(session, found, user, Role.ORGANISER, site.now, actor=None, rights=rights)


def rewrite(ada: Linguist, document: dict[str, Any]) -> None:
    """Apply another declaration of the draft, as somebody does who knows the keys."""
    place = ada.send("/competitions/praise-or-insulte/rewrite").url.path
    declared = json.dumps({"version": 1, "competitions": [document]})
    ada.send(f"{place}/yaml", yaml=declared, version=version_of(ada.browser.get(place).text))
    shown = ada.send(f"{place}/build", action="preview").text
    previewed = shown.split('name="previewed" value="', 1)[1].split('"', 1)[0]
    applied = ada.send(f"{place}/build", action="apply", previewed=previewed, note="By hand")
    assert "/history/" in applied.url.path, text_of(applied.text)


def test_the_kind_of_answers_makes_a_draft_with_an_address_from_its_title(site: Site, ada: Linguist) -> None:
    assert begun(ada) == "/competitions/praise-or-insulte/setup"
    assert begun(ada) == "/competitions/praise-or-insulte-2/setup", "the first name is taken"
    with reading(site.engine) as session:
        found = find_competition(session, "praise-or-insulte")
        assert (found.stage, found.tasks[0].task_type) == (Stage.DRAFT, "table")
    nothing = ada.send("/organise", title="", kind="label")
    assert nothing.status_code == 422
    assert ada.send("/organise", title="A title", kind="nonsense").status_code == 422


def test_who_looked_at_an_earlier_revision_is_told_and_odd_numbers_are_none(site: Site, ada: Linguist) -> None:
    """Check that without a number a step overwrites the current revision, as for a program that sends none."""
    place = begun(ada)
    number = len(document_of(site, "praise-or-insulte")["phases"])
    for title, base in enumerate(("", "x", "-1", "²", "9" * 5_000), start=number):
        assert ada.send(f"{place}/texts", title=f"Title {title}", base=base).status_code == 200, base
        assert document_of(site, "praise-or-insulte")["title"] == f"Title {title}"
    late = ada.send(f"{place}/texts", title="Too late", base="1")
    assert late.status_code == 409
    assert document_of(site, "praise-or-insulte")["title"] != "Too late"


def test_every_kind_opens_at_every_step(ada: Linguist) -> None:
    for kind in ("labels", "number", "text", "ranking"):
        place = begun(ada, kind, f"Of kind {kind}")
        for step in ("files", "metrics", "board", "phases", "visibility", "texts", "rules", "rehearse", "publish"):
            answer = ada.browser.get(f"{place}/{step}")
            assert answer.status_code == 200, (kind, step, answer.text)
        assert ada.browser.get(f"{place}/nothing").status_code == 404
        ada.send(place.removesuffix("/setup") + "/life/deletion")


def test_items_and_columns_become_options_board_and_baselines(site: Site, ada: Linguist) -> None:
    place = begun(ada)
    assert send_items(ada, place, COLUMNS).status_code == 200
    document = document_of(site, "praise-or-insulte")
    task, board = document["tasks"][0], document["boards"][0]
    assert task["options"]["groups"] == {"language": ["en", "pt"]}
    assert task["options"]["labels"] == ["insult", "praise"]
    assert (task["options"]["id"], task["options"]["value"]) == ("id", "label")
    assert board["columns"][0] == {"metric": "macro_f1", "split": "language/mean"}
    asked = document["phases"][0]["tasks"]["main"]
    assert [one["name"] for one in asked["baselines"]] == ["Majority", "Random"]
    with reading(site.engine) as session:
        found = find_competition(session, "praise-or-insulte")
        files = {file.path for file in present_revision(session, found).files}
    assert files == {"items.csv", "baseline-majority.csv", "baseline-random.csv"}
    page = text_of(ada.browser.get(f"{place}/files").text)
    assert "en 8 · pt 8" in page


def test_another_metric_ranks_where_the_same_ones_stay_ticked(site: Site, ada: Linguist) -> None:
    place = begun(ada)
    send_items(ada, place, COLUMNS)
    before = document_of(site, "praise-or-insulte")
    first, second, *_ = shown = shown_metrics(before)
    ticked = {f"metric.{name}": "yes" for name in shown}
    for ranking in (second, first):
        assert ada.send(f"{place}/metrics", **ticked, ranking=ranking).status_code == 200
        document = document_of(site, "praise-or-insulte")
        assert rank_of(document)[0] == ranking
        assert set(shown_metrics(document)) == set(shown)


def test_steps_show_the_first_task_though_another_is_beside_it_and_nothing_without_items(
    site: Site, ada: Linguist
) -> None:
    """Check a draft to which somebody who knows the keys has added a second task, and then removed the first one's
    items.
    """
    make_key(site.engine)
    place = begun(ada)
    send_items(ada, place, COLUMNS)
    document = document_of(site, "praise-or-insulte")
    first, phase = document["tasks"][0], document["phases"][0]
    document["tasks"].append({**first, "name": "second", "title": "The second task"})
    phase["tasks"]["second"] = {"items": phase["tasks"]["main"]["items"]}
    rewrite(ada, document)
    page = ada.browser.get(f"{place}/files").text
    assert "data-gold-form" in page
    assert 'name="also"' not in page, "gold is sent to this task alone"

    assert "✓ The file passes the check" in text_of(ada.browser.get(f"{place}/rehearse").text)
    document = document_of(site, "praise-or-insulte")
    del document["phases"][0]["tasks"]["main"]["items"]
    rewrite(ada, document)
    assert "The format is checked once there are items." in text_of(ada.browser.get(f"{place}/rehearse").text)


def test_without_scripts_columns_are_read_from_the_items(site: Site, ada: Linguist) -> None:
    place = begun(ada)
    content = ITEMS.replace(b"id,language", b"sent_id,language", 1)
    page = send_items(ada, place, {}, content).text
    assert "en 8 · pt 8" in text_of(page)
    options = document_of(site, "praise-or-insulte")["tasks"][0]["options"]
    assert (options["id"], options["groups"]) == ("sent_id", {"language": ["en", "pt"]})


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_items_of_a_spreadsheet_are_stored_as_a_scorer_reads_them(site: Site, ada: Linguist, encoding: str) -> None:
    place = begun(ada)
    rows = "Id;Language;Sentence\r\n" + "".join(f'{n};{"pt" if n % 2 else "en"};"ça; {n}, oui"\r\n' for n in range(4))
    page = send_items(ada, place, {}, rows.encode(encoding)).text
    assert "en 2 · pt 2" in text_of(page)
    with reading(site.engine) as session:
        present = present_revision(session, find_competition(session, "praise-or-insulte"))
        (stored,) = [one.sha256 for one in present.files if one.path == "items.csv"]
    text = local_file(storage_of(site.settings), stored).read_text(encoding="utf-8")
    assert text.splitlines()[:2] == ["Id,Language,Sentence", '0,en,"ça; 0, oui"']


def test_a_choice_that_cannot_be_is_refused_in_words(ada: Linguist) -> None:
    place = begun(ada)
    refused = send_items(ada, place, {**COLUMNS, "column.0.role": "shown"})
    assert refused.status_code == 422
    assert "Choose one column that is the item's id." in text_of(refused.text)
    send_items(ada, place, COLUMNS)
    unknown = ada.send(f"{place}/files", **{**COLUMNS, "usual": ""})
    assert "or type the usual answer" in text_of(unknown.text)
    nothing = ada.send(f"{place}/metrics")
    assert "A board needs at least one metric." in text_of(nothing.text)
    late = ada.send(f"{place}/phases", **{"phase.0.start": "2027-02-30T10:00", "phase.0.zone": "AoE"})
    assert "Write the day and the time as 2027-01-31 23:59." in text_of(late.text)
    assert 'value="2027-02-30T10:00"' in late.text, "what was typed stays"
    limits = ada.send(f"{place}/rules", mode="confirmed", per_day="half")
    assert "Write a whole number from 1, or leave it empty." in text_of(limits.text)


def test_the_drawing_follows_dates_that_are_only_typed(site: Site, ada: Linguist) -> None:
    """Request what the page's script requests while somebody types; nothing of it is saved, or shown in the form."""
    place = begun(ada)
    before = document_of(site, "praise-or-insulte")
    typed = {"phase.0.title": "The <contest>", "phase.0.start": "2031-03-01T10:00", "phase.0.zone": "UTC"}

    def drawn(**fields: str) -> str:
        page = ada.browser.get(f"{place}/phases", params={**typed, **fields})
        assert page.status_code == 200
        assert 'value="The &lt;contest&gt;"' not in page.text
        return html.unescape(page.text.split("data-drawn-phases>")[1].split("<form")[0])

    assert "The <contest>: from Fri 28 Feb 2031, 22:00 AoE (1 Mar, 10:00 UTC) to " in drawn(
        **{"phase.0.end": "2031-04-01T10:00"}
    )
    assert "The <contest>: from Fri 28 Feb 2031, 22:00 AoE (1 Mar, 10:00 UTC) without an end" in drawn(
        **{"phase.0.end": ""}
    )
    for fields in ({"phase.0.end": "2031-02-01T10:00"}, {"phase.0.start": ""}, {"phase.0.end": "soon"}):
        assert "Not drawn, because its dates are not valid yet" in text_of(drawn(**fields)), fields
    assert document_of(site, "praise-or-insulte") == before


def test_dates_have_a_zone_and_phases_come_and_go(site: Site, ada: Linguist) -> None:
    place = begun(ada)
    dates = {"phase.0.title": "Evaluation", "phase.0.start": "2027-03-27T12:00", "phase.0.end": "2027-03-28T12:00"}
    sent = ada.send(f"{place}/phases", **dates, **{"phase.0.zone": "Europe/Paris", "add": "post-evaluation"})
    assert sent.status_code == 200, text_of(sent.text)
    first, second = document_of(site, "praise-or-insulte")["phases"]
    assert (first["start"], first["end"]) == ("2027-03-27 12:00 +01:00", "2027-03-28 12:00 +02:00"), "summer begins"
    assert (second["start"], "end" in second) == (first["end"], False)
    assert "private_part" in first["tasks"]["main"]
    divided = [one["tasks"]["main"]["private_part"] for one in (first, second)]
    assert divided[1] == {**divided[0], "shown_from": second["start"]}, "nothing is private for ever"
    assert second["carry_over"] == "evaluation"
    with reading(site.engine) as session:
        there, later = (phase.phase_tasks[0] for phase in find_competition(session, "praise-or-insulte").phases)
        assert is_same_question(there, later), "so that entries are carried over"
    endless = ada.send(f"{place}/phases", **{**dates, "phase.0.end": "", "phase.0.zone": "UTC"})
    assert "Half of the items are private until the phase closes, so it needs an end." in text_of(endless.text)
    again = {**dates, "phase.0.zone": "UTC", "phase.1.start": "2027-03-28T12:00", "phase.1.zone": "UTC"}
    ada.send(f"{place}/phases", **again, remove="post-evaluation")
    assert [phase["name"] for phase in document_of(site, "praise-or-insulte")["phases"]] == ["evaluation"]


def base_of(ada: Linguist, place: str, step: str) -> str:
    """The revision that the page of a step was made from, as its form sends it along."""
    page = ada.browser.get(f"{place}/{step}").text
    return page.split('name="base" value="', 1)[1].split('"', 1)[0]


def test_who_saves_what_another_changed_meanwhile_overwrites_nothing(site: Site, ada: Linguist) -> None:
    place = begun(ada)
    seen = base_of(ada, place, "rules")
    ada.send(f"{place}/texts", base=seen, title="Praise", description="Label each item.")
    rules = {"mode": "approval", "per_day": "3", "total": "", "members_max": "4", "terms": "Be kind."}
    before = document_of(site, "praise-or-insulte")
    for late in (ada.send(f"{place}/rules", base=seen, **rules), send_items(ada, place, {**COLUMNS, "base": seen})):
        assert late.status_code == 409
        assert "Meanwhile this was changed by ada" in text_of(late.text)
    assert document_of(site, "praise-or-insulte") == before
    assert ada.send(f"{place}/rules", base=base_of(ada, place, "rules"), **rules).status_code == 200
    document = document_of(site, "praise-or-insulte")
    assert (document["title"], document["description"]) == ("Praise", "Label each item.")
    assert [phase["limits"] for phase in document["phases"]] == [{"per_day": 3}] * len(document["phases"])
    assert document["teams"] == {"members_max": 4}
    assert (document["registration"]["mode"], document["registration"]["terms"].strip()) == ("approval", "Be kind.")


def test_a_story_is_chosen_with_what_one_team_can_learn_beside_it(site: Site, ada: Linguist) -> None:
    place = begun(ada)
    send_items(ada, place, COLUMNS)
    page = text_of(ada.browser.get(f"{place}/visibility").text)
    assert "of the public half, and nothing of the private half, which decides" in page
    assert "of your gold in this phase" in page
    ada.send(f"{place}/visibility", **{"story.0": "until-close"})
    phase = document_of(site, "praise-or-insulte")["phases"][0]
    assert phase["visibility"] == {"board": "hidden", "public_from": "close"}


def test_without_scripts_a_worker_reads_the_columns_of_gold(
    empty_site: Site, cheap_passwords: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = empty_site
    open_to_organisers(site, monkeypatch)
    with log_in(site, "ada") as browser:
        with writing(site.engine) as session:
            session.scalars(select(User).where(User.username == "ada")).one().email_confirmed_at = site.now
        ada = Linguist(browser)
        place = begun(ada)
        rows = [(f"S{n}", "en" if n % 2 else "pt", "praise" if n % 3 else "insult", f"Words, {n}") for n in range(12)]
        items = "No.,Language,Sentence\n" + "".join(f'{id_},{language},"{text}"\n' for id_, language, _, text in rows)
        gold = "No.,Language,Tone,Sentence\n" + "".join(f'{a},{b},{c},"{d}"\n' for a, b, c, d in rows)

        assert 'name="describe" value="yes"' in ada.browser.get(f"{place}/files").text
        sent = send_gold_described(ada, place, gold.replace(",", ";").encode())
        assert sent.url.path == f"{place}/files", "the draft goes on where it was"
        assert "a worker is reading it" in text_of(sent.text)
        work(site)
        assert "Save it as “CSV UTF-8” with commas" in text_of(ada.browser.get(f"{place}/files").text)

        send_gold_described(ada, place, gold.encode())
        work(site)
        page = ada.browser.get(f"{place}/files").text
        assert "choose below what each column is" in text_of(page)
        assert "praise 8 · insult 4" in text_of(page)
        send_items(ada, place, {}, items.encode())
        fields = columns_shown(ada.browser.get(f"{place}/files").text)
        roles = [fields[f"column.{number}.role"] for number in range(4)]
        assert roles == ["id", "group", "answer", "shown"]
        saved = ada.send(f"{place}/files", **fields, **{"baseline.majority": "yes"})
        assert saved.url.path == f"{place}/metrics", text_of(saved.text)
        work(site)
        options = document_of(site, "praise-or-insulte")["tasks"][0]["options"]
        assert (options["id"], options["value"], options["labels"]) == ("No.", "Tone", ["insult", "praise"])
        assert "gold.csv , checked by a worker" in text_of(ada.browser.get(f"{place}/files").text)
        metrics = text_of(ada.browser.get(f"{place}/metrics").text)
        assert "on the half of the items that the live board shows" in metrics

        dates = {"phase.0.start": "2027-03-27T12:00", "phase.0.end": "2027-03-28T12:00", "phase.0.zone": "UTC"}
        with log_in(site, "edith") as browser_of_editor:
            grant_to(site, "edith", Right.EDIT, Right.GOLD)
            edith = Linguist(browser_of_editor, "edith")
            assert edith.send(f"{place}/phases", **dates, add="post-evaluation").status_code == 200
        work(site)
        with reading(site.engine) as session:
            first, later = (phase.phase_tasks[0] for phase in find_competition(session, "praise-or-insulte").phases)
            (version,) = list_gold(session, later)
            assert version.check_state == "valid", "the same gold, asked for once"
            assert version.commitment == list_gold(session, first)[-1].commitment


def send_gold_described(ada: Linguist, place: str, content: bytes) -> httpx.Response:
    files: list[tuple[str, tuple[str | None, bytes]]] = [
        ("csrf_token", (None, ada.token.encode())),
        ("describe", (None, b"yes")),
        ("ahead", (None, b"post-evaluation")),
        ("publish", (None, b"true")),
        ("file", ("gold.csv", content)),
    ]
    return ada.browser.post(f"{place.removesuffix('/setup')}/phases/evaluation/tasks/main/gold", files=files)


def columns_shown(page: str) -> dict[str, str]:
    """Return what the displayed form of columns holds: hidden fields, and the chosen role of each column."""
    fields = {
        html.unescape(name): html.unescape(value)
        for name, value in re.findall(r'<input type="hidden" name="(column[^"]*|labels|usual)" value="([^"]*)"', page)
    }
    for name, menu in re.findall(r'<select name="(column[^"]+)"[^>]*>(.*?)</select>', page, re.DOTALL):
        (fields[name],) = re.findall(r'<option value="([^"]*)" selected>', menu)
    return fields


def test_publish_opens_once_nothing_is_missing_and_a_rehearsal_shows_every_view(
    empty_site: Site, cheap_passwords: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = empty_site
    open_to_organisers(site, monkeypatch)
    with log_in(site, "ada") as browser:
        with writing(site.engine) as session:
            session.scalars(select(User).where(User.username == "ada")).one().email_confirmed_at = site.now
        ada = Linguist(browser)
        place = begun(ada)
        page = ada.browser.get(f"{place}/publish").text
        assert text_of(page).count("missing") >= 4
        assert ">Publish</button>" not in page
        refused = ada.send(f"{place}/publish")
        assert refused.status_code == 409
        assert "Missing: items, gold, description, format example." in text_of(refused.text)
        assert ada.send("/competitions/praise-or-insulte/life", stage="published").status_code == 409

        send_items(ada, place, COLUMNS)
        gold = ITEMS.replace(b"id,language,text", b"id,language,text,label", 1)
        gold = b"".join(
            line + (b"\n" if number == 0 else b",praise\n" if number % 3 else b",insult\n")
            for number, line in enumerate(gold.splitlines())
        )
        address = "/competitions/praise-or-insulte/phases/evaluation/tasks/main/gold"
        assert ada.upload(address, "gold.csv", gold).status_code == 200
        assert "A worker is checking the gold." in text_of(ada.browser.get(f"{place}/publish").text)
        work(site)
        proposed = text_of(ada.browser.get(f"{place}/texts").text)
        assert "The labels are `insult`, `praise`." in proposed
        ada.send(f"{place}/texts", title="Praise", description="Label each item.")

        shown = text_of(ada.browser.get(f"{place}/rehearse", params={"baseline": "Random"}).text)
        assert "The file passes the check: 16 items." in shown
        assert "A worker scored it against the sealed gold." in shown
        for view in ("Readers", "The team", "Organisers"):
            assert shown.count(view) >= 2, "while it is open, and after it has closed"
        assert "Test team" in shown
        scored = re.compile(r"\b0\.\d{3}\b")
        assert scored.search(text_of(ada.browser.get(f"{place}/metrics").text))
        with log_in(site, "edith") as browser_of_editor:
            grant_to(site, "edith", Right.EDIT, Right.GOLD)
            for step in ("metrics", "board", "rehearse"):
                answer = browser_of_editor.get(f"{place}/{step}")
                assert answer.status_code == 200
                assert not scored.search(text_of(answer.text)), "scores tell of gold"
                assert "Test team" not in answer.text, "nor is anything said of a board with them"
        ada.send(f"{place}/visibility", **{"story.0": "sealed"})
        sealed = text_of(ada.browser.get(f"{place}/rehearse").text)
        assert "The board is hidden." in sealed
        assert "Does not see its own scores." in sealed
        published = ada.send(f"{place}/publish")
        assert published.url.path == "/competitions/praise-or-insulte"
        assert ada.browser.get(f"{place}/files").url.path == "/competitions/praise-or-insulte/edit", (
            "edited like any other"
        )
        assert ada.send(f"{place}/metrics").status_code == 409


def test_a_corrected_gold_scores_the_baselines_again(
    empty_site: Site, cheap_passwords: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = empty_site
    open_to_organisers(site, monkeypatch)
    with log_in(site, "ada") as browser:
        with writing(site.engine) as session:
            session.scalars(select(User).where(User.username == "ada")).one().email_confirmed_at = site.now
        ada = Linguist(browser)
        place = begun(ada)
        send_items(ada, place, COLUMNS)
        address = "/competitions/praise-or-insulte/phases/evaluation/tasks/main/gold"
        ids = [line.split(b",")[:2] for line in ITEMS.splitlines()[1:]]
        shown = list[str]()
        for label in (b"praise", b"insult"):
            others = b"".join(b"%s,%s,%s\n" % (one, language, label) for one, language in ids[2:])
            first = b"".join(b"%s,%s,praise\n" % (one, language) for one, language in ids[:2])
            files: list[tuple[str, tuple[str | None, bytes]]] = [
                ("csrf_token", (None, ada.token.encode())),
                ("publish", (None, b"true")),
                ("file", ("gold.csv", b"id,language,label\n" + first + others)),
            ]
            assert ada.browser.post(address, files=files).status_code == 200
            work(site)
            shown.append(text_of(ada.browser.get(f"{place}/metrics").text))
        assert "against an earlier gold" not in shown[1]
        majority = [float(page.split("frequent labels weigh more", 1)[1].split()[0]) for page in shown]
        assert majority[0] == 1.0, "always praise, and so is the gold"
        part = document_of(site, "praise-or-insulte")["phases"][0]["tasks"]["main"]["private_part"]
        division = Division(part["share"], part["seed"])
        public = [one for one, _ in ids if division.half_of(one.decode()) is Half.PUBLIC]
        right = sum(one in public for one, _ in ids[:2]) / len(public)
        assert majority[1] == pytest.approx(right, abs=0.006), "of the public half, those of the two that stayed"


def test_a_metric_of_single_labels_has_no_score_over_all_items(
    empty_site: Site, cheap_passwords: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the first label's score is not shown instead, and that a later phase has no part in the scores."""
    site = empty_site
    open_to_organisers(site, monkeypatch)
    with log_in(site, "ada") as browser:
        with writing(site.engine) as session:
            session.scalars(select(User).where(User.username == "ada")).one().email_confirmed_at = site.now
        ada = Linguist(browser)
        place = begun(ada, "labels")
        send_items(ada, place, COLUMNS)
        dates = {"phase.0.title": "Evaluation", "phase.0.start": "2027-03-27T12:00", "phase.0.end": "2027-03-28T12:00"}
        ada.send(f"{place}/phases", **dates, **{"phase.0.zone": "UTC", "add": "post-evaluation"})
        assert len(document_of(site, "praise-or-insulte")["phases"]) == 2
        rows = [line.split(b",")[:2] for line in ITEMS.splitlines()[1:]]
        gold = b"id,language,label\n" + b"".join(b"%s,%s,praise\n" % (one, language) for one, language in rows)
        address = "/competitions/praise-or-insulte/phases/evaluation/tasks/main/gold"
        assert ada.upload(address, "gold.csv", gold).status_code == 200
        work(site)
        table = ada.browser.get(f"{place}/metrics").text
        cells = {
            name: re.findall(r"\b[01]\.\d{3}\b|–", text_of(row))
            for row in table.split("<tr>")[2:]
            for name in re.findall(r'name="metric\.(\w+)"', row)
        }
        assert cells["subset_accuracy"][0] == "1.000", "always praise, and so is the gold"
        assert cells["label_f1"] == ["–"] * len(cells["subset_accuracy"])
