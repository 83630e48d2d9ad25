"""All predictions of a competition for its organisers: selection, manifest, and one streamed zip.

Metadata is read at the start, files as they are streamed. The caller must check that the user is an organiser
(`app.people.rights.check_may_organise`): nothing is left out because of an embargo.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.base.db import in_batches
from app.base.errors import NotFound
from app.base.logs import log
from app.base.storage import Storage, has_file, lent_file
from app.base.text import spreadsheet_safe
from app.base.zip_stream import ZipStream
from app.boards.leaderboard import build_leaderboard
from app.cards.edits import card_documents
from app.competitions.find import boards_of
from app.competitions.visibility import Viewer
from app.models import Competition, CompetitionTask, Phase, PhaseTask, ScoreRow, ScoringRun, Submission, Team, User
from app.submissions.organisers_list import CHOSEN_LIMIT
from app.teams.consents import publishable

#: Maximum number of ids per statement, which SQLite limits.
_AT_ONCE = 500


Name = Annotated[str, Field(max_length=100, description="a name; empty: all")]


class ExportFilter(BaseModel):
    """A selection of submissions, as in the address of an export."""

    model_config = ConfigDict(frozen=True)

    phase: Name = ""  # forms send an untouched field as an empty string
    task: Name = ""
    only: Literal["all", "entries"] = Field("all", description="`entries`: only submissions that are on a board now")
    submission: list[UUID] | None = Field(None, max_length=CHOSEN_LIMIT, description="only these")
    publishable: bool = Field(
        False, description="only those of teams that consent to publication (`may_be_published` in the manifest)"
    )


@dataclass(frozen=True, slots=True)
class ExportedScore:
    """A score as on boards: a value, or None with the reason."""

    metric: str
    split: str
    value: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ExportedSubmission:
    """The metadata of a submission.

    withdrawn_at: when its team withdrew it.
    stands_on: `phase/board` of the boards on which it is the entry; row_status: the organisers' mark on that row.
    card: its method card.
    may_be_published: True if everybody involved consents.
    """

    id: UUID
    team_id: int
    team: str
    kind: str
    username: str
    phase: str
    task: str
    submitted_at: datetime
    withdrawn_at: datetime | None
    filename: str
    size_bytes: int
    sha256: str
    state: str
    track: str
    method: str
    notes: str
    stands_on: tuple[str, ...] = ()
    row_status: str = ""
    scores: tuple[ExportedScore, ...] = ()
    card: Mapping[str, Any] = field(default_factory=dict)
    may_be_published: bool = False


@dataclass(slots=True)
class _Standing:
    """The boards of a submission, and the mark of its row."""

    boards: list[str] = field(default_factory=list)
    status: str = ""


def submissions_to_export(
    session: Session, competition: Competition, wanted: ExportFilter, organiser: User, now: datetime
) -> list[ExportedSubmission]:
    """List submissions by team and time. competition: from `find_competition`. Raises NotFound for unknown names."""
    places = _wanted_phase_tasks(competition, wanted)
    standing = _standing(session, competition, places, organiser, now)
    rows = _rows(
        session,
        standing.keys() if wanted.only == "entries" else wanted.submission or None,
        [one.id for _, one in places],
    )
    run_ids = {row.id: row.run_id for row in rows}
    scores = _scores(session, list(run_ids.values()))
    cards = card_documents(session, list(run_ids))
    consented = publishable(session, competition, run_ids.keys())
    found = []
    for row in rows:
        if wanted.publishable and row.id not in consented:
            continue
        values = {name: value for name, value in row._asdict().items() if name != "run_id"}
        values |= {"track": row.track or "", "kind": str(row.kind), "state": str(row.state)}
        stands = standing.get(row.id, _Standing())
        card = cards.get(row.id) or ({"method": row.method} if row.method else {})
        found.append(
            ExportedSubmission(
                **values,
                stands_on=tuple(stands.boards),
                row_status=stands.status,
                scores=tuple(scores[row.run_id]),
                card=card,
                may_be_published=row.id in consented,
            )
        )
    return sorted(found, key=lambda one: (one.team.casefold(), one.team_id, one.submitted_at, one.id))


def _wanted_phase_tasks(competition: Competition, wanted: ExportFilter) -> list[tuple[Phase, PhaseTask]]:
    phases = [one for one in competition.phases if wanted.phase in ("", one.name)]
    if not phases:
        known = ", ".join(f"'{one.name}'" for one in competition.phases) or "none"
        raise NotFound(f"Competition '{competition.name}' has no phase '{wanted.phase}'; it has {known}.")
    found = [(phase, one) for phase in phases for one in phase.phase_tasks if wanted.task in ("", one.task.name)]
    if not found and wanted.task:
        known = ", ".join(f"'{one.name}'" for one in competition.tasks) or "none"
        raise NotFound(f"There is no task '{wanted.task}' in the requested export; '{competition.name}' has {known}.")
    return found


def _standing(
    session: Session,
    competition: Competition,
    places: Sequence[tuple[Phase, PhaseTask]],
    organiser: User,
    now: datetime,
) -> dict[UUID, _Standing]:
    """Return every submission on a board of the selected tasks, including carried-over ones, with its standing."""
    found: defaultdict[UUID, _Standing] = defaultdict(_Standing)
    for phase, phase_task in places:
        for board in boards_of(competition, phase):
            if board.task_id != phase_task.task_id:
                continue
            for row in build_leaderboard(session, phase, board, Viewer(organiser, now)).rows:
                if row.submission_id is not None:
                    stands = found[row.submission_id]
                    stands.boards.append(f"{phase.name}/{board.name}")
                    stands.status = str(row.status or stands.status)
    return dict(found)


def _whole() -> Select[*tuple[Any, ...]]:
    return (
        select(
            Submission.id,
            Submission.team_id,
            Team.name.label("team"),
            Team.kind,
            User.username,
            Phase.name.label("phase"),
            CompetitionTask.name.label("task"),
            Submission.submitted_at,
            Submission.withdrawn_at,
            Submission.filename,
            Submission.size_bytes,
            Submission.sha256,
            ScoringRun.status.label("state"),
            Submission.track,
            Submission.method,
            Submission.description.label("notes"),
            ScoringRun.id.label("run_id"),
        )
        .join(Team, Team.id == Submission.team_id)
        .join(User, User.id == Submission.user_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .join(ScoringRun, (ScoringRun.submission_id == Submission.id) & ScoringRun.is_current)
    )


def _rows(session: Session, submission_ids: Any, phase_task_ids: list[int]) -> list[Any]:
    """Return the rows of these submissions, or of all submissions to these tasks if `submission_ids` is None."""
    if submission_ids is None:
        return list(session.execute(_whole().where(Submission.phase_task_id.in_(phase_task_ids))))
    some = in_batches(list(submission_ids), _AT_ONCE)
    return [row for ids in some for row in session.execute(_whole().where(Submission.id.in_(ids)))]


def _scores(session: Session, run_ids: list[int]) -> defaultdict[int, list[ExportedScore]]:
    found: defaultdict[int, list[ExportedScore]] = defaultdict(list)
    for ids in in_batches(run_ids, _AT_ONCE):
        rows = session.execute(
            select(ScoreRow.run_id, ScoreRow.metric, ScoreRow.split, ScoreRow.value, ScoreRow.reason)
            .where(ScoreRow.run_id.in_(ids))
            .order_by(ScoreRow.id)
        )
        for run_id, metric, split, value, reason in rows:
            found[run_id].append(ExportedScore(metric, split, value, reason))
    return found


CARD = "card.json"
_NAME_CHARACTERS = 60
_KEPT_BY_WINDOWS = {"con", "prn", "aux", "nul"} | {f"{name}{n}" for name in ("com", "lpt") for n in range(10)}


@dataclass(frozen=True, slots=True)
class Packed:
    """A submission with its path in the zip; "" if the stored file is missing."""

    submission: ExportedSubmission
    path: str
    storage: Storage


def packed(submissions: Sequence[ExportedSubmission], storage: Storage) -> list[Packed]:
    """Return each submission with the path of its file in the zip."""
    folders = team_folders({one.team_id: one.team for one in submissions})
    found = []
    for one in submissions:
        name = safe_name(one.filename) or "predictions"
        path = f"{folders[one.team_id]}/{one.id}/{'file-' if name.lower() == CARD else ''}{name}"
        found.append(Packed(one, path if has_file(storage, one.sha256) else "", storage))
    return found


def zip_chunks(files: Sequence[Packed], made_at: datetime) -> Iterator[bytes]:
    """Yield the zip in chunks."""
    target = ZipStream()
    yield target.text("manifest.csv", "\ufeff" + manifest_csv(files), made_at)  # byte order mark, for spreadsheets
    yield target.text("manifest.json", manifest_json(files, made_at), made_at)
    for file in files:
        if not file.path:
            log.error("stored_file_missing", sha256=file.submission.sha256)
            continue
        at = file.submission.submitted_at
        with lent_file(file.storage, file.submission.sha256) as path:
            yield from target.file(file.path, path, at)
        yield target.text(f"{file.path.rpartition('/')[0]}/{CARD}", _card_json(file.submission), at)
    yield target.end()


def manifest_csv(files: Sequence[Packed]) -> str:
    """Return a CSV with a row per submission; scores have separate columns, named `metric split`."""
    columns = list(dict.fromkeys(f"{score.metric} {score.split}" for file in files for score in file.submission.scores))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*_COLUMNS, *(spreadsheet_safe(column) for column in columns)])
    for file in files:
        values = {f"{score.metric} {score.split}": score.value for score in file.submission.scores}
        cells = [_cell(value) for value in _document(file).values()]
        writer.writerow([*cells, *(values.get(column) for column in columns)])
    return text.getvalue()


def manifest_json(files: Sequence[Packed], made_at: datetime) -> str:
    """Return the manifest as JSON, with reasons of undefined scores and with method cards."""
    listed = [
        {
            **_document(file),
            "notes": file.submission.notes,
            "scores": [asdict(score) for score in file.submission.scores],
            "card": file.submission.card,
        }
        for file in files
    ]
    document = {"made_at": made_at.astimezone(UTC).isoformat(), "submissions": listed}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def team_folders(names: Mapping[int, str]) -> dict[int, str]:
    """Return a folder for each team by id: its name, changed if it is unsafe or not unique."""
    safe = {team_id: safe_name(name) or "team" for team_id, name in names.items()}
    taken: dict[str, int] = {}
    for name in safe.values():
        taken[name.casefold()] = taken.get(name.casefold(), 0) + 1
    folders, used = {}, set()
    for team_id, name in sorted(safe.items()):
        folder = name if taken[name.casefold()] == 1 else f"{name}-{team_id}"
        while folder.casefold() in used:  # a team whose name equals another one's name with its id
            folder = f"{folder}-{team_id}"
        used.add(folder.casefold())
        folders[team_id] = folder
    return folders


def safe_name(name: str) -> str:
    """Return the name as a part of a path; "" if no character is left."""
    composed = unicodedata.normalize("NFC", name)
    kept = "".join(c if c.isalnum() or unicodedata.category(c).startswith("M") or c in "-_." else "_" for c in composed)
    short = kept[-_NAME_CHARACTERS:] if "." in kept[-10:] else kept[:_NAME_CHARACTERS]  # keep the file extension
    bare = short.strip("._")
    return f"_{bare}" if bare.partition(".")[0].lower() in _KEPT_BY_WINDOWS else bare


_COLUMNS = (
    "team",
    "kind",
    "submission",
    "username",
    "phase",
    "task",
    "submitted_at",
    "withdrawn_at",
    "state",
    "track",
    "method",
    "stands_on",
    "row_status",
    "file",
    "filename",
    "size_bytes",
    "sha256",
    "may_be_published",
)


def _document(file: Packed) -> dict[str, Any]:
    one = file.submission
    known = {
        **asdict(one),
        "submission": str(one.id),
        "submitted_at": one.submitted_at.astimezone(UTC).isoformat(),
        "withdrawn_at": one.withdrawn_at.astimezone(UTC).isoformat() if one.withdrawn_at else "",
        "stands_on": list(one.stands_on),
        "file": file.path,
    }
    return {name: known[name] for name in _COLUMNS}


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = " ".join(value)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    return spreadsheet_safe(value) if isinstance(value, str) else value


def _card_json(one: ExportedSubmission) -> str:
    document = {
        "submission": str(one.id),
        "team": one.team,
        "phase": one.phase,
        "task": one.task,
        "track": one.track or None,
        "card": one.card,
        "notes": one.notes,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
