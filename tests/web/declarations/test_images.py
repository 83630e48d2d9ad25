"""Images of texts in the browser: uploaded where texts are written, shown to everybody who sees the competition."""

from __future__ import annotations

import io
import zipfile

import httpx
import pytest

from app.base.api_links import API
from app.base.db import writing
from app.competitions.find import find_competition
from app.models import Stage
from tests.images import image, with_place
from tests.web.declarations.linguist import Linguist, written
from tests.web.markup import read
from tests.web.reading import text_of
from tests.web.site import Site, csrf_of, log_in


def send(who: Linguist, address: str, name: str, content: bytes, **fields: str) -> httpx.Response:
    parts = {"csrf_token": who.token, **fields}
    files: list[tuple[str, tuple[str | None, bytes]]] = [(key, (None, text.encode())) for key, text in parts.items()]
    return who.browser.post(address, files=[*files, ("file", (name, content))])


def images_on(page: str) -> list[dict[str, str]]:
    return [dict(one) for one in read(page).all("img") if one.get("loading") == "lazy"]


@pytest.fixture
def place(ada: Linguist) -> str:
    return written(ada)


def test_an_image_goes_from_the_step_of_texts_to_the_page_that_everybody_sees(
    site: Site,
    ada: Linguist,
    place: str,
) -> None:
    sent = send(ada, f"{place}/images?at=", "Where I live.jpg", with_place(), text="description", alt="A street")
    assert sent.url.path == f"{place}/part"
    assert "![A street](Where-I-live.jpg)" in sent.text
    written_image = ada.browser.get(f"{place}/images", params={"path": "Where-I-live.jpg"})
    assert written_image.headers["content-type"] == "image/jpeg"
    assert b"Ada at home" not in written_image.content
    ada.send(f"{place}/build")

    (shown,) = images_on(ada.browser.get("/competitions/irony").text)
    assert (shown["alt"], shown["width"], shown["height"]) == ("A street", "20", "40")
    got = ada.browser.get(shown["src"])
    assert got.headers["content-type"] == "image/jpeg"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in got.headers["content-security-policy"]
    assert b"Ada at home" not in got.content

    nobody = site.client()
    assert nobody.get(shown["src"]).status_code == 404, "a draft's images are nobody else's"
    assert nobody.get(shown["src"].replace("irony", "idioms")).status_code == 404, "another's has it not"
    with writing(site.engine) as session:
        find_competition(session, "irony").stage = Stage.PUBLISHED
    assert nobody.get(shown["src"]).status_code == 200
    assert images_on(nobody.get("/competitions/irony").text) == [shown]

    exported = ada.browser.get(f"{API}/competitions/irony/declaration.zip").content
    with zipfile.ZipFile(io.BytesIO(exported)) as archive:
        assert "irony/Where-I-live.jpg" in archive.namelist()
    again = ada.upload("/organise/zip", "irony.zip", exported).url.path
    ada.say(again, "", name="irony-again", description="![A street](Where-I-live.jpg)")
    assert ada.send(f"{again}/build").url.path == "/competitions/irony-again/life"
    assert len(images_on(ada.browser.get("/competitions/irony-again").text)) == 1


def test_images_from_elsewhere_are_words(ada: Linguist, place: str) -> None:
    text = "![A map](https://example.org/map.png) ![Mine](a.png)"
    send(ada, f"{place}/images?at=", "a.png", image(), text="description", alt="Mine")
    ada.say(place, "", description=text)
    ada.send(f"{place}/build")
    page = ada.browser.get("/competitions/irony").text
    assert [one["alt"] for one in images_on(page)] == ["Mine"]
    assert "example.org/map.png" not in page
    assert "A map" in text_of(page)


@pytest.mark.parametrize(
    ("name", "content", "alt", "field"),
    [
        ("a.svg", b"<svg/>", "A cat", "file"),
        ("a.png", b"<svg/>", "A cat", "file"),
        ("a.png", image(), " ", "alt"),
        ("a.png", image(), "A cat", "text"),
    ],
)
def test_what_cannot_be_an_image_leaves_the_text_as_it_is(
    ada: Linguist,
    place: str,
    name: str,
    content: bytes,
    alt: str,
    field: str,
) -> None:
    text = "nowhere" if field == "text" else "description"
    refused = send(ada, f"{place}/images?at=", name, content, text=text, alt=alt)
    assert refused.status_code == 422
    overview = ada.browser.get(place).text
    assert "![" not in overview
    assert name not in overview


def test_an_image_is_no_larger_than_other_uploads(
    site: Site, ada: Linguist, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = image(size=(200, 200))
    monkeypatch.setattr(site.settings, "upload_limit_bytes", len(content) - 1)
    refused = send(ada, f"{place}/images?at=", "a.png", content, text="description", alt="A cat")
    assert refused.status_code == 413
    monkeypatch.setattr(site.settings, "upload_limit_bytes", len(content))
    assert "![A cat](a.png)" in send(ada, f"{place}/images?at=", "a.png", content, text="description", alt="A cat").text


def test_only_texts_in_markdown_take_images(ada: Linguist, place: str) -> None:
    at = "phases/0/tasks/main/baselines/0"
    assert "An image" not in text_of(ada.browser.get(f"{place}/part", params={"at": at}).text)
    refused = send(ada, f"{place}/images?at={at}", "a.png", image(), text="description", alt="A cat")
    assert refused.status_code == 422


def test_a_second_file_of_the_same_name_gets_another(ada: Linguist, place: str) -> None:
    for size in ((10, 10), (20, 20), (20, 20)):
        page = send(ada, f"{place}/images?at=tasks/0", "a.png", image(size=size), text="description", alt="A cat").text
    assert page.count("![A cat](a.png)") == 1
    assert page.count("![A cat](a-2.png)") == 2, "the same file twice is one file"


def test_an_image_on_the_page_edit_is_a_revision(site: Site, ada: Linguist, place: str) -> None:
    ada.send(f"{place}/build")
    texts, images = "/competitions/irony/edit/texts", "/competitions/irony/edit/images"
    done = send(ada, images, "a.png", image(), text="tasks.main.description", alt="A cat")
    assert done.url.path == texts
    assert "![A cat](a.png)" in done.text
    assert "The image a.png" in text_of(ada.browser.get("/competitions/irony/history").text)
    assert len(images_on(ada.browser.get("/competitions/irony").text)) == 1
    refused = send(ada, images, "b.png", b"no image", text="description", alt="A dog")
    assert refused.status_code == 422
    assert "The file is not a PNG, JPEG or WebP." in text_of(refused.text)
    before, site.settings.mebibytes_per_organiser = site.settings.mebibytes_per_organiser, 0
    try:
        full = send(ada, images, "c.png", image(), text="description", alt="A dog")
    finally:
        site.settings.mebibytes_per_organiser = before
    assert full.status_code == 409
    with log_in(site, "eve") as browser:
        eve = Linguist.__new__(Linguist)
        eve.browser, eve.token = browser, csrf_of(browser.get("/account").text)
        assert send(eve, images, "d.png", image(), text="description", alt="Mine").status_code in (403, 404)
