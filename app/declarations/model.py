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

    name: Name = Field(description="the name in files and for programs; never change it")
    title: Line = Field(
        max_length=60, description="the question in a few words; also the heading of its column, if boards show one"
    )
    kind: CardKind = Field(CardKind.TEXT, description="kind of the answer: text, number, choice or yes_no")
    choices: tuple[Annotated[Line, Field(max_length=80)], ...] = Field(
        (), max_length=50, description="with kind 'choice': the possible answers"
    )
    required: Annotated[bool, Strict()] = Field(False, description="whether submissions without an answer are refused")
    on_board: Annotated[bool, Strict()] = Field(False, description="whether boards show the answers as a column")
    help: str = Field("", max_length=300, description="one or two sentences, shown below the field")


class MethodCardDeclaration(Declaration):
    """Questions on method cards besides those of every card: method, summary, paper, code, data, languages."""

    required: tuple[CardPart, ...] = Field((), description="which parts of a card every team must fill in")
    fields: tuple[CardFieldDeclaration, ...] = Field((), max_length=20, description="questions besides the usual ones")


class QuestionDeclaration(Declaration):
    """A question to everybody who registers; the names affiliation, country and students are enough by themselves."""

    name: Name = Field(description="the name in files and for programs; never change it")
    title: Line | None = Field(
        None, max_length=200, description="the question; with kind 'tick': the text beside the box"
    )
    kind: QuestionKind | None = Field(None, description="kind of the answer: text (the default), choice or tick")
    choices: tuple[Annotated[Line, Field(max_length=80)], ...] = Field(
        (), max_length=300, description="with kind 'choice': the possible answers"
    )
    required: Annotated[bool, Strict()] = Field(False, description="whether an answer is needed to take part")
    help: str = Field("", max_length=300, description="one or two sentences, shown below the field")


class RegistrationDeclaration(Declaration):
    """Requirements for taking part."""

    mode: RegistrationMode | None = Field(
        None,
        description=(
            "who may take part: everybody; everybody with a confirmed address; people whom the organisers approve; "
            "by domain of a confirmed address; from a list; or by a code that the organisers give out, without a "
            "confirmed address. Absent: confirmed, or open where all gold is public"
        ),
    )
    domains: tuple[Domain, ...] = Field(
        (),
        max_length=1_000,
        description=(
            "with mode 'domain': the part after the @; '*.uni.edu' stands for all subdomains. With 'approval': "
            "people with a confirmed address in one of these domains are approved at once, others wait for the "
            "organisers"
        ),
    )
    allowed: tuple[Listed, ...] = Field(
        (), max_length=10_000, description="with mode 'list': e-mail addresses, or user names of existing accounts"
    )
    terms: Markdown = Field(
        "", description="Markdown: terms that participants must accept; if the text changes, they must accept it again"
    )
    questions: tuple[QuestionDeclaration, ...] = Field(
        (), max_length=30, description="questions for everybody who registers; only organisers see the answers"
    )
    publish_predictions: bool = Field(
        False,
        description="whether to request consent to publish predictions, which people can "
        "revoke; `evergold export predictions --publishable` exports those of teams whose members all consent",
    )


class TeamsDeclaration(Declaration):
    """Teams of this competition."""

    members_max: Whole | None = Field(
        None, ge=1, le=1_000, description="largest number of members of a team; absent: no limit"
    )
    rename_until: Moment | None = Field(
        None, description="until when teams may change their name; absent: until results of theirs are frozen"
    )
    merge_until: Moment | None = Field(
        None, description="until when two teams may merge if both agree; absent: teams cannot merge"
    )


#: Default submission limits of a team for a task with hidden gold.
HIDDEN_GOLD_PER_DAY, HIDDEN_GOLD_TOTAL = 5, 50


class ScoreDeclaration(Declaration):
    """One score of the board's task."""

    metric: str = Field(max_length=NAME_CHARACTERS, description="name of the metric as in docs/tasks.md, e.g. macro_f1")
    split: str = Field(max_length=NAME_CHARACTERS, description="name of the split, e.g. zero_shot/all")


class ColumnDeclaration(ScoreDeclaration):
    """A column of a board: one score of its task."""

    title: Line | None = Field(None, max_length=60, description="heading of the column; default: the task type's")
    decimals: Whole = Field(4, ge=0, le=10, description="number of decimals shown; values are stored at full precision")
    percent: Annotated[bool, Strict()] = Field(False, description="whether to show the value times 100")


