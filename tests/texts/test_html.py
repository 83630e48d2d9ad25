"""Markdown as pages show it: bounded by what it unfolds to, cached, and never left out."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from markupsafe import escape

from app.helper.process import Job
from app.texts import html
from app.texts.html import ShownImage, render_markdown, rendered, text_fault
from app.texts.markdown import CELLS_LIMIT, HTML_LIMIT, TextTooLarge, html_bound, markdown_html

#: 1,500 characters, 62,500 cells: rows are filled up to the width of the first.
TABLE = "|" + "a|" * 250 + "\n|" + "-|" * 250 + "\n" + "|\n" * 250


def table(rows: int, columns: int) -> str:
    line = "| " + " | ".join(["a value"] * columns) + " |\n"
    return line + "| " + " | ".join(["---"] * columns) + " |\n" + line * (rows - 1)


def test_an_honest_text_is_laid_out() -> None:
    assert render_markdown("# Data\n\n*New*: [here](https://example.org)") == (
        '<h3>Data</h3>\n<p><em>New</em>: <a href="https://example.org" rel="noreferrer">here</a></p>\n'
    )
    assert text_fault(table(100, 40)) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TABLE, f"more than {CELLS_LIMIT:,} cells"),
        (table(101, 50), f"more than {CELLS_LIMIT:,} cells"),
        ("\n\n".join([table(50, 50)] * 3), f"more than {CELLS_LIMIT:,} cells"),
        ("|a|\n|-|\n\n" * 2_000, "characters of HTML"),
        (("- " * 9 + "a\n") * 2_500, "characters of HTML"),
    ],
    ids=["filled up", "too many cells", "in several tables", "many tables", "nested lists"],
)
def test_what_unfolds_to_too_much_is_refused_in_words_and_shown_as_it_was_written(text: str, words: str) -> None:
    assert words in text_fault(text)
    shown = render_markdown(text)
    assert "too large to be laid out" in shown
    assert len(shown) < len(text) + 500


def test_the_bound_grows_with_the_text_up_to_that_of_all() -> None:
    """25 times 1,000 characters and 20,000; 50,000 characters would come to more than any text may have."""
    assert html_bound("x" * 1_000) == 45_000
    assert html_bound("x" * 50_000) == HTML_LIMIT == 400_000
    with pytest.raises(TextTooLarge, match="a text of this length may have 400,000"):
        markdown_html("|a|\n|-|\n\n" * 2_000, 3, {})


def test_nothing_of_a_text_shown_as_it_was_written_is_html() -> None:
    shown = render_markdown(f"<script>alert(1)</script>\n\n{TABLE}")
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_a_text_is_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "_CACHE", html._Cache())
    first = rendered("once, *and no more*")
    monkeypatch.setattr(html, "run_now", None)  # whoever rendered it again would fail
    assert rendered("once, *and no more*") is first
    assert render_markdown("once, *and no more*") == first.html


def test_the_images_of_a_page_and_its_headings_are_part_of_what_is_cached() -> None:
    text = "# A map\n\n![A map](map.png)"
    small, large = ({"map.png": ShownImage(f"/{name}.png", 20, 10)} for name in ("small", "large"))
    assert '<img src="/small.png" alt="A map" width="20" height="10" loading="lazy"' in render_markdown(text, 3, small)
    assert "/large.png" in render_markdown(text, 3, large)
    assert "<img" not in render_markdown(text)
    assert "<h4>" in render_markdown(text, 4)


def test_the_least_recently_shown_texts_leave_the_cache_first(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = html._Cache()
    monkeypatch.setattr(html, "CACHE_LIMIT_BYTES", 3 * (html._ENTRY_BYTES + 100))
    texts = {name: html.Rendered(escape("x" * 100)) for name in (b"a", b"b", b"c")}
    for name, one in texts.items():
        cache.keep(name, one)
    assert cache.get(b"a") is texts[b"a"]
    cache.keep(b"d", html.Rendered(escape("y" * 100)))
    assert cache.get(b"b") is None
    assert cache.get(b"a") is texts[b"a"]
    assert cache.get(b"d") is not None


def test_a_text_that_is_larger_than_the_cache_stays_until_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check it, since otherwise it would be rendered again for each visitor."""
    cache = html._Cache()
    monkeypatch.setattr(html, "CACHE_LIMIT_BYTES", 10)
    large = cache.keep(b"a", html.Rendered(escape("x" * 100)))
    assert cache.get(b"a") is large
    cache.keep(b"b", html.Rendered(escape("y")))
    assert (cache.get(b"a"), cache.get(b"b") is None) == (None, False)


def test_what_could_not_be_rendered_is_tried_again_when_its_time_is_over() -> None:
    cache = html._Cache()
    cache.keep(b"past", html.Rendered(escape("x"), "", time.monotonic() - 1))
    cache.keep(b"to come", html.Rendered(escape("x"), "", time.monotonic() + 3600))
    assert (cache.get(b"past"), cache.get(b"to come") is None) == (None, False)


def test_where_too_many_wait_a_text_is_shown_as_it_was_written_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = Job(html._RENDER.function, processor_seconds=4, seconds=20, mebibytes=512, at_once=1, waiting=0)
    monkeypatch.setattr(html, "_RENDER", narrow)
    with narrow.turn():
        assert render_markdown("busy <b>*now*</b>") == '<div class="as-written">busy &lt;b&gt;*now*&lt;/b&gt;</div>\n'
    assert "<em>now</em>" in render_markdown("busy <b>*now*</b>")


def test_a_text_that_many_look_at_at_once_is_rendered_for_all() -> None:
    with ThreadPoolExecutor(8) as crowd:
        assert len(set(crowd.map(lambda _: render_markdown("# Eight\n\nlook *at this*"), range(8)))) == 1
