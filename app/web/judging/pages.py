"""The pages of human judgement: rounds, the form that starts one, results with plots, import of marks."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Form, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.db import writing
from app.base.errors import EvergoldError, Forbidden, NotFound
from app.base.text import refuse
from app.charts.scatter import Kind, Scatter, ScatterPoint
from app.competitions.find import find_competition, find_phase_task, organised
from app.judging.annotators import appoint, dismiss, list_assignments
from app.judging.imports import IMPORT_LIMIT_BYTES
from app.judging.organising import WantedRound, organised_round, start_judging
from app.judging.results import MACRO, open_texts
from app.judging.rounds import (
    DEFAULT_NAME,
    GUIDELINES_CHARACTERS,
    RoundForm,
    discard_round,
    find_round,
    list_rounds,
    publish_round,
    withdraw_round,
)
from app.judging.selection import AUTOMATIC_METRICS, check_judgeable, newest_scored
from app.judging.summary import results_for
from app.judging.views import CorrelationOut, RoundResults, SystemOut
from app.models import Competition, JudgingRound, PhaseTask, Right
from app.people.rights import ANY_RIGHT, check_may_organise, may_organise
from app.web.html.drawings import drawings_of, svg_response
from app.web.html.guards import (
    FormSender,
    PageForm,
    PageUserVisit,
    SentForm,
    SentUpload,
    Ticked,
    form_again,
    form_guard,
    upload_guard,
)
from app.web.html.rendering import render_page
from app.web.html.typed import typed_number
from app.web.html.workspace import Place, TabName, desk_of, workspace_of
from app.web.http import csrf
from app.web.http.paths import TaskNames, TaskNamesHere
from app.web.http.routers import page_router
from app.web.http.visit import PlainPageVisit, UserVisit, Visit
from app.web.judging.receiving import ROUND_FIELD, receive_marks
from app.web.submissions.receiving import UploadRequest
from evergold.figures.axes import Axis, axis_around
from evergold.figures.svg import number_text

HUMAN = "Human score"


def figures_of(competition: Competition, judging: JudgingRound, results: RoundResults) -> list[Scatter]:
    """Return a figure for every split in which some system has both scores."""
    context = f"{competition.title}, {judging.phase_task.phase.title}, round {judging.name}."
    found = [_figure(results, split, context) for split in results.splits]
    return [figure for figure in found if figure.drawn]


def split_title(split: str) -> str:
    """Return `Mean of the languages`, or the language code in capitals."""
    return "Mean of the languages" if split == MACRO else split.upper()


def correlation_words(correlation: CorrelationOut) -> str:
    """Return `Pearson 0.92, Spearman 0.90, Kendall 0.78`, or the reason why they are undefined."""
    if correlation.reason is not None:
        return correlation.reason
    coefficients = {"Pearson": correlation.pearson, "Spearman": correlation.spearman, "Kendall": correlation.kendall}
    return ", ".join(_coefficient(name, value) for name, value in coefficients.items())


def _coefficient(name: str, value: float | None) -> str:
    return f"{name} {number_text(value)}" if value is not None else f"{name} undefined"


def _figure(results: RoundResults, split: str, context: str) -> Scatter:
    points = tuple(_point(system, split) for system in results.systems)
    drawn = [(point.x, point.y) for point in points if point.x is not None and point.y is not None]
    x = _axis([x for x, _ in drawn], results.metric)
    y = _axis([y for _, y in drawn], HUMAN)
    caption = f"{context} {correlation_words(results.correlations[split])}."
    return Scatter(f"human-{split}", f"{HUMAN} against {results.metric}: {split_title(split)}", x, y, points, caption)


def _axis(values: list[float], title: str) -> Axis:
    """Return an axis in percent that does not exceed 100 unless a value does."""
    axis = axis_around(values, title, scale=100.0, unit=" %")
    return replace(axis, high=1.0) if max(values, default=0.0) <= 1 < axis.high else axis


def _point(system: SystemOut, split: str) -> ScatterPoint:
    human, automatic = system.human[split], system.automatic[split]
    both = human.value is not None and automatic.value is not None
    label = f"{system.team}: {system.method}" if system.method else system.team
    reason = "" if both else f"human score {human.reason}" if human.value is None else f"{automatic.reason}"
    kind: Kind = "baseline" if system.is_baseline else "team"
    return ScatterPoint(label, automatic.value if both else None, human.value if both else None, kind, reason)


router = page_router()

PLACE = "/competitions/{competition}/phases/{phase}/tasks/{task}/judging"


class StartForm(PageForm):
    """The settings of a new round, as typed."""

    name: str = ""
    items: str = ""
    seed: str = ""
    guidelines: str = ""
    submissions: str = ""
    annotators: str = ""

    def wanted(self) -> WantedRound:
        """Return the settings of the round; raise InvalidForm for values that cannot be parsed."""
        fields: dict[str, str] = {}
        items = typed_number("items", self.items, fields, most_digits=12)
        seed = typed_number("seed", self.seed, fields, most_digits=12)
        submissions = _submissions(self.submissions, fields)
        annotators = _annotators(self.annotators, fields)
        refuse(fields)
        form = RoundForm(self.name.strip(), items, seed, self.guidelines)
        return WantedRound(form, submissions, annotators)


def _submissions(text: str, fields: dict[str, str]) -> tuple[UUID, ...]:
    found = []
    for word in text.replace(",", " ").split():
        try:
            found.append(UUID(word))
        except ValueError:
            fields["submissions"] = f"'{word[:60]}' is not a submission's ID."
    return tuple(found)


def _annotators(text: str, fields: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return pairs of a language and a user name, one per line of the text; add invalid lines to `fields`."""
    found = []
    for line in text.splitlines():
        words = line.replace(",", " ").split()
        if len(words) == 2:
            found.append((words[0].lower(), words[1]))
        elif words:
            fields["annotators"] = f"'{line.strip()[:60]}' is not a language followed by a user name."
    return tuple(found)