class HistoricDeclaration(Declaration):
    """Published results, shown beside live rows and marked as such."""

    phase: Name = Field(description="the phase whose board shows them")
    file: RelativePath = Field(description="CSV with the columns team,date,metric,split,value")
    source: Line = Field(max_length=1_000, description="where the results were published; shown with every row")


class TrackDeclaration(Declaration):
    """A kind of system that competes apart from others, such as closed (only the data provided) and open."""

    name: Name = Field(description="the name that teams choose, also in files; never change it")
    title: Title
    description: str = Field(
        "", max_length=1_000, description="one or two sentences: which systems belong to the track"
    )


class PaperDeclaration(Declaration):
    """The paper that describes the competition, for those who cite it."""

    title: Title
    authors: tuple[Author, ...] = Field((), max_length=200, description="default: the authors of the competition")
    venue: Line | None = Field(None, max_length=300, description="proceedings or journal where it was published")
    year: Whole | None = Field(None, ge=1900, le=2999)
    url: Web | None = Field(None, description="http:// or https://")
    doi: Annotated[str, Field(max_length=200, pattern=r"^10\.\S+/\S+$")] | None = Field(
        None, description="the DOI alone, not its address, e.g. 10.18653/v1/2027.semeval-1.1"
    )


class CitationDeclaration(Declaration):
    """The citation of the competition, and the licence of its data."""

    authors: tuple[Author, ...] = Field(
        (),
        max_length=200,
        description=(
            "names as in BibTeX, e.g. 'Silva, Ana'; absent: citations give 'The organisers of TITLE' as the author"
        ),
    )
    licence: Line | None = Field(
        None, max_length=200, description="licence of the data: a name such as CC-BY-4.0, or an address"
    )
    paper: PaperDeclaration | None = Field(None, description="the overview paper, once there is one")


class BoardDeclaration(Declaration):
    """A leaderboard of one task; it appears in every phase that has the task."""

    name: Name = Field(description="the name in addresses; never change it")
    title: Title
    description: Markdown = Field("", description="Markdown, shown above the board")
    task: Name = Field(description="name of a task under `tasks`")
    track: Name | None = Field(
        None, description="name of a track under `tracks`, whose submissions alone are shown; absent: all submissions"
    )
    rank_by: ScoreDeclaration | None = Field(
        None, description="the score that ranks the board; default: that of the first column"
    )
    columns: tuple[ColumnDeclaration, ...] = Field(min_length=1, max_length=100)
    historic: tuple[HistoricDeclaration, ...] = Field((), description="published results")


class RankedBoardDeclaration(Declaration):
    """A board of a ranking."""

    board: Name = Field(description="name of a board under `boards`")
    weight: Annotated[float, Field(gt=0, le=1_000)] = Field(1, description="weight of the board in the mean")


class RankingDeclaration(Declaration):
    """One order of the teams from several boards; it appears in every phase that has all of them."""

    name: Name = Field(description="the name in addresses; never change it")
    title: Title
    description: Markdown = Field("", description="Markdown, shown above the ranking")
    by: RankingBy = Field(
        RankingBy.MEAN_RANK, description="whether to rank by the mean of ranks, or of the scores that rank the boards"
    )
    missing: MissingEntry = Field(
        MissingEntry.LEFT_OUT,
        description=(
            "treatment of a team without a rank on a board: left_out (not ranked at all), worst (counts as one rank "
            "after the last, or as the lowest score there), zero (counts as score 0)"
        ),
    )
    boards: tuple[RankedBoardDeclaration, ...] = Field(min_length=1, max_length=50)


class TaskDeclaration(Declaration):
    """A task: a task type with options."""

    name: Name = Field(description="the name in addresses; never change it")
    type: str = Field(description="the task type; `evergold tasks` lists all types")
    title: Title
    description: Markdown = Field("", description="Markdown: describes the task, its file formats and scoring")
    program: RelativePath | None = Field(
        None,
        description="for task type program: a folder or zip with the organisers' own scoring program, relative to the "
        "folder of this file; it is stored on the server and never offered for download",
    )
    options: dict[str, Any] = Field(default_factory=dict, description="options of the task type, see docs/tasks.md")


_FROM = "when the file becomes available: 'start' (of the phase; the default), 'now', or a moment"
_FOR = (
    "who may download the file: 'everyone' or 'participants'; default: everyone if registration is open, without "
    "terms and questions, otherwise participants"
)


class DownloadDeclaration(Declaration):
    """A file to download."""

    file: RelativePath = Field(description="path, relative to the folder of this file")
    title: Title
    available_from: FileMoment | None = Field(None, alias="from", description=_FROM)
    audience: Audience | None = Field(None, alias="for", description=_FOR)


