"""phases.yaml as pydantic models: what an organiser may declare, strict and complete; every key has a description.

`app.declarations.check` parses files with line numbers and checks relations between fields;
`app.declarations.apply.apply` writes to the database. `python -m app.declarations.model` prints the JSON Schema that
editors use, docs/phases.schema.json.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from app.base.config import MEBIBYTE
from app.cards.form import CardKind, CardPart
from app.declarations.values import (
    LARGEST,
    Author,
    Declaration,
    Domain,
    FileMoment,
    LadderStep,
    Line,
    Listed,
    Markdown,
    Moment,
    MomentCloseOrNever,
    MomentOrClose,
    Name,
    Precision,
    RelativePath,
    Seed,
    Title,
    Web,
    Whole,
    WithoutChoice,
)
from app.models import (
    NAME_CHARACTERS,
    Audience,
    BoardShown,
    EntryRule,
    MissingEntry,
    OwnScores,
    RankingBy,
    RegistrationMode,
    Slices,
)
from app.teams.questions import QuestionKind
from evergold.scoring.program.options import ProgramOptions
from evergold.scoring.program.results import NAME as PROGRAM_TYPE


class CardFieldDeclaration(Declaration):
    """A question that every method card of the competition answers."""

    name: Name = Field(description="in files and for programs; never change it")
    title: Line = Field(max_length=60, description="the question in few words; heads its column, if it has one")
    kind: CardKind = Field(CardKind.TEXT, description="what an answer is: text, number, choice, yes_no")
    choices: tuple[Annotated[Line, Field(max_length=80)], ...] = Field(
        (), max_length=50, description="with kind 'choice': the answers there are"
    )
    required: Annotated[bool, Strict()] = Field(False, description="without an answer nothing is accepted")
    on_board: Annotated[bool, Strict()] = Field(False, description="whether boards show it as a column")
    help: str = Field("", max_length=300, description="one or two sentences, shown below the field")


class MethodCardDeclaration(Declaration):
    """Questions on method cards besides those of every card: method, summary, paper, code, data, languages."""

    required: tuple[CardPart, ...] = Field((), description="which of those must be there")
    fields: tuple[CardFieldDeclaration, ...] = Field((), max_length=20, description="further questions")


class QuestionDeclaration(Declaration):
    """A question to everybody who registers; the names affiliation, country and students are enough by themselves."""

    name: Name = Field(description="in files and for programs; never change it")
    title: Line | None = Field(None, max_length=200, description="the question; of a tick: what is ticked")
    kind: QuestionKind | None = Field(None, description="what an answer is: text (the default), choice, tick")
    choices: tuple[Annotated[Line, Field(max_length=80)], ...] = Field(
        (), max_length=300, description="with kind 'choice': the answers there are"
    )
    required: Annotated[bool, Strict()] = Field(False, description="whether nobody takes part without an answer")
    help: str = Field("", max_length=300, description="one or two sentences, shown below the field")


class RegistrationDeclaration(Declaration):
    """Requirements for taking part."""

    mode: RegistrationMode | None = Field(
        None,
        description="open to all; to all with a confirmed address; by approval of the organisers; by domain of a "
        "confirmed address; from a list; or by a code that the organisers give out, without a confirmed address. "
        "Absent: confirmed, or open where all gold is public",
    )
    domains: tuple[Domain, ...] = Field(
        (),
        max_length=1_000,
        description="with mode 'domain': what stands behind the @; '*.uni.edu': everything below. With "
        "'approval': whose confirmed address has one of them is let in at once, and the organisers answer the others",
    )
    allowed: tuple[Listed, ...] = Field(
        (), max_length=10_000, description="with mode 'list': e-mail addresses, or user names of accounts that exist"
    )
    terms: Markdown = Field("", description="Markdown that everybody accepts first; a new text must be accepted again")
    questions: tuple[QuestionDeclaration, ...] = Field(
        (), max_length=30, description="questions to everybody who registers; only organisers see the answers"
    )
    publish_predictions: bool = Field(
        False,
        description="whether you may want to publish predictions: people are asked for consent, which they can "
        "revoke, and `evergold export predictions --publishable` has those of teams whose members all consent",
    )


class TeamsDeclaration(Declaration):
    """Teams of this competition."""

    members_max: Whole | None = Field(None, ge=1, le=1_000, description="of one team; absent: no limit")
    rename_until: Moment | None = Field(
        None, description="until when teams may have another name; absent: until results that they have are frozen"
    )
    merge_until: Moment | None = Field(
        None, description="until when two teams may become one, if both want it; absent: they may not"
    )


#: Default submission limits of a team for a task with hidden gold.
HIDDEN_GOLD_PER_DAY, HIDDEN_GOLD_TOTAL = 5, 50


class ScoreDeclaration(Declaration):
    """One score of the board's task."""

    metric: str = Field(max_length=NAME_CHARACTERS, description="as docs/tasks.md names it, e.g. macro_f1")
    split: str = Field(max_length=NAME_CHARACTERS, description="which items, e.g. zero_shot/all")


