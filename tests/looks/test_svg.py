"""SVGs are rebuilt from their drawing elements: what runs, loads or links elsewhere is dropped, however it
was written.
"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from app.looks.svg import MOST_ELEMENTS, Unusable, sanitise_svg

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 120 40">'
RECT = '<rect width="120" height="40" fill="#00338d"/>'


def svg(inside: str, head: str = HEAD) -> bytes:
    return f"{head}{inside}</svg>".encode()


def test_a_drawing_stays_as_it_is() -> None:
    inside = (
        "<title>A &amp; B</title><defs><linearGradient id='g'><stop stop-color='red'/></linearGradient></defs>"
        "<style>.a{fill:url(#g)}</style><g transform='rotate(3)'><path class='a' d='M0 0h9v9z'/></g>"
        "<use href='#p' x='3'/><text x='1' y='2' font-size='9'>Größe</text>"
    )
    made = sanitise_svg(svg(inside))
    assert made.removed == ()
    assert (made.width, made.height) == (120, 40)
    root = ElementTree.fromstring(made.text)  # noqa: S314 - what we wrote ourselves
    assert [one.tag.rpartition("}")[2] for one in root.iter()] == [
        *("svg", "title", "defs", "linearGradient", "stop", "style", "g", "path", "use", "text")
    ]
    assert root.attrib == {"viewBox": "0 0 120 40", "width": "120", "height": "40"}
    assert root.findtext("{*}title") == "A & B"
    assert root.findtext("{*}style") == ".a{fill:url(#g)}"
    assert root.findtext("{*}text") == "Größe"


@pytest.mark.parametrize(
    ("inside", "removed"),
    [
        ("<script>alert(1)</script>", "Line 1: <script>"),
        ("<g>\n<path d='M0 0' onclick='alert(1)'/></g>", "Line 2: onclick of <path>"),
        ("<a href='javascript:alert(1)'><path d='M0 0'/></a>", "Line 1: <a>"),
        ("<image href='https://example.org/x.png'/>", "Line 1: <image>"),
        ("<use xlink:href='https://example.org/x.svg#a'/>", "Line 1: href of <use>"),
        ("<use href='data:image/svg+xml,x'/>", "Line 1: href of <use>"),
        ("<foreignObject><p xmlns='http://www.w3.org/1999/xhtml'>x</p></foreignObject>", "Line 1: <foreignObject>"),
        ("<animate attributeName='href' to='javascript:alert(1)'/>", "Line 1: <animate>"),
        ("<set attributeName='onload' to='alert(1)'/>", "Line 1: <set>"),
        ("<path d='M0 0' fill='url(https://example.org/x#a)'/>", "Line 1: fill of <path>"),
        ("<path d='M0 0' fill='URL( \"//example.org/x\" )'/>", "Line 1: fill of <path>"),
        ("<path d='M0 0' style='fill: u\\72l(//example.org)'/>", "Line 1: style of <path>"),
        ("<path d='M0 0' style='background: image-set(\"x\" 1x)'/>", "Line 1: style of <path>"),
        ("<style>@import '//example.org/x.css';</style>", "Line 1: a style that loads something, or that is written"),
        ("<style><![CDATA[a{fill:url(//example.org)}]]></style>", "Line 1: a style that loads something"),
        ("<filter id='f'><feImage href='//example.org/x'/></filter>", "Line 1: <feImage>"),
        ("<g id='a'><use href='#b'/></g>", "Line 1: <use>"),
    ],
)
def test_what_runs_or_loads_is_left_out_and_listed(inside: str, removed: str) -> None:
    made = sanitise_svg(svg(inside + RECT))
    assert len(made.removed) == 1
    assert made.removed[0].startswith(removed)
    for word in ("alert", "example.org", "javascript", "data:", "onclick", "foreignObject", "@import", "\\"):
        assert word not in made.text
    assert 'fill="#00338d"' in made.text, "the rest stays"


def test_what_editors_leave_goes_without_a_word() -> None:
    head = HEAD.replace("<svg ", "<svg xmlns:inkscape='http://www.inkscape.org/x' inkscape:version='1' version='1.1' ")
    made = sanitise_svg(svg(f"<!-- made by hand --><metadata>x</metadata><inkscape:grid/>{RECT}", head))
    assert made.removed == ()
    assert "inkscape" not in made.text
    assert "hand" not in made.text


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file is not well-formed XML"),
        (b"<svg", "Line 1: the file is not well-formed XML"),
        (b"GIF89a", "the file is not well-formed XML"),
        (b"<html xmlns='http://www.w3.org/1999/xhtml'/>", "an SVG must begin with <svg"),
        (b"<svg viewBox='0 0 1 1'><path d='M0 0'/></svg>", "an SVG must begin with <svg"),
        (svg(RECT, '<svg xmlns="http://www.w3.org/2000/svg">'), "has neither a viewBox nor width and height"),
        (svg(RECT, '<svg xmlns="http://www.w3.org/2000/svg" width="50%" height="9">'), "neither a viewBox nor"),
        (svg(RECT, HEAD.replace("120 40", "0 40")), "no size that can be shown"),
        (svg("<script/>"), "The file draws nothing"),
        (b"<!DOCTYPE svg [<!ENTITY a 'aaaa'>]>" + svg(RECT), "Line 1: the file declares the entity 'a'"),
        (svg("<path d='M0 0'/>" * (MOST_ELEMENTS + 1)), "more than 5,000 elements"),
        (svg("<g>" * 60 + RECT + "</g>" * 60), "nested deeper than 50"),
        (b"<?xml version='1.0' encoding='latin-47'?>" + svg(RECT), "encoding"),
    ],
)
def test_what_cannot_be_a_logo_is_refused(content: bytes, sentence: str) -> None:
    with pytest.raises(Unusable) as refused:
        sanitise_svg(content)
    assert sentence in str(refused.value)


def test_a_plain_doctype_and_sizes_in_pixels_are_fine() -> None:
    doctype = b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    made = sanitise_svg(doctype + svg(RECT, '<svg xmlns="http://www.w3.org/2000/svg" width="30px" height="20">'))
    assert 'viewBox="0 0 30 20"' in made.text
    assert "DOCTYPE" not in made.text


def test_what_was_made_is_made_again_alike() -> None:
    once = sanitise_svg(svg(f"<g id='a' class='b'>{RECT}</g>"))
    assert sanitise_svg(once.text.encode()).text == once.text
