"""Contents of a method card: every part and every kind of answer; all problems are reported at once."""

from __future__ import annotations

from typing import Any

import pytest

from app.cards.form import CardAnswer, CardForm, MethodCard, card_form, card_from, card_of, read_document
from tests.cards.writing import FIELDS, required

FORM = card_form({"required": [], "fields": FIELDS}, ("EN", "PT", "GL"))
LINK = "A link must begin with http:// or https:// and have no spaces."


def said(form: CardForm = FORM, **sent: Any) -> dict[str, Any]:
    document, wrong = read_document(sent, form)
    assert wrong == {}
    return document


def faults(form: CardForm = FORM, **sent: Any) -> dict[str, str]:
    return read_document(sent, form)[1]


def test_a_whole_card_is_kept_as_it_was_said() -> None:
    document = said(
        method=" XLM-R ",
        summary="Two\r\nlines.",
        paper="https://aclanthology.org/2022.semeval-1.13/",
        code="http://example.org:8080/code?x=1#y",
        data="train",
        languages=["pt", "EN"],
        fields={"parameters": 560, "family": "encoder", "ensemble": True, "training": "three epochs"},
    )
    assert document == {
        "method": "XLM-R",
        "summary": "Two\nlines.",
        "paper": "https://aclanthology.org/2022.semeval-1.13/",
        "code": "http://example.org:8080/code?x=1#y",
        "data": "train",
        "languages": ["EN", "PT"],
        "fields": {"parameters": 560, "family": "encoder", "ensemble": True, "training": "three epochs"},
    }
    card = card_of(document, FORM)
    assert card.languages == ("EN", "PT")
    assert [(one.title, one.text) for one in card.answers] == [
        ("Parameters (millions)", "560"),
        ("Family", "encoder"),
        ("Ensemble", "yes"),
        ("Training", "three epochs"),
    ]


def test_nothing_said_is_an_empty_card() -> None:
    assert said() == {}
    assert said(method=" ", summary="", languages=[], fields={"parameters": "", "ensemble": " ", "family": None}) == {}
    assert card_of({}, FORM) == MethodCard()
    assert not card_of({"method": "m"}, FORM).says_more
    assert card_of({"code": "https://example.org"}, FORM).says_more


@pytest.mark.parametrize(
    "address",
    [
        "example.org",
        "ftp://example.org",
        "javascript:alert(1)",
        "JavaScript://example.org/%0aalert(1)",
        "https://",
        "https:///path",
        "https://user:secret@example.org",
        "https://example.org:99999",
        "https://example.org/a b",
        'https://example.org/"onclick=',
        "https://exa\u2028mple.org",
        "data:text/html,x",
        "https://[half",
    ],
)
def test_only_web_addresses_are_links(address: str) -> None:
    fault = faults(paper=address)["paper"]
    assert fault in (LINK, "Write one line."), address


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        (560, 560),
        ("560", 560),
        (0.5, 0.5),
        ("3.5e8", 350_000_000),
        (" 7 ", 7),
        (-1, -1),
        (1e300, 1e300),
        ("1e-9", 1e-9),
    ],
)
def test_numbers_are_read_as_people_and_programs_write_them(typed: Any, number: float) -> None:
    kept = said(fields={"parameters": typed})["fields"]["parameters"]
    assert kept == number
    assert isinstance(kept, int) == (number == int(number) and abs(number) < 2**53)


@pytest.mark.parametrize("typed", ["many", "1,000", "1_000", "nan", float("nan"), float("inf"), True, [1], 10**400])
def test_what_is_no_number_is_refused(typed: Any) -> None:
    assert "is not a number" in faults(fields={"parameters": typed})["fields.parameters"]


