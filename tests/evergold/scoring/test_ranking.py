"""Ranked lists: every score against trec_eval, which ir_measures runs, too; all file formats, every problem by line."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergold.scoring.errors import InvalidGold, InvalidItems, InvalidPrediction
from evergold.scoring.ranking import average_precision, ndcg, ranked, reciprocal_rank
from evergold.scoring.task import Score, read_options
from evergold.scoring.tasks.ranking import TASK, RankingOptions
from tests import lanes

Write = Callable[[str, str], Path]
Judgements = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

GOLD = "query,document,relevance\nq1,a,2\nq1,b,0\nq1,c,1\nq2,d,1\n"
PREDICTION = "query,document,score\nq1,a,1\nq1,b,3\nq1,c,2\nq2,x,0\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return _write


def scored(write: Write, gold: str, prediction: str, items: str | None = None, **options: Any) -> dict[str, Score]:
    chosen = read_options(TASK, options)
    assert isinstance(chosen, RankingOptions)
    answers = TASK.read_gold(write("gold", gold), chosen)
    wanted = TASK.read_items(write("items", items), chosen) if items else TASK.items_of(answers, chosen)
    found = TASK.score(answers, TASK.read_prediction(write("prediction", prediction), wanted, chosen), chosen)
    return {score.metric: score for score in found}


def values(found: dict[str, Score]) -> dict[str, float | None]:
    return {name: score.value for name, score in found.items()}


def refused(write: Write, prediction: str, **options: Any) -> list[str]:
    with pytest.raises(InvalidPrediction) as caught:
        scored(write, GOLD, prediction, **options)
    return [str(problem) for problem in caught.value.problems]


def made_up(seed: int) -> tuple[Judgements, Run]:
    """Return gold and a run with ties, unjudged documents, judged ones that are not ranked, and queries without a
    relevant one.

    The order of some names by bytes differs from that by letters. Scores are exact in single precision, which trec_eval
    uses.
    """
    chance = random.Random(seed)
    names = [f"{letter}{number}" for letter in "aBé東" for number in range(6)]
    gold, run = {}, {}
    for query in range(chance.randint(1, 6)):
        gold[f"q{query}"] = {name: chance.choice((0, 0, 1, 2, 3)) for name in chance.sample(names, 10)}
        found = chance.sample(names, chance.randint(1, 20))
        run[f"q{query}"] = {name: chance.randint(-8, 8) / 4 for name in found}
    return gold, run


def assert_equal_to_trec_eval(seed: int, write: Write) -> None:
    trec_eval = pytest.importorskip("pytrec_eval")
    gold, run = made_up(seed)
    names = {"ndcg_3": "ndcg_cut_3", "ndcg_10": "ndcg_cut_10", "mrr": "recip_rank", "map": "map", "ndcg": "ndcg"}
    level = 1 + seed % 2
    measures = {"ndcg_cut.3,10", "recip_rank", "map", "ndcg"}
    of_queries = trec_eval.RelevanceEvaluator(gold, measures, relevance_level=level).evaluate(run)
    qrels = "".join(f"{query} 0 {name} {grade}\n" for query, rows in gold.items() for name, grade in rows.items())
    lines = "".join(f"{query} Q0 {name} 0 {score!r} x\n" for query, rows in run.items() for name, score in rows.items())
    ours = values(scored(write, qrels, lines, cutoffs=[3, 10], relevant_from=level))
    for name, theirs in names.items():
        expected = sum(of_query[theirs] for of_query in of_queries.values()) / len(gold)
        assert ours[name] == pytest.approx(expected, abs=1e-9), (seed, name)


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_scores_are_those_of_trec_eval(first: int, write: Write) -> None:
    for seed in range(first, first + 20):
        assert_equal_to_trec_eval(seed, write)


@pytest.mark.soak
def test_scores_are_those_of_trec_eval_in_a_thousand_cases(write: Write) -> None:
    first = lanes.soak_seed()
    for seed in range(first, first + 1000):
        assert_equal_to_trec_eval(seed, write)


def test_of_equal_scores_the_later_name_comes_first_by_bytes() -> None:
    assert ranked({"a": 1.0, "B": 1.0, "é": 1.0, "z": 1.0, "top": 2.0}) == ["top", "é", "z", "a", "B"]


def test_the_measures_by_hand() -> None:
    relevant = [False, True, False, True]
    assert reciprocal_rank(relevant) == 1 / 2
    assert reciprocal_rank([False]) == 0
    assert average_precision(relevant, 4) == pytest.approx((1 / 2 + 2 / 4) / 4)
    assert average_precision([], 0) == 0
    assert ndcg([1.0, 0.0, 3.0], [3.0, 1.0], 2) == pytest.approx(1 / (3 + 1 / 1.584962500721156))
    assert ndcg([0.0], [0.0], None) == 0


def test_exponential_gains_by_hand(write: Write) -> None:
    """q1: c, of gain 1, is second, a, of gain 3, third: (1/log2 3 + 3/2) / (3 + 1/log2 3); q2 has nothing right."""
    log = 1 / 1.584962500721156
    found = scored(write, GOLD, PREDICTION, gain="exponential")
    assert found["ndcg_10"].value == pytest.approx((log + 1.5) / (3 + log) / 2)


@pytest.mark.parametrize(
    "prediction",
    [
        PREDICTION.replace(",", "\t"),
        "q1 Q0 a 9 1 x\nq1 Q0 b 9 3 x\nq1 Q0 c 9 2 x\nq2\tQ0\tx\t9\t0\tx\n",
        '{"query": "q1", "document": "a", "score": 1}\n{"query": "q1", "document": "b", "score": 3.0}\n'
        '{"query": "q1", "document": "c", "score": 2}\n{"query": "q2", "document": "x", "score": 0}\n',
    ],
    ids=["tsv", "trec", "json-lines"],
)
def test_scores_do_not_depend_on_the_format(prediction: str, write: Write) -> None:
    qrels = "".join(f"{q} 0 {d} {r}\n" for q, d, r in (line.split(",") for line in GOLD.splitlines()[1:]))
    assert scored(write, qrels, prediction) == scored(write, GOLD, PREDICTION)


def test_every_problem_is_told_by_line(write: Write) -> None:
    rows = ["q1,a,1", "q1,a,2", "q9,a,nan", "q1,,0"]
    assert refused(write, "query,document,score\n" + "\n".join(rows) + "\n") == [
        "column query: 1 of 2 queries are missing: q2",
        "line 3, column document: document a of query q1 appears twice, first on line 2",
        "line 4, column query: 'q9' is not a query",
        "line 4, column score: 'nan' is not a finite number",
        "line 5, column document: the document is empty; delete rows that hold nothing but commas (Excel writes them)",
    ]
    told = refused(write, PREDICTION, most_documents=2)
    assert told == ["line 4, column query: query q1 has 3 documents, at most 2 may be"]
    assert refused(write, "q1 Q0 a 1 2 x\nq2 Q0 a 1\n")[0] == (
        "line 2: 4 columns; a run has 6: query Q0 document rank score tag"
    )


def test_candidates_must_all_be_ranked_and_no_others(write: Write) -> None:
    items = "query,document\nq1,a\nq1,b\nq1,c\nq2,d\n"
    with pytest.raises(InvalidPrediction) as caught:
        scored(write, GOLD, PREDICTION.replace("q1,b,3\n", ""), items)
    assert [str(problem) for problem in caught.value.problems] == [
        "column document: 2 queries lack some of their candidates: q1, q2",
        "line 4, column document: 'x' is not a candidate of query q2",
    ]
    chosen = RankingOptions()
    asked = TASK.read_items(write("items", items), chosen)
    assert TASK.template(asked, chosen) == "query,document,score\nq1,a,\nq1,b,\nq1,c,\nq2,d,\n"


def test_gold_tells_its_queries_and_none_of_its_documents(write: Write) -> None:
    chosen = RankingOptions()
    for name in ("gold", "items"):
        answers = TASK.read_items(write(name, GOLD), chosen)
        assert (answers.queries, dict(answers.candidates)) == (("q1", "q2"), {})
        assert TASK.template(answers, chosen) is None


@pytest.mark.parametrize(
    ("gold", "words"),
    [
        (
            "query,document,relevance\nq1,a,1.5\n",
            "line 2, column relevance: '1.5' is not a whole number from -100 to 100",
        ),
        ("q1 0 a 1\nq1 0 a 1\n", "line 2, column document: document a of query q1 appears twice, first on line 1"),
        ("query,document,relevance\n", "the file has no judgement"),
    ],
)
def test_broken_gold_is_refused_by_line(gold: str, words: str, write: Write) -> None:
    with pytest.raises(InvalidGold, match=words):
        TASK.read_gold(write("gold", gold), RankingOptions())


def test_a_query_twice_in_the_blind_file_is_refused(write: Write) -> None:
    with pytest.raises(InvalidItems, match="line 3, column query: query q1 appears twice, first on line 2"):
        TASK.read_items(write("items", "query\nq1\nq1\n"), RankingOptions())


@pytest.mark.parametrize(
    ("option", "moves"),
    [
        ({"gain": "exponential"}, {"ndcg_10", "ndcg"}),
        ({"relevant_from": 2}, {"mrr", "map"}),
        ({"most_documents": 3, "rank_by": "map"}, set()),
    ],
)
def test_signatures_change_with_what_can_move_a_score(option: dict[str, Any], moves: set[str], write: Write) -> None:
    usual, other = scored(write, GOLD, PREDICTION), scored(write, GOLD, PREDICTION, **option)
    assert {name for name in usual if usual[name].signature != other[name].signature} == moves


def test_the_ranking_score_is_the_first_column() -> None:
    assert TASK.columns(RankingOptions(cutoffs=(5, 1)))[0].metric == "ndcg_5"
    assert TASK.columns(RankingOptions(rank_by="map"))[0].metric == "map"


# ------------------------------------------------------------------------------------------- what belongs together


def test_queries_of_one_topic_are_drawn_together_and_must_have_one(write: Write) -> None:
    """Reciprocal ranks of the three queries 1, 1/2, 1; the first two are of topic x: weighed 2 and 0, the mean is
    3/4."""
    gold = "query,document,relevance,topic\nq1,a,1,x\nq2,b,1,x\nq2,c,0,x\nq3,d,1,y\n"
    prediction = "query,document,score\nq1,a,1\nq2,b,1\nq2,c,2\nq3,d,1\n"
    options = RankingOptions(resample_by="topic")
    answers = TASK.read_gold(write("gold", gold), options)
    checked = TASK.read_prediction(write("prediction", prediction), TASK.items_of(answers, options), options)
    assert TASK.sample is not None
    assert TASK.outcomes is not None
    sample = TASK.sample(TASK.outcomes(answers, checked, options))
    assert (sample.units.keys, sample.units.kind) == (("x", "y"), "topic")
    assert sample.weighted(np.array([[2.0, 0.0]]))["mrr", "all"].tolist() == [0.75]
    with pytest.raises(InvalidGold, match="line 4, column topic: resample_by: query q2 belongs to x on line 3"):
        TASK.read_gold(write("gold", gold.replace("q2,c,0,x", "q2,c,0,y")), options)
    with pytest.raises(InvalidGold, match="resample_by: TREC's files have no column topic"):
        TASK.read_gold(write("gold", "q1 0 a 1\n"), options)


@pytest.mark.parametrize("document", ["IPCC_report,_1992", "a{b}", "n\u00b0\u00a05", "{x", "a,b,c"])
def test_documents_of_trec_files_may_have_any_character_but_blanks(document: str, write: Write) -> None:
    """Check the first line, too, which decides the format of the file: the only relevant document is ranked first."""
    gold, run = f"q1 0 {document} 1\nq1 0 other 0\n", f"q1 Q0 {document} 1 2.0 mine\nq1 Q0 other 2 1.0 mine\n"
    assert scored(write, gold, run)["mrr"].value == 1


def test_negative_relevance_is_not_relevant_as_for_trec_eval(write: Write) -> None:
    """a (-2) is ranked first, b (2) second, c (1) third: DCG = 2 / log2 3 + 1 / log2 4, ideal = 2 + 1 / log2 3."""
    gold = "q1 0 a -2\nq1 0 b 2\nq1 0 c 1\n"
    run = "q1 Q0 a 1 3 mine\nq1 Q0 b 2 2 mine\nq1 Q0 c 3 1 mine\n"
    found = {name: score.value for name, score in scored(write, gold, run).items()}
    assert found["ndcg"] == pytest.approx((2 / log2(3) + 0.5) / (2 + 1 / log2(3)), abs=1e-12)
    assert found["mrr"] == 0.5
    assert found["map"] == pytest.approx((1 / 2 + 2 / 3) / 2, abs=1e-12)
    exponential = scored(write, gold, run, gain="exponential")["ndcg"].value  # 3 and 1, and none of -2
    assert exponential == pytest.approx((3 / log2(3) + 0.5) / (3 + 1 / log2(3)), abs=1e-12)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (
            "# run\nq1 Q0 a 1 2.0 t\nq2 Q0 a 1 2.0 t\n",
            "line 1: comments are not allowed in TREC's files; a run has 6:",
        ),
        (
            "q1 Q0 a 1 2.0\nq2 Q0 a 1 2.0\n",
            "line 1: 5 columns; a run has 6: query Q0 document rank score tag; the tag, a name of the system,",
        ),
        ("q1 Q0 a 1 x\nq2 Q0 a 1 2.0\n", "line 1: 5 columns; a run has 6: query Q0 document rank score tag"),
        (
            "q1 Q0 a 1 2.0 my run\nq2 Q0 a 1 2 x\n",
            "line 1: 7 columns; a run has 6: query Q0 document rank score tag; the tag must not contain blanks",
        ),
    ],
)
def test_run_that_is_nearly_right_is_told_the_columns_of_trec(run: str, words: str, write: Write) -> None:
    said = refused(write, run)[0]
    assert said.startswith(words)
    assert ("the tag" in said) == ("the tag" in words), "a column that is no score may be the one that is missing"


def test_lines_of_an_old_mac_are_read(write: Write) -> None:
    run = "q1 Q0 a 1 2.0 t\nq2 Q0 d 1 2.0 t\n"
    assert scored(write, GOLD, run) == scored(write, GOLD, run.replace("\n", "\r"))