@router.get(PLACE)
def read_start(visit: PageUserVisit, names: TaskNamesHere) -> Response:
    return _start_page(visit, names)


def _start_page(
    visit: UserVisit,
    names: TaskNames,
    form: StartForm | None = None,
    round_name: str = DEFAULT_NAME,
    is_import: bool = False,
    error: EvergoldError | None = None,
) -> Response:
    """Return the page; is_import: the error is in the import form."""
    session = visit.session
    found = organised(session, visit.user, names.competition, Right.SUBMISSIONS)
    phase_task = find_phase_task(session, *names)
    submissions = newest_scored(session, phase_task)
    workspace = desk_of(session, found, visit.viewer)
    return render_page(
        visit,
        "judging/start.html",
        may_store=False,
        competition=found,
        workspace=workspace,
        phase_task=phase_task,
        submissions=submissions,
        obstacle=_obstacle(phase_task),
        typed=form or StartForm(name=DEFAULT_NAME),
        round_name=round_name,
        error=error,
        is_import=is_import,
        guidelines_characters=GUIDELINES_CHARACTERS,
        limit_bytes=IMPORT_LIMIT_BYTES,
    )


def _obstacle(phase_task: PhaseTask) -> str:
    try:
        check_judgeable(phase_task)
    except EvergoldError as error:
        return error.message
    return ""


@router.post(PLACE)
@form_again(_start_page)
def send_start(sender: SentForm, names: TaskNamesHere, form: Annotated[StartForm, Form()]) -> Response:
    started = start_judging(
        sender.server.engine, sender.server.settings, names, form.wanted(), user=sender.user, now=sender.server.clock()
    )
    return RedirectResponse(links.judging(names.competition, started), 303)


def _show_import_form(visit: UserVisit, upload: SentUpload, names: TaskNames, error: EvergoldError) -> Response:
    name = upload.fields.get(ROUND_FIELD, DEFAULT_NAME)
    return _start_page(visit, names, round_name=name, is_import=True, error=error)


@router.post(f"{PLACE}/marks")
@form_again(_show_import_form)
async def send_marks(upload: Annotated[SentUpload, Depends(upload_guard(PLACE))], names: TaskNamesHere) -> Response:
    sent = UploadRequest(
        upload.request,
        names,
        authenticate=lambda: upload.user,
        extra_fields=frozenset({ROUND_FIELD, csrf.FORM_FIELD}),
        on_fields=upload.check,
    )
    await receive_marks(sent)
    return RedirectResponse(links.judging(names.competition, upload.fields.get(ROUND_FIELD, DEFAULT_NAME)), 303)


ROUNDS = "/competitions/{competition}/judging"
ROUND = f"{ROUNDS}/{{round_name}}"
#: The user who sends a form of a round's own page.
RoundSender = Annotated[FormSender, Depends(form_guard(ROUND))]


class PublishForm(PageForm):
    """The form that publishes a round. unfinished: publish even if some paraphrases have no marks."""

    unfinished: Ticked = False


class AnnotatorForm(PageForm):
    """The form that appoints an annotator or, with `leave`, dismisses one."""

    language: str = ""
    username: str = ""
    leave: Ticked = False


