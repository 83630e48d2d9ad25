"""Every address of this server, in one place. Paths only: a server may be reached under several names."""

from __future__ import annotations

from urllib.parse import quote, urlencode
from uuid import UUID

API = "/api/v1"


def competition(name: str) -> str:
    return f"/competitions/{_q(name)}"


def board(competition_name: str, phase: str, name: str) -> str:
    return f"{competition(competition_name)}/phases/{_q(phase)}/boards/{_q(name)}"


def official(competition_name: str, phase: str, name: str, number: int | None = None) -> str:
    """The board as it was frozen; without a number: the last time."""
    return f"{board(competition_name, phase, name)}/official{f'/{number}' if number is not None else ''}"


def board_figures(competition_name: str, phase: str, name: str) -> str:
    return f"{board(competition_name, phase, name)}/figures"


def results(competition_name: str, task: str) -> str:
    return f"{competition(competition_name)}/tasks/{_q(task)}/results"


def submit(competition_name: str, phase: str, task: str) -> str:
    return f"{competition(competition_name)}/phases/{_q(phase)}/tasks/{_q(task)}/submit"


def gold(competition_name: str, phase: str, task: str) -> str:
    return f"{competition(competition_name)}/phases/{_q(phase)}/tasks/{_q(task)}/gold"


def submission(submission_id: UUID) -> str:
    return f"/submissions/{submission_id}"


def report(submission_id: UUID, **parameters: str) -> str:
    """With the parameters that are not empty, as the report's own links have them."""
    chosen = urlencode({name: value for name, value in parameters.items() if value})
    return f"/submissions/{submission_id}/report{f'?{chosen}' if chosen else ''}"


def report_figures(submission_id: UUID) -> str:
    return f"{report(submission_id)}/figures"


def choice(submission_id: UUID) -> str:
    return f"/submissions/{submission_id}/choice"


def submission_live(submission_id: UUID) -> str:
    return f"/submissions/{submission_id}/live"


def judging(competition_name: str, round_name: str = "", *more: object) -> str:
    """Rounds of human judgement; one of them; what lies below it: a language, a place in an annotator's order, …"""
    parts = [round_name, *map(str, more)] if round_name else []
    return "/".join([f"{competition(competition_name)}/judging", *map(_q, parts)])


def start_judging(competition_name: str, phase: str, task: str) -> str:
    return f"{competition(competition_name)}/phases/{_q(phase)}/tasks/{_q(task)}/judging"


# --------------------------------------------------------------------------------------------------------------- API


def api_competition(name: str) -> str:
    return API + competition(name)


def api_phase(competition_name: str, name: str) -> str:
    return f"{api_competition(competition_name)}/phases/{_q(name)}"


def api_task(competition_name: str, phase: str, name: str) -> str:
    return f"{api_phase(competition_name, phase)}/tasks/{_q(name)}"


def api_file(competition_name: str, phase: str, task: str, name: str) -> str:
    return f"{api_task(competition_name, phase, task)}/files/{_q(name)}"


def api_submit(competition_name: str, phase: str, task: str) -> str:
    return f"{api_task(competition_name, phase, task)}/submissions"


def api_gold(competition_name: str, phase: str, task: str) -> str:
    return f"{api_task(competition_name, phase, task)}/gold"


def api_board(competition_name: str, phase: str, name: str) -> str:
    return API + board(competition_name, phase, name)


def api_official(competition_name: str, phase: str, name: str, number: int | None = None) -> str:
    return API + official(competition_name, phase, name, number)


def api_results(competition_name: str, task: str) -> str:
    return API + results(competition_name, task)


def api_judging(competition_name: str, round_name: str = "", *more: object) -> str:
    return API + judging(competition_name, round_name, *more)


def api_submission(submission_id: UUID) -> str:
    return f"{API}/submissions/{submission_id}"


def api_submission_file(submission_id: UUID) -> str:
    return f"{api_submission(submission_id)}/file"


def api_choice(submission_id: UUID) -> str:
    return f"{api_submission(submission_id)}/choice"


def api_report(submission_id: UUID) -> str:
    return f"{api_submission(submission_id)}/report"


def api_report_text(submission_id: UUID, name: str) -> str:
    return f"{api_report(submission_id)}/{_q(name)}.txt"


def _q(part: str) -> str:
    return quote(part, safe="")
