"""Images in texts: re-encoded in every case, named only by the texts, kept in step with the declaration."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from sqlalchemy import Engine, select

from app.base.db import reading
from app.base.storage import stored_path
from app.declarations.check import check_phases, load_competitions
from app.declarations.images.making import InvalidImage, MadeImage, make_image
from app.declarations.images.texts import file_name, images_in, markdown_of, with_image
from app.declarations.revisions.documents import declared_files
from app.models import Competition, ImageFile
from app.operations.unowned import naming_columns
from tests.declarations.applying import apply
from tests.declarations.competition_folder import NOW, Competition as Folder, make_competition
from tests.images import image, with_place
from tests.rich_world import fresh

ZIP = b"PK\x05\x06" + bytes(18)


def made(folder: Path, content: bytes) -> MadeImage:
    file = folder / "sent"
    file.write_bytes(content)
    return make_image(file)


def opened(one: MadeImage) -> Image.Image:
    return Image.open(io.BytesIO(one.content))


# -------------------------------------------------------------------------------------------------------------- making


def test_nothing_of_a_photograph_is_left_but_what_is_to_be_seen(tmp_path: Path) -> None:
    photograph = made(tmp_path, with_place())
    for told in (b"Ada at home", b"a private remark", b"printer at home", b"Exif"):
        assert told in with_place()
        assert told not in photograph.content
    assert (photograph.width, photograph.height) == (20, 40), "it lies as it was meant to"
    assert opened(photograph).size == (20, 40)
    assert not opened(photograph).getexif()


@pytest.mark.parametrize(("kind", "media_type"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp")])
def test_what_hides_behind_an_image_is_gone(tmp_path: Path, kind: str, media_type: str) -> None:
    sent = image(kind) + b"<script>alert(1)</script>" + ZIP
    one = made(tmp_path, sent)
    assert one.media_type == media_type
    assert opened(one).format == kind
    assert b"script" not in one.content
    assert ZIP not in one.content


def test_a_large_image_is_made_as_wide_as_a_page_needs_it(tmp_path: Path) -> None:
    one = made(tmp_path, image(size=(4000, 1000)))
    assert (one.width, one.height) == (1600, 400)
    tall = made(tmp_path, image(size=(100, 9600)))
    assert (tall.width, tall.height) == (50, 4800)


def test_what_can_be_seen_through_stays_so(tmp_path: Path) -> None:
    one = opened(made(tmp_path, image(mode="RGBA")))
    assert one.mode == "RGBA"
    assert one.getpixel((0, 0)) == (128, 0, 0, 0)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (lambda: b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "not a PNG, JPEG or WebP"),
        (lambda: image("GIF"), "not a PNG, JPEG or WebP"),
        (lambda: b"", "not a PNG, JPEG or WebP"),
        (lambda: image("JPEG", (400, 400))[:600], "damaged"),
        (lambda: image(mode="L", size=(8000, 8000)), "40 million pixels"),
        (lambda: image("PNG") + bytes(16 * 2**20), "larger than 16 MiB"),
    ],
    ids=["svg", "gif", "empty", "cut off", "bomb", "long"],
)
def test_what_is_no_image_or_too_large_is_refused_in_words(
    tmp_path: Path, content: Callable[[], bytes], sentence: str
) -> None:
    with pytest.raises(InvalidImage, match=sentence):
        made(tmp_path, content())


# --------------------------------------------------------------------------------------------------------------- texts


def test_images_are_found_where_markdown_has_them_and_nowhere_else() -> None:
    text = "![A map](maps/one.png) and `![no](code.png)`\n\n    ![no](block.png)\n\n| a |\n| - |\n"
    text += "| ![In a table](b%20c.webp) |"
    found = [(one.path, one.alt, one.is_file) for one in images_in(text)]
    assert found == [("maps/one.png", "A map", True), ("b c.webp", "In a table", True)]


@pytest.mark.parametrize(
    ("path", "is_elsewhere", "is_file"),
    [
        ("https://example.org/a.png", True, False),
        ("//example.org/a.png", True, False),
        ("data:image/png;base64,AAAA", True, False),
        ("../up.png", False, False),
        ("/etc/a.png", False, False),
        ("drawing.svg", False, False),
        ("A.PNG", False, True),
    ],
)
def test_only_a_file_beside_the_declaration_is_an_image(path: str, is_elsewhere: bool, is_file: bool) -> None:
    (one,) = images_in(f"![x]({path})")
    assert (one.is_elsewhere, one.is_file) == (is_elsewhere, is_file)


def test_what_is_written_for_an_image_is_read_as_that_image() -> None:
    (one,) = images_in(markdown_of("a.png", "brackets [and] a \\ back\nslash"))
    assert (one.path, one.alt) == ("a.png", "brackets [and] a \\ back slash")


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("C:\\me\\IMG 12.JPG", "IMG-12.JPG"),
        ("..png", ""),
        ("a.svg", ""),
        ("çé.png", ""),
        (".x.png", "x.png"),
    ],
)
def test_a_file_gets_a_name_that_needs_no_marks(sent: str, name: str) -> None:
    assert file_name(sent) == name


def test_an_image_is_set_at_the_end_of_its_text() -> None:
    before = {"description": "Words.\n", "tasks": [{"name": "main"}]}
    assert with_image(before, ("description",), "![x](a.png)")["description"] == "Words.\n\n![x](a.png)\n"
    assert with_image(before, ("tasks", "0", "description"), "!")["tasks"][0] == {"name": "main", "description": "!\n"}
    assert with_image(before, ("registration", "terms"), "!")["registration"] == {"terms": "!\n"}
    assert before["description"] == "Words.\n", "the first one stays"


# -------------------------------------------------------------------------------------------------- check, apply


@pytest.fixture
def demo(tmp_path: Path) -> Folder:
    """Return a competition whose first task shows an image."""
    demo = make_competition(tmp_path / "demo")
    (demo.folder / "figure.png").write_bytes(image())
    return demo


def shown(demo: Folder, text: str) -> None:
    demo.change('    title: "Demo"', f'    title: "Demo"\n    description: "{text}"')


def findings(demo: Folder) -> list[str]:
    return [
        f"{one.severity}: {one.message}"
        for one in check_phases(demo.phases, now=NOW)
        if "image" in one.message or "shown" in one.message or "see it" in one.message
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("![A map](figure.png)", []),
        ("![](figure.png)", ["warning: figure.png has no description for people who cannot see it"]),
        ("![A map](gone.png)", ["error: the image gone.png does not exist"]),
        ("![A map](items.png)", ["error: items.png is not an image"]),
        ("![A map](figure.svg)", ["warning: figure.svg is not shown"]),
        ("![A map](https://example.org/a.png)", ["warning: images from other sites are not shown"]),
    ],
)
def test_an_image_that_cannot_be_shown_is_told_at_its_text(demo: Folder, text: str, told: list[str]) -> None:
    (demo.folder / "items.png").write_bytes(b"id,label\n1,2\n")
    shown(demo, text)
    found = findings(demo)
    assert len(found) == len(told)
    assert all(one.startswith(beginning) for one, beginning in zip(found, told, strict=True))


def images_of(engine: Engine) -> tuple[dict[str, str], set[str]]:
    with reading(engine) as session:
        competition = session.scalars(fresh(Competition)).first()
        assert competition is not None
        rows = session.execute(select(ImageFile.competition_id, ImageFile.sha256)).all()
    files = {sha256 for place, sha256 in rows if place == competition.id}
    assert len(rows) == len(files) + 1, "next door's stays"
    return {path: one["sha256"] for path, one in competition.images.items()}, files


def test_images_follow_the_texts_that_show_them(engine: Engine, demo: Folder) -> None:
    shown(demo, "![A map](figure.png)")
    apply(engine, demo)
    images, files = images_of(engine)
    assert set(images) == {"figure.png"}
    assert set(images.values()) == files
    stored = stored_path(demo.folder.parent / "storage", images["figure.png"]).read_bytes()
    assert Image.open(io.BytesIO(stored)).size == (40, 20)
    assert not [change for change in apply(engine, demo) if change.counts], "twice is as good as once"

    (demo.folder / "figure.png").write_bytes(image(size=(30, 30)))
    assert any("replaced the image 'figure.png'" in str(change) for change in apply(engine, demo))
    demo.change("![A map](figure.png)", "no map")
    apply(engine, demo)
    assert images_of(engine) == ({}, set())


def test_a_damaged_image_is_refused_by_its_name(engine: Engine, demo: Folder) -> None:
    (demo.folder / "figure.png").write_bytes(image(size=(300, 300))[:90])
    shown(demo, "![A map](figure.png)")
    with pytest.raises(InvalidImage, match=r"The image figure\.png cannot be shown"):
        apply(engine, demo)


def test_images_are_among_the_files_that_a_declaration_names(demo: Folder) -> None:
    shown(demo, "![A map](figure.png) ![Elsewhere](https://example.org/b.png)")
    (loaded,) = load_competitions(demo.phases)
    assert [path for path in declared_files(loaded.declaration) if path.endswith(".png")] == ["figure.png"]
    assert "image_files.sha256" in {f"{column.table.name}.{column.name}" for column in naming_columns()}
