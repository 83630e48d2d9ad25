"""Forms made from the models of a declaration: every key is there, explained, and comes back as it was typed."""

from __future__ import annotations

import pytest

from app.base.errors import NotFound
from app.declarations.blueprints.forms import (
    data_values,
    fields_of,
    in_words,
    located,
    path_of,
    steps_of,
    typed,
    with_form,
    with_new,
    without,
)
from app.declarations.blueprints.schemas import known_keys
from app.declarations.blueprints.wording import fits_metrics
from app.declarations.revisions.documents import Document
from app.models import PROGRAM
from evergold.scoring.tasks import TASKS

DOCUMENT: Document = {
    "name": "irony",
    "title": "Irony",
    "tasks": [{"name": "main", "type": "table", "title": "Main", "options": {"labels": ["a", "b"]}}],
    "boards": [{"name": "main", "title": "Main", "task": "main", "columns": [{"metric": "mcc", "split": "all"}]}],
    "phases": [{"name": "open", "title": "Open", "tasks": {"main": {"limits": {"per_day": 3}}}}],
}


def form_of(at: str, document: Document = DOCUMENT) -> dict[str, str]:
    """Return what a browser sends back for a part, unchanged."""
    sent = {}
    for field in fields_of(document, steps_of(at)):
        sent[field.name] = field.value
        for place, row in enumerate(field.rows):
            sent |= {f"{field.name}.{place}.{one.name}": text for one, text in zip(field.columns, row, strict=True)}
    return sent


PARTS = ["", "tasks/0", "tasks/0/options", "boards/0", "phases/0", "phases/0/tasks/main", "phases/0/tasks/main/limits"]


@pytest.mark.parametrize("at", PARTS)
def test_a_form_that_is_sent_untouched_changes_nothing(at: str) -> None:
    assert with_form(DOCUMENT, steps_of(at), form_of(at)) == DOCUMENT


@pytest.mark.parametrize("environment", [[], ["numpy==2.1.0"], ["default"]])
def test_environment_without_packages_is_not_the_one_of_requirements(environment: list[str]) -> None:
    options = {"environment": environment, "metrics": [{"name": "accuracy"}]}
    program = {"name": "main", "type": "program", "title": "Main", "program": "programs/main", "options": options}
    document = {**DOCUMENT, "tasks": [program]}
    sent = form_of("tasks/0/options", document)
    assert with_form(document, steps_of("tasks/0/options"), sent) == document
    without = with_form(document, steps_of("tasks/0/options"), {**sent, "environment": ""})
    assert without["tasks"][0]["options"] == {"metrics": [{"name": "accuracy"}]}


@pytest.mark.parametrize("at", [*PARTS, "registration", "phases/0/visibility", "method_card", "citation", "teams"])
def test_every_key_of_every_part_has_a_label(at: str) -> None:
    fields = fields_of(DOCUMENT, steps_of(at))
    assert fields
    assert all(field.label for field in fields)


def test_the_options_of_a_task_type_are_explained_by_its_model() -> None:
    hints = {field.name: field.hint for field in fields_of(DOCUMENT, steps_of("tasks/0/options"))}
    assert hints["metrics"] == "one or more of a kind"
    assert hints["id"] == hints["value"] == "the columns' names in gold and prediction"
    assert hints["labels"].startswith("what a label may be (empty: any, with a warning")


@pytest.mark.parametrize("name", sorted(TASKS))
def test_the_options_of_every_task_type_have_a_form(name: str) -> None:
    document = {"tasks": [{"name": "main", "type": name, "options": {}}]}
    names = [field.name for field in fields_of(document, steps_of("tasks/0/options"))]
    asked = [one for one in TASKS[name].options.model_fields if one != PROGRAM]  # the server fills that in
    assert names == [one for one in asked if name != "table" or fits_metrics(one, None)]


def test_a_phase_sets_the_options_of_the_task_that_it_asks() -> None:
    names = {field.name for field in fields_of(DOCUMENT, steps_of("phases/0/tasks/main/options"))}
    assert "labels" in names


