"""All addresses of this server's pages, as paths only: a server may have several names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote, urlencode
from uuid import UUID


def competition(name: str) -> str:
    return f"/competitions/{quoted(name)}"


def organising_requests() -> str:
    """Return the link to the page on which administrators answer requests to organise."""
    return "/admin/requests"


def tab(competition_name: str, name: str) -> str:
    """Return the link to a tab of a competition's workspace: `data`, `submit`, `runs`, `leaderboard`, `pictures`,
    `cite`.
    """
    return f"{competition(competition_name)}/{name}"


def runs(competition_name: str, **wanted: str) -> str:
    """Return the link to a team's own runs. wanted: phase, task and board; empty ones are left out."""
    query = urlencode({name: value for name, value in wanted.items() if value})
    return tab(competition_name, "runs") + (f"?{query}" if query else "")


def phase(competition_name: str, name: str) -> str:
    return f"{competition(competition_name)}/phases/{quoted(name)}"


def task(competition_name: str, phase_name: str, name: str) -> str:
    return f"{phase(competition_name, phase_name)}/tasks/{quoted(name)}"


def desk(competition_name: str) -> str:
    """Return the link to the organisers' dashboard."""
    return f"{competition(competition_name)}/desk"


def board(competition_name: str, phase_name: str, name: str) -> str:
    return f"{phase(competition_name, phase_name)}/boards/{quoted(name)}"


def as_seen_by(address: str, seen_as: str | None) -> str:
    """Return the address with the preview role, if the linking page has one."""
    if not seen_as:
        return address
    path, mark, part = address.partition("#")
    return f"{path}{'&' if '?' in path else '?'}{urlencode({'as': str(seen_as)})}{mark}{part}"


def official(competition_name: str, phase: str, name: str, number: int | None = None) -> str:
    """Return the link to an official board, by default the latest."""
    return f"{board(competition_name, phase, name)}/official{f'/{number}' if number is not None else ''}"


def public_team(competition_name: str, name: str) -> str:
    """Return the link to the public page of a team: its rows on all boards, its systems."""
    return public_teams(competition_name) + part(name)


def public_teams(competition_name: str) -> str:
    """Return the common prefix of public team pages."""
    return f"{competition(competition_name)}/teams/"


def board_row(
    competition_name: str, phase: str, name: str, submission_id: UUID, official_number: int | None = None
) -> str:
    """Return the link to the details of a row on the live board or on an official one."""
    return f"{board_rows(competition_name, phase, name, official_number)}{submission_id}"


def board_rows(competition_name: str, phase: str, name: str, official_number: int | None = None) -> str:
    """Return the common prefix of a board's row addresses."""
    place = (competition_name, phase, name)
    return f"{board(*place) if official_number is None else official(*place, official_number)}/rows/"


def board_compare(competition_name: str, phase: str, name: str, *rows: UUID) -> str:
    """Return the link to a comparison of two rows; the page chooses missing ones."""
    query = urlencode([("row", str(one)) for one in rows])
    return f"{board(competition_name, phase, name)}/compare{f'?{query}' if query else ''}"


def board_picture(competition_name: str, phase: str, name: str) -> str:
    """Return the link to the board as a PNG, for previews of shared links."""
    return f"{board(competition_name, phase, name)}/picture.png"


def embedded(competition_name: str, phase: str, name: str) -> str:
    """Return the link to the board for embedding into other sites."""
    return f"/embed{board(competition_name, phase, name)}"


def board_figures(competition_name: str, phase: str, name: str) -> str:
    return f"{board(competition_name, phase, name)}/figures"


def pictures(competition_name: str, phase: str, name: str) -> str:
    return f"{board(competition_name, phase, name)}/pictures"


def picture_file(competition_name: str, phase: str, name: str, picture: str) -> str:
    return f"{pictures(competition_name, phase, name)}/{quoted(picture)}.svg"


def results(competition_name: str, task: str) -> str:
    return f"{competition(competition_name)}/tasks/{quoted(task)}/results"


def submit(competition_name: str, phase_name: str, task_name: str) -> str:
    return f"{task(competition_name, phase_name, task_name)}/submit"


def file(competition_name: str, phase_name: str, task_name: str, name: str) -> str:
    """Return the link to the page with the rows of a task's file."""
    return f"{task(competition_name, phase_name, task_name)}/files/{quoted(name)}"


def gold(competition_name: str, phase_name: str, task_name: str) -> str:
    return f"{task(competition_name, phase_name, task_name)}/gold"


