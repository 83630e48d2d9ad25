"""Tables of scores name once what was not entered, in few names, and hide nothing else."""

from __future__ import annotations

from evergold.scoring.left_out import left_out
from evergold.scoring.task import NOT_ENTERED

CONSTANT = "the predictions are constant"


def test_a_setting_without_values_is_one_name() -> None:
    scores = [("zero_shot/all", 0.5, None), ("one_shot/all", None, NOT_ENTERED), ("one_shot/en", None, NOT_ENTERED)]
    found = left_out(scores)
    assert found.parts == ("one_shot",)
    assert found.rows == {1, 2}


def test_only_the_part_without_values_is_named() -> None:
    scores = [
        ("en/nat/sent", None, NOT_ENTERED),
        ("en/nat/nc", None, NOT_ENTERED),
        ("en/neut/sent", 0.5, None),
        ("en/neut/nc", None, NOT_ENTERED),
    ]
    assert left_out(scores).parts == ("en/nat", "en/neut/nc")


def test_an_ending_that_nobody_has_a_value_for_is_one_name() -> None:
    splits = ("en/sent", "en/nc", "pt/sent")
    entered = [(split, 0.5, None) for split in splits]
    lacking = [(f"{split}/standardised", None, NOT_ENTERED) for split in splits]
    assert left_out([*entered, *lacking]).parts == ("…/standardised",)
    # Here the ending has a value in one place: the others are named one by one.
    assert left_out([*entered, *lacking[1:], ("en/sent/standardised", 0.4, None)]).parts == (
        "en/nc/standardised",
        "pt/sent/standardised",
    )


def test_an_undefined_score_stays_in_the_table() -> None:
    scores = [("zero_shot/all", None, CONSTANT), ("one_shot/all", None, NOT_ENTERED)]
    assert left_out(scores).rows == {1}
    assert left_out([("a", None, CONSTANT)]).parts == ()


def test_a_split_with_another_value_keeps_all_its_rows() -> None:
    scores = [("zero_shot/all", 0.5, None), ("zero_shot/all", None, NOT_ENTERED)]
    assert left_out(scores).rows == frozenset()
