"""Find the file of each language: `<LANG>/<file>` in the organisers' folders and in the teams' zips.

A language has its name in lower case, regardless of its folder's case. The tasks check the contents of the files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TypeVar

from evergold.scoring.archives import (
    LIMITS,
    Limits,
    begins_as_zip,
    is_ignored,
    iterate_members,
    member_names,
    read_single,
)
from evergold.scoring.characters import visible
from evergold.scoring.errors import InvalidFile, InvalidPrediction, Problem, Problems, shorten
from evergold.scoring.option_types import ALL

T = TypeVar("T")


def wanted_languages(languages: tuple[str, ...] | None, language: str | None) -> tuple[str, ...] | None:
    """Return the declared languages, of folders or of a single file, in lower case; None if there are none."""
    return languages or ((language.lower(),) if language else None)


def single_language(wanted: tuple[str, ...] | None) -> str:
    """Return the language of a single file: the only wanted one, or `all` if none or several are wanted."""
    return wanted[0] if wanted and len(wanted) == 1 else ALL


def find_folders(
    path: Path, wanted: Sequence[str] | None, files: Sequence[str], error: type[InvalidFile]
) -> dict[str, Path]:
    """Return by language, in the order wanted (None: sorted by name), the first of `files` that its folder in `path`
    has.

    Raises `error` for every wanted language that has none, for two folders of one language, and if there is no folder
    with such a file at all.
    """
    found: dict[str, Path] = {}
    problems = Problems()
    for folder in sorted(folder for folder in path.iterdir() if not is_ignored(folder.name)):
        present = [folder / name for name in files if (folder / name).is_file()]
        if present and folder.name.lower() in found:
            message = f"two folders for one language: {found[folder.name.lower()].parent.name} and {folder.name}"
            problems.add("duplicate-language", message)
        elif present:
            found[folder.name.lower()] = present[0]
    for language in wanted or (() if found else ("<lang>",)):
        if language not in found:
            message = f"there is no {language.upper()}/{files[-1]} in {path.name}"
            problems.add("missing-language", message)
    problems.raise_if_any(error)
    return {language: found[language] for language in (wanted or found)}


def read_each(
    files: Mapping[str, Path], read: Callable[[str, bytes, str], T], error: type[InvalidFile], limits: Limits = LIMITS
) -> dict[str, T]:
    """Return the result of `read(language, content, name)` for every file; the problems of all files are raised
    together.
    """
    results: dict[str, T] = {}
    problems: list[Problem] = []
    omitted = 0
    for language, file in files.items():
        try:
            content = read_single(file, limits, error)[1]
            results[language] = read(language, content, f"{file.parent.name}/{file.name}")
        except error as invalid:
            problems += invalid.problems
            omitted += invalid.omitted
    if problems:
        raise error(problems, omitted)
    return results


def zipped_folders(
    path: Path, wanted: Sequence[str] | None, files: Sequence[str], error: type[InvalidFile], limits: Limits = LIMITS
) -> dict[str, str]:
    """Return by language, like `find_folders`, the path of its file in a zip of such folders; {} for a zip of one file.

    A single file counts as a folder's only if its folder is named like a wanted language.
    """
    members = member_names(path, limits, error)
    found: dict[str, str] = {}
    problems = Problems()
    for wanted_file in files:
        for name in (name for name in members if PurePosixPath(name).name == wanted_file):
            folder = PurePosixPath(name).parent
            first = found.setdefault(folder.name.lower(), name)
            if PurePosixPath(first).parent != folder:
                message = f"two files for one language: {shorten(first)} and {shorten(name)}"
                problems.add("duplicate-language", message)
    found.pop("", None)  # in no folder
    if len(members) == 1 and not found.keys() & set(wanted or ()):
        return {}
    for language in wanted or (() if found else ("<lang>",)):
        if language not in found:
            problems.add("missing-language", f"there is no {language.upper()}/{files[0]} in {path.name}")
    problems.raise_if_any(error)
    return {language: found[language] for language in (wanted or sorted(found))}


def read_each_zipped(
    path: Path,
    files: Mapping[str, str],
    read: Callable[[str, bytes, str], T],
    error: type[InvalidFile],
    limits: Limits = LIMITS,
) -> dict[str, T]:
    """Return the result of `read(language, content, name)` for every file; the problems of all files are raised
    together.

    files: as `zipped_folders` returns them. One file is held in memory at a time.
    """
    faults: dict[str, InvalidFile] = {}

    def read_or_note(language: str, content: bytes, name: str) -> T | None:
        try:
            return read(language, content, name)
        except error as invalid:
            faults[language] = invalid
            return None

    results = _read_members(path, files, read_or_note, limits, error)
    if faults:
        invalid = [faults[language] for language in files if language in faults]
        raise error([problem for one in invalid for problem in one.problems], sum(one.omitted for one in invalid))
    return {language: result for language, result in results.items() if result is not None}


def read_submitted(
    path: Path,
    languages: Sequence[str],
    file_name: str,
    read: Callable[[str, bytes, str | None], T],
    problems: Problems,
    *,
    in_folders: bool,
    limits: Limits = LIMITS,
) -> dict[str, T]:
    """Return by language, in the task's order, the result of `read(language, content, name)` for its submitted file.

    path: a zip or folder with `<LANG>/<file_name>`, possibly inside further folders, or (one language) just the file;
    languages: those of the task; in_folders: False if the task has only one language, without a folder. Files that do
    not fit are added to `problems` before anything is read; files that will not be read are added as warnings. One file
    is held in memory at a time. Raises InvalidPrediction if nothing can be read.
    """
    if not path.is_dir() and not begins_as_zip(path):
        content = read_single(path, limits)[1]
        if len(languages) > 1:
            message = f"this is a single file: send a zip with <LANG>/{file_name} for each language you take part in"
            raise InvalidPrediction([Problem("not-a-zip", message)])
        return {languages[0]: read(languages[0], content, None)}
    members = member_names(path, limits)
    ending = PurePosixPath(file_name).suffix
    named = [name for name in members if name.endswith(ending)]
    choose = _by_folder if in_folders else _only_one
    chosen = choose(named, languages, file_name, problems)
    refused = {problem.file for problem in problems.errors}
    for name in sorted(set(members) - set(chosen.values())):
        if visible(name) in refused:
            continue
        message = "this file does not belong to the submission and is not read"
        problems.add("unexpected-file", message, file=name, severity="warning")
    if not chosen and not problems.errors:
        expected = f"<LANG>/{file_name}, where <LANG> is one of {', '.join(languages)}"
        problems.add("nothing-submitted", f"it contains no prediction; expected {expected}")
    in_order = {language: chosen[language] for language in languages if language in chosen}
    return _read_members(path, in_order, read, limits, InvalidPrediction)


def _read_members(
    path: Path,
    files: Mapping[str, str],
    read: Callable[[str, bytes, str], T],
    limits: Limits,
    error: type[InvalidFile],
) -> dict[str, T]:
    """Return the result of `read` for the member of every language; the other members are only checked against the
    limits.
    """
    language_of = {name: language for language, name in files.items()}
    results: dict[str, T] = {}
    for name, content in iterate_members(path, limits, error):
        if name in language_of:
            results[language_of[name]] = read(language_of[name], content, name)
        del content  # or the next one would be unpacked while it is still in memory
    return {language: results[language] for language in files}


def _by_folder(names: Sequence[str], languages: Sequence[str], file_name: str, problems: Problems) -> dict[str, str]:
    """Return the file of each language, by its folder; anything that prevents this is a problem."""
    chosen: dict[str, str] = {}
    folders: dict[PurePosixPath, list[str]] = {}
    for name in names:
        folders.setdefault(PurePosixPath(name).parent, []).append(name)
    for folder, inside in folders.items():
        language = folder.name.lower()
        found = [name for name in inside if PurePosixPath(name).name == file_name]
        if language not in languages:
            fault = (
                f"{shorten(folder.name)} is not a language of this task"
                if folder.name
                else ("the file is not in a folder")
            )
            message = f"{fault}; its languages are {', '.join(languages)}"
            problems.add("unknown-language", message, file=(found or inside)[0])
        elif not found:
            problems.add("wrong-file-name", f"the file must be called {folder.name}/{file_name}", file=inside[0])
        elif language in chosen:
            message = f"a second file for {language}, the first is {shorten(chosen[language])}"
            problems.add("duplicate-language", message, file=found[0])
        else:
            chosen[language] = found[0]
    return chosen


def _only_one(names: Sequence[str], languages: Sequence[str], file_name: str, problems: Problems) -> dict[str, str]:
    found = [name for name in names if PurePosixPath(name).name == file_name] or names
    if len(found) > 1:
        listed = ", ".join(shorten(name) for name in found[:5])
        problems.add("several-files", f"{len(found)} files where one is expected: {listed}", file=found[1])
    return {languages[0]: found[0]} if len(found) == 1 else {}
