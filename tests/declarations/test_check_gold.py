"""Additions of `evergold check --gold FOLDER`: gold that is wrong or does not fit, baselines that score otherwise."""

from __future__ import annotations

import hmac
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.declarations.check import check_phases
from app.declarations.check.gold import misfits
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS
from tests.declarations.competition_folder import GOLD, NOW, Competition, make_competition

GOLDEN = Path(__file__).parents[1] / "golden"
BASELINE = 'method: "Always 1"}'
#: What is said of tiny gold, as most of it is here.
FEW = "may not be significant"
#: Of MAJORITY: EN has the labels 0 and 1, so F1 is 0 and 2/3, and PT only 1, so it is 1; together 0 and 0.8.
ALL, EN = 0.4, 0.3333


@pytest.fixture
def folder(tmp_path: Path) -> Competition:
    """The competition, with gold for both phases in `gold/`."""
    made = make_competition(tmp_path)
    for name in ("practice", "evaluation"):
        made.write(f"gold/demo/{name}.csv", GOLD)
    return made


def said(folder: Competition) -> list[str]:
    found = check_phases(folder.phases, now=NOW, gold=folder.phases.parent / "gold")
    told = [f"{finding.severity}: {finding.message}" for finding in found if finding.message not in _always(folder)]
    return [message for message in told if FEW not in message]


def _always(folder: Competition) -> set[str]:
    return {finding.message for finding in check_phases(folder.phases, now=NOW)}


def declare(folder: Competition, scores: str) -> None:
    folder.change(BASELINE, f'method: "Always 1", scores: {scores}}}')


def test_too_few_items_of_a_language_to_rank_anything_are_worth_a_warning(folder: Competition) -> None:
    rows = [f"{n},x.{n},EN,{n % 2}" for n in range(100)] + [f"{100 + n},x.{n},PT,1" for n in range(99)]
    folder.write("gold/demo/evaluation.csv", "\n".join(["ID,DataID,Language,Label", *rows]) + "\n")
    found = check_phases(folder.phases, now=NOW, gold=folder.phases.parent / "gold")
    few = [f"{finding.severity}: {finding.message}" for finding in found if FEW in finding.message]
    # 2.8016 · √(2 · 0.75 · 0.25 / n): 17 points for 99 items, and for one no 2 points more than 100.
    assert "warning: pt has only 99 items: a difference of 17 points may not be significant (see evergold power)" in few
    assert (
        "warning: pt has only 1 item: a difference of 100 points may not be significant (see evergold power)" in few
    ), "practice"
    assert not any("en has" in message and "100 items" in message for message in few)


def test_a_part_without_items_is_an_error_and_small_ones_are_named(folder: Competition) -> None:
    rows = [f"{n},x.{n},{'EN' if n < 150 else 'PT'},{n % 2}" for n in range(300)]
    folder.write("gold/demo/evaluation.csv", "\n".join(["ID,DataID,Language,Label", *rows]) + "\n")
    gold = "            gold: demo/evaluation.csv\n"
    part = "            private_part: {share: SHARE, seed: a seed that nobody knows}\n"
    folder.change(gold, gold + part)

    def heard(share: str) -> list[str]:
        folder.change("SHARE", share)
        found = check_phases(folder.phases, now=NOW, gold=folder.phases.parent / "gold")
        folder.change(f"share: {share}", "share: SHARE")
        return [f"{one.severity}: {one.message}" for one in found if " part" in one.message]

    (empty,) = heard("0.0001")
    assert empty.startswith("error: no run could be scored with this gold: ")
    assert "no item is in the private part" in empty
    # by hand, as docs/phases-yaml.md says: HMAC-SHA256(seed, id) below half of 2^64 is private
    digests = [hmac.new(b"a seed that nobody knows", str(n).encode(), "sha256").digest()[:8] for n in range(300)]
    private = [int.from_bytes(one) < 2**63 for one in digests]
    en, pt = sum(private[:150]), sum(private[150:])
    numbers = (("public", "en", 150 - en), ("public", "pt", 150 - pt), ("private", "en", en), ("private", "pt", pt))
    wanted = [f"warning: {language} has only {number} items in the {of} part" for of, language, number in numbers]
    assert [one.partition(": a difference")[0] for one in heard("0.5")] == wanted


def test_gold_that_fits_is_not_spoken_of(folder: Competition) -> None:
    assert said(folder) == []


def test_gold_that_cannot_be_read_is_told_with_its_lines(folder: Competition) -> None:
    folder.write("gold/demo/evaluation.csv", GOLD.replace("PT,1", "PT,7"))
    (finding,) = said(folder)
    assert finding.startswith("error: 'idiom-detection' cannot use demo/evaluation.csv as gold: line 3")