def test_what_is_typed_is_kept_also_where_it_is_wrong() -> None:
    changed = with_form(DOCUMENT, steps_of("phases/0/tasks/main/limits"), {"per_day": "few", "total": " 9 "})
    assert changed["phases"][0]["tasks"]["main"]["limits"] == {"per_day": "few", "total": 9}
    assert DOCUMENT["phases"][0]["tasks"]["main"]["limits"] == {"per_day": 3}, "the first one stays"


@pytest.mark.parametrize(("typed", "expected"), [("full", "full"), (" 6 ", 6), ("many", "many")])
def test_a_number_or_a_word_is_typed_into_one_field(typed: str, expected: object) -> None:
    changed = with_form(DOCUMENT, steps_of("phases/0/visibility"), {"precision": typed})
    assert changed["phases"][0]["visibility"] == {"precision": expected}


def test_a_part_that_says_nothing_any_more_is_gone_and_one_begins_with_its_first_word() -> None:
    changed = with_form(DOCUMENT, steps_of("phases/0/tasks/main/limits"), {})
    assert changed["phases"][0]["tasks"]["main"] == {}
    changed = with_form(changed, steps_of("registration"), {"mode": "approval"})
    assert changed["registration"] == {"mode": "approval"}


def test_rows_are_added_in_the_empty_ones_and_emptied_to_remove_them() -> None:
    sent = form_of("boards/0") | {"columns.0.metric": "", "columns.0.split": "", "columns.2.metric": "macro_f1"}
    changed = with_form(DOCUMENT, steps_of("boards/0"), sent)
    assert changed["boards"][0]["columns"] == [{"metric": "macro_f1"}]


def test_elements_come_and_go() -> None:
    more = with_new(DOCUMENT, steps_of("tasks"), "second")
    assert [task["name"] for task in more["tasks"]] == ["main", "second"]
    asked = with_new(more, steps_of("phases/0/tasks"), "second")
    assert list(asked["phases"][0]["tasks"]) == ["main", "second"]
    assert without(asked, steps_of("phases/0/tasks/second"))["phases"] == DOCUMENT["phases"]
    assert without(more, steps_of("tasks/1"))["tasks"] == DOCUMENT["tasks"]


def test_findings_name_elements_by_their_names() -> None:
    assert path_of(DOCUMENT, steps_of("boards/0/columns/0")) == "boards.main.columns.1"


@pytest.mark.parametrize("at", ["nowhere", "tasks/0/nowhere", "boards/0/columns", "tasks/7/title/more"])
def test_there_is_no_form_for_what_cannot_be_said(at: str) -> None:
    with pytest.raises(NotFound):
        fields_of(DOCUMENT, steps_of(at))


def test_data_is_yaml_of_bounded_size() -> None:
    """Check an alias of an alias of an alias …, millions of values in a few lines: it stays a text."""
    document = {**DOCUMENT, "tasks": [{"name": "main", "type": "program"}]}
    field = next(one for one in fields_of(document, steps_of("tasks/0/options")) if one.name == "json_schema")
    assert typed(field, "out.csv: [id, label]", data_values(["out.csv: [id, label]"])) == {"out.csv": ["id", "label"]}
    levels = [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 50)}]" for level in range(1, 5)]
    bomb = "\n".join(["a0: &a0 [x]", *levels])
    assert typed(field, bomb, data_values([bomb])) == bomb


def test_groups_and_expected_scores_are_typed_a_name_a_line() -> None:
    groups = next(one for one in fields_of(DOCUMENT, steps_of("tasks/0/options")) if one.name == "groups")
    assert typed(groups, "language: en, pt\ndomain: news", {}) == {"language": ["en", "pt"], "domain": ["news"]}
    assert typed(groups, "language", {}) == "language", "what is no group stays as typed, and is reported"
    document = with_form(DOCUMENT, steps_of("tasks/0/options"), {"groups": "language: en, pt", "metrics.mcc": "yes"})
    assert document["tasks"][0]["options"] == {"groups": {"language": ["en", "pt"]}, "metrics": ["mcc"]}
    shown = {one.name: one for one in fields_of(document, steps_of("tasks/0/options"))}
    assert (shown["groups"].value, shown["metrics"].ticked) == ("language: en, pt", ("mcc",))