class BaselineDeclaration(Declaration):
    """A prediction of the organisers', scored like any other and shown as a named row, without a rank by default."""

    name: Line = Field(max_length=NAME_CHARACTERS, description="the name that the board shows")
    file: RelativePath = Field(description="file of predictions, as a team would upload it")
    track: Name | None = Field(
        None, description="name of a track under `tracks`; absent: shown on the boards of every track"
    )
    method: str = Field("", max_length=200, description="the method in one line, shown on the board")
    description: str = Field("", max_length=5_000)
    ranked: Annotated[bool, Strict()] = Field(False, description="whether it gets a rank, as teams do")
    scores: dict[str, float] = Field(
        {},
        description=(
            "expected scores by 'metric split', as fractions: `check --gold` compares them to four decimals, or to "
            "more if more are written"
        ),
    )


class VisibilityDeclaration(Declaration):
    """Visibility: when participants and the public see boards and scores; organisers always see everything."""

    board: BoardShown | None = Field(
        None,
        description="what others see of the board until public_from; default: public, or hidden if public_from is set",
    )
    public_from: MomentOrClose | None = Field(
        None, description="when the board becomes public: a moment, or 'close' for the end of the phase"
    )
    own_scores: OwnScores = Field(OwnScores.AT_ONCE, description="when teams see the scores of their submissions")
    names_from: MomentCloseOrNever | None = Field(
        None,
        description=(
            "from when boards show the names of teams: a moment, 'close' or 'never'; until then they show neutral "
            "names; absent: always"
        ),
    )
    slices: Slices | None = Field(
        None,
        description=(
            "which scores are shown: those that rank ('none'), those that rank until the phase ends and then all "
            "('ranked'), those of columns ('columns'), or all ('all'); absent: 'ranked' if gold is hidden, "
            "otherwise 'all'"
        ),
    )
    precision: Precision | None = Field(
        None,
        description=(
            "number of decimals of every value, as a fraction (3: 0.704 or 70.4 %), also used for ranks; 'full': "
            "all; absent: 4 if gold is hidden, otherwise all"
        ),
    )


class LimitsDeclaration(Declaration):
    """Per team and task of this phase; rejected and failed submissions do not count."""

    per_day: Whole | None = Field(
        None,
        ge=1,
        le=LARGEST,
        description=(
            "submissions per day (UTC); null: no limit; absent: 5 if gold is hidden and neither week nor month has "
            "a limit, otherwise no limit"
        ),
    )
    per_week: Whole | None = Field(
        None, ge=1, le=LARGEST, description="submissions per week (UTC, from Monday); absent: no limit"
    )
    per_month: Whole | None = Field(
        None, ge=1, le=LARGEST, description="submissions per calendar month (UTC); absent: no limit"
    )
    total: Whole | None = Field(
        None,
        ge=1,
        le=LARGEST,
        description="submissions in the whole phase; null: no limit; absent: 50 if gold is hidden, otherwise no limit",
    )
    rejected_per_hour: Whole = Field(
        60,
        ge=1,
        le=LARGEST,
        description="uploads in any 60 minutes that may be rejected or fail before the team has to wait",
    )
    upload_bytes: Whole = Field(16 * MEBIBYTE, ge=1, le=LARGEST, description="largest size of one upload")


class PrivatePartDeclaration(Declaration):
    """A part of the items whose scores nobody sees before a moment; from then on they rank the boards."""

    share: Annotated[float, Field(gt=0, lt=1)] = Field(description="share of the items that are private: 0.7 is 70 %")
    seed: Seed = Field(
        description="a secret that chooses the private items and would reveal them: `openssl rand -hex 16` makes one"
    )
    shown_from: MomentOrClose = Field(
        "close", description="when everybody sees the private scores: a moment, or 'close' for the end of the phase"
    )


