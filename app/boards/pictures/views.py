"""API schemas for the pictures of a board, with exactly the data drawn on pages."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from app.base import api_links, links
from app.base.answers import ApiModel, example
from app.charts.picture import Picture, PictureNumbers
from app.competitions.views import EXAMPLE_VISIBILITY, VisibilityOut, describe_visibility
from app.competitions.visibility import View

_BOARD = "/competitions/demo/phases/evaluation/boards/zero-shot"


class PictureLinkOut(ApiModel):
    """A picture, with the address of its data."""

    name: str
    title: str
    summary: str = Field(description="description of the picture in words")
    link: str


class PicturesOut(ApiModel):
    """The pictures of a board."""

    model_config = example(
        {
            "pictures": [
                {
                    "name": "progress",
                    "title": "Progress over time",
                    "summary": "12 entries from 5 Jan 2026 to 20 Jan 2026. The record is 0.7134, by Magpie since "
                    "18 Jan 2026.",
                    "link": f"/api/v1{_BOARD}/pictures/progress",
                }
            ],
            "visibility": EXAMPLE_VISIBILITY,
            "page": f"{_BOARD}/pictures",
        }
    )

    pictures: list[PictureLinkOut] = Field(description="empty while the board shows no scores, see `visibility`")
    visibility: VisibilityOut
    page: str


class PictureOut(PictureNumbers):
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

    splits: tuple[str, ...] = Field(description="possible values of `split`; empty: there is nothing to choose")
    teams: tuple[str, ...] = Field(description="possible values of `teams`; empty: there is nothing to choose")
    page: str


def describe_pictures(place: tuple[str, str, str], pictures: Sequence[Picture], view: View) -> PicturesOut:
    """Return the list of a board's pictures for a viewer with this view."""
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
        visibility=describe_visibility(view),
        page=links.pictures(*place),
    )


def describe_picture(place: tuple[str, str, str], picture: Picture) -> PictureOut:
    """Return one picture with all its data."""
    return PictureOut(
        **{name: getattr(picture, name) for name in PictureNumbers.model_fields},
        splits=tuple(choice.value for choice in picture.splits),
        teams=tuple(choice.value for choice in picture.teams),
        page=f"{links.pictures(*place)}#{picture.name}",
    )