class ColumnDeclaration(ScoreDeclaration):
    """A column of a board: one score of its task."""

    title: Line | None = Field(None, max_length=60, description="heading; default: the task type's own")
    decimals: Whole = Field(4, ge=0, le=10, description="digits shown; values are kept in full")
    percent: Annotated[bool, Strict()] = Field(False, description="show the value times 100")


class HistoricDeclaration(Declaration):
    """Published results, shown beside live rows and marked as such."""

    phase: Name = Field(description="the phase on whose board they stand")
    file: RelativePath = Field(description="CSV with the columns team,date,metric,split,value")
    source: Line = Field(max_length=1_000, description="where they were published; shown with every row")


class TrackDeclaration(Declaration):
    """A kind of system that competes apart from others, such as closed (only the data provided) and open."""

    name: Name = Field(description="what teams choose, and in files; never change it")
    title: Title
    description: str = Field("", max_length=1_000, description="one or two sentences: which systems belong here")


class PaperDeclaration(Declaration):
    """The paper that describes the competition, for those who cite it."""

    title: Title
    authors: tuple[Author, ...] = Field((), max_length=200, description="default: those of the competition")
    venue: Line | None = Field(None, max_length=300, description="where it was published: proceedings or journal")
    year: Whole | None = Field(None, ge=1900, le=2999)
    url: Web | None = Field(None, description="http:// or https://")
    doi: Annotated[str, Field(max_length=200, pattern=r"^10\.\S+/\S+$")] | None = Field(
        None, description="as 10.18653/v1/2027.semeval-1.1, without an address before it"
    )


class CitationDeclaration(Declaration):
    """The citation of the competition, and the licence of its data."""

    authors: tuple[Author, ...] = Field(
        (), max_length=200, description="as BibTeX has them, 'Silva, Ana'; absent: the organisers, without names"
    )
    licence: Line | None = Field(
        None, max_length=200, description="of the data: a name such as CC-BY-4.0, or an address"
    )
    paper: PaperDeclaration | None = Field(None, description="the overview paper, once there is one")


class BoardDeclaration(Declaration):
    """A leaderboard of one task; it appears in every phase that has the task."""

    name: Name = Field(description="in addresses; never change it")
    title: Title
    description: Markdown = Field("", description="Markdown, shown above the board")
    task: Name = Field(description="a name under tasks")
    track: Name | None = Field(None, description="a name under tracks: only its submissions; absent: those of all")
    rank_by: ScoreDeclaration | None = Field(None, description="the ranking column; default: the first column")
    columns: tuple[ColumnDeclaration, ...] = Field(min_length=1, max_length=100)
    historic: tuple[HistoricDeclaration, ...] = Field((), description="published results")


class RankedBoardDeclaration(Declaration):
    """A board of a ranking."""

    board: Name = Field(description="a name under boards")
    weight: Annotated[float, Field(gt=0, le=1_000)] = Field(1, description="how much it counts beside the others")