def rescoring(competition_name: str, number: int | None = None) -> str:
    """Return the link to the rescoring sets, or to one of them."""
    return f"{competition(competition_name)}/rescoring{f'/{number}' if number is not None else ''}"


def image(competition_name: str, sha256: str) -> str:
    """Return the link to an image in a text of the competition."""
    return f"{competition(competition_name)}/images/{sha256}"


def edit(competition_name: str, part: str = "") -> str:
    """Return the link to the page to edit dates and rules, or `texts`."""
    return f"{competition(competition_name)}/edit{f'/{part}' if part else ''}"


def history(competition_name: str, number: int | None = None) -> str:
    """Return the link to the revisions of a competition's declaration, or to one of them."""
    return f"{competition(competition_name)}/history{f'/{number}' if number is not None else ''}"


def failed(competition_name: str) -> str:
    """Return the link to failed runs, for organisers."""
    return f"{competition(competition_name)}/failed"


def announcements(competition_name: str) -> str:
    return f"{competition(competition_name)}/announcements"


def announcement(competition_name: str, announcement_id: int) -> str:
    return f"{announcements(competition_name)}/{announcement_id}"


def questions(competition_name: str) -> str:
    return f"{competition(competition_name)}/questions"


def question(competition_name: str, question_id: int) -> str:
    return f"{questions(competition_name)}/{question_id}"


def report_text(competition_name: str, kind: str, which: object) -> str:
    """Return the link to the form that reports a text; for organisers, that hides it."""
    return f"{competition(competition_name)}/report-text?{urlencode({'kind': kind, 'which': str(which)})}"


def moderation(competition_name: str) -> str:
    """Return the link to reports of texts, hidden texts and blocked people, for organisers."""
    return f"{competition(competition_name)}/moderation"


def exports(competition_name: str) -> str:
    """Return the link to the organisers' exports: predictions, participants."""
    return f"{competition(competition_name)}/exports"


def ranking(competition_name: str, phase_name: str, name: str) -> str:
    """Return the link to a ranking across tasks."""
    return f"{phase(competition_name, phase_name)}/rankings/{quoted(name)}"


def all_submissions(competition_name: str, **filters: object) -> str:
    """Return the link to all submissions to a competition, for organisers, with the non-empty filters."""
    return f"{competition(competition_name)}/submissions{query(filters)}"


def downloads(competition_name: str, **filters: object) -> str:
    """Return the link to downloads of restricted files, with the non-empty filters."""
    return f"{competition(competition_name)}/downloads{query(filters)}"


def validate(competition_name: str, phase_name: str, task_name: str) -> str:
    """Return the link to the upload of files to validate."""
    return f"{task(competition_name, phase_name, task_name)}/validate"


def validation(validation_id: UUID) -> str:
    return f"/validations/{validation_id}"


def validation_live(validation_id: UUID) -> str:
    return f"{validation(validation_id)}/live"


def submission(submission_id: UUID) -> str:
    return f"/submissions/{submission_id}"


def report(submission_id: UUID, **parameters: str) -> str:
    """Return the link to the report, with the non-empty parameters, as in its own links."""
    chosen = urlencode({name: value for name, value in parameters.items() if value})
    return f"{submission(submission_id)}/report{f'?{chosen}' if chosen else ''}"


def report_figures(submission_id: UUID) -> str:
    return f"{report(submission_id)}/figures"


def choice(submission_id: UUID) -> str:
    return f"{submission(submission_id)}/choice"


def withdrawal(submission_id: UUID) -> str:
    return f"{submission(submission_id)}/withdrawal"


def card(submission_id: UUID) -> str:
    """Return the link to a submission's method card."""
    return f"{submission(submission_id)}/card"


def allowances(competition_name: str) -> str:
    """Return the link to extensions for single teams."""
    return f"{competition(competition_name)}/allowances"


def life(competition_name: str) -> str:
    """Return the link to the status page of a competition (publish, pause, archive), for organisers."""
    return f"{competition(competition_name)}/life"


def people(competition_name: str) -> str:
    """Return the link to the people of a competition, for organisers."""
    return f"{competition(competition_name)}/people"


def invitations() -> str:
    """Return the link to the user's own invitations."""
    return "/invitations"


def register(following: str) -> str:
    """Return the link to the form that creates an account. following: the page to continue with."""
    return f"/register?{urlencode({'next': following})}"


def join(secret: str) -> str:
    """Return the link to a private competition, with the secret of its guest link."""
    return f"/join?{urlencode({'link': secret})}"


