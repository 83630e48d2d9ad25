"""A part of the items is scored as if a file had no others; only the seed decides which part an item is in."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from evergold.scoring.errors import InvalidGold, InvalidOptions
from evergold.scoring.halves import Division, Half, half, signed
from evergold.scoring.task import Score, read_options
from evergold.scoring.tasks import TASKS, get_task
from tests.evergold.scoring.test_golden import GOLDEN, the

SEED = "a seed that nobody knows"


def rows(text: str, kept: Sequence[str]) -> str:
    """Return the heading of a table, if it has one, and the rows that begin with these ids."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if re.split(r"[,\s]", line)[0] in {*kept, "ID", "id", "query"})


def blocks(text: str, kept: Sequence[str]) -> str:
    """Return the sentences with these numbers from text in which empty lines separate them; a line of column names
    stays.
    """
    head, body = re.fullmatch(r"(# global[^\n]*\n)?(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    every = re.split(r"\n\n+", body.strip("\n"))
    return (head or "") + "".join(one + "\n\n" for number, one in enumerate(every, 1) if str(number) in kept)


def files_with(source: Path, target: Path, keep: Callable[[str, Sequence[str]], str], kept: Sequence[str]) -> Path:
    """Return the file or folder with only these items; training data unchanged."""
    if source.is_file():
        target.write_text(keep(source.read_text(encoding="utf-8"), kept), encoding="utf-8")
        return target
    shutil.copytree(source, target)
    for path in target.rglob("test*.cupt"):
        path.write_text(keep(path.read_text(encoding="utf-8"), kept), encoding="utf-8")
    return target


#: By task type: how a file is cut down, the items that gold keeps, and those of the prediction.
CASES: dict[str, tuple[Callable[[str, Sequence[str]], str], Sequence[str], Sequence[str]]] = {
    "idiom-detection": (rows, ("1", "2", "5"), ("1", "2", "5")),
    "idiom-similarity": (rows, ("1", "2", "5"), ("1", "2", "5", "9")),
    "meaning-matching": (rows, ("4", "5", "6", "7"), ("4", "5", "6", "7")),
    "multi-label": (rows, ("1", "4", "5"), ("1", "4", "5")),
    "mwe-identification": (blocks, ("1", "3"), ("1", "3")),
    "ranking": (rows, ("q1", "q3"), ("q1", "q3")),
    "sequence-labelling": (blocks, ("1", "3"), ("1", "3")),
    "table": (rows, ("1", "3", "5"), ("1", "3", "5")),
}


def found_scores(scores: Sequence[Score]) -> dict[tuple[str, str], float | str | None]:
    return {(one.metric, one.split): one.reason if one.value is None else one.value for one in scores}


@pytest.mark.parametrize("name", CASES)
def test_a_part_scores_what_files_with_its_items_alone_score(name: str, tmp_path: Path) -> None:
    task, (cut, of_gold, of_prediction) = get_task(name), CASES[name]
    declared = json.loads((GOLDEN / name / "expected.json").read_text(encoding="utf-8")).get("options")
    options, files = read_options(task, declared), [the(GOLDEN / name, one) for one in ("gold", "prediction")]
    gold_at, prediction_at = (path or pytest.fail("no such file") for path in files)
    gold = task.read_gold(gold_at, options)
    prediction = task.read_prediction(prediction_at, task.items_of(gold, options), options)
    cut_gold = task.read_gold(files_with(gold_at, tmp_path / gold_at.name, cut, of_gold), options)
    cut_at = files_with(prediction_at, tmp_path / prediction_at.name, cut, of_prediction)
    cut_prediction = task.read_prediction(cut_at, task.items_of(cut_gold, options), options)

    def keep(key: str) -> bool:
        number = re.search(r"(\w+)$", key)
        return number is not None and number[1] in of_gold

    assert task.part is not None
    kept = task.part(gold, prediction, keep)
    whole = task.part(gold, prediction, lambda key: True)
    wanted = found_scores(task.score(cut_gold, cut_prediction, options))
    here = found_scores(task.score(*kept, options))
    assert {key: value for key, value in here.items() if key in wanted} == wanted
    assert found_scores(task.score(*whole, options)) == found_scores(task.score(gold, prediction, options)) != wanted
    assert task.outcomes is not None
    assert task.sample is not None
    again = task.sample(task.outcomes(*kept, options))
    assert {name for name in again.names} <= here.keys()


#: Of types whose scores take an encoder: what is scored is compared, not its scores.
KEPT_PARAPHRASES = ("en-1", "en-3", "pt-2")


def test_a_part_of_texts_is_what_a_file_with_its_rows_alone_holds(tmp_path: Path) -> None:
    task, case = get_task("text-generation"), GOLDEN / "text-generation"
    options = read_options(task)
    gold = task.read_gold(case / "gold.csv", options)
    prediction = task.read_prediction(case / "prediction.csv", task.items_of(gold, options), options)
    cut = task.read_gold(files_with(case / "gold.csv", tmp_path / "gold.csv", rows, ("1", "3")), options)
    assert task.part is not None
    kept, said = task.part(gold, prediction, lambda key: key in ("1", "3"))
    held, wanted, every = ((one.items, one.values, one.references) for one in (kept, cut, gold))
    assert held == wanted != every
    assert {name: list(places) for name, places in kept.splits.items()} == {"all": [0, 1]}
    assert said == prediction


def test_a_part_of_paraphrases_is_what_files_with_its_items_alone_hold(tmp_path: Path) -> None:
    task, case = get_task("mwe-paraphrase"), GOLDEN / "mwe-paraphrase"
    options = read_options(task)
    gold = task.read_gold(case / "gold", options)
    for path in (case / "gold").rglob("test.json"):
        items = [one for one in json.loads(path.read_text("utf-8")) if one["source_sent_id"] in KEPT_PARAPHRASES]
        at = tmp_path / path.relative_to(case)
        at.parent.mkdir(parents=True)
        at.write_text(json.dumps(items, ensure_ascii=False), "utf-8")
    cut = task.read_gold(tmp_path / "gold", options)
    assert task.part is not None
    kept, _ = task.part(gold, None, lambda key: key.partition("/")[2] in KEPT_PARAPHRASES)
    held, wanted, every = ({name: file.items for name, file in one.languages.items()} for one in (kept, cut, gold))
    assert held == wanted != every


def test_who_has_the_seed_has_the_parts() -> None:
    """Written out: below `share` of 2^64 is the beginning of HMAC-SHA256(seed, id) of private items."""
    division = Division(0.3, SEED)
    names = [str(number) for number in range(2_000)]
    private = [name for name in names if division.half_of(name) is Half.PRIVATE]
    digests = {name: hmac.new(SEED.encode(), name.encode(), hashlib.sha256).hexdigest() for name in names}
    assert private == [name for name in names if int(digests[name][:16], 16) < int(0.3 * 2**64)]
    assert 540 < len(private) < 660  # 600 ± three standard deviations of 20.5
    others = [name for name in names if Division(0.3, SEED + ".").half_of(name) is Half.PRIVATE]
    assert len(set(private) & set(others)) < 240  # 180 by chance
    larger = {name for name in names if Division(0.5, SEED).half_of(name) is Half.PRIVATE}
    assert larger > set(private)


def test_both_parts_are_all_items_and_no_item_is_in_both() -> None:
    task = get_task("table")
    case, options = GOLDEN / "table", read_options(get_task("table"), {"groups": {"domain": ["news", "web"]}})
    gold_at, prediction_at = the(case, "gold"), the(case, "prediction")
    assert gold_at
    assert prediction_at
    gold = task.read_gold(gold_at, options)
    prediction = task.read_prediction(prediction_at, task.items_of(gold, options), options)
    division = Division(0.5, SEED)
    parts = [half(task, gold, prediction, division, one)[0] for one in Half]
    assert sorted(name for one in parts for name in one.items.ids) == sorted(gold.items.ids)
    scores = [signed(task.score(one, prediction, options), division, of) for one, of in zip(parts, Half, strict=True)]
    assert {one.signature.partition("|items:")[2] for one in scores[0]} == {f"public,0.5,{division.fingerprint}"}
    assert {one.signature.partition("|items:")[2] for one in scores[1]} == {f"private,0.5,{division.fingerprint}"}
    assert division.fingerprint not in {Division(0.4, SEED).fingerprint, Division(0.5, SEED + "!").fingerprint}


def test_what_belongs_together_stays_together() -> None:
    task = get_task("multi-label")
    options = read_options(task, {"resample_by": "doc"})
    gold = task.read_gold(GOLDEN / "multi-label" / "gold.csv", read_options(task))
    gold = type(gold)(gold.items, gold.values, tuple("ab"[place % 2] for place in range(len(gold.items.ids))))
    assert task.part is not None
    kept, _ = task.part(gold, None, lambda key: key == "a")
    assert kept.items.ids == gold.items.ids[::2]
    assert set(kept.clusters) == {"a"}
    assert options


def test_the_pairs_of_a_sentence_stay_together() -> None:
    task = get_task("meaning-matching")
    gold = task.read_gold(GOLDEN / "meaning-matching" / "gold.csv", read_options(task))
    assert task.part is not None
    for seed in range(20):
        division = Division(0.5, f"{SEED} {seed}")
        kept, _ = task.part(gold, None, lambda key, division=division: division.half_of(key) is Half.PUBLIC)  # type: ignore[misc]
        left = set(gold.sentences.tolist()) - set(kept.sentences.tolist())
        assert len(kept.labels) == sum(one not in left for one in gold.sentences.tolist())


def test_what_cannot_be_divided_says_so() -> None:
    gold = get_task("table").read_gold(GOLDEN / "table" / "gold.csv", read_options(get_task("table")))
    with pytest.raises(InvalidGold, match="no item is in the public part"):
        half(get_task("table"), gold, None, Division(1 - 1e-12, SEED), Half.PUBLIC)
    probing = get_task("idiomaticity-probing")
    with pytest.raises(InvalidOptions, match="idiomaticity-probing cannot score a part of its items"):
        half(probing, None, None, Division(0.5, SEED), Half.PUBLIC)
    assert [name for name, task in TASKS.items() if task.part is None] == ["idiomaticity-probing", "program"]
