"""idiom-similarity: the golden case, targets that are the system's own, and every way in which files can be wrong."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from evergold.scoring.correlation import CONSTANT_PREDICTION
from evergold.scoring.errors import InvalidGold, InvalidItems, InvalidOptions, InvalidPrediction, Problem
from evergold.scoring.tables.settings import Prediction
from evergold.scoring.task import NOT_ENTERED, read_options
from evergold.scoring.tasks.idiom_similarity import TASK, Options

GOLDEN = Path(__file__).parents[2] / "golden" / "idiom-similarity"
HEADER = "ID,Language,Setting,Sim\n"
OPTIONS = Options()


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def scores(prediction: Path, gold: Path = GOLDEN / "gold.csv", options: Options = OPTIONS) -> dict[str, object]:
    answers = TASK.read_gold(gold, options)
    checked = TASK.read_prediction(prediction, TASK.items_of(answers, options), options)
    return {
        f"{score.metric} {score.split}": score.reason if score.value is None else score.value
        for score in TASK.score(answers, checked, options)
    }


def golden_rows() -> list[list[str]]:
    return [line.split(",") for line in (GOLDEN / "prediction.csv").read_text().splitlines()[1:]]


def with_sims(path: Path, sims: dict[str, str]) -> Path:
    """The golden prediction with other similarities for some ids."""
    rows = [f"{id_},{language},{setting},{sims.get(id_, sim)}" for id_, language, setting, sim in golden_rows()]
    return write(path, HEADER + "\n".join(rows) + "\n")


def rejected(path: Path, options: Options = OPTIONS) -> list[Problem]:
    with pytest.raises(InvalidPrediction) as caught:
        TASK.read_prediction(path, TASK.read_items(GOLDEN / "items.csv", options), options)
    return list(caught.value.problems)


def test_golden_scores_are_as_calculated_by_hand() -> None:
    expected = json.loads((GOLDEN / "expected.json").read_text())["scores"]
    actual = scores(GOLDEN / "prediction.csv")
    assert list(actual) == list(expected)
    for name, value in expected.items():
        assert actual[name] == (value if isinstance(value, str) else pytest.approx(value, abs=1e-12))


def test_items_of_the_blind_file_and_of_gold_give_the_same_scores() -> None:
    gold = TASK.read_gold(GOLDEN / "gold.csv", OPTIONS)
    by_items = [
        TASK.score(gold, TASK.read_prediction(GOLDEN / "prediction.csv", items, OPTIONS), OPTIONS)
        for items in (
            TASK.read_items(GOLDEN / "items.csv", OPTIONS),
            TASK.read_items(GOLDEN / "gold.csv", OPTIONS),
            TASK.items_of(gold, OPTIONS),
        )
    ]
    assert by_items[0] == by_items[1] == by_items[2]


def test_items_of_gold_do_not_tell_which_are_targets_only() -> None:
    items = TASK.items_of(TASK.read_gold(GOLDEN / "gold.csv", OPTIONS), OPTIONS)
    assert items.ids == ("1", "2", "3", "4", "5", "6", "8", "9", "11", "12", "13")
    assert items.languages == ("EN",) * 8 + ("PT",) * 3
    assert TASK.read_items(GOLDEN / "items.csv", OPTIONS).ids[:3] == ("1", "9", "2")


def test_target_without_sim_is_the_systems_own_similarity(tmp_path: Path) -> None:
    # Rows 1, 2, 3 have the targets 1, Sim(9), Sim(8). With Sim(9) > Sim(8) their order turns against Sim(2) < Sim(3):
    # ranks 3,2,1 and 3,1,2: rho = 1 - 6 * 2 / (3 * 8).
    actual = scores(with_sims(tmp_path / "p", {"9": "0.6", "8": "0.4"}))
    assert actual["spearman pre_train/en/idiom"] == pytest.approx(0.5)
    # What row 9 itself is like is not scored: only the order of 9 and 8 mattered.
    assert actual["spearman pre_train/en/sts"] == 0.5


def test_perfect_prediction_has_the_maximum_and_its_opposite_the_minimum(tmp_path: Path) -> None:
    perfect = {"1": "1", "9": "0.4", "2": "0.4", "8": "0.6", "3": "0.6", "4": "0.2", "5": "0.8", "6": "0.5"}
    perfect |= {"11": "1", "12": "0.4", "13": "0.4"}
    actual = scores(with_sims(tmp_path / "p", perfect))
    values = {name: value for name, value in actual.items() if isinstance(value, float)}
    assert len(values) == 7
    assert all(value == pytest.approx(1.0, abs=1e-12) for value in values.values())
    opposite = scores(with_sims(tmp_path / "q", {"4": "0.8", "5": "0.2", "6": "0.5"}))
    assert opposite["spearman pre_train/en/sts"] == pytest.approx(-1.0, abs=1e-12)


def test_only_ranks_matter_and_values_outside_the_unit_interval_are_fine(tmp_path: Path) -> None:
    # Targets lie on the scale of gold, so that a shift of all values may move own targets among the given ones;
    # STS rows have none of these.
    shifted = {id_: str(float(sim) * 100 - 50) for id_, _, _, sim in golden_rows()}
    usual, moved = scores(GOLDEN / "prediction.csv"), scores(with_sims(tmp_path / "p", shifted))
    assert moved["spearman pre_train/all/sts"] == usual["spearman pre_train/all/sts"]


def test_constant_prediction_is_undefined_with_a_reason(tmp_path: Path) -> None:
    actual = scores(with_sims(tmp_path / "p", {row[0]: "0.5" for row in golden_rows()}))
    assert actual["spearman pre_train/all/all"] == CONSTANT_PREDICTION
    assert actual["spearman fine_tune/all/all"] == NOT_ENTERED


@given(seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_of_rows_does_not_matter(tmp_path: Path, seed: int) -> None:
    shuffled = random.Random(seed)
    rows = [",".join(row) for row in golden_rows()]
    prediction = write(tmp_path / "p", HEADER + "\n".join(shuffled.sample(rows, len(rows))))
    gold = (GOLDEN / "gold.csv").read_text().splitlines()
    mixed = write(tmp_path / "gold", "\n".join([gold[0], *shuffled.sample(gold[1:], len(gold) - 1)]))
    assert scores(prediction, mixed) == scores(GOLDEN / "prediction.csv")


@pytest.mark.parametrize(
    ("sim", "said"),
    [
        ("NaN", "'NaN' is not a finite number"),
        ("inf", "'inf' is not a finite number"),
        ("-1e999", "'-1e999' is not a finite number: it is too large; numbers up to about 1e308 can be read"),
        ("high", "'high' is not a finite number"),
        (" 0.5", "' 0.5' is not a finite number: spaces around it; write 0.5"),
        ('"0,5"', "'0,5' is not a finite number: a decimal comma; write 0.5"),
        ("1_0", "'1_0' is not a finite number: write digits without separators, and decimals after a point"),
        ("٠.٥", "'٠.٥' is not a finite number: the digits are of another script; write 0.5"),
    ],
)
def test_wrong_similarity_is_said_on_its_line(tmp_path: Path, sim: str, said: str) -> None:
    (only,) = rejected(with_sims(tmp_path / "p", {"3": sim}))
    assert (only.code, only.line, only.column) == ("bad-value", 6, "Sim")
    assert only.message == said


@pytest.mark.parametrize("sim", ["1", "-3", "0.5", ".5", "5.", "1e-3", "+0.25", "0.9199999809265137"])
def test_every_usual_way_to_write_a_number_is_read(tmp_path: Path, sim: str) -> None:
    assert isinstance(scores(with_sims(tmp_path / "p", {"3": sim}))["spearman pre_train/all/all"], float)


def test_range_is_checked_where_the_organiser_sets_one(tmp_path: Path) -> None:
    options = read_options(TASK, {"sim_min": 0, "sim_max": "1"})
    assert isinstance(options, Options)
    assert scores(with_sims(tmp_path / "p", {"3": "0", "5": "1"}), options=options)
    problems = rejected(with_sims(tmp_path / "p", {"3": "-0.1", "5": "1.5"}), options)
    assert [problem.message for problem in problems] == [
        "-0.1 lies outside the range 0 to 1",
        "1.5 lies outside the range 0 to 1",
    ]
    (low,) = rejected(with_sims(tmp_path / "p", {"3": "-0.1"}), Options(sim_min=0.0))
    assert low.message == "-0.1 lies outside the range 0 to inf"


def test_target_only_items_must_be_predicted_too(tmp_path: Path) -> None:
    rows = [",".join(row) for row in golden_rows() if row[0] != "9"]
    (only,) = rejected(write(tmp_path / "p", HEADER + "\n".join(rows)))
    assert str(only) == "column ID: pre_train: 1 of 11 items is missing (EN): 9"


def test_file_for_the_detection_task_is_recognised(tmp_path: Path) -> None:
    (only,) = rejected(write(tmp_path / "p", "ID,Language,Setting,Label\n1,EN,zero_shot,1\n"))
    assert only.code == "wrong-task"
    assert "looks like a file for idiom-detection" in only.message


def test_no_problem_tells_about_gold(tmp_path: Path) -> None:
    """Check that the same wrong files get the same words from two golds with different answers."""
    upside_down = (GOLDEN / "gold.csv").read_text().replace("0.2,", "0.99,").replace(",1,\n", ",0,\n")
    other = write(tmp_path / "gold", upside_down)
    wrong = [
        with_sims(tmp_path / "p1", {"3": "x", "5": ""}),
        write(tmp_path / "p2", HEADER + "1,EN,pre_train,0.1\n77,EN,pre_train,1\n"),
    ]
    for path in wrong:
        said = []
        for gold in (GOLDEN / "gold.csv", other):
            items = TASK.items_of(TASK.read_gold(gold, OPTIONS), OPTIONS)
            with pytest.raises(InvalidPrediction) as caught:
                TASK.read_prediction(path, items, OPTIONS)
            said.append([str(problem) for problem in caught.value.problems])
        assert said[0] == said[1]
    assert scores(GOLDEN / "prediction.csv") != scores(GOLDEN / "prediction.csv", other)


LINE = st.tuples(
    st.sampled_from([row[0] for row in golden_rows()]),
    st.sampled_from(["EN", "PT"]),
    st.sampled_from(["pre_train", "fine_tune", "x"]),
    st.one_of(st.floats().map(str), st.sampled_from(["", '"', "1,2", "0.1"])),
).map(",".join)


@given(st.one_of(st.binary(max_size=300), st.lists(LINE).map(lambda lines: (HEADER + "\n".join(lines)).encode())))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_a_prediction_or_rejected_with_problems(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "upload").write_bytes(data)
    refused: InvalidPrediction | None = None
    try:
        TASK.read_prediction(tmp_path / "upload", TASK.read_items(GOLDEN / "items.csv", OPTIONS), OPTIONS)
    except InvalidPrediction as caught:
        refused = caught
    assert refused is None or refused.problems


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=11, max_size=11))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_finite_numbers_give_values_in_range_or_reasons(tmp_path: Path, sims: list[float]) -> None:
    ids = [row[0] for row in golden_rows()]
    path = with_sims(tmp_path / "p", dict(zip(ids, map(repr, sims), strict=True)))
    for value in scores(path).values():
        assert isinstance(value, str) or -1.0 <= float(str(value)) <= 1.0


GOLD_HEADER = "ID,DataID,Language,sim,otherID\n"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("1,t.EN.1.1,EN,1,\n1,t.EN.1.2,EN,1,\n", "line 3, column ID: id 1 appears twice, first on line 2"),
        ("1,t.EN.1.1,EN,1,2\n", "line 2: a row must have either sim or otherID, this one has both"),
        ("1,t.EN.1.1,EN,,\n", "line 2: a row must have either sim or otherID, this one has neither"),
        ("1,t.EN.1.1,EN,nan,\n", "line 2: sim 'nan' is not a finite number"),
        ("1,t.EN.1.1,EN,high,\n", "line 2: sim 'high' is not a finite number"),
        ("1,t.EN.1.1,EN,,1\n", "line 2: otherID 1 is the row itself"),
        (
            "1,t.EN.1.1,EN,,2\n2,t.EN.1.2,EN,,3\n",
            "line 2: otherID 2 has an otherID itself: targets cannot be chained",
        ),
        ("1,t.EN.1.1,EN,, 2\n", "line 2: otherID ' 2' has spaces around it"),
        (
            "1,t.EN.1.1,EN,,9\n2,t.PT.1.1,PT,,9\n",
            "line 3, column otherID: otherID 9 is in another language elsewhere",
        ),
        (
            "1,t.EN.1.1,EN,,2\n2,t.PT.1.1,PT,1,\n",
            "line 2, column otherID: otherID 2 is in another language elsewhere",
        ),
        ("", "the file has no items, only a header"),
    ],
)
def test_wrong_gold_is_refused(tmp_path: Path, rows: str, said: str) -> None:
    gold = write(tmp_path / "gold", GOLD_HEADER + rows)
    with pytest.raises(InvalidGold) as caught:
        TASK.read_gold(gold, OPTIONS)
    assert [str(problem) for problem in caught.value.problems] == [said]
    with pytest.raises(InvalidItems):
        TASK.read_items(gold, OPTIONS)


def test_unknown_other_id_is_refused_when_scoring_by_a_blind_file(tmp_path: Path) -> None:
    gold = TASK.read_gold(write(tmp_path / "gold", (GOLDEN / "gold.csv").read_text().replace(",,9", ",,99")), OPTIONS)
    items = TASK.read_items(GOLDEN / "items.csv", OPTIONS)
    prediction = TASK.read_prediction(GOLDEN / "prediction.csv", items, OPTIONS)
    with pytest.raises(InvalidGold, match="1 gold items are not in the items file: 99"):
        TASK.score(gold, prediction, OPTIONS)


def test_other_id_may_be_a_row_with_a_sim_of_its_own(tmp_path: Path) -> None:
    # Targets 0.9 and Sim(1) = 0.2: ranks 2,1 against 0.2,0.7: 1,2
    gold = write(tmp_path / "gold", GOLD_HEADER + "1,t.EN.1.1,EN,0.9,\n2,t.EN.1.2,EN,,1\n")
    prediction = write(tmp_path / "p", HEADER + "1,EN,pre_train,0.2\n2,EN,pre_train,0.7\n")
    assert scores(prediction, gold)["spearman pre_train/all/all"] == pytest.approx(-1.0)


def test_a_row_is_of_the_sts_part_by_the_third_part_of_its_data_id_alone(tmp_path: Path) -> None:
    names = ("t.EN.sts.1", "sts.EN.1.1", "t.sts.1.1", "t.EN.1.sts", "t.EN.xsts.1", "t.EN.stsx.1")
    rows = "".join(f"{number},{name},EN,0.{number},\n" for number, name in enumerate(names, start=1))
    splits = TASK.read_gold(write(tmp_path / "gold", GOLD_HEADER + rows), OPTIONS).splits
    assert splits["all/sts"].tolist() == [0]
    assert splits["all/idiom"].tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "document", [{"sim_min": 1, "sim_max": 1}, {"sim_min": "nan"}, {"sim_max": "inf"}, {"sim_min": "low"}]
)
def test_wrong_options_are_refused(document: dict[str, object]) -> None:
    with pytest.raises(InvalidOptions, match="idiom-similarity"):
        read_options(TASK, document)


def test_columns_are_the_published_tables_and_are_all_scored() -> None:
    options = Options(languages=("en", "pt"))
    columns = TASK.columns(options)
    assert [c.title for c in columns[:4]] == [
        "Pre-train: All",
        "Pre-train: Idiom Only",
        "Pre-train: STS Only",
        "Pre-train EN: All",
    ]
    assert len(TASK.columns(OPTIONS)) == 6
    assert [f"{c.metric} {c.split}" for c in columns] == list(scores(GOLDEN / "prediction.csv", options=options))


def test_every_option_that_moves_a_number_changes_the_signature(tmp_path: Path) -> None:
    def signatures(options: Options, gold: Path = GOLDEN / "gold.csv") -> set[str]:
        answers = TASK.read_gold(gold, options)
        empty = Prediction(TASK.items_of(answers, options), dict.fromkeys(options.settings))
        return {score.signature for score in TASK.score(answers, empty, options)}

    usual = signatures(OPTIONS)
    assert "idiom-similarity:1|spearman|pre_train/all/sts|languages:en,pt|ties:average-ranks|target:own-sim" in usual
    # A setting's own numbers do not depend on which others there are; its name is in the split.
    assert signatures(Options(settings=("fine_tune",))) == {s for s in usual if "fine_tune" in s}
    # Languages fix what gold has; a range only decides which files are accepted. Neither moves a number by itself.
    assert signatures(Options(languages=("en", "pt"))) == usual
    assert signatures(Options(sim_min=0.0, sim_max=1.0)) == usual
    other = write(tmp_path / "gold", (GOLDEN / "gold.csv").read_text().replace("PT", "GL"))
    pooled = {s for s in signatures(OPTIONS, other) if "/all/" in s}
    assert pooled
    assert not pooled & usual