class RankingDeclaration(Declaration):
    """One order of the teams from several boards; it appears in every phase that has all of them."""

    name: Name = Field(description="in addresses; never change it")
    title: Title
    description: Markdown = Field("", description="Markdown, shown above the ranking")
    by: RankingBy = Field(RankingBy.MEAN_RANK, description="the mean of ranks, or of the scores that rank the boards")
    missing: MissingEntry = Field(
        MissingEntry.LEFT_OUT,
        description="what counts for a team without a rank on a board: left_out (no place), worst (the rank behind the "
        "last; the lowest score there), zero (of scores)",
    )
    boards: tuple[RankedBoardDeclaration, ...] = Field(min_length=1, max_length=50)


class TaskDeclaration(Declaration):
    """A task: a task type with options."""

    name: Name = Field(description="in addresses; never change it")
    type: str = Field(description="a task type; `evergold tasks` lists them all")
    title: Title
    description: Markdown = Field("", description="Markdown: the task, file formats, scoring")
    program: RelativePath | None = Field(
        None,
        description="of task type program: a folder or zip with the organisers' own scoring program, relative to the "
        "folder of this file; it is kept on the server, and never offered for download",
    )
    options: dict[str, Any] = Field(default_factory=dict, description="of the task type, see docs/tasks.md")


_FROM = "from when it can be downloaded: 'start' (of the phase; the default), 'now', or a moment"
_FOR = (
    "who may download it: 'everyone' or 'participants'; default: everyone where registration is open without terms and "
    "questions, else participants"
)


class DownloadDeclaration(Declaration):
    """A file to download."""

    file: RelativePath = Field(description="relative to the folder of this file")
    title: Title
    available_from: FileMoment | None = Field(None, alias="from", description=_FROM)
    audience: Audience | None = Field(None, alias="for", description=_FOR)


class BaselineDeclaration(Declaration):
    """A prediction of the organisers', scored like any other and shown as a named row, without a rank by default."""

    name: Line = Field(max_length=NAME_CHARACTERS, description="as it stands on the board")
    file: RelativePath = Field(description="a prediction, as a team would upload it")
    track: Name | None = Field(None, description="a name under tracks; absent: it stands on the boards of every track")
    method: str = Field("", max_length=200, description="one line, shown on the board")
    description: str = Field("", max_length=5_000)
    ranked: Annotated[bool, Strict()] = Field(False, description="whether it has a rank, as a team has")
    scores: dict[str, float] = Field(
        {},
        description="what it must score, by 'metric split', as fractions: `check --gold` compares, to four decimals or "
        "as many as are written",
    )


class VisibilityDeclaration(Declaration):
    """Visibility: when participants and the public see boards and scores; organisers always see everything."""

    board: BoardShown | None = Field(
        None, description="what others see of it before public_from; default: public, with public_from hidden"
    )
    public_from: MomentOrClose | None = Field(
        None, description="a moment, or 'close' for the end of the phase: from then on the board is public"
    )
    own_scores: OwnScores = Field(OwnScores.AT_ONCE, description="when teams see the scores of their submissions")
    names_from: MomentCloseOrNever | None = Field(
        None,
        description="a moment, 'close' or 'never': before it rows have neutral names; absent: teams have their names",
    )
    slices: Slices | None = Field(
        None,
        description="which scores there are: those that rank ('none'), the same until the phase ends and then all "
        "('ranked'), those in columns, all; absent: 'ranked' where gold is hidden, else 'all'",
    )
    precision: Precision | None = Field(
        None,
        description="decimals of every value (a fraction: 3 is 70.4 %), also for ranks; 'full': all of them; absent: 4 "
        "where gold is hidden, else all",
    )


class LimitsDeclaration(Declaration):
    """Per team and task of this phase; rejected and failed submissions do not count."""

    per_day: Whole | None = Field(
        None,
        ge=1,
        le=LARGEST,
        description="days of UTC; null: no limit; absent: 5 where gold is hidden and neither week nor month has a "
        "limit, else no limit",
    )
    per_week: Whole | None = Field(None, ge=1, le=LARGEST, description="weeks of UTC, from Monday on; absent: no limit")
    per_month: Whole | None = Field(None, ge=1, le=LARGEST, description="months of UTC; absent: no limit")
    total: Whole | None = Field(
        None, ge=1, le=LARGEST, description="null: no limit; absent: 50 where gold is hidden, else no limit"
    )
    rejected_per_hour: Whole = Field(60, ge=1, le=LARGEST, description="malformed uploads, in any 60 minutes")
    upload_bytes: Whole = Field(16 * MEBIBYTE, ge=1, le=LARGEST, description="size of one upload")