@router.get(ROUNDS)
def read_rounds(visit: PageUserVisit, competition: str) -> Response:
    """List the rounds of a competition: all to organisers, only their own to annotators."""
    session, user = visit.session, visit.user
    found = find_competition(session, competition)
    mine = list_assignments(session, user, found)
    organises = may_organise(session, user, found, Right.SUBMISSIONS)
    if not organises and not mine:
        if may_organise(session, user, found, ANY_RIGHT):
            check_may_organise(session, user, found, Right.SUBMISSIONS)
        raise Forbidden("Only organisers and annotators of the competition can see this.")
    rounds = list_rounds(session, found) if organises else []
    tab: TabName = "desk" if organises else "overview"
    workspace = workspace_of(session, found, visit.viewer, tab)
    places = [
        (phase, phase_task)
        for phase in found.phases
        for phase_task in phase.phase_tasks
        if organises and phase_task.task.task_type in AUTOMATIC_METRICS
    ]
    return render_page(
        visit,
        "judging/rounds.html",
        competition=found,
        workspace=workspace,
        rounds=rounds,
        places=places,
        mine=mine,
        organises=organises,
    )


# ----------------------------------------------------------------------------------------------------------- one round


@router.get(ROUND)
def read_round(visit: PlainPageVisit, competition: str, round_name: str) -> Response:
    return _page(visit, competition, round_name)


def _page(
    visit: Visit,
    competition: str,
    round_name: str,
    form: AnnotatorForm | None = None,
    error: EvergoldError | None = None,
) -> Response:
    """Return the page of a round; errors of its forms are shown to its organisers only."""
    session, user = visit.session, visit.viewer.user
    found = (
        organised(session, user, competition, Right.SUBMISSIONS) if error else find_competition(session, competition)
    )
    judging = find_round(session, found, round_name)
    results = results_for(session, found, judging, visit.viewer)
    organises = may_organise(session, user, found, Right.SUBMISSIONS)
    left = open_texts(session, judging) if organises else {}
    tab: TabName = "desk" if organises else "overview"
    place = Place(judging.phase_task.phase, judging.phase_task.task)
    workspace = workspace_of(session, found, visit.viewer, tab, place)
    figures = figures_of(found, judging, results)
    return render_page(
        visit,
        "judging/round.html",
        competition=found,
        workspace=workspace,
        judging=judging,
        results=results,
        organises=organises,
        left=left,
        drawings=drawings_of(figures, f"{links.judging(competition, round_name)}/figures", ""),
        typed=form,
        error=error,
    )


@router.get(f"{ROUND}/figures/{{name}}.svg")
def read_figure(visit: PlainPageVisit, competition: str, round_name: str, name: str) -> Response:
    """Return the scatter plot of one language, or of their mean, as a file."""
    session = visit.session
    found = find_competition(session, competition)
    judging = find_round(session, found, round_name)
    results = results_for(session, found, judging, visit.viewer)
    figures = figures_of(found, judging, results)
    if not figures:
        raise NotFound("This figure does not exist.")
    return svg_response(figures, name, f"{competition}-{round_name}")


@router.post(f"{ROUND}/publish")
@form_again(_page, EvergoldError)
def send_publish(
    sender: RoundSender, competition: str, round_name: str, publication: Annotated[PublishForm, Form()]
) -> Response:
    with writing(sender.server.engine) as session:
        found, judging = organised_round(session, sender.user, competition, round_name)
        publish_round(sender.act(session), found, judging, unfinished=publication.unfinished)
    return RedirectResponse(links.judging(competition, round_name), 303)


@router.post(f"{ROUND}/withdraw")
@form_again(_page, EvergoldError)
def send_withdraw(sender: RoundSender, competition: str, round_name: str) -> Response:
    with writing(sender.server.engine) as session:
        found, judging = organised_round(session, sender.user, competition, round_name)
        withdraw_round(sender.act(session), found, judging)
    return RedirectResponse(links.judging(competition, round_name), 303)


@router.post(f"{ROUND}/discard")
@form_again(_page, EvergoldError)
def send_discard(sender: RoundSender, competition: str, round_name: str) -> Response:
    with writing(sender.server.engine) as session:
        found, judging = organised_round(session, sender.user, competition, round_name)
        discard_round(sender.act(session), found, judging)
    return RedirectResponse(links.judging(competition), 303)


@router.post(f"{ROUND}/annotators")
@form_again(_page, EvergoldError)
def send_annotator(
    sender: RoundSender, competition: str, round_name: str, form: Annotated[AnnotatorForm, Form()]
) -> Response:
    """Appoint an annotator or, with `leave`, dismiss one."""
    change = dismiss if form.leave else appoint
    with writing(sender.server.engine) as session:
        found, judging = organised_round(session, sender.user, competition, round_name)
        change(sender.act(session), found, judging, language=form.language, username=form.username)
    return RedirectResponse(links.judging(competition, round_name), 303)
