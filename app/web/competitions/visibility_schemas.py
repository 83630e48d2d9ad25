"""Visibility of a task in a phase, in JSON: what is shown now, and when more will be."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from app.base.answers import ApiModel, Moment
from app.competitions.visibility import View
from app.models import BoardShown, Slices
from evergold.scoring.halves import Half

EXAMPLE_VISIBILITY = {
    "board": "public",
    "board_at": None,
    "names": True,
    "names_at": None,
    "own_scores": True,
    "own_scores_at": None,
    "slices": "ranked",
    "slices_at": "2026-03-01T12:00:00Z",
    "precision": 4,
    "part": None,
    "private_at": None,
}


class VisibilityOut(ApiModel):
    """The participants' view now. Organisers see everything, and here what is hidden from others."""

    model_config = ConfigDict(populate_by_name=True)

    board: BoardShown = Field(description="how much of the boards: nothing, ranks without scores, or all")
    board_at: Moment | None = Field(description="when boards become public; null: they are, or it is not set")
    names: bool = Field(description="false: rows of teams have neutral names")
    names_at: Moment | None = Field(description="when teams get their names; null: they have them, or it is not set")
    own_scores: bool = Field(description="whether teams see the scores of their own submissions")
    own_scores_at: Moment | None = Field(description="when they will; null: they do, or never")
    slices: Slices = Field(
        description="which scores: those that rank (`none`; `ranked`: until the phase ends), those in `columns` of "
        "boards, or `all`. While a phase with hidden gold is open, there are intervals and p with `all` alone"
    )
    slices_at: Moment | None = Field(description="when all slices are shown; null: they are, or it is not set")
    precision: int | None = Field(
        description="decimals of values, of which a value of 10 or more has fewer; null: all of them"
    )
    part: Half | None = Field(
        validation_alias="half", description="the part of the items that ranks boards now; null: they are not divided"
    )
    private_at: Moment | None = Field(description="when the private part will; null: it does, or there is none")


def visibility_out(view: View) -> VisibilityOut:
    """Return the participants' view as an API model, for every viewer."""
    return VisibilityOut.model_validate(view.participant_view, from_attributes=True)