class PrivatePartDeclaration(Declaration):
    """A part of the items whose scores nobody sees before a moment; from then on they rank the boards."""

    share: Annotated[float, Field(gt=0, lt=1)] = Field(description="of the items that are private: 0.7 is 70 %")
    seed: Seed = Field(
        description="chooses the items; it reveals them, so nobody should guess it: `openssl rand -hex 16`"
    )
    shown_from: MomentOrClose = Field(
        "close", description="a moment, or 'close' for the end of the phase: from then on everybody sees these scores"
    )


class PhaseTaskDeclaration(Declaration):
    """A task in one phase."""

    gold: RelativePath | None = Field(
        None,
        description="the name of plain gold in the workers' folder; sealed gold comes before it. Absent, or `sealed`: "
        "until there is sealed gold, uploads are refused",
    )
    gold_version: Annotated[str, Field(max_length=NAME_CHARACTERS)] = Field(
        "", description="what boards call this version of the gold"
    )
    gold_is_public: Annotated[bool, Strict()] = Field(
        False,
        description="whether everybody may have this gold anyway: teams then see item by item where they are right",
    )
    private_part: PrivatePartDeclaration | None = Field(
        None, description="of the items; boards show the scores of the others until it is shown"
    )
    items: RelativePath | None = Field(
        None, description="the blind file: predictions are checked against it, and teams download it"
    )
    items_from: FileMoment | None = Field(None, description=_FROM)
    items_for: Audience | None = Field(None, description=_FOR)
    downloads: tuple[DownloadDeclaration, ...] = Field((), description="templates, training data, …")
    baselines: tuple[BaselineDeclaration, ...] = ()
    options: dict[str, Any] = Field(default_factory=dict, description="what differs from the task's options here")
    entry: EntryRule | None = Field(None, description="as of the phase, for this task alone")
    choose_until: MomentOrClose | None = Field(None, description="as of the phase, for this task alone")
    without_choice: WithoutChoice | None = Field(None, description="as of the phase, for this task alone")
    ladder_step: LadderStep | None = Field(None, description="as of the phase, for this task alone")
    limits: LimitsDeclaration = Field(LimitsDeclaration(), description="what differs from the phase's, key by key")
    visibility: VisibilityDeclaration = Field(
        VisibilityDeclaration(), description="what differs from the phase's, key by key"
    )


class PhaseDeclaration(Declaration):
    """A span of time, start included, end excluded."""

    name: Name = Field(description="in addresses; never change it")
    title: Title
    description: Markdown = Field("", description="Markdown")
    start: Moment = Field(description="'2026-01-10 12:00 UTC', '… +02:00', '… AoE' or ISO 8601 with an offset")
    end: Moment | None = Field(None, description="as start; absent: always open")
    entry: EntryRule = Field(EntryRule.BEST, description="which of a team's submissions stands on the board")
    choose_until: MomentOrClose | None = Field(
        None, description="with entry 'chosen': until when teams choose; default: until the phase ends"
    )
    without_choice: WithoutChoice = Field(
        EntryRule.LAST, description="with entry 'chosen': what counts for teams that made no choice"
    )
    ladder_step: LadderStep | None = Field(
        None, description="with entry 'ladder': by more than how much a record must be beaten, and how it is rounded"
    )
    limits: LimitsDeclaration = LimitsDeclaration()
    visibility: VisibilityDeclaration = VisibilityDeclaration()
    carry_over: Name | None = Field(None, description="an earlier phase, whose entries stand on these boards too")
    snapshot: Annotated[bool, Strict()] = Field(
        True, description="whether the boards are frozen, as official results, when the phase has ended"
    )
    tasks: dict[Name, PhaseTaskDeclaration] = Field(min_length=1, description="the tasks of this phase, by name")

    @property
    def effective_limits(self) -> LimitsDeclaration:
        """The limits as declared; for hidden gold the defaults are low enough to reveal little."""
        declared = self.limits.model_fields_set
        if all(task.gold_is_public for task in self.tasks.values()):
            return self.limits
        usual = {"total": HIDDEN_GOLD_TOTAL, "per_day": HIDDEN_GOLD_PER_DAY}
        if declared & {"per_week", "per_month"}:
            del usual["per_day"]
        return self.limits.model_copy(update={key: value for key, value in usual.items() if key not in declared})