class PhaseTaskDeclaration(Declaration):
    """A task in one phase."""

    gold: RelativePath | None = Field(
        None,
        description="name of plain gold in the workers' folder; sealed gold takes precedence. Absent, or `sealed`: "
        "uploads are refused until sealed gold is uploaded",
    )
    gold_version: Annotated[str, Field(max_length=NAME_CHARACTERS)] = Field(
        "", description="name of this version of the gold on boards"
    )
    gold_is_public: Annotated[bool, Strict()] = Field(
        False,
        description="whether everybody may have this gold; teams then see which items they got right",
    )
    private_part: PrivatePartDeclaration | None = Field(
        None, description="makes a part of the items private; boards show scores of the others until it is shown"
    )
    items: RelativePath | None = Field(
        None, description="file of the items without gold: teams download it, and predictions are checked against it"
    )
    items_from: FileMoment | None = Field(None, description=_FROM)
    items_for: Audience | None = Field(None, description=_FOR)
    downloads: tuple[DownloadDeclaration, ...] = Field(
        (), description="further files for teams: templates, training data, …"
    )
    baselines: tuple[BaselineDeclaration, ...] = ()
    options: dict[str, Any] = Field(
        default_factory=dict, description="options that differ from the task's in this phase"
    )
    entry: EntryRule | None = Field(None, description="as for the phase, but for this task alone")
    choose_until: MomentOrClose | None = Field(None, description="as for the phase, but for this task alone")
    without_choice: WithoutChoice | None = Field(None, description="as for the phase, but for this task alone")
    ladder_step: LadderStep | None = Field(None, description="as for the phase, but for this task alone")
    limits: LimitsDeclaration = Field(LimitsDeclaration(), description="keys that differ from the phase's")
    visibility: VisibilityDeclaration = Field(VisibilityDeclaration(), description="keys that differ from the phase's")


class PhaseDeclaration(Declaration):
    """A span of time, start included, end excluded."""

    name: Name = Field(description="the name in addresses; never change it")
    title: Title
    description: Markdown = Field("", description="Markdown")
    start: Moment = Field(
        description="when the phase opens: '2026-01-10 12:00 UTC', '… +02:00', '… AoE' or ISO 8601 with an offset"
    )
    end: Moment | None = Field(None, description="when the phase closes, written like start; absent: never")
    entry: EntryRule = Field(EntryRule.BEST, description="which of a team's submissions counts on the board")
    choose_until: MomentOrClose | None = Field(
        None, description="with entry 'chosen': until when teams choose; default: until the phase ends"
    )
    without_choice: WithoutChoice = Field(
        EntryRule.LAST, description="with entry 'chosen': which submission counts if a team has not chosen"
    )
    ladder_step: LadderStep | None = Field(
        None,
        description=(
            "with entry 'ladder': the improvement that a new record needs at least, and the step that records are "
            "rounded to"
        ),
    )
    limits: LimitsDeclaration = LimitsDeclaration()
    visibility: VisibilityDeclaration = VisibilityDeclaration()
    carry_over: Name | None = Field(None, description="an earlier phase whose entries these boards show as well")
    snapshot: Annotated[bool, Strict()] = Field(
        True, description="whether the boards are frozen as official results when the phase has ended"
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

    name: Name = Field(description="the name in addresses; never change it")
    title: Title
    summary: str = Field("", max_length=500, description="one or two sentences for lists")
    description: Markdown = Field("", description="Markdown")
    website: str = Field("", max_length=500, pattern=r"^(https?://\S+)?$", description="http:// or https://")
    contact: str = Field("", max_length=320, description="an e-mail address, or how to reach the organisers")
    tracks: tuple[TrackDeclaration, ...] = Field(
        (), max_length=20, description="tracks, to one of which every submission belongs; absent: none"
    )
    method_card: MethodCardDeclaration = Field(
        MethodCardDeclaration(), description="questions to teams about their systems"
    )
    registration: RegistrationDeclaration = Field(RegistrationDeclaration(), description="who may take part")
    citation: CitationDeclaration = Field(
        CitationDeclaration(), description="authors, paper and licence, for people who cite the competition"
    )
    teams: TeamsDeclaration = Field(
        TeamsDeclaration(), description="how large teams may be, and what they may change themselves"
    )
    tasks: tuple[TaskDeclaration, ...] = Field(min_length=1)
    boards: tuple[BoardDeclaration, ...] = Field(min_length=1)
    rankings: tuple[RankingDeclaration, ...] = Field(
        (), max_length=20, description="rankings across tasks, from several boards"
    )
    phases: tuple[PhaseDeclaration, ...] = Field(min_length=1)
    confirm_scores: tuple[Line, ...] = Field(
        (),
        max_length=20,
        description=(
            "reasons, a sentence each, to compare the baselines' scores with those of another system before the "
            "competition can be published: until then it is a draft; imports of bundles write this"
        ),
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

    version: Literal[1] = Field(description="version of this format")
    include: tuple[RelativePath, ...] = Field(
        (), description="further files of the same format, relative to this one; '*' and '**' match any name"
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
