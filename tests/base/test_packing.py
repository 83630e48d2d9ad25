"""`app.base.packing`: what a run keeps comes back as it was, however it was written; and all numbers are finite."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from app.base.packing import packed, unpacked
from evergold.scoring.task import Score
from tests import lanes

NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
#: No halves of surrogate pairs, which no text in UTF-8 has.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)
DOCUMENTS = st.dictionaries(TEXTS, VALUES)


@settings(deadline=None, max_examples=lanes.examples(100))
@given(DOCUMENTS)
def test_a_document_comes_back(document: dict[str, object]) -> None:
    assert unpacked(packed(document)) == document
    assert unpacked(packed(document, finite={})) == document


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float64("nan")])
@pytest.mark.parametrize("place", [lambda one: one, lambda one: [1, {"deep": [None, one]}]])
def test_what_is_not_finite_is_refused(number: float, place: Callable[[float], object]) -> None:
    document = {"it": place(number)}
    with pytest.raises(ValueError, match="not JSON compliant"):
        packed(document)
    with pytest.raises(ValueError, match="not JSON compliant"):
        packed(document, finite={"other": 1})


def test_what_orjson_refuses_is_written_as_json_writes_it() -> None:
    document = {"counts": {3: 1}, "share": np.float64(0.5)}
    assert unpacked(packed(document)) == json.loads(json.dumps(document)) == {"counts": {"3": 1}, "share": 0.5}


@pytest.mark.parametrize("value", [0.1, None])
def test_scores_are_objects(value: float | None) -> None:
    score = Score("f1", "all", value, "undefined" if value is None else None, "x:1|f1|all")
    expected = {"metric": "f1", "split": "all", "value": value, "reason": score.reason, "signature": "x:1|f1|all"}
    for kept in (packed({"scores": [score]}), packed({}, finite={"scores": [score]})):
        assert json.loads(zlib.decompress(kept)) == {"scores": [expected]}
