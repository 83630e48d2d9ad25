"""The requirements of every page, checked on its markup: no inline code, labels, captions, headings, unique ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "path", "circle", "hr", "img"}


@dataclass
class Markup(HTMLParser):
    """Elements in order, as (name, attributes), and the text in and after each."""

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    inside: list[tuple[str, ...]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self.inside.append(tuple(self.open))
        self.texts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += data

    def all(self, name: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.elements if tag == name]


def read(page: str) -> Markup:
    """Return the page's markup; elements must be closed in order."""
    markup = Markup()
    markup.feed(page)
    markup.close()
    assert markup.open == [], f"never closed: {markup.open}"
    return markup


def check(page: str) -> Markup:
    """Check everything that every whole page must meet; return its markup."""
    markup = read(page)
    assert page.startswith("<!doctype html>")
    assert markup.all("html") == [{"lang": "en"}]
    assert len(markup.all("h1")) == 1
    assert len(markup.all("main")) == 1
    assert markup.all("title")
    check_no_inline_code(markup)
    check_names(markup)
    check_tables(markup)
    check_forms(markup)
    return markup


def check_no_inline_code(markup: Markup) -> None:
    assert not markup.all("style")
    # What schema.org describes is data: nothing runs it.
    run = [one for one in markup.all("script") if one.get("type") != "application/ld+json"]
    assert all("src" in script for script in run)
    for tag, attributes in markup.elements:
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        for name in ("src", "href", "action"):
            assert not attributes.get(name, "").startswith(("javascript:", "//")), (tag, attributes)
    for script in run:
        assert script["src"].startswith("/static/")


def check_names(markup: Markup) -> None:
    ids = [attributes["id"] for _, attributes in markup.elements if "id" in attributes]
    assert len(ids) == len(set(ids)), sorted(ids)
    labels = {label.get("for") for label in markup.all("label")}
    for (tag, attributes), inside in zip(markup.elements, markup.inside, strict=True):
        if tag in ("input", "textarea", "select") and attributes.get("type") != "hidden":
            assert attributes.get("id") in labels or "label" in inside, attributes
        if tag == "img":
            assert "alt" in attributes
        for reference in ("aria-labelledby", "aria-describedby"):
            for wanted in attributes.get(reference, "").split():
                assert wanted in ids, (tag, reference, wanted)
        if tag == "a":
            assert attributes.get("href"), attributes


def check_tables(markup: Markup) -> None:
    assert len(markup.all("caption")) == len(markup.all("table"))
    for (tag, attributes), inside in zip(markup.elements, markup.inside, strict=True):
        if tag == "th" and "thead" in inside:
            assert attributes.get("scope") in ("col", "colgroup")
        elif tag == "th":
            assert attributes.get("scope") == "row"


def check_forms(markup: Markup) -> None:
    posts = [form for form in markup.all("form") if form.get("method") == "post"]
    tokens = [one for one in markup.all("input") if one.get("name") == "csrf_token"]
    assert len(posts) == len(tokens)
    assert all(form["action"].startswith("/") for form in posts)
