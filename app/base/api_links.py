"""All addresses of the API; pages with a JSON version have the same path behind the API's prefix."""

from __future__ import annotations

from uuid import UUID

from app.base import links

API = "/api/v1"
#: Prefix of all addresses for programs: our own API, and the addresses that clients of Codabench know.
PROGRAMS = "/api/"


def competition(name: str) -> str:
    return API + links.competition(name)


def all_submissions(competition_name: str, **filters: object) -> str:
    """Return the link to all submissions to a competition, for organisers, with the non-empty filters."""
    return f"{competition(competition_name)}/submissions{links.query(filters)}"


def downloads(competition_name: str, **filters: object) -> str:
    """Return the link to downloads of restricted files, with the non-empty filters."""
    return f"{competition(competition_name)}/downloads{links.query(filters)}"


def declaration_zip(competition_name: str, number: int | None = None) -> str:
    """Return the link to the YAML and every file it names, of the current declaration or of a revision."""
    return f"{competition(competition_name)}/declaration.zip{f'?revision={number}' if number is not None else ''}"


def own_archive() -> str:
    """Return the link to the archive of the user's own data, once it is ready."""
    return f"{API}/me/archive/file"


def phase(competition_name: str, name: str) -> str:
    return API + links.phase(competition_name, name)


def task(competition_name: str, phase_name: str, name: str) -> str:
    return API + links.task(competition_name, phase_name, name)


def file(competition_name: str, phase_name: str, task_name: str, name: str) -> str:
    return f"{task(competition_name, phase_name, task_name)}/files/{links.quoted(name)}"


def starter_kit(competition_name: str, phase_name: str, task_name: str) -> str:
    return f"{task(competition_name, phase_name, task_name)}/starter-kit.zip"


def submit(competition_name: str, phase_name: str, task_name: str) -> str:
    return f"{task(competition_name, phase_name, task_name)}/submissions"


def ranking(competition_name: str, phase_name: str, name: str) -> str:
    return API + links.ranking(competition_name, phase_name, name)


def board(competition_name: str, phase: str, name: str) -> str:
    return API + links.board(competition_name, phase, name)


def official(competition_name: str, phase: str, name: str, number: int | None = None) -> str:
    return API + links.official(competition_name, phase, name, number)


def picture(competition_name: str, phase: str, name: str, picture: str) -> str:
    return f"{API}{links.pictures(competition_name, phase, name)}/{links.quoted(picture)}"


def results(competition_name: str, task: str) -> str:
    return API + links.results(competition_name, task)


def judging(competition_name: str, round_name: str = "", *more: object) -> str:
    return API + links.judging(competition_name, round_name, *more)


def submission(submission_id: UUID) -> str:
    return API + links.submission(submission_id)


def submission_file(submission_id: UUID) -> str:
    return f"{submission(submission_id)}/file"


def comparison(submission_id: UUID, other_id: UUID) -> str:
    return f"{submission(submission_id)}/comparison/{other_id}"


def problems(submission_id: UUID) -> str:
    return f"{submission(submission_id)}/problems.csv"


def validation(validation_id: UUID) -> str:
    return API + links.validation(validation_id)


def validation_problems(validation_id: UUID) -> str:
    return f"{validation(validation_id)}/problems.csv"


def program_log(submission_id: UUID) -> str:
    return f"{submission(submission_id)}/program-log"


def report(submission_id: UUID) -> str:
    return API + links.report(submission_id)


def report_text(submission_id: UUID, name: str) -> str:
    return f"{report(submission_id)}/{links.quoted(name)}.txt"


def webhook(webhook_id: int) -> str:
    return f"{API}/webhooks/{webhook_id}"
