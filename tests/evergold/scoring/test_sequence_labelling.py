"""The task type sequence-labelling: both forms of files, every problem by line, options, what moves a signature."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergold.scoring.errors import InvalidGold, InvalidItems, InvalidOptions, InvalidPrediction
from evergold.scoring.tables.span_files import MOST_SPANS
from evergold.scoring.task import Score, read_options
from evergold.scoring.tasks.sequence_labelling import TASK, Prediction, SequenceOptions

Write = Callable[[str, str], Path]

TAGGED = "Ann\tB-PER\nLee\tI-PER\nleft\tO\n\nParis\tB-LOC\n"
SPANS = (
    '{"id": "s1", "text": "Ann Lee left", "spans": [[0, 7, "PER"]]}\n'
    '{"id": "s2", "text": "Paris", "spans": [[0, 5, "LOC"]]}\n'
)
BLIND = '{"id": "s1", "text": "Ann Lee left"}\n{"id": "s2", "text": "Paris"}\n'


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return _write


def read(write: Write, gold: str, prediction: str, items: str | None = None, **options: Any) -> Prediction:
    chosen = read_options(TASK, options)
    assert isinstance(chosen, SequenceOptions)
    answers = TASK.read_gold(write("gold", gold), chosen)
    wanted = TASK.read_items(write("items", items), chosen) if items else TASK.items_of(answers, chosen)
    return TASK.read_prediction(write("prediction", prediction), wanted, chosen)


def scored(write: Write, gold: str, prediction: str, items: str | None = None, **options: Any) -> dict[str, Score]:
    chosen = read_options(TASK, options)
    assert isinstance(chosen, SequenceOptions)
    checked = read(write, gold, prediction, items, **options)
    found = TASK.score(TASK.read_gold(write("gold", gold), chosen), checked, chosen)
    return {f"{score.metric} {score.split}": score for score in found}


def refused(write: Write, gold: str, prediction: str, items: str | None = None, **options: Any) -> list[str]:
    with pytest.raises(InvalidPrediction) as caught:
        read(write, gold, prediction, items, **options)
    return sorted(str(problem) for problem in caught.value.problems)


@pytest.mark.parametrize("gold", [TAGGED, SPANS], ids=["tags", "spans"])
def test_a_perfect_prediction_has_all_scores_at_their_maximum(gold: str, write: Write) -> None:
    without_texts = SPANS.replace('"text": "Ann Lee left", ', "").replace('"text": "Paris", ', "")
    prediction = gold if gold == TAGGED else without_texts
    assert {score.value for score in scored(write, gold, prediction).values()} == {1.0}


def test_both_forms_have_the_same_scores(write: Write) -> None:
    spans = '{"spans": [{"start": 0, "end": 3, "type": "PER"}], "id": "s1"}\n{"id": "s2", "spans": []}\n'
    tags = TAGGED.replace("I-PER", "O").replace("B-LOC", "O")
    of_spans, of_tags = scored(write, SPANS, spans), scored(write, TAGGED, tags)
    assert {name: score.value for name, score in of_spans.items()} == {name: s.value for name, s in of_tags.items()}
    signatures = [of_spans[name].signature for name in ("f1 all", "f1 macro", "recall type/PER")]
    assert signatures == [
        "sequence-labelling:2|f1|all|spans:given",
        "sequence-labelling:2|f1|macro|spans:given|types:present",
        "sequence-labelling:2|recall|type/PER|spans:given",
    ]
    # exact: none of 2; lenient: PER overlaps, 1 predicted of 2 in gold
    assert [of_spans[f"{name} all"].value for name in ("f1", "lenient_precision", "lenient_recall")] == [0, 1, 0.5]


@pytest.mark.parametrize(
    "prediction",
    [
        "\ufeffAnn B-PER\r\nLee I-PER\r\nleft O\r\n\r\n\r\nParis B-LOC",
        "# id = 1\nAnn NNP B-PER\nLee NNP I-PER\nleft VBD O\n\n# id 2 domain=en\nParis NNP B-LOC\n\n",
    ],
)
def test_columns_comments_and_line_ends_may_differ(prediction: str, write: Write) -> None:
    assert scored(write, TAGGED, prediction) == scored(write, TAGGED, TAGGED)


def test_a_token_may_be_a_hash(write: Write) -> None:
    gold = "#\tB-SYM\n# x\tO\n"
    assert read(write, gold, gold).spans == {"sentence 1": ((0, 1, "SYM"),)}


def test_every_problem_of_tags_is_told_by_line(write: Write) -> None:
    gold = TAGGED + "\nin\tO\n"
    prediction = "Anna\tB-PER\nLee\tE-PER\nleft\tPER\n\nParis\tB-ORG\nin\t\n"
    assert refused(write, gold, prediction, types=["PER", "LOC"]) == [
        "line 1, column token: the token is 'Anna', in the items it is 'Ann' (sentence 1)",
        "line 2, column tag: 'E-PER' is not a tag of BIO: B-TYPE, I-TYPE or O",
        "line 3, column tag: 'PER' is not a tag of BIO: B-TYPE, I-TYPE or O",
        "line 5, column tag: 'ORG' is not a type; the types are LOC, PER",
        "line 5, column token: sentence 2 has 2 tokens, in the items it has 1",
        "line 6, column tag: '' is not a tag of BIO: B-TYPE, I-TYPE or O",
        "the file has 2 sentences, the items have 3",
    ]


def test_every_problem_of_spans_is_told_by_line(write: Write) -> None:
    rows = [
        '{"id": "s1", "spans": [[0, 13, "PER"], [3, 3, "PER"], [0, 1, "PER"], [0, 1, "PER"]]}',
        '{"id": "s1", "spans": [[0, 1]], "text": "x"}',
        '{"id": "s3", "spans": [[-1, 1, "PER"]]}',
        '{"id": "s2", "spans": "PER"}',
        '{"id": " ", "spans": [[0, 1.5, "PER"], [0, 1, 2], [0, 1, "ORG"]]}',
        '{"id": "s4"}',
    ]
    told = refused(write, SPANS, "\n".join(rows), BLIND, types=["PER", "LOC"])
    assert told == [
        "line 1, column spans: a span from 0 to 13 goes beyond the text, which has 12 characters",
        "line 1, column spans: a span from 3 to 3 is empty: the end is the first position after it",
        "line 1, column spans: the span 0 to 1, PER, occurs twice",
        "line 2, column id: id s1 appears twice, first on line 1",
        'line 2, column spans: a span must be [start, end, "TYPE"], with whole numbers from 0',
        "line 2, column text: the key 'text' is not expected; the keys are id, spans",
        "line 3, column id: id 's3' is not an item",
        'line 3, column spans: a span must be [start, end, "TYPE"], with whole numbers from 0',
        'line 4, column spans: `spans` must be a list: [[start, end, "TYPE"], …]',
        "line 5, column id: `id` must be a text or a number without spaces around it",
        "line 5, column id: id 'line 5' is not an item",
        "line 5, column spans: 'ORG' is not a type; the types are LOC, PER",
        'line 5, column spans: a span must be [start, end, "TYPE"], with whole numbers from 0',
        "line 5, column spans: the type of a span must be a text",
        "line 6, column id: id 's4' is not an item",
    ]


def test_missing_ids_and_too_many_spans_are_refused(write: Write) -> None:
    assert refused(write, SPANS, '{"id": "s1", "spans": []}\n') == ["1 of 2 ids are missing: s2"]
    many = ",".join(f'[{n}, {n + 1}, "PER"]' for n in range(MOST_SPANS + 1))
    assert refused(write, SPANS, f'{{"id": "s1", "spans": [{many}]}}\n') == [
        "line 1, column spans: 1,001 spans of one text; at most 1,000"
    ]


@pytest.mark.parametrize(("gold", "prediction"), [(TAGGED, SPANS), (SPANS, TAGGED)])
def test_a_file_of_the_other_form_is_refused(gold: str, prediction: str, write: Write) -> None:
    assert "the file must be in the form of the items" in refused(write, gold, prediction)[0]


def test_tags_that_break_the_scheme_are_warned_of(write: Write) -> None:
    """Line 1 begins with I, line 5 too: lenient reads both as spans, strict as none."""
    broken = TAGGED.replace("B-", "I-")
    checked = read(write, TAGGED, broken, types=["PER", "LOC"])
    assert [str(warning) for warning in checked.warnings] == [
        "line 1: this tag does not follow from the one before (and 1 more): what breaks BIO is read as conlleval does"
    ]
    assert checked.spans == {"sentence 1": ((0, 2, "PER"),), "sentence 2": ((0, 1, "LOC"),)}
    strict = read(write, TAGGED, broken, reading="strict")
    assert strict.spans == {"sentence 1": (), "sentence 2": ()}
    assert str(strict.warnings[0]).endswith("what breaks BIO is not in a span")


def test_types_that_only_a_prediction_has_count_as_errors(write: Write) -> None:
    found = scored(write, TAGGED, TAGGED.replace("B-LOC", "B-GPE"))
    assert found["f1 all"].value == 0.5
    assert found["f1 macro"].value == pytest.approx(1 / 3)  # PER 1, LOC 0, GPE 0
    assert "f1 type/GPE" not in found


def test_nothing_of_a_declared_type_is_undefined(write: Write) -> None:
    found = scored(write, TAGGED, TAGGED, types=["PER", "LOC", "ORG"])
    assert (found["f1 type/ORG"].value, found["f1 macro"].value) == (None, 1)
    assert found["f1 type/ORG"].reason == "neither gold nor prediction has such a span"


@pytest.mark.parametrize(
    ("gold", "words"),
    [
        ("Ann\tO\n", "no span is labelled"),
        ("Ann\tX\n", "line 1, column tag: 'X' is not a tag of BIO"),
        ('{"id": "1"}\n', "line 1, column spans: 1 lines have no `spans`"),
        ('{"id": "1", "spans": [[0, 9, "X"]], "text": "short"}\n', "goes beyond the text, which has 5 characters"),
        ("\n\n\n", "the file is empty"),
    ],
)
def test_broken_gold_is_refused(gold: str, words: str, write: Write) -> None:
    with pytest.raises(InvalidGold, match=words):
        TASK.read_gold(write("gold", gold), SequenceOptions())


def test_broken_items_are_refused(write: Write) -> None:
    with pytest.raises(InvalidItems, match="id s1 appears twice, first on line 1"):
        TASK.read_items(write("items", '{"id": "s1"}\n{"id": "s1"}\n'), SequenceOptions())


def test_gold_does_not_tell_the_order_of_its_texts(write: Write) -> None:
    turned = "".join(reversed(SPANS.splitlines(keepends=True)))
    assert TASK.read_items(write("items", turned), SequenceOptions()).names == ("s1", "s2")
    blind = "".join(reversed(BLIND.splitlines(keepends=True)))
    assert TASK.read_items(write("items", blind), SequenceOptions()).names == ("s2", "s1")


@pytest.mark.parametrize("items", [TAGGED, BLIND])
def test_the_template_is_a_submission_without_a_span(items: str, write: Write) -> None:
    chosen = SequenceOptions()
    asked = TASK.read_items(write("items", items), chosen)
    empty = write("template", TASK.template(asked, chosen) or "")
    assert set(TASK.read_prediction(empty, asked, chosen).spans.values()) == {()}


@pytest.mark.parametrize("option", [{"reading": "strict"}, {"scheme": "bioes"}])
def test_signatures_change_with_what_can_move_a_score(option: dict[str, Any], write: Write) -> None:
    gold = "Ann\tB-PER\n"
    usual, other = scored(write, gold, gold), scored(write, gold, gold, **option)
    assert all(usual[name].signature != other[name].signature for name in usual)
    ranked = scored(write, gold, gold, rank_by="macro")
    assert {name: score.signature for name, score in ranked.items()} == {n: s.signature for n, s in usual.items()}


def test_the_ranking_score_is_the_first_column() -> None:
    firsts = [TASK.columns(SequenceOptions(rank_by=rank))[0] for rank in ("f1", "lenient_f1", "macro")]
    assert [(one.split, one.metric) for one in firsts] == [("all", "f1"), ("all", "lenient_f1"), ("macro", "f1")]


def test_a_type_that_could_name_no_split_is_refused() -> None:
    with pytest.raises(InvalidOptions, match="cannot be a type"):
        read_options(TASK, {"types": ["a b"]})


def test_a_prediction_for_other_items_is_refused(write: Write) -> None:
    with pytest.raises(InvalidGold, match="1 gold items are not in the items file: s2"):
        scored(write, SPANS, '{"id": "s1", "spans": []}\n', '{"id": "s1"}\n')


# ------------------------------------------------------------------------------------------- what belongs together

OF_A, OF_B = "# document = a\nAnn\tB-PER\n\nBob\tB-PER\n\n", "# document = b\nParis\tB-LOC\n"
TEXTS = "".join(
    f'{{"id": "{id_}", "document": {document}, "spans": [[0, 3, "{type_}"]]}}\n'
    for id_, document, type_ in (("1", '"a"', "PER"), ("2", '"a"', "PER"), ("3", "7", "LOC"))
)


@pytest.mark.parametrize(
    ("gold", "prediction", "keys"),
    [
        (OF_A + OF_B, "Ann\tB-PER\n\nBob\tO\n\nParis\tB-LOC\n", ("a", "b")),
        (TEXTS, '{"id": "1", "spans": [[0, 3, "PER"]]}\n{"id": "2", "spans": []}\n'
         '{"id": "3", "spans": [[0, 3, "LOC"]]}\n', ("7", "a")),
    ],
    ids=["tags", "spans"],
)  # fmt: skip
def test_sentences_of_one_document_are_drawn_together(
    gold: str, prediction: str, keys: tuple[str, ...], write: Write
) -> None:
    """A comment holds for the sentences below it. Of document a 1 span of 2 is found, of the other 1 of 1; weighed 2
    and 0, 2 of 4 are: a recall of 1/2, where all together have 2/3."""
    options = SequenceOptions(resample_by="document")
    answers = TASK.read_gold(write("gold", gold), options)
    checked = TASK.read_prediction(write("prediction", prediction), TASK.items_of(answers, options), options)
    assert TASK.sample is not None
    assert TASK.outcomes is not None
    sample = TASK.sample(TASK.outcomes(answers, checked, options))
    assert (sorted(sample.units.keys), sample.units.kind) == (sorted(keys), "document")
    assert sample.scores()["recall", "all"] == pytest.approx(2 / 3, abs=1e-12)
    weights = np.array([[2.0 if key == "a" else 0.0 for key in sample.units.keys]])
    assert sample.weighted(weights)["recall", "all"].tolist() == [0.5]
    assert scored(write, gold, prediction) == scored(write, gold, prediction, resample_by="document")


def test_gold_that_does_not_say_what_it_belongs_to_is_refused_by_line(write: Write) -> None:
    options = SequenceOptions(resample_by="document")
    with pytest.raises(InvalidGold) as caught:
        TASK.read_gold(write("gold", "Eve\tB-PER\n\n" + OF_A + "# document =\nIn\tO\n"), options)
    assert [problem.line for problem in caught.value.problems] == [1, 9]
    assert "no comment `# document = …` names the cluster of this sentence" in str(caught.value)
    with pytest.raises(
        InvalidGold, match="line 2, column document: resample_by: `document` must be a text or a number"
    ):
        TASK.read_gold(
            write("gold", TEXTS.replace('"document": "a"', '"document": " "', 2).replace('" "', '"a"', 1)), options
        )


# ----------------------------------------------------------------------------------------- tokens and tags of all kinds


@pytest.mark.parametrize(
    ("row", "token"),
    [("#a=b\tB-PER", "#a=b"), ("#\tB-PER", "#"), ("#a=b B-PER", "#a=b"), ("# newdoc\tB-PER", "# newdoc")],
)
def test_first_token_that_begins_with_a_hash_is_a_token(row: str, token: str, write: Write) -> None:
    """A line with the columns of a token is one; a comment has none, or is written as documented."""
    blank = "\t" if "\t" in row else " "
    gold = f"# document = d 7\n{row}\nleft{blank}O\n\n# newdoc\nRome{blank}B-PER\n"
    items = TASK.items_of(TASK.read_gold(write("gold", gold), SequenceOptions()), SequenceOptions())
    assert list(items.tokens.values()) == [(token, "left"), ("Rome",)]
    assert len(read(write, gold, gold).spans["sentence 1"]) == 1


def test_file_whose_only_lines_begin_with_a_hash_has_tokens(write: Write) -> None:
    assert len(read(write, "#a=b\tB-PER\n", "#a=b\tB-PER\n").spans["sentence 1"]) == 1


@pytest.mark.parametrize("reading", ["lenient", "strict"])
def test_tags_without_types_are_of_one_unnamed_type_as_in_seqeval(reading: str, write: Write) -> None:
    seqeval = pytest.importorskip("seqeval.metrics")
    scheme = pytest.importorskip("seqeval.scheme")
    theirs, ours = ["B", "I", "O", "B", "B", "I", "O"], ["B", "I", "O", "B", "I", "I", "B"]
    gold, own = ("".join(f"w{n}\t{tag}\n" for n, tag in enumerate(tags)) for tags in (theirs, ours))
    found = scored(write, gold, own, reading=reading)
    mode = {"mode": "strict", "scheme": scheme.IOB2} if reading == "strict" else {}
    assert found["f1 all"].value == pytest.approx(seqeval.f1_score([theirs], [ours], **mode), abs=1e-12)
    assert found["f1 type/_"].value == found["f1 all"].value
    assert read(write, gold, own, reading=reading).warnings == (), "there is no type to misspell"


def test_tag_without_a_type_among_others_is_refused(write: Write) -> None:
    told = refused(write, TAGGED, TAGGED.replace("B-PER", "B", 1), types=["PER", "LOC"])
    words = "'B' is not a tag of BIO: B-TYPE, I-TYPE or O; tags without types are for tasks of one unnamed type"
    assert told == [f"line 1, column tag: {words}"]


def test_list_of_objects_is_read_like_lines_of_them(write: Write) -> None:
    lines = '{"id": "s1", "spans": [[0, 1, "PER"]]}\n{"id": "s2", "spans": []}\n'
    as_list = "[\n" + lines.rstrip("\n").replace("\n", ",\n") + "\n]\n"
    assert read(write, SPANS, as_list).spans == read(write, SPANS, lines).spans