def organise(blueprint_id: int | None = None, page: str = "", at: str = "") -> str:
    """Return the link to the competition editor: to all of the user's drafts, to one of them, or to a page of it."""
    path = "/organise" if blueprint_id is None else f"/organise/{blueprint_id}"
    query = f"?{urlencode({'at': at})}" if at else ""
    return f"{path}{f'/{page}' if page else ''}{query}"


def ask_to_organise() -> str:
    """Return the link to the form that requests permission to organise from the administrators."""
    return "/account/organise"


def own_data() -> str:
    """Return the link to the page where people download their data and delete their account."""
    return "/account/data"


def privacy() -> str:
    """Return the link to the page about what this server stores, and for how long."""
    return "/privacy"


def setup(competition_name: str, step: str = "publish") -> str:
    """Return the link to a step of setting up a draft."""
    return f"{competition(competition_name)}/setup/{step}"


def setup_items(competition_name: str) -> str:
    """Return the link to the address that receives the items of a draft."""
    return f"{competition(competition_name)}/setup-items"


def rewrite(competition_name: str) -> str:
    """Return the link to the start of editing a competition's whole declaration."""
    return f"{competition(competition_name)}/rewrite"


def rows(competition_name: str, phase_name: str, task_name: str) -> str:
    """Return the link to the organisers' marks on the rows of a task in a phase."""
    return f"{task(competition_name, phase_name, task_name)}/rows"


def submissions(**filters: str) -> str:
    """Return the link to the user's own submissions, with the non-empty filters."""
    chosen = urlencode({name: value for name, value in filters.items() if value})
    return f"/submissions{f'?{chosen}' if chosen else ''}"


def compare(a: UUID, b: UUID | None = None) -> str:
    """Return the link to a comparison of two submissions; if only one is given, the page chooses the other."""
    return f"/submissions/compare?{urlencode({'a': str(a)} | ({'b': str(b)} if b else {}))}"


def submission_live(submission_id: UUID) -> str:
    return f"{submission(submission_id)}/live"


def judging(competition_name: str, round_name: str = "", *more: object) -> str:
    """Return the link to rounds of human judgement, to one of them, or to a page below it: a language, a position, …"""
    parts = [round_name, *map(str, more)] if round_name else []
    return "/".join([f"{competition(competition_name)}/judging", *map(quoted, parts)])


def registration(competition_name: str) -> str:
    return f"{competition(competition_name)}/registration"


def joining_code(competition_name: str) -> str:
    """Return the link to the form that creates a joining code, for organisers."""
    return f"{competition(competition_name)}/joining-code"


def registrations(competition_name: str, username: str = "") -> str:
    """Return the link to all registrations, for organisers, or one."""
    return f"{competition(competition_name)}/registrations{f'/{quoted(username)}' if username else ''}"


def team(competition_name: str, deed: str = "") -> str:
    """Return the link to the user's team, or to a form of that page."""
    return f"{competition(competition_name)}/team{f'/{deed}' if deed else ''}"


def webhook(webhook_id: int) -> str:
    """Return the link to one webhook."""
    return f"/webhooks/{webhook_id}"


def webhooks(competition_name: str = "", *, of_team: bool = False) -> str:
    """Return the link to the webhooks of a competition, of the user's team in it, or, without a competition, of the
    server.
    """
    if not competition_name:
        return "/webhooks"
    return team(competition_name, "webhooks") if of_team else f"{competition(competition_name)}/webhooks"


def join_team(competition_name: str, secret: str) -> str:
    return f"{team(competition_name, 'join')}?{urlencode({'link': secret})}"


def start_judging(competition_name: str, phase_name: str, task_name: str) -> str:
    return f"{task(competition_name, phase_name, task_name)}/judging"


def query(filters: Mapping[str, object]) -> str:
    """Return the query string of the non-empty filters."""
    chosen = urlencode({name: value for name, value in filters.items() if value not in ("", None)})
    return f"?{chosen}" if chosen else ""


@lru_cache(maxsize=1024)
def quoted(name: str) -> str:
    """Return a name quoted as a part of a path; cached, because names of competitions and boards recur in a page's
    addresses.
    """
    return part(name)


def part(text: str) -> str:
    """Return a text quoted as a part of a path."""
    return text.translate(_QUOTED) if text.isascii() else quote(text, safe="")


#: Quoted ASCII characters: a board has thousands of names, mostly of these.
_QUOTED = {number: quote(chr(number), safe="") for number in range(128)}
