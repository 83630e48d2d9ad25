"""The parts of a picture: axes, points, reference lines, and the table with the same data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from app.base.answers import ApiModel
from evergold.figures.axes import Axis
from evergold.figures.svg import number_text
from evergold.moments import moment_words

#: Types of drawings.
Kind = Literal["steps", "bars", "histogram", "dots", "scatter", "forest", "matrix"]
#: Meaning of a series, which determines mark and line, so that colour is never the only difference.
Look = Literal["record", "team", "baseline", "published", "count", "part", "mean", "better", "worse", "same"]
AxisKind = Literal["value", "time", "category"]
UNDEFINED = "–"


class _Part(ApiModel):
    """A part of a picture. Only our own code uses the defaults: responses always have all fields."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        for field in handler.resolve_ref_schema(schema).get("properties", {}).values():
            field.pop("default", None)
        return schema


class AxisOut(_Part):
    """An axis: numbers, times, or names in order."""

    title: str
    kind: AxisKind = "value"
    categories: tuple[str, ...] = Field(
        (), description="names on the axis; of a histogram, names of its ranges; otherwise empty"
    )
    decimals: int = Field(0, description="number of decimals that pages show")
    percent: bool = Field(False, description="pages show the value times 100")

    def text_of(self, value: float | str | None) -> str:
        """Return a value formatted for this axis."""
        if isinstance(value, str):
            return moment_words(datetime.fromisoformat(value)) if self.kind == "time" else value
        if value is None:
            return UNDEFINED
        return f"{number_text(100 * value, self.decimals)} %" if self.percent else number_text(value, self.decimals)

    def between(self, low: float, high: float) -> Axis:
        """Return the axis of a plot with these ends."""
        scale, unit = (100.0, " %") if self.percent else (1.0, "")
        return Axis(self.title, low, high, self.decimals, scale, unit)


class PointOut(_Part):
    """A point, a bar, or a cell of a matrix."""

    x: float | str | None = Field(description="a number, a moment or a name, depending on the axis; null: undefined")
    y: float | str | None
    value: float | None = Field(None, description="value of a cell in a matrix; null elsewhere")
    low: float | None = Field(None, description="the lower end of the interval of `x`; null where there is none")
    high: float | None = None
    rank: str = Field("", description="rank as the board shows it, such as `2–5`; may be empty")
    cluster: int | None = Field(None, description="cluster of the row, from 1 at the top; null where there are none")
    label: str = Field("", description="name of the team as on the board; may be empty")
    reason: str = Field("", description="why there is no value; may be empty")
    is_mine: bool = False


class SeriesOut(_Part):
    """Points that belong together."""

    name: str
    look: Look = Field(description="meaning of the line")
    points: tuple[PointOut, ...]


class LineOut(_Part):
    """A value to compare with, such as a baseline's."""

    label: str
    axis: str = Field(description="axis of the value: x or y")
    value: float
    is_mine: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """A column of the table. is_number: its cells are numbers."""

    title: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The data of the picture as text; the first cell of a row names it."""

    headings: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a picture. value: of the parameter in the page's address."""

    title: str
    value: str
    is_chosen: bool


class PictureNumbers(_Part):
    """The data of a picture, with instructions for drawing and reading it."""

    name: str
    title: str
    kind: Kind = Field(description="kind of the picture")
    about: str = Field(description="explanation of how to read the picture")
    summary: str = Field(description="description of the picture in words")
    x: AxisOut
    y: AxisOut
    scale: AxisOut | None = Field(None, description="scale of the values in the cells of a matrix")
    series: tuple[SeriesOut, ...]
    lines: tuple[LineOut, ...] = ()
    width: float | None = Field(None, description="width of the ranges of a histogram, which begin at `x`")
    diagonal: bool = Field(False, description="whether a line marks where x equals y")
    left_out: int = Field(0, description="number of oldest entries that are not drawn")


class Picture(PictureNumbers):
    """A picture with its table and its options.

    name: in addresses.
    splits, teams: the options (parts of the items, systems); several: more than one system can be chosen.
    """

    table: Table
    splits: tuple[Choice, ...] = ()
    teams: tuple[Choice, ...] = ()
    several: bool = False