def test_options_of_other_metrics_are_not_asked_for() -> None:
    """Check options that are declared, too: they must be visible to be removed."""

    def names(**options: object) -> set[str]:
        document = {**DOCUMENT, "tasks": [{"name": "main", "type": "table", "options": options}]}
        return {one.name for one in fields_of(document, steps_of("tasks/0/options"))}

    assert "labels" in names()
    assert not names() & {"minimum", "bleu_tokenize", "references"}
    assert {"minimum", "maximum"} <= names(metrics=["spearman"])
    assert "labels" not in names(metrics=["spearman"])
    assert "bleu_tokenize" in names(bleu_tokenize="13a")


def test_a_finding_is_named_by_titles_and_leads_to_its_page() -> None:
    where, at = located(DOCUMENT, "phases.open.start")
    assert (where, at) == ("Phases › Open › Start", "phases/0")
    assert located(DOCUMENT, "declaration") == ("Declaration", "")
    assert (
        in_words("phases.open.share", "'share' must be a number, but is 'half'") == "It must be a number, but is 'half'"
    )
    assert in_words("phases.open", "The phase has no end.") == "The phase has no end."


OWN_PROGRAM = {**DOCUMENT, "tasks": [{"name": "main", "type": "program"}]}


def test_options_of_a_program_are_fields_and_none_is_yaml() -> None:
    kinds = {one.name: one.kind for one in fields_of(OWN_PROGRAM, steps_of("tasks/0/options"))}
    assert [name for name, kind in kinds.items() if kind == "data"] == ["json_schema"], "JSON by its nature"
    assert (kinds["metrics"], kinds["limits"], kinds["environment"], kinds["contract"]) == (
        "list",
        "part",
        "lines",
        "choice",
    )
    added = with_new(OWN_PROGRAM, steps_of("tasks/0/options/metrics"), "")
    assert added["tasks"][0]["options"] == {"metrics": [{}]}
    sent = {"name": "f1", "better": "lower", "mean_of": "f1_en\nf1_pt", "decimals": "2"}
    metric = with_form(added, steps_of("tasks/0/options/metrics/0"), sent)["tasks"][0]["options"]["metrics"]
    assert metric == [{"name": "f1", "better": "lower", "mean_of": ["f1_en", "f1_pt"], "decimals": 2}]
    limits = with_form(OWN_PROGRAM, steps_of("tasks/0/options/limits"), {"seconds": "60"})
    assert limits["tasks"][0]["options"] == {"limits": {"seconds": 60}}


@pytest.mark.parametrize("task_type", sorted(TASKS))
def test_every_option_has_an_example_or_choices_and_no_hint_names_a_key(task_type: str) -> None:
    document = {**DOCUMENT, "tasks": [{"name": "main", "type": task_type}]}
    for at in ("", "tasks/0", "tasks/0/options", "phases/0", "phases/0/visibility", "registration"):
        for one in fields_of(document, steps_of(at)):
            if one.kind not in ("part", "list", "named", "rows"):
                assert one.example or one.choices or one.name == "seed", (at, one.name)
            assert not {word.strip("`'.,;:()") for word in one.hint.split()} & known_keys_with_bars(), (at, one.hint)


def known_keys_with_bars() -> set[str]:
    return {name for name in known_keys() if "_" in name}


def test_a_board_offers_the_scores_of_its_task() -> None:
    columns = next(one for one in fields_of(DOCUMENT, steps_of("boards/0")) if one.name == "columns").columns
    offered = {one.name: one.choices for one in columns}
    assert "macro_f1" in offered["metric"]
    assert "all" in offered["split"]
