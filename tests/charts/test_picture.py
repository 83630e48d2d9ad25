"""Parts of pictures: answers have every field, whatever the code that makes them leaves out."""

from __future__ import annotations

import json

import pytest

from app.boards.pictures.views import PictureOut
from app.charts.picture import AxisOut, LineOut, PointOut, SeriesOut


@pytest.mark.parametrize("part", [AxisOut, PointOut, SeriesOut, LineOut, PictureOut])
def test_answers_are_described_with_all_fields_and_no_defaults(part: type[AxisOut]) -> None:
    schema = part.model_json_schema(mode="serialization")
    assert schema["required"] == list(schema["properties"])
    assert not [name for name, field in schema["properties"].items() if "default" in field]


def test_a_point_is_answered_with_the_fields_that_were_left_out() -> None:
    assert json.loads(PointOut(x="2026-01-05", y=0.5).model_dump_json()) == {
        "x": "2026-01-05",
        "y": 0.5,
        "value": None,
        "low": None,
        "high": None,
        "rank": "",
        "cluster": None,
        "label": "",
        "reason": "",
        "is_mine": False,
    }
