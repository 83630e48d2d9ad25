"""The environment of an imported program: from what it imports and the name of its image; a guess is called one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.importers.bundles.environments import EVALAI, PINS, guess_environment, imported_packages, nearest_python

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def program(folder: Path, **files: str) -> Path:
    """A folder with these sources."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_a_program_of_the_standard_library_alone_is_no_guess(tmp_path: Path) -> None:
    program(tmp_path, score="import os, sys\nfrom helper import f1\n", helper="import json as j  # numpy\n")
    guess = guess_environment(tmp_path, "codalab/codalab-legacy:py37")
    assert (guess.options, guess.is_guess, guess.missing) == ({"environment": "default"}, False, ())


def test_packages_are_found_wherever_they_are_imported(tmp_path: Path) -> None:
    program(
        tmp_path,
        score="import numpy as np, yaml\nif True:\n    from sklearn.metrics import f1_score\n",
        old="import ConfigParser\nfrom bert_score import score\n",
    )
    assert imported_packages(tmp_path) == {"numpy", "pyyaml", "scikit-learn", "bert_score"}


def test_pins_are_those_of_the_image_and_only_of_what_is_imported(tmp_path: Path) -> None:
    guess = guess_environment(program(tmp_path, score="import numpy\n"), f"codalab/codalab-legacy:py{HERE}")
    assert guess.options == {"environment": [f"numpy=={PINS[HERE]['numpy']}"]}
    assert guess.is_guess


def test_what_no_pin_brings_is_named_and_not_installed(tmp_path: Path) -> None:
    guess = guess_environment(program(tmp_path, score="import numpy, comet\n"), "python:3.11")
    assert guess.missing == ("comet",)
    assert "comet" not in str(guess.options)


@pytest.mark.parametrize(
    "image", ["somebody/scorer:v2", "ghcr.io/lab/image@sha256:0", "codalab/codalab-legacy:gpu310x"]
)
def test_an_image_of_ones_own_cannot_be_looked_into(tmp_path: Path, image: str) -> None:
    guess = guess_environment(program(tmp_path, score="import numpy\n"), image)
    assert guess.options == {"environment": "default"}
    assert "cannot be inspected" in guess.words


def test_a_requirements_file_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy==1.19.5\n")
    program(tmp_path, score="import numpy\n")
    assert guess_environment(tmp_path, "python:3.8").is_guess
    there = guess_environment(tmp_path, EVALAI)
    assert (there.options, there.is_guess) == ({}, False)


def test_a_program_that_is_not_python_follows_its_image(tmp_path: Path) -> None:
    (tmp_path / "score.pl").write_text("print 1;")
    assert guess_environment(tmp_path, "somebody/perl").is_guess


def test_python_2_has_no_nearest_but_itself_and_no_newer_one_gives_the_newest() -> None:
    assert nearest_python("2.7") == "2.7"
    assert nearest_python(HERE) == HERE
    assert tuple(map(int, nearest_python("3.6").split("."))) >= (3, 6)


def test_only_a_python_of_this_machine_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """shutil.which finds no other one in an empty PATH."""
    monkeypatch.setenv("PATH", "")
    assert {nearest_python(version) for version in PINS if version.startswith("3")} == {HERE}
