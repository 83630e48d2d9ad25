"""A logo is made in the helper, from an SVG or a PNG, and from nothing else."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from app.looks.logos import READ_BYTES, InvalidLogo, make_logo
from app.looks.look import Logo

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 30"><path d="M0 0h90v30z" onload="alert(1)"/></svg>'


def png(width: int = 64, height: int = 64, **options: object) -> bytes:
    made = io.BytesIO()
    Image.new("RGBA", (width, height), (0, 51, 141, 128)).save(made, "PNG", **options)
    return made.getvalue()


def test_a_png_is_encoded_anew_without_what_it_says() -> None:
    said = PngInfo()
    said.add_text("Author", "somebody whose name is nobody's business")
    made = make_logo(png(2400, 480, pnginfo=said) + b"trailing data").logo
    assert (made.media_type, made.width, made.height) == ("image/png", 1200, 240)
    assert b"business" not in made.content
    assert b"trailing" not in made.content
    assert Image.open(io.BytesIO(made.content)).getpixel((5, 5)) == (0, 51, 141, 128)


def test_an_svg_is_sanitised_and_says_what_it_lost() -> None:
    made = make_logo(SVG)
    assert made.removed == ("Line 1: onload of <path>",)
    assert (made.logo.media_type, made.logo.width, made.logo.height) == ("image/svg+xml", 90, 30)
    assert b"alert" not in made.logo.content


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The file is empty."),
        (b"x" * (READ_BYTES + 1), "A logo is at most 256 KiB; this file is larger."),
        (png()[:60], "The image is damaged."),
        (b"\xff\xd8\xff\xe0 a JPEG", "the file is not well-formed XML"),
        (b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'/>", "The file draws nothing"),
    ],
)
def test_other_files_are_refused_in_words(content: bytes, sentence: str) -> None:
    with pytest.raises(InvalidLogo) as refused:
        make_logo(content)
    assert sentence in refused.value.message


def test_a_logo_survives_its_storage() -> None:
    logo = make_logo(SVG).logo
    assert Logo.of_stored(logo.stored()) == logo
    assert logo.address == f"/logo/{logo.sha256}"
    for stored in ({}, {**logo.stored(), "content": "%"}, None, "x", {**logo.stored(), "width": "wide"}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            Logo.of_stored(stored)


@pytest.mark.parametrize(
    ("size", "drawn", "is_icon"),
    [((64, 64), (32, 32), True), ((90, 30), (96, 32), False), ((1000, 20), (200, 4), False)],
)
def test_a_logo_fits_the_header(size: tuple[int, int], drawn: tuple[int, int], is_icon: bool) -> None:
    logo = Logo(b"", "image/png", *size)
    assert (logo.drawn, logo.is_icon) == (drawn, is_icon)
