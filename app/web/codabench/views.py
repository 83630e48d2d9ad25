"""Response schemas in the format of Codabench's clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar
from uuid import UUID

from app.base.answers import ApiModel, Moment

Entry = TypeVar("Entry")


class Paged(ApiModel, Generic[Entry]):
    """A page of a list. count: all entries; next, previous: addresses of pages, None if there is none."""

    count: int
    next: str | None
    previous: str | None
    page_size: int
    results: Sequence[Entry]


class TokenOut(ApiModel):
    token: str


class ProfileOut(ApiModel):
    username: str
    display_name: str
    email: str


class DatasetOut(ApiModel):
    """A public file. file_size: in bytes."""

    key: UUID
    name: str
    type: str
    file_size: int


class TaskOut(ApiModel):
    """A task of a phase. solutions: always empty, because this API never sends gold."""

    id: int
    key: UUID
    name: str
    description: str
    phase: int
    competition: int
    public_datasets: Sequence[DatasetOut]
    solutions: Sequence[DatasetOut] = ()


class PhaseOut(ApiModel):
    """A phase. used_submissions_per_person: the highest number of any task; None for anonymous viewers."""

    id: int
    index: int
    name: str
    description: str
    status: str
    start: Moment
    end: Moment | None
    competition: int
    max_submissions_per_day: int | None
    max_submissions_per_person: int | None
    used_submissions_per_person: int | None
    public_data: None = None
    starting_kit: None = None
    tasks: Sequence[TaskOut]


class ColumnOut(ApiModel):
    """A column of a board. sorting: `desc` if higher is better."""

    key: str
    title: str
    index: int
    sorting: str
    precision: int
    hidden: bool = False


class LeaderboardSummary(ApiModel):
    id: int
    title: str
    primary_index: int
    columns: Sequence[ColumnOut]


class ScoreOut(ApiModel):
    """A score. score: a decimal number, or None if it is undefined, with the reason."""

    index: int
    column_key: str
    score: str | None
    reason: str | None = None
    is_primary: bool


class RowOut(ApiModel):
    """A row of a board."""

    owner: str
    rank: int | None
    scores: Sequence[ScoreOut]


class LeaderboardOut(LeaderboardSummary):
    """A board in one phase, as this viewer may see it."""

    phase: int
    submissions: Sequence[RowOut]


class PageOut(ApiModel):
    index: int
    title: str
    content: str


class ListedCompetition(ApiModel):
    """A competition in the list. created_by: the contact that the organisers publish."""

    id: int
    title: str
    description: str
    created_by: str
    created_when: Moment | None
    published: bool


class CompetitionOut(ListedCompetition):
    """A competition with its parts. Counts are None: only boards show them, as far as they are visible."""

    owner_display_name: str
    participants_count: None = None
    submissions_count: None = None
    docker_image: None = None
    make_input_data_available: bool = False
    make_programs_available: bool = False
    pages: Sequence[PageOut]
    phases: Sequence[PhaseOut]
    leaderboards: Sequence[LeaderboardSummary]


class CanSubmit(ApiModel):
    can: bool
    reason: str | None


class AnnouncedUpload(ApiModel):
    """An announced upload: the address to send the file to, and the key to submit it with."""

    key: UUID
    sassy_url: str


class CompletedUpload(ApiModel):
    """A completed upload. status_id: for a bundle, the number of the competition's creation."""

    key: UUID
    status_id: int | None = None


class CreationOut(ApiModel):
    """The creation of a competition from a bundle. status: `Starting`, `Finished`, `Failed`; details: sentences on the
    outcome.
    """

    id: int
    status: str
    details: str | None
    resulting_competition: int | None


class NamedTask(ApiModel):
    id: int
    name: str


class CreatedSubmission(ApiModel):
    id: int
    status: str
    phase: int


class SubmissionOut(ApiModel):
    """An upload: one submission, or several to the tasks of one phase. status_details: why scores are missing."""

    id: int
    status: str
    status_details: str | None
    phase: int
    phase_name: str
    competition: int
    created_when: Moment
    filename: str
    owner: str
    task: NamedTask
    tasks: Sequence[NamedTask]
    scores: Sequence[ScoreOut]
    links: Sequence[str]


class LogOut(ApiModel):
    name: str
    data_file: str


class SubmissionDetails(ApiModel):
    """Addresses of the files of a submission. There is no output of a prediction step."""

    logs: Sequence[LogOut]
    data_file: str | None
    prediction_result: None = None
    scoring_result: str | None
    detailed_result: None = None
    leaderboards: Sequence[LeaderboardSummary]
