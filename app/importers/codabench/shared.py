"""Keys that all versions of Codabench's bundles share: limits, visibility, logo, and keys without a counterpart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.importers.bundles.notes import Fate, Keys
from app.importers.bundles.plan import Given, Page, Program
from app.importers.bundles.reading import Reading

#: The keys of the declaration that get a competition's description.
DESCRIPTION = "`summary`, and at the top of `description` where it is longer"
#: Keys without a counterpart, and what to do about them.
IGNORED: Mapping[str, str] = {
    "queue": "workers of this server score: which ones is a matter of its operator",
    "competition_type": "competitions have no kinds here",
    "forum_enabled": "there is no forum: teams write to the organisers, who answer all",
    "enable_forum": "there is no forum: teams write to the organisers, who answer all",
    "can_participants_make_submissions_public": "submissions stay private to their teams; boards are public",
    "allow_public_submissions": "submissions stay private to their teams; boards are public",
    "auto_run_submissions": "what is uploaded is scored at once",
    "show_detailed_results_in_leaderboard": "pages of programs are read at the submission, never on the board",
    "show_datasets_from_yaml": "downloads are listed with their phase",
    "admin_names": "invite these people as organisers: user names of another server mean nothing here",
    "enable_per_submission_metadata": "every submission has a method card",
    "color": "phases have no colours",
    "datasets": "named data sets on the original server: add the files under `downloads`",
    "preferred_leaderboard": "boards are all shown",
}
_LOGO_BYTES = 10 * 1024 * 1024
_PICTURES = (".png", ".jpg", ".jpeg", ".webp")
_BEGINNINGS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF")


def limits_of(keys: Keys, per_day: str, total: str) -> dict[str, int]:
    """Return the limits of a phase, which are per person in Codabench, and per team and task in Evergold."""
    day = keys.whole(per_day, "`limits.per_day`, of a team for a task", 5)
    whole = keys.whole(total, "`limits.total`, of a team for a task", 100)
    day, whole = (one if one and one > 0 else None for one in (day, whole))
    limits = {"per_day": day or 5, "total": whole or 100}
    if limits["per_day"] > limits["total"]:
        keys.note(per_day, Fate.ASSUMED, f"more than in the whole phase: {limits['total']}")
        limits["per_day"] = limits["total"]
    return limits


def visibility_of(keys: Keys, *, has_end: bool) -> dict[str, Any]:
    """Return the visibility of a phase."""
    visibility: dict[str, Any] = {}
    if keys.text("leaderboard_management_mode", "`visibility.board`").strip().lower() == "hide_results":
        visibility["board"] = "hidden"
        keys.note("leaderboard_management_mode", Fate.BECAME, "`visibility.board: hidden`: publish it when you want")
    if keys.flag("hide_score_output", "`visibility.own_scores`", False):
        visibility["own_scores"] = "after_close" if has_end else "never"
    for key in ("hide_output", "hide_prediction_output"):
        keys.flag(key, "`shown`: what programs print is for organisers, unless declared otherwise", False)
    return visibility


def long_description(root: Keys) -> list[Page]:
    """Return the description as a page, if it is too long for a summary."""
    written = root.text("description", DESCRIPTION)
    return [Page("", written)] if len(written) > 500 or "\n" in written.strip() else []


def logo_of(reading: Reading) -> Path | None:
    """Return the logo if pages can show it, otherwise None."""
    root = reading.root
    found = reading.file(root, "image", "a picture at the top of `description`")
    if found is None or not found.is_file():
        return None
    with found.open("rb") as file:
        beginning = file.read(16)
    if found.suffix.lower() in _PICTURES and beginning.startswith(_BEGINNINGS) and found.stat().st_size <= _LOGO_BYTES:
        return found
    root.note("image", Fate.NONE, "only PNG, JPEG and WebP of up to 10 MiB are shown")
    return None


def given_files(reading: Reading, keys: Keys) -> tuple[Given, ...]:
    """Return the downloads of a phase."""
    titles = {"public_data": "Public data", "starting_kit": "Starting kit"}
    found = [(key, title, reading.file(keys, key, "a download")) for key, title in titles.items()]
    return tuple(Given(f"{key}.zip", title, place) for key, title, place in found if place is not None)


def gold_of(reading: Reading, keys: Keys) -> Path | None:
    """Return the gold of a phase or task; note if the bundle has none."""
    gold = reading.file(keys, "reference_data", "gold, apart from the competition's folder")
    if not keys.has("reference_data"):
        keys.note("reference_data", Fate.OPEN, "the bundle has no gold: uploads are refused until gold is uploaded")
    return gold


def program_of(reading: Reading, keys: Keys, found: Path, image: str) -> Program:
    """Return the scoring program of a phase or task; note if its metadata names no command."""
    program = reading.program(found, (keys.at("scoring_program"), keys.line("scoring_program")), image)
    if not reading.command(program):
        keys.note("scoring_program", Fate.OPEN, "its metadata names no command: declare `options.command`")
    return program
