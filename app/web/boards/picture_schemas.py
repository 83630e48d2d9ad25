"""The pictures of a board as numbers: exactly those drawn on pages."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from app.base import api_links, links
from app.base.answers import ApiModel, example
from app.boards.pictures.shapes import Axis, AxisKind, Choice, Kind, Look, Picture
from app.competitions.visibility import View
from app.web.competitions.visibility_schemas import EXAMPLE_VISIBILITY, VisibilityOut, visibility_out

_BOARD = "/competitions/demo/phases/evaluation/boards/zero-shot"


class PictureLinkOut(ApiModel):
    """A picture, and where its numbers are."""

    name: str
    title: str
    summary: str = Field(description="what is to be seen, in words")
    link: str


class PicturesOut(ApiModel):
    """The pictures of a board."""

    model_config = example(
        {
            "pictures": [
                {
                    "name": "progress",
                    "title": "Progress over time",
                    "summary": "12 entries from 2026-01-05 to 2026-01-20. The record is 0.7134, by Magpie since "
                    "2026-01-18.",
                    "link": f"/api/v1{_BOARD}/pictures/progress",
                }
            ],
            "visibility": EXAMPLE_VISIBILITY,
            "page": f"{_BOARD}/pictures",
        }
    )

    pictures: list[PictureLinkOut] = Field(description="none while the board shows no scores, see `visibility`")
    visibility: VisibilityOut
    page: str


class AxisOut(ApiModel):
    """An axis: numbers, moments, or names in their order."""

    title: str
    kind: AxisKind
    categories: list[str] = Field(description="the names; of a histogram what its ranges are called; else none")
    decimals: int = Field(description="how many pages show")
    percent: bool = Field(description="pages show the value times 100")


class PointOut(ApiModel):
    """A point, a bar, or a cell of a matrix."""

    x: float | str | None = Field(description="a number, a moment or a name, depending on the axis; null: undefined")
    y: float | str | None
    value: float | None = Field(description="of a cell in a matrix; null elsewhere")
    low: float | None = Field(description="the lower end of the interval of `x`; null where there is none")
    high: float | None
    rank: str = Field(description="as the board writes it, such as `2–5`; may be empty")
    cluster: int | None = Field(description="of the row, from 1 at the top; null where there are none")
    label: str = Field(description="whose it is, as the board names teams; may be empty")
    reason: str = Field(description="why there is no value; may be empty")
    is_mine: bool


class SeriesOut(ApiModel):
    """Points that belong together."""

    name: str
    look: Look = Field(description="what it stands for")
    points: list[PointOut]


class LineOut(ApiModel):
    """A value to compare with, such as a baseline's."""

    label: str
    axis: str = Field(description="x or y: the axis that it is a value of")
    value: float
    is_mine: bool


class PictureOut(ApiModel):
    """A picture of a board."""

    model_config = example(
        {
            "name": "progress",
            "title": "Progress over time",
            "kind": "steps",
            "about": "Points are scored submissions; the line is the best score to date.",
            "summary": "1 entry from 2026-01-18 to 2026-01-18. The record is 0.7134, by Magpie since 2026-01-18.",
            "x": {"title": "Submitted", "kind": "time", "categories": [], "decimals": 0, "percent": False},
            "y": {"title": "Macro F1", "kind": "value", "categories": [], "decimals": 4, "percent": False},
            "scale": None,
            "series": [
                {
                    "name": "Record",
                    "look": "record",
                    "points": [
                        {
                            "x": "2026-01-18T09:00:00+00:00",
                            "y": 0.7134,
                            "value": None,
                            "low": None,
                            "high": None,
                            "rank": "",
                            "cluster": None,
                            "label": "Magpie",
                            "reason": "",
                            "is_mine": False,
                        }
                    ],
                }
            ],
            "lines": [{"label": "Baseline: Majority class", "axis": "y", "value": 0.3333, "is_mine": False}],
            "width": None,
            "diagonal": False,
            "left_out": 0,
            "splits": [],
            "teams": [],
            "page": f"{_BOARD}/pictures#progress",
        }
    )

    name: str
    title: str
    kind: Kind = Field(description="how it is drawn")
    about: str = Field(description="how to read it")
    summary: str = Field(description="what is to be seen, in words")
    x: AxisOut
    y: AxisOut
    scale: AxisOut | None = Field(description="of the values in the cells of a matrix")
    series: list[SeriesOut]
    lines: list[LineOut]
    width: float | None = Field(description="of the ranges of a histogram, which begin at `x`")
    diagonal: bool = Field(description="whether a line marks where x is y")
    left_out: int = Field(description="how many of the oldest entries are too many to be drawn")
    splits: list[str] = Field(description="what `split` may be; none: there is nothing to choose")
    teams: list[str] = Field(description="what `teams` may be; none: there is nothing to choose")
    page: str


def pictures_out(place: tuple[str, str, str], pictures: Sequence[Picture], view: View) -> PicturesOut:
    """Return the list of pictures for a viewer with this view."""
    return PicturesOut(
        pictures=[
            PictureLinkOut(
                name=picture.name,
                title=picture.title,
                summary=picture.summary,
                link=api_links.picture(*place, picture.name),
            )
            for picture in pictures
        ],
        visibility=visibility_out(view),
        page=links.pictures(*place),
    )


def picture_out(place: tuple[str, str, str], picture: Picture) -> PictureOut:
    """Return one picture with all its numbers."""
    return PictureOut(
        name=picture.name,
        title=picture.title,
        kind=picture.kind,
        about=picture.about,
        summary=picture.summary,
        x=_axis(picture.x),
        y=_axis(picture.y),
        scale=_axis(picture.scale) if picture.scale else None,
        series=[
            SeriesOut(
                name=series.name,
                look=series.look,
                points=[
                    PointOut(
                        x=point.x,
                        y=point.y,
                        value=point.value,
                        low=point.low,
                        high=point.high,
                        rank=point.rank,
                        cluster=point.cluster,
                        label=point.label,
                        reason=point.reason,
                        is_mine=point.is_mine,
                    )
                    for point in series.points
                ],
            )
            for series in picture.series
        ],
        lines=[
            LineOut(label=line.label, axis=line.axis, value=line.value, is_mine=line.is_mine) for line in picture.lines
        ],
        width=picture.width,
        diagonal=picture.diagonal,
        left_out=picture.left_out,
        splits=_values(picture.splits),
        teams=_values(picture.teams),
        page=f"{links.pictures(*place)}#{picture.name}",
    )


def _axis(axis: Axis) -> AxisOut:
    return AxisOut(
        title=axis.title,
        kind=axis.kind,
        categories=list(axis.categories),
        decimals=axis.decimals,
        percent=axis.percent,
    )


def _values(choices: Sequence[Choice]) -> list[str]:
    return [choice.value for choice in choices]
