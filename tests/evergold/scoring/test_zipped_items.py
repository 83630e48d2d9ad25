"""Blind files as a zip of folders, as everybody downloads them: read like the folders themselves."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from evergold.scoring import score, validate
from evergold.scoring.errors import InvalidItems, Problem
from evergold.scoring.mwe.options import Options
from evergold.scoring.tasks.mwe_identification import TASK

GOLDEN = Path(__file__).parents[2] / "golden" / "mwe-identification"
GOLD, PREDICTION = GOLDEN / "gold", GOLDEN / "prediction"
NAME = "mwe-identification"
BLIND = {f"{language}/test.blind.cupt": (GOLD / language / "test.blind.cupt").read_bytes() for language in ("FR", "HR")}
FRENCH = BLIND["FR/test.blind.cupt"]


def zipped(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def refused(path: Path, options: Options) -> list[Problem]:
    with pytest.raises(InvalidItems) as caught:
        TASK.read_items(path, options)
    return list(caught.value.problems)


@pytest.mark.parametrize(
    "options", [Options(), Options(languages=("fr", "hr")), Options(languages=("hr", "fr")), Options(languages=("hr",))]
)
def test_zip_of_folders_is_read_like_the_folders(tmp_path: Path, options: Options) -> None:
    with_more = {"README.md": b"x", "__MACOSX/FR/._test.blind.cupt": b"x", **BLIND}
    nested = {f"blind/{name}": content for name, content in BLIND.items()}
    wanted = TASK.read_items(GOLD, options)
    for number, members in enumerate((BLIND, with_more, nested)):
        found = TASK.read_items(zipped(tmp_path / f"{number}.zip", members), options)
        assert found == wanted
        assert list(found.languages) == list(wanted.languages)


def test_scores_and_warnings_are_the_same_with_either(tmp_path: Path) -> None:
    items = zipped(tmp_path / "no-extension", BLIND)
    assert score(NAME, GOLD, PREDICTION, items=items) == score(NAME, GOLD, PREDICTION)
    assert validate(NAME, items, PREDICTION) == validate(NAME, GOLD, PREDICTION)


def test_blind_file_goes_before_an_annotated_one_beside_it(tmp_path: Path) -> None:
    path = zipped(tmp_path / "items.zip", {**BLIND, "FR/test.cupt": b"no CUPT at all"})
    assert TASK.read_items(path, Options()) == TASK.read_items(GOLD, Options())


def test_the_only_file_is_a_folders_where_its_folder_is_a_wanted_language(tmp_path: Path) -> None:
    path = zipped(tmp_path / "items.zip", {"FR/test.blind.cupt": FRENCH})
    in_folder = TASK.read_items(path, Options(languages=("fr",)))
    assert (list(in_folder.languages), in_folder.in_folders) == (["fr"], True)
    single = TASK.read_items(path, Options())
    assert (list(single.languages), single.in_folders) == (["all"], False)
    named = zipped(tmp_path / "named.zip", {"my test/test.blind.cupt": FRENCH})
    single = TASK.read_items(named, Options(language="ga"))
    assert (list(single.languages), single.in_folders) == (["ga"], False)


def test_every_missing_language_is_said(tmp_path: Path) -> None:
    path = zipped(tmp_path / "items.zip", BLIND)
    problems = refused(path, Options(languages=("fr", "ga", "pl")))
    assert [str(problem) for problem in problems] == [
        "there is no GA/test.blind.cupt in items.zip",
        "there is no PL/test.blind.cupt in items.zip",
    ]
    flat = zipped(tmp_path / "flat.zip", {"test.blind.cupt": FRENCH, "README.md": b"x"})
    assert [str(problem) for problem in refused(flat, Options())] == ["there is no <LANG>/test.blind.cupt in flat.zip"]


def test_two_folders_of_one_language_are_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "items.zip", {**BLIND, "more/fr/test.blind.cupt": FRENCH})
    assert [str(problem) for problem in refused(path, Options())] == [
        "two files for one language: FR/test.blind.cupt and more/fr/test.blind.cupt"
    ]


def test_problems_of_all_languages_have_file_and_line(tmp_path: Path) -> None:
    broken = {name: content.replace(b"1\t", b"one\t", 1) for name, content in BLIND.items()}
    problems = refused(zipped(tmp_path / "items.zip", broken), Options())
    assert [(problem.file, problem.line, problem.code) for problem in problems] == [
        ("FR/test.blind.cupt", 3, "malformed-id"),
        ("HR/test.blind.cupt", 3, "malformed-id"),
    ]


# ---------------------------------------------------------------------------------------------------------- paraphrases


def test_paraphrases_have_zips_of_blind_files_too(tmp_path: Path) -> None:
    from evergold.scoring.paraphrase.options import Options
    from evergold.scoring.tasks import mwe_paraphrase

    folder = Path(__file__).parents[2] / "golden" / "mwe-paraphrase" / "items"
    blind = {f"{name}/test.blind.json": (folder / name / "test.blind.json").read_bytes() for name in ("EN", "PT")}
    path = zipped(tmp_path / "items.zip", blind)
    for options in (Options(), Options(languages=("pt", "en"))):
        found, wanted = mwe_paraphrase.read_items(path, options), mwe_paraphrase.read_items(folder, options)
        assert found == wanted
        assert list(found.languages) == list(wanted.languages)
    with pytest.raises(InvalidItems, match="no FR/test.blind.json"):
        mwe_paraphrase.read_items(path, Options(languages=("en", "fr")))
    broken = zipped(tmp_path / "broken.zip", {name: b"{" for name in blind})
    with pytest.raises(InvalidItems) as caught:
        mwe_paraphrase.read_items(broken, Options())
    assert {problem.file for problem in caught.value.problems} == set(blind)  # every file's problems, at once