def test_choices_and_yes_or_no_are_what_was_declared() -> None:
    assert said(fields={"ensemble": "No"})["fields"] == {"ensemble": False}
    assert faults(fields={"ensemble": "perhaps"}) == {"fields.ensemble": "Answer yes or no."}
    assert faults(fields={"ensemble": 1}) == {"fields.ensemble": "Answer yes or no."}
    assert faults(fields={"family": "encodr"}) == {
        "fields.family": "'encodr' is not one of the answers; did you mean 'encoder'?; choose from encoder, decoder."
    }
    assert "This is not one" in faults(fields={"family": ["encoder"]})["fields.family"]


def test_languages_are_the_tasks_own_where_it_has_some() -> None:
    assert said(languages="pt, en")["languages"] == ["EN", "PT"]
    assert faults(languages=["en", "xx"]) == {"languages": "'xx' is not a language of this task; there are EN, PT, GL."}
    free = card_form({})
    assert said(free, languages=["tlh", "en", "tlh"])["languages"] == ["tlh", "en"]
    assert "languages" in faults(free, languages=["e" * 41])
    assert "languages" in faults(free, languages=["e\0n"])
    assert "languages" in faults(free, languages=[1])
    assert "languages" in faults(free, languages=[f"l{n}" for n in range(101)])


def test_texts_are_bounded_and_keep_what_scripts_need() -> None:
    persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"  # with a joiner inside
    assert said(summary=persian, method=persian) == {"summary": persian, "method": persian}
    assert faults(summary="x" * 2_001) == {"summary": "At most 2000 characters; this has 2001."}
    assert faults(method="x" * 201) == {"method": "At most 200 characters; this has 201."}
    assert faults(method="two\nlines") == {"method": "Write one line."}
    assert faults(data="NUL \0") == {"data": "Control characters are not allowed."}
    assert faults(data="half \ud800") == {"data": "Control characters are not allowed."}
    assert faults(summary=5) == {"summary": "Write text here."}


def test_text_that_stands_on_the_board_is_one_short_line() -> None:
    form = card_form({"fields": [{**FIELDS[3], "on_board": True}]})
    assert said(form, fields={"training": "x" * 80})
    assert faults(form, fields={"training": "x" * 81}) == {"fields.training": "At most 80 characters; this has 81."}
    assert faults(form, fields={"training": "a\nb"}) == {"fields.training": "Write one line."}


def test_everything_wrong_is_told_at_once_by_field() -> None:
    form = card_form({"required": ["code", "method"], "fields": required("parameters", "training")})
    wrong = faults(form, paper="here", colour="red", fields={"parameters": "big", "size": 5})
    assert wrong == {
        "colour": "There is no such field; there are method, summary, paper, code, data, languages, fields.",
        "method": "The organisers require this.",
        "paper": LINK,
        "code": "The organisers require this.",
        "fields.size": "There is no such field; there are parameters, family, ensemble, training.",
        "fields.parameters": "'big' is not a number; write 350 or 3.5e8.",
        "fields.training": "The organisers require this.",
    }
    assert faults(form, code="https://example.org", method="m", fields=[]) == {
        "fields.parameters": "The organisers require this.",
        "fields.training": "The organisers require this.",
    }
    assert faults(fields=["x"]) == {"fields": "Send the answers as an object of field names and answers."}


def test_no_is_an_answer() -> None:
    form = card_form({"fields": required("ensemble", "parameters")})
    assert said(form, fields={"ensemble": False, "parameters": 0})["fields"] == {"ensemble": False, "parameters": 0}


def test_answers_to_what_is_no_longer_asked_are_not_shown() -> None:
    document = {"fields": {"parameters": 5, "gone": "x"}}
    assert [one.name for one in card_of(document, FORM).answers] == ["parameters"]


def test_a_frozen_card_is_read_back_as_it_was() -> None:
    import json
    from dataclasses import asdict

    card = MethodCard("m", "s", languages=("EN",), answers=(CardAnswer("a", "A", True), CardAnswer("b", "B", 0.5)))
    assert card_from(json.loads(json.dumps(asdict(card)))) == card


def test_a_number_too_long_to_be_written_is_no_number() -> None:
    assert faults(fields={"parameters": 10**5000}) == {"fields.parameters": "This is not a number; write 350 or 3.5e8."}
