"""A draft set up a question a page, by somebody who knows no key: from the kind of answers to a published task."""

from __future__ import annotations

from urllib.parse import urlencode

import httpx

from app.base.db import reading
from app.competitions.find import find_competition
from app.declarations.revisions.kept import present_revision
from app.models import Stage
from tests.web.declarations.linguist import Linguist
from tests.web.reading import text_of
from tests.web.site import Site

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


def send_items(ada: Linguist, place: str, content: bytes = ITEMS, **answers: str) -> httpx.Response:
    files: list[tuple[str, tuple[str | None, bytes]]] = [
        ("csrf_token", (None, ada.token.encode())),
        ("answers", (None, urlencode(answers).encode())),
        ("file", ("items.csv", content)),
    ]
    return ada.browser.post(f"{place}-items", files=files)


def document_of(site: Site, name: str) -> dict[str, object]:
    with reading(site.engine) as session:
        return present_revision(session, find_competition(session, name)).document


def test_the_kind_of_answers_makes_a_draft_with_an_address_from_its_title(site: Site, ada: Linguist) -> None:
    assert begun(ada) == "/competitions/praise-or-insulte/setup"
    assert begun(ada) == "/competitions/praise-or-insulte-2/setup", "the first name is taken"
    with reading(site.engine) as session:
        found = find_competition(session, "praise-or-insulte")
        assert (found.stage, found.tasks[0].task_type) == (Stage.DRAFT, "table")
    nothing = ada.send("/organise", title="", kind="label")
    assert nothing.status_code == 422
    assert ada.send("/organise", title="A title", kind="nonsense").status_code == 422


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
    assert send_items(ada, place, **COLUMNS).status_code == 200
    document = document_of(site, "praise-or-insulte")
    task, board = document["tasks"][0], document["boards"][0]  # type: ignore[index]
    assert task["options"]["groups"] == {"language": ["en", "pt"]}
    assert task["options"]["labels"] == ["insult", "praise"]
    assert (task["options"]["id"], task["options"]["value"]) == ("id", "label")
    assert board["columns"][0] == {"metric": "macro_f1", "split": "language/mean"}
    asked = document["phases"][0]["tasks"]["main"]  # type: ignore[index]
    assert [one["name"] for one in asked["baselines"]] == ["Majority", "Random"]
    with reading(site.engine) as session:
        found = find_competition(session, "praise-or-insulte")
        files = {file.path for file in present_revision(session, found).files}
    assert files == {"items.csv", "baseline-majority.csv", "baseline-random.csv"}
    page = text_of(ada.browser.get(f"{place}/files").text)
    assert "en 8 · pt 8" in page
