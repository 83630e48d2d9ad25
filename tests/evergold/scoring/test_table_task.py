"""The generic task `table`: its metrics against official figures and hand calculations, its options, every bad file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evergold.scoring.errors import InvalidGold, InvalidOptions, InvalidPrediction
from evergold.scoring.tables.metrics import KINDS, METRICS, text_statistics
from evergold.scoring.tables.options import TableOptions
from evergold.scoring.task import Score, read_options, score_with_outcomes
from evergold.scoring.tasks import table
from evergold.scoring.tasks.table import TASK
from tests.attacks import heavy_file

Write = Callable[[str, str], Path]

LABEL_GOLD = "id,label,language,domain\n1,a,en,news\n2,a,en,web\n3,b,en,news\n4,b,pt,web\n5,c,pt,news\n6,a,pt,web\n"
LABEL_PREDICTION = "id,label\n1,a\n2,b\n3,b\n4,b\n5,a\n6,a\n"
NUMBER_GOLD = "id,label\n1,1\n2,2\n3,3\n4,4\n5,4\n"
NUMBER_PREDICTION = "id,label\n1,1\n2,3\n3,2\n4,5\n5,4\n"
GROUPS = {"language": ["en", "pt"], "domain": ["news", "web"]}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return _write


def scored(write: Write, gold: str, prediction: str, items: str | None = None, **options: Any) -> dict[str, Score]:
    chosen = read_options(TASK, options)
    assert isinstance(chosen, TableOptions)
    answers = TASK.read_gold(write("gold.csv", gold), chosen)
    wanted = TASK.read_items(write("items.csv", items), chosen) if items else TASK.items_of(answers, chosen)
    found = TASK.score(answers, TASK.read_prediction(write("prediction.csv", prediction), wanted, chosen), chosen)
    return {f"{score.metric} {score.split}": score for score in found}


def values(found: dict[str, Score]) -> dict[str, float | None]:
    return {name: score.value for name, score in found.items()}


def refused(write: Write, gold: str, prediction: str, **options: Any) -> list[str]:
    with pytest.raises(InvalidPrediction) as caught:
        scored(write, gold, prediction, **options)
    return [str(problem) for problem in caught.value.problems]


def test_label_metrics_by_hand(write: Write) -> None:
    found = values(scored(write, LABEL_GOLD, LABEL_PREDICTION, metrics=list(KINDS["labels"])))
    # a: gold 1,2,6, predicted 1,5,6: 2·2/6; b: gold 3,4, predicted 2,3,4: 2·2/5; c: gold 5, never predicted: 0
    a, b, c = 2 / 3, 4 / 5, 0.0
    # MCC (Gorodkin): (c·s − Σ p·t) / sqrt((s² − Σ p²)(s² − Σ t²)), c = 4 right of s = 6, p = 3,3,0, t = 3,2,1
    mcc = (4 * 6 - (9 + 6)) / ((36 - 18) * (36 - 14)) ** 0.5
    assert found == pytest.approx(
        {
            "accuracy all": 4 / 6,
            "macro_f1 all": (a + b + c) / 3,
            "micro_f1 all": 4 / 6,
            "weighted_f1 all": (3 * a + 2 * b + 1 * c) / 6,
            "mcc all": mcc,
        }
    )


def test_number_metrics_by_hand(write: Write) -> None:
    found = values(scored(write, NUMBER_GOLD, NUMBER_PREDICTION, metrics=list(KINDS["numbers"])))
    # Gold 1 2 3 4 4, predicted 1 3 2 5 4. Means 2.8, 3: Σxy 49 − 5·2.8·3 = 7, Σx² 46 − 39.2 = 6.8, Σy² 55 − 45 = 10.
    # Ranks 1 2 3 4.5 4.5 and 1 3 2 5 4: 53.5 − 45 = 8.5; 54.5 − 45 = 9.5; 10. Pairs: 8 agree, 1 does not, 1 is tied.
    assert found == pytest.approx(
        {
            "pearson all": 7 / 68**0.5,
            "spearman all": 8.5 / 95**0.5,
            "kendall all": 7 / (9 * 10) ** 0.5,
            "mae all": 3 / 5,
            "rmse all": (3 / 5) ** 0.5,
        }
    )


def test_text_metrics_by_hand_and_by_definition(write: Write) -> None:
    gold = "id,text\n1,the cat sat on the mat today\n2,hello world\n"
    prediction = "id,text\n1,the cat sat on the mat\n2,hello world\n"
    found = values(scored(write, gold, prediction, metrics=list(KINDS["texts"]), value="text"))
    # Every n-gram of the prediction is in its reference, so BLEU is the brevity penalty: 8 words against 9.
    assert found["bleu all"] == pytest.approx(2.718281828459045 ** (1 - 9 / 8))
    assert found["ter all"] == pytest.approx(1 / 9)  # one word to insert, nine reference words
    assert found["exact_match all"] == 1 / 2
    # 6 words of 7, 5 pairs of 6, all in their order: F1 12/13, 10/11, 12/13, and 1 for the second text.
    assert [found[f"rouge_{n} all"] for n in "12l"] == pytest.approx([25 / 26, 21 / 22, 25 / 26])


def test_rouge_equals_its_reference_library_with_the_best_of_several_references(write: Write) -> None:
    rouge = pytest.importorskip("rouge_score.rouge_scorer")
    ours = ["The quick foxes jump over the dog.", "It is raining cats.", "Nothing"]
    theirs = ["The quick brown fox jumps over the lazy dog.", "It's raining cats and dogs.", "Something"]
    more = ["A fast fox jumps over a dog.", "It is raining a lot.", ""]
    gold = "id,label,second\n" + "".join(f"{n},{a},{b}\n" for n, (a, b) in enumerate(zip(theirs, more, strict=True)))
    prediction = "id,label\n" + "".join(f"{n},{a}\n" for n, a in enumerate(ours))
    options: dict[str, Any] = {"metrics": ["rouge_1", "rouge_2", "rouge_l"], "references": ["second"]}
    for stemmer in (False, True):
        found = values(scored(write, gold, prediction, rouge_stemmer=stemmer, **options))
        for metric, name in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_l", "rougeL")):
            scorer = rouge.RougeScorer([name], use_stemmer=stemmer)
            best = [
                max(scorer.score(reference, text)[name].fmeasure for reference in (one, other) if reference)
                for one, other, text in zip(theirs, more, ours, strict=True)
            ]
            assert found[f"{metric} all"] == pytest.approx(sum(best) / 3)


def test_gold_in_a_script_that_rouge_does_not_know_is_refused(write: Write) -> None:
    with pytest.raises(InvalidGold, match="line 2, column label: 'Привет' has no letter a to z and no digit"):
        TASK.read_gold(write("gold.csv", "id,label\n1,Привет\n"), TableOptions(metrics=("rouge_1",)))
    assert TASK.read_gold(write("gold.csv", "id,label\n1,Привет\n"), TableOptions(metrics=("chrf",))).values


def test_the_stemmer_is_in_the_signature_of_rouge_alone(write: Write) -> None:
    text = "id,label\n1,cats\n"
    usual, stems = (
        scored(write, text, text, metrics=["rouge_1", "chrf"], rouge_stemmer=stemmer) for stemmer in (False, True)
    )
    assert [usual[name].signature == stems[name].signature for name in usual] == [False, True]


def test_chrf_by_hand(write: Write) -> None:
    # 1-, 2- and 3-grams all match: P = 1, R = (3/4 + 2/3 + 1/2) / 3 = 23/36; F2 = 5PR / (4P + R); no 4-gram in abc
    found = values(scored(write, "id,label\n1,abcd\n", "id,label\n1,abc\n", metrics=["chrf"]))
    assert found == pytest.approx({"chrf all": 5 * (23 / 36) / (4 + 23 / 36)})


def test_text_metrics_equal_sacrebleu_itself(write: Write) -> None:
    import sacrebleu

    ours = ["The quick fox jumps over the dog.", "It is raining cats.", "Nothing"]
    theirs = ["The quick brown fox jumps over the lazy dog.", "It's raining cats and dogs.", "Something"]
    more = ["A fast fox jumps over a dog.", "It is raining a lot.", ""]
    gold = "id,text,second\n" + "".join(f'{n},"{a}","{b}"\n' for n, (a, b) in enumerate(zip(theirs, more, strict=True)))
    prediction = "id,text\n" + "".join(f'{n},"{a}"\n' for n, a in enumerate(ours))
    found = values(
        scored(write, gold, prediction, metrics=["chrf", "bleu", "ter"], value="text", references=["second"])
    )
    streams = [theirs, [*more[:2], None]]
    official = {
        "bleu all": sacrebleu.corpus_bleu(ours, streams).score,  # type: ignore[arg-type]
        "chrf all": sacrebleu.corpus_chrf(ours, streams).score,  # type: ignore[arg-type]
        "ter all": sacrebleu.corpus_ter(ours, streams).score,  # type: ignore[arg-type]
    }
    assert found == pytest.approx({name: score / 100 for name, score in official.items()})


@pytest.mark.parametrize(("kind", "gold"), [("labels", LABEL_GOLD), ("numbers", NUMBER_GOLD)])
def test_gold_as_prediction_is_the_best_possible(write: Write, kind: str, gold: str) -> None:
    prediction = "".join(",".join(line.split(",")[:2]) + "\n" for line in gold.splitlines())
    for name, value in values(scored(write, gold, prediction, metrics=list(KINDS[kind]))).items():
        metric = METRICS[name.split()[0]]
        assert value == pytest.approx(1.0 if metric.higher_is_better else 0.0)


def test_perfect_texts_are_the_best_possible(write: Write) -> None:
    text = "id,label\n1,one two three four five\n2,six seven eight nine\n"
    found = values(scored(write, text, text, metrics=list(KINDS["texts"])))
    assert found == pytest.approx({**{f"{name} all": 1.0 for name in KINDS["texts"]}, "ter all": 0.0})


def test_groups_and_their_means(write: Write) -> None:
    found = values(scored(write, LABEL_GOLD, LABEL_PREDICTION, metrics=["accuracy"], groups=GROUPS))
    assert found == pytest.approx(
        {
            "accuracy all": 4 / 6,
            "accuracy language/en": 2 / 3,
            "accuracy language/pt": 2 / 3,
            "accuracy language/mean": 2 / 3,
            "accuracy domain/news": 2 / 3,
            "accuracy domain/web": 2 / 3,
            "accuracy domain/mean": 2 / 3,
        }
    )


def test_mean_over_groups_is_not_the_pooled_score(write: Write) -> None:
    gold = "id,label,language\n1,a,en\n2,a,en\n3,a,en\n4,b,pt\n"
    found = values(
        scored(write, gold, "id,label\n1,a\n2,a\n3,a\n4,a\n", metrics=["accuracy"], groups={"language": ["en", "pt"]})
    )
    assert (found["accuracy all"], found["accuracy language/mean"]) == (0.75, 0.5)


def test_undefined_scores_are_none_with_a_reason(write: Write) -> None:
    gold = "id,label,language\n1,1,en\n2,1,en\n3,2,pt\n4,3,pt\n"
    prediction = "id,label\n1,1\n2,2\n3,1\n4,2\n"
    groups = {"language": ["en", "pt", "gl"]}
    found = scored(write, gold, prediction, metrics=["pearson", "spearman", "kendall"], groups=groups)
    for metric in ("pearson", "spearman", "kendall"):
        assert found[f"{metric} language/en"].reason == "all targets are equal"
        assert found[f"{metric} language/pt"].value == pytest.approx(1.0)
        assert found[f"{metric} language/gl"].reason == "there is no such item"
        assert found[f"{metric} language/mean"].reason == "undefined for en, gl"
    found = scored(write, gold, prediction, metrics=["mcc"], groups=groups, labels=["1", "2", "3"])
    assert found["mcc language/en"].reason == "all gold labels or all predicted labels are the same"


def test_order_of_rows_does_not_matter(write: Write) -> None:
    backwards = "id,label\n" + "".join(f"{line}\n" for line in reversed(LABEL_PREDICTION.splitlines()[1:]))
    options: dict[str, Any] = {"metrics": ["macro_f1", "mcc"], "groups": GROUPS}
    assert scored(write, LABEL_GOLD, LABEL_PREDICTION, **options) == scored(write, LABEL_GOLD, backwards, **options)


def test_every_column_is_a_score_and_the_other_way_round(write: Write) -> None:
    options = TableOptions(metrics=("macro_f1", "accuracy"), groups={"language": ("en", "pt")})
    found = scored(
        write, LABEL_GOLD, LABEL_PREDICTION, metrics=["macro_f1", "accuracy"], groups={"language": ["en", "pt"]}
    )
    assert [f"{column.metric} {column.split}" for column in TASK.columns(options)] == list(found)


def test_columns_can_have_other_names(write: Write) -> None:
    gold = "sentence,sentiment,note\n1,good,x\n2,bad,y\n"
    found = scored(
        write, gold, "sentence,sentiment\n2,bad\n1,bad\n", id="sentence", value="sentiment", metrics=["accuracy"]
    )
    assert values(found) == {"accuracy all": 0.5}


def test_options_that_move_a_number_move_the_signature(write: Write) -> None:
    text = "id,label\n1,One two\n"

    def signed(**options: Any) -> str:
        return scored(write, text, text, metrics=["bleu"], **options)["bleu all"].signature

    assert len({signed(), signed(lowercase=True), signed(bleu_tokenize="char")}) == 3
    assert "version:" in signed()
    groups = [
        scored(write, LABEL_GOLD, LABEL_PREDICTION, groups={"language": names})
        for names in (["en", "pt"], ["pt", "en", "gl"])
    ]
    assert groups[0]["macro_f1 language/mean"].signature != groups[1]["macro_f1 language/mean"].signature


def test_all_problems_are_said_at_once_by_line(write: Write) -> None:
    text = "id,label\n1,a\n1,b\n9,a\n2,z\n3,\n4,a,b\n"
    assert refused(write, LABEL_GOLD, text, labels=["a", "b", "c"]) == [
        "line 3, column id: id 1 appears twice, first on line 2",
        "line 4, column id: id '9' is not an item",
        "line 5, column label: invalid label 'z': expected one of a, b, c",
        "line 6, column label: the value is empty",
        "line 7: 3 fields, the header has 2",
    ]


def test_missing_ids_are_named(write: Write) -> None:
    assert refused(write, LABEL_GOLD, "id,label\n1,a\n2,b\n5,a\n6,a\n") == ["column id: 2 of 6 ids are missing: 3, 4"]


def test_numbers_must_be_finite_and_within_bounds(write: Write) -> None:
    text = "id,label\n1,nan\n2,1e200\n3,0.5\n4,6\n5,3\n"
    assert refused(write, NUMBER_GOLD, text, metrics=["mae"], minimum=1, maximum=5) == [
        "line 2, column label: 'nan' is not a finite number",
        "line 3, column label: 1e200 is too large: numbers up to 1e+100 are read",
        "line 4, column label: 0.5 is smaller than 1",
        "line 5, column label: 6 is larger than 5",
    ]


def test_a_number_exactly_at_its_bound_is_within(write: Write) -> None:
    # Gold 1 2 3 4 4, predicted 1 3 2 5 4, from the least to the largest that is allowed: errors 0 1 1 1 0.
    found = scored(write, NUMBER_GOLD, NUMBER_PREDICTION, metrics=["mae"], minimum=1, maximum=5)
    assert found["mae all"].value == pytest.approx(3 / 5)


def test_empty_texts_are_allowed_only_where_the_organiser_says_so(write: Write) -> None:
    gold, prediction = "id,label\n1,a b c d\n2,e\n", "id,label\n1,a b c d\n2,\n"
    assert refused(write, gold, prediction, metrics=["bleu"]) == ["line 3, column label: the value is empty"]
    found = scored(write, gold, prediction, metrics=["exact_match"], allow_empty=True)["exact_match all"]
    assert found.value == 0.5
    assert "case:mixed,nrefs:1" in found.signature


def test_an_empty_text_of_gold_is_refused_even_where_predictions_may_be_empty(write: Write) -> None:
    options = TableOptions(metrics=("exact_match",), allow_empty=True)
    with pytest.raises(InvalidGold, match="line 3, column label: the value is empty"):
        TASK.read_gold(write("gold.csv", "id,label\n1,a b c d\n2,\n"), options)


def test_gold_with_an_undeclared_group_is_refused(write: Write) -> None:
    with pytest.raises(InvalidGold, match="'pt' is not one of the declared groups en") as caught:
        scored(write, LABEL_GOLD, LABEL_PREDICTION, groups={"language": ["en"]})
    problem = caught.value.problems[0]
    assert (problem.code, problem.line, problem.column, problem.text) == ("unknown-group", 5, "language", "pt")


def test_bounds_are_for_predictions_and_not_for_gold(write: Write) -> None:
    scored(write, NUMBER_GOLD, NUMBER_PREDICTION.replace("1,1", "1,2"), metrics=["mae"], minimum=2)
    scored(write, NUMBER_GOLD, NUMBER_PREDICTION.replace("4,5", "4,3"), metrics=["mae"], maximum=3.5 + 0.5)
    with pytest.raises(InvalidPrediction):
        scored(write, NUMBER_GOLD, NUMBER_PREDICTION, metrics=["mae"], minimum=2)


def test_gold_problems_are_said_by_line(write: Write) -> None:
    with pytest.raises(InvalidGold) as caught:
        scored(write, "id,label\n1,x\n1,2\n 2,3\n", NUMBER_PREDICTION, metrics=["mae"])
    assert [(problem.line, problem.code) for problem in caught.value.problems] == [
        (2, "bad-value"),
        (3, "duplicate-id"),
        (4, "bad-id"),
    ]


def test_blind_items_serve_instead_of_gold(write: Write) -> None:
    items = "id,sentence\n" + "".join(f"{n},A sentence.\n" for n in range(1, 7))
    assert scored(write, LABEL_GOLD, LABEL_PREDICTION, items) == scored(write, LABEL_GOLD, LABEL_PREDICTION)
    with pytest.raises(InvalidGold, match="1 gold items are not in the items file: 6"):
        scored(write, LABEL_GOLD, LABEL_PREDICTION.replace("6,a\n", ""), items.replace("6,A sentence.\n", ""))


def test_items_of_gold_come_in_an_order_that_says_nothing_of_the_values(write: Write) -> None:
    options = TableOptions()
    gold = TASK.read_gold(write("gold.csv", "id,label\n10,a\n2,a\n1,b\n9,b\n"), options)
    assert TASK.items_of(gold, options).ids == ("1", "2", "9", "10")


def test_template_lists_the_ids_without_values(write: Write) -> None:
    options = TableOptions()
    assert (
        TASK.template(TASK.read_items(write("g.csv", LABEL_GOLD), options), options)
        == "id,label\n1,\n2,\n3,\n4,\n5,\n6,\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": []}, "metrics"),
        ({"metrics": ["f1"]}, "there is no metric 'f1'"),
        ({"metrics": ["accuracy", "mae"]}, "the metrics must be of one kind"),
        ({"metrics": ["mae"], "labels": ["a"]}, "labels need metrics of labels, but these are of numbers"),
        ({"metrics": ["accuracy"], "minimum": 0}, "minimum, maximum need metrics of numbers"),
        ({"metrics": ["bleu"], "bleu_tokenize": "flores200"}, "bleu_tokenize must be one of"),
        ({"value": "id"}, "different columns"),
        ({"groups": {"language": ["mean"]}}, "cannot name a split"),
        ({"groups": {"language": []}}, "list the values of language"),
        ({"group": {}}, "no option group"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOptions, match=message):
        read_options(TASK, options)


def test_no_task_type_loads_heavy_packages_on_import() -> None:
    """Check that the process stays small, since the web process imports the registry."""
    heavy = "scipy", "sklearn", "sacrebleu", "openpyxl", "torch", "transformers"
    code = f"import sys, evergold.scoring.tasks; print(sorted(set({heavy}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "prediction",
    [
        LABEL_PREDICTION.replace(",", "\t"),
        "".join(f'{{"id": {row[0]}, "label": "{row[2]}"}}\n' for row in LABEL_PREDICTION.splitlines()[1:]),
    ],
    ids=["tsv", "json-lines"],
)
@pytest.mark.parametrize("gold", [LABEL_GOLD, LABEL_GOLD.replace(",", "\t")], ids=["gold-csv", "gold-tsv"])
def test_scores_and_signatures_do_not_depend_on_the_form_of_the_files(gold: str, prediction: str, write: Write) -> None:
    options: dict[str, Any] = {"metrics": list(KINDS["labels"]), "groups": GROUPS}
    assert scored(write, gold, prediction, **options) == scored(write, LABEL_GOLD, LABEL_PREDICTION, **options)


def test_golds_value_may_have_another_name(write: Write) -> None:
    renamed = LABEL_GOLD.replace("id,label", "id,answer")
    assert scored(write, renamed, LABEL_PREDICTION, gold_value="answer") == scored(write, LABEL_GOLD, LABEL_PREDICTION)
    with pytest.raises(InvalidGold, match="the column label is missing"):
        scored(write, renamed, LABEL_PREDICTION)


def test_a_file_with_golds_value_is_gold_and_one_without_is_blind(write: Write) -> None:
    options = TableOptions(gold_value="answer")
    items = TASK.read_items(write("items.csv", "id,answer\n2,b\n1,a\n"), options)
    assert (items.ids, items.labels) == (("1", "2"), None)  # gold's labels are not told
    blind = TASK.read_items(write("blind.csv", "id,label\n2,\n1,\n"), options)
    assert (blind.ids, blind.labels) == (("2", "1"), None)


def test_a_problem_of_golds_value_names_its_column(write: Write) -> None:
    with pytest.raises(InvalidGold, match="line 2, column answer: the value is empty"):
        TASK.read_gold(write("gold.csv", "id,answer\n1,\n"), TableOptions(gold_value="answer"))


def test_golds_value_is_no_other_column() -> None:
    with pytest.raises(InvalidOptions, match="must be different columns"):
        read_options(TASK, {"gold_value": "id"})


@pytest.mark.parametrize(("options", "limit"), [({}, 10_000), ({"max_characters": 20_000}, 20_000)])
def test_a_text_that_is_too_long_is_refused_by_its_line(write: Write, options: dict[str, Any], limit: int) -> None:
    gold = "id,label\n1,a\n2,b\n3,c\n"
    scored(write, gold, f"id,label\n1,{'a' * limit}\n2,b\n3,c\n", metrics=["chrf"], **options)
    prediction = f"id,label\n1,a\n2,{'a' * (limit + 1)}\n3,c\n"
    assert refused(write, gold, prediction, metrics=["chrf"], **options) == [
        f"line 3, column label: the text has {limit + 1:,} characters, at most {limit:,} are allowed"
    ]


def test_texts_of_gold_and_references_have_the_same_bound(write: Write) -> None:
    gold = f"id,label,second\n1,{'a' * 10_001},b\n2,a,{'b' * 10_002}\n"
    with pytest.raises(InvalidGold) as caught:
        scored(write, gold, "id,label\n1,a\n2,a\n", metrics=["chrf"], references=["second"])
    assert [str(problem) for problem in caught.value.problems] == [
        "line 2, column label: the text has 10,001 characters, at most 10,000 are allowed",
        "line 3, column second: the text has 10,002 characters, at most 10,000 are allowed",
    ]


def test_texts_are_compared_once_for_all_splits_and_outcomes(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def counted(metric: str, gold: Any, prediction: Any, settings: Any) -> list[list[float]]:
        compared.append(len(prediction))
        return text_statistics(metric, gold, prediction, settings)

    monkeypatch.setattr(table, "text_statistics", counted)
    options = TableOptions(metrics=("chrf", "rouge_l"), groups={"language": ("en", "pt")})
    gold = TASK.read_gold(write("gold.csv", "id,label,language\n1,a b,en\n2,b c,pt\n"), options)
    prediction = TASK.read_prediction(
        write("prediction.csv", "id,label\n1,a c\n2,b c\n"), TASK.items_of(gold, options), options
    )
    scores, outcomes = score_with_outcomes(TASK, gold, prediction, options)
    assert compared == [2, 2]
    assert scores == TASK.score(gold, prediction, options)
    assert outcomes == (TASK.outcomes and TASK.outcomes(gold, prediction, options))


def test_the_file_that_kept_a_worker_for_minutes_is_refused_by_its_lines(tmp_path: Path) -> None:
    options = TableOptions(metrics=("rouge_l",))
    (tmp_path / "gold.csv").write_bytes(heavy_file.gold())
    (tmp_path / "heavy.csv").write_bytes(heavy_file.file_of(heavy_file.LONG_TEXT))
    items = TASK.items_of(TASK.read_gold(tmp_path / "gold.csv", options), options)
    with pytest.raises(InvalidPrediction) as caught:
        TASK.read_prediction(tmp_path / "heavy.csv", items, options)
    assert {(problem.code, problem.line) for problem in caught.value.problems} == {
        ("too-long", line) for line in range(2, heavy_file.TEXTS + 2)
    }


def test_the_same_file_is_scored_quickly_where_an_organiser_allows_it(tmp_path: Path) -> None:
    options = TableOptions(metrics=("rouge_l",), max_characters=131_072)
    (tmp_path / "gold.csv").write_bytes(heavy_file.gold())
    (tmp_path / "heavy.csv").write_bytes(heavy_file.file_of(heavy_file.LONG_TEXT))
    gold = TASK.read_gold(tmp_path / "gold.csv", options)
    prediction = TASK.read_prediction(tmp_path / "heavy.csv", TASK.items_of(gold, options), options)
    [score] = TASK.score(gold, prediction, options)
    assert score.value == 0.0, "no word of it is a number"