class CompetitionDeclaration(Declaration):
    """A competition: tasks, boards, phases."""

    name: Name = Field(description="in addresses; never change it")
    title: Title
    summary: str = Field("", max_length=500, description="one or two sentences for lists")
    description: Markdown = Field("", description="Markdown")
    website: str = Field("", max_length=500, pattern=r"^(https?://\S+)?$", description="http:// or https://")
    contact: str = Field("", max_length=320, description="an e-mail address, or how to reach the organisers")
    tracks: tuple[TrackDeclaration, ...] = Field(
        (), max_length=20, description="every submission belongs to one of them; absent: there are no tracks"
    )
    method_card: MethodCardDeclaration = Field(
        MethodCardDeclaration(), description="questions to teams about their systems"
    )
    registration: RegistrationDeclaration = Field(RegistrationDeclaration(), description="who may take part")
    citation: CitationDeclaration = Field(CitationDeclaration(), description="how it is cited: authors, paper, licence")
    teams: TeamsDeclaration = Field(TeamsDeclaration(), description="how large teams may be, and what they may change")
    tasks: tuple[TaskDeclaration, ...] = Field(min_length=1)
    boards: tuple[BoardDeclaration, ...] = Field(min_length=1)
    rankings: tuple[RankingDeclaration, ...] = Field((), max_length=20, description="across tasks, from several boards")
    phases: tuple[PhaseDeclaration, ...] = Field(min_length=1)
    confirm_scores: tuple[Line, ...] = Field(
        (),
        max_length=20,
        description="why an organiser compares the baselines' scores with those of another system before the "
        "competition is seen by others, a sentence each: it begins as a draft; imports of bundles write it",
    )

    @property
    def registration_mode(self) -> RegistrationMode:
        """The mode as declared; for hidden gold the default requires a confirmed address, so that people can be
        reached.
        """
        tasks = [task for phase in self.phases for task in phase.tasks.values()]
        is_hidden = not all(task.gold_is_public for task in tasks)
        return self.registration.mode or (RegistrationMode.CONFIRMED if is_hidden else RegistrationMode.OPEN)


class PhasesFile(Declaration):
    """The competitions of an Evergold server."""

    version: Literal[1] = Field(description="of this format")
    include: tuple[RelativePath, ...] = Field(
        (), description="further files of the same form, relative to this one; '*' and '**' stand for any name"
    )
    competitions: tuple[CompetitionDeclaration, ...] = ()


def schema_text() -> str:
    """Return the JSON Schema of phases.yaml, the content of docs/phases.schema.json.

    It includes the many options of organisers' programs, so that editors complete them, too.
    """
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **PhasesFile.model_json_schema()}
    template = "#/$defs/program-{model}"
    options = ProgramOptions.model_json_schema(ref_template=template)
    options["properties"] = {name: one for name, one in options["properties"].items() if not one.get("readOnly")}
    options["properties"]["environment"]["anyOf"].append({"const": "default"})
    own = {f"program-{name}": one for name, one in options.pop("$defs").items()}
    schema["$defs"] |= {**own, "program-options": options}
    schema["$defs"]["TaskDeclaration"] |= {
        "if": {"properties": {"type": {"const": PROGRAM_TYPE}}, "required": ["type"]},
        "then": {"properties": {"options": {"$ref": "#/$defs/program-options"}}},
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
