"""Questions at registration are edited on the server: their words, choices, and whether they need an answer."""

from __future__ import annotations

import pytest

from app.base.errors import InvalidForm
from app.declarations.edits.fields import Value, parts
from tests.declarations.place import Place

PATH = "registration.questions"
QUESTIONS = """title: "Demo"
    registration:
      questions:
        - {name: country}
        - {name: gpu, title: 'What do you train on?', kind: choice, choices: [none, one]}
    tasks:"""


@pytest.fixture
def asking(place: Place) -> Place:
    place.folder.change('title: "Demo"\n    tasks:', QUESTIONS)
    place.apply()
    return place


def test_the_words_that_a_field_of_numbers_takes_stand_beside_it(asking: Place) -> None:
    fields = [field for part in parts(asking.present().document) for field in part.fields]
    hints = {field.hint for field in fields if field.name.endswith(".visibility.precision")}
    assert len(hints) == 1
    assert hints.pop().startswith("A number, or full. Empty: ")


def test_what_is_asked_has_fields_of_its_own(asking: Place) -> None:
    found = [part for part in parts(asking.present().document) if part.title == "Questions at registration"]
    assert [field.name for field in found[0].fields] == [
        f"{PATH}.country.title",
        f"{PATH}.country.help",
        f"{PATH}.country.required",
        f"{PATH}.gpu.title",
        f"{PATH}.gpu.help",
        f"{PATH}.gpu.required",
        f"{PATH}.gpu.choices",
    ]


def test_a_question_is_edited(asking: Place) -> None:
    values: dict[str, Value] = {f"{PATH}.gpu.choices": ["none", "one", "several"], f"{PATH}.country.required": True}
    asking.edit(values)
    country, gpu = asking.present().document["registration"]["questions"]
    assert gpu["choices"] == ["none", "one", "several"]
    assert country == {"name": "country", "required": True}


def test_a_question_of_its_own_keeps_its_words(asking: Place) -> None:
    with pytest.raises(InvalidForm) as refused:
        asking.edit({f"{PATH}.gpu.title": None})
    assert refused.value.details["fields"] == {f"{PATH}.gpu.title": "This is needed."}