@pytest.mark.parametrize(
    ("gold", "misfit"),
    [
        (GOLD + "4,x.EN.3,EN,1\n", "it has 1 that are not among the blind items: '4'"),
        (GOLD.replace("3,x.EN.2,EN,1\n", ""), "it lacks 1 of the blind items: '3'"),
        (GOLD.replace("x.EN.2,EN", "x.EN.2,PT"), "1 differ there: '3'"),
    ],
)
def test_gold_that_does_not_fit_the_items_is_an_error(folder: Competition, gold: str, misfit: str) -> None:
    folder.write("gold/demo/evaluation.csv", gold)
    assert f"error: demo/evaluation.csv does not fit the items: {misfit}" in said(folder)


def test_gold_that_is_not_there_is_worth_a_warning(folder: Competition) -> None:
    (folder.phases.parent / "gold" / "demo" / "practice.csv").unlink()
    assert said(folder) == [
        "warning: demo/practice.csv is not in the folder of gold, so nothing was compared with it",
    ]


def test_a_baseline_that_scores_as_declared_is_not_spoken_of(folder: Competition) -> None:
    declare(folder, f'{{"macro_f1 zero_shot/all": {ALL}, "macro_f1 zero_shot/en": {EN}}}')
    assert said(folder) == []


def test_a_baseline_that_scores_otherwise_is_an_error_at_its_score(folder: Competition) -> None:
    declare(folder, '{"macro_f1 zero_shot/all": 0.41, "macro_f1 zero_shot/en": 0.33334}')
    assert said(folder) == [
        "error: majority.csv scores 0.4000 in macro_f1 zero_shot/all, not 0.41",
        "error: majority.csv scores 0.33333 in macro_f1 zero_shot/en, not 0.33334",
    ]


def test_a_score_that_the_task_does_not_have_is_told_without_gold(folder: Competition) -> None:
    declare(folder, '{"macro_f2 zero_shot/all": 0.4, "macro_f1 zero_shot/fr": 0.4}')
    told = [finding.message for finding in check_phases(folder.phases, now=NOW) if finding.severity == "error"]
    assert [message.split(":")[0] for message in told] == ["'macro_f2 zero_shot/all'", "'macro_f1 zero_shot/fr'"]


def test_misfits_are_counted_and_the_first_are_named() -> None:
    gold = {str(number): None for number in range(5)}
    assert misfits({}, gold) == ["it has 5 that are not among the blind items: '0', '1', '2' and 2 more"]
    assert misfits(gold, {"0": None}) == ["it lacks 4 of the blind items: '1', '2', '3' and 1 more"]


@pytest.mark.parametrize("name", sorted(name for name, task in TASKS.items() if task.run is None))
def test_golden_items_and_gold_of_every_task_ask_for_the_same(name: str) -> None:
    task, folder = TASKS[name], GOLDEN / name
    [items, *_] = (*folder.glob("items*"), *folder.glob("gold*"))
    gold = next(folder.glob("gold*"))
    expected = next(iter((*folder.glob("expected.json"), *folder.glob("scores.json"))), None)  # some need a model
    options = read_options(task, json.loads(expected.read_text(encoding="utf-8")).get("options") if expected else None)
    assert task.demands is not None
    wanted = task.demands(task.items_of(task.read_gold(gold, options), options))
    assert wanted or name == "idiomaticity-probing", "human scores do not say what is asked for"
    assert not wanted or misfits(task.demands(task.read_items(items, options)), wanted) == []


def test_labels_that_nobody_declared_and_labels_that_look_alike_are_told(tmp_path: Path) -> None:
    example = shutil.copytree(Path(__file__).parents[2] / "docs/examples/table", tmp_path / "table")
    declaration, gold = example / "competition.yaml", example / "gold/irony/gold.csv"
    now = datetime(2026, 1, 11, tzinfo=UTC)

    def heard() -> list[str]:
        found = check_phases(declaration, now=now, gold=example / "gold")
        return [f"{one.severity}, line {one.line}: {one.message}" for one in found if FEW not in one.message]

    assert not any("declare `labels`" in one for one in heard())
    text = declaration.read_text()
    declaration.write_text(text.replace(", labels: [ironic, sincere]", ""))
    advice = "'irony': declare `labels`: without it a misspelt label is not reported, but counts as wrong"
    assert f"warning, line 9: {advice}" in heard()
    gold.write_text(gold.read_text().replace(",ironic", ",ironic ", 1))
    assert any(
        "cannot use irony/gold.csv as gold: line 2, column label: 'ironic ' has spaces" in one for one in heard()
    )
