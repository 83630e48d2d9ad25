"""The demo competition's content: enough of it, well formed, and as its source gives it."""

import csv
import json
import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from demo import build, paraphrases
from demo.paraphrases import TYPES, ParaphraseItem, read_paraphrases
from demo.source import LANGUAGES, PHASES, read_language
from evergold.scoring.paraphrase.removed import bare, mwe_words
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS as TASK_TYPES

DEMO = Path(build.__file__).parent
TASKS = ("idiom-detection", "idiom-similarity")
SETTINGS = {"idiom-detection": ("zero_shot", "one_shot"), "idiom-similarity": ("pre_train", "fine_tune")}
ITEM_COLUMNS = {
    "idiom-detection": ["ID", "Language", "MWE", "Previous", "Target", "Next"],
    "idiom-similarity": ["ID", "Language", "MWE1", "MWE2", "sentence1", "sentence2"],
}
ANSWER = {"idiom-detection": "Label", "idiom-similarity": "Sim"}
MINIMUM = {
    ("idiom-detection", "practice"): 24,
    ("idiom-detection", "evaluation"): 60,
    ("idiom-similarity", "practice"): 20,
    ("idiom-similarity", "evaluation"): 60,
}
every_task_and_phase = pytest.mark.parametrize(("task", "phase"), list(MINIMUM))
every_language = pytest.mark.parametrize("language", LANGUAGES)


def rows_of(path: str) -> list[dict[str, str]]:
    with (DEMO / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def items_of(task: str, phase: str) -> list[dict[str, str]]:
    return rows_of(f"public/{phase}/{task}/items.csv")


def gold_of(task: str, phase: str) -> list[dict[str, str]]:
    return rows_of(f"gold/{phase}/{task}.csv")


def expressions_of(language: str, phase: str) -> set[str]:
    source = read_language(language)
    return {row["mwe"] for part in ("idiom_detection", "idiom_similarity") for row in source[part][phase]}


def sentences_of(language: str) -> list[str]:
    source = read_language(language)
    sentences = []
    for phase in PHASES:
        for expression in source["idiom_detection"][phase]:
            for item in [*expression["items"], *expression.get("train_one_shot", [])]:
                sentences += [item["previous"], item["target"], item["next"]]
        for expression in source["idiom_similarity"][phase]:
            for item in expression["items"]:
                spans = (r"\1", item["correct"], item["incorrect"])
                sentences += [re.sub(r"\[(.+)\]", span, item["sentence"]) for span in spans]
        for pair in source["sts"][phase]:
            sentences += [pair["sentence1"], pair["sentence2"]]
    return sentences


@pytest.fixture(scope="module")
def built() -> build.Files:
    return build.build()


def test_committed_files_are_what_the_source_gives(built: build.Files) -> None:
    assert build.differences(built) == []


def test_check_exits_with_one_and_names_the_file_that_differs(
    built: build.Files,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(build, "HERE", tmp_path)
    monkeypatch.setattr(build, "build", lambda: built)
    assert build.main([]) == 0
    assert build.main(["--check"]) == 0
    (tmp_path / "broken" / "duplicate-id.csv").write_text("ID\n", encoding="utf-8")
    (tmp_path / "gold" / "extra.csv").write_text("ID\n", encoding="utf-8")
    assert build.main(["--check"]) == 1
    complaint = capsys.readouterr().err
    assert "demo/broken/duplicate-id.csv" in complaint
    assert "demo/gold/extra.csv" in complaint
    assert len(complaint.splitlines()) == 2


@every_task_and_phase
def test_every_language_has_the_promised_number_of_items(task: str, phase: str) -> None:
    counts = Counter(item["Language"] for item in items_of(task, phase))
    assert set(counts) == set(LANGUAGES)
    assert min(counts.values()) >= MINIMUM[task, phase]


@every_language
def test_detection_has_21_expressions_with_4_items_and_a_one_shot_example_per_label(language: str) -> None:
    detection = read_language(language)["idiom_detection"]
    assert sum(len(detection[phase]) for phase in PHASES) >= 21
    assert all(len(expression["items"]) >= 4 for phase in PHASES for expression in detection[phase])
    for expression in detection["evaluation"]:
        assert sorted(item["label"] for item in expression["train_one_shot"]) == [0, 1]


@every_language
@pytest.mark.parametrize("phase", PHASES)
def test_half_of_the_labels_are_idiomatic_but_not_of_every_expression(language: str, phase: str) -> None:
    expressions = read_language(language)["idiom_detection"][phase]
    labels = [[item["label"] for item in expression["items"]] for expression in expressions]
    literal, total = sum(map(sum, labels)), sum(map(len, labels))
    assert 0.4 <= literal / total <= 0.6
    assert any(2 * sum(own) != len(own) for own in labels)
    assert all(0 < sum(own) < len(own) for own in labels)


@every_language
def test_similarity_has_22_idiomatic_sentences_and_24_sts_pairs(language: str) -> None:
    source = read_language(language)
    similarity = source["idiom_similarity"]
    assert sum(len(row["items"]) for phase in PHASES for row in similarity[phase]) >= 22
    assert sum(len(source["sts"][phase]) for phase in PHASES) >= 24


@every_language
def test_no_expression_of_practice_returns_in_evaluation(language: str) -> None:
    assert not expressions_of(language, "practice") & expressions_of(language, "evaluation")


def test_no_sentence_is_repeated() -> None:
    counts = Counter(sentence.casefold() for language in LANGUAGES for sentence in sentences_of(language))
    assert [sentence for sentence, count in counts.items() if count > 1] == []


@every_language
def test_every_sentence_begins_with_a_capital_and_ends_with_a_mark(language: str) -> None:
    bare = [(sentence, sentence.strip('"')) for sentence in sentences_of(language)]
    assert [sentence for sentence, text in bare if not text[0].isupper() or text[-1] not in ".?!"] == []
    assert [sentence for sentence, text in bare if "  " in text or text != text.strip()] == []


def test_ids_are_unique_over_all_tasks_and_phases() -> None:
    ids = [item["ID"] for task in TASKS for phase in PHASES for item in items_of(task, phase)]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[1-9]\d{4}", number) for number in ids)


@every_task_and_phase
def test_blind_files_hold_no_gold_column(task: str, phase: str) -> None:
    assert list(items_of(task, phase)[0]) == ITEM_COLUMNS[task]
    published = {path.name for path in (DEMO / "public" / phase / task).iterdir()}
    assert ("gold.csv" in published) == (phase == "practice")


@every_task_and_phase
def test_order_and_ids_say_nothing_about_the_source_order(task: str, phase: str) -> None:
    for language in LANGUAGES:
        own = [row for row in gold_of(task, phase) if row["Language"] == language]
        places = [row["DataID"] for row in own]
        assert places != sorted(places)
        assert [int(row["ID"]) for row in own] != sorted(int(row["ID"]) for row in own)


@every_task_and_phase
def test_templates_fit_the_items_and_are_empty(task: str, phase: str) -> None:
    template = rows_of(f"public/{phase}/{task}/template.csv")
    assert list(template[0]) == ["ID", "Language", "Setting", ANSWER[task]]
    keys = [(item["ID"], item["Language"]) for item in items_of(task, phase)]
    expected = [(*key, setting) for setting in SETTINGS[task] for key in keys]
    assert [(row["ID"], row["Language"], row["Setting"]) for row in template] == expected
    assert {row[ANSWER[task]] for row in template} == {""}


@pytest.mark.parametrize("phase", PHASES)
def test_detection_gold_has_one_label_for_every_item(phase: str) -> None:
    gold, items = gold_of("idiom-detection", phase), items_of("idiom-detection", phase)
    assert [(row["ID"], row["Language"]) for row in gold] == [(row["ID"], row["Language"]) for row in items]
    assert {row["Label"] for row in gold} == {"0", "1"}
    assert all(re.fullmatch(rf"{phase}\.{row['Language']}\.\d+\.\d+", row["DataID"]) for row in gold)


@pytest.mark.parametrize("phase", PHASES)
def test_similarity_gold_has_either_a_number_or_another_item(phase: str) -> None:
    items = {item["ID"]: item for item in items_of("idiom-similarity", phase)}
    for row in gold_of("idiom-similarity", phase):
        assert items[row["ID"]]["Language"] == row["Language"]
        assert bool(row["sim"]) != bool(row["otherID"])
        assert not row["sim"] or 0 <= float(row["sim"]) <= 1


@pytest.mark.parametrize("phase", PHASES)
def test_every_other_id_is_an_item_outside_gold_that_compares_the_two_paraphrases(phase: str) -> None:
    items = {item["ID"]: item for item in items_of("idiom-similarity", phase)}
    gold = {row["ID"]: row for row in gold_of("idiom-similarity", phase)}
    targets = {row["otherID"]: items[row["ID"]] for row in gold.values() if row["otherID"]}
    assert set(targets) == set(items) - set(gold)
    correct = {(items[n]["sentence1"], items[n]["sentence2"]) for n in gold if items[n]["MWE1"] != "None"}
    for number, incorrect in targets.items():
        target = items[number]
        assert (target["MWE1"], target["MWE2"]) == ("None", "None")
        assert target["Language"] == incorrect["Language"]
        assert target["sentence2"] == incorrect["sentence2"]
        assert (incorrect["sentence1"], target["sentence1"]) in correct


def test_one_shot_examples_cover_the_evaluation_expressions_and_no_other() -> None:
    examples = rows_of("public/evaluation/idiom-detection/train_one_shot.csv")
    covered = Counter((row["Language"], row["MWE"]) for row in examples)
    assert set(covered) == {(i["Language"], i["MWE"]) for i in items_of("idiom-detection", "evaluation")}
    assert set(covered.values()) == {2}


@every_task_and_phase
def test_submissions_answer_a_whole_setting_or_leave_it_empty(task: str, phase: str) -> None:
    template = rows_of(f"public/{phase}/{task}/template.csv")
    keys = [(row["ID"], row["Language"], row["Setting"]) for row in template]
    for path in sorted((DEMO / "submissions" / phase / task).iterdir()):
        rows = rows_of(str(path.relative_to(DEMO)))
        assert [(row["ID"], row["Language"], row["Setting"]) for row in rows] == keys
        for setting in SETTINGS[task]:
            answered = [row[ANSWER[task]] != "" for row in rows if row["Setting"] == setting]
            assert all(answered) or (path.stem == "loureiro" and setting == "zero_shot" and not any(answered))


def test_broken_submissions_have_just_the_mistake_that_their_name_says() -> None:
    sound = Counter(tuple(row.items()) for row in rows_of("submissions/practice/idiom-detection/magpie.csv"))
    twice = Counter(tuple(row.items()) for row in rows_of("broken/duplicate-id.csv"))
    assert sum((twice - sound).values()) == 1
    assert sound - twice == Counter()
    half = [row for row in rows_of("broken/half-filled-setting.csv") if row["Setting"] == "zero_shot"]
    filled = {(row["Language"], row["Label"] != "") for row in half}
    assert filled == {("EN", True), ("PT", False), ("GL", False)}
    assert {row["Label"] for row in rows_of("broken/float-label.csv")} == {"0.0", "1.0"}


# --------------------------------------------------------------------------------------------------------- paraphrasing

PARAPHRASE = "idiom-paraphrase"
every_phase = pytest.mark.parametrize("phase", PHASES)
every_paraphrased_language = pytest.mark.parametrize("language", paraphrases.LANGUAGES)


def paraphrased(phase: str) -> list[ParaphraseItem]:
    return [item for language in paraphrases.LANGUAGES for item in read_paraphrases(phase, language)]


def json_of(path: str, member: str) -> list[dict[str, Any]]:
    """Return the content of a JSON file in a zip below demo/."""
    with zipfile.ZipFile(DEMO / path) as archive:
        found: list[dict[str, Any]] = json.loads(archive.read(member))
    return found


@every_paraphrased_language
def test_evaluation_has_20_sentences_to_paraphrase_and_6_of_each_kind_of_idiom(language: str) -> None:
    kinds = Counter(item.mwe_type for item in read_paraphrases("evaluation", language))
    assert kinds.total() >= 20
    assert set(kinds) == set(TYPES)
    assert min(kinds.values()) >= 6
    assert set(Counter(item.mwe_type for item in read_paraphrases("practice", language))) == set(TYPES)


def test_every_sentence_to_paraphrase_marks_its_idiom_and_no_reference_keeps_it() -> None:
    for item in [item for phase in PHASES for item in paraphrased(phase)]:
        idiom = mwe_words(item.marked)
        assert idiom, item.marked
        assert set(idiom) <= {bare(word) for word in item.sentence.split()}, (
            "the official rule finds it in the sentence"
        )
        for part in re.findall(r"\[\[(.+?)\]\]", item.marked):
            if " " in part:
                assert part not in item.creative, item.creative
                assert part not in item.minimal, item.minimal


def test_minimal_references_keep_more_of_the_sentence_than_creative_ones() -> None:
    for item in [item for phase in PHASES for item in paraphrased(phase)]:
        words = set(item.sentence.split())
        kept = [len(words & set(text.split())) / len(set(text.split())) for text in (item.minimal, item.creative)]
        assert kept[0] > kept[1], item.sentence


def test_no_idiom_and_no_sentence_to_paraphrase_is_there_twice() -> None:
    items = [item for phase in PHASES for item in paraphrased(phase)]
    assert [idiom for idiom, n in Counter(mwe_words(item.marked) for item in items).items() if n > 1] == []
    texts = [text for item in items for text in (item.sentence, item.creative, item.minimal)]
    assert [text for text, n in Counter(texts).items() if n > 1] == []
    assert [text for text in texts if not text[0].isupper() or text[-1] not in ".?!" or "  " in text] == []


@every_phase
def test_blind_sentences_say_nothing_of_the_idiom(phase: str) -> None:
    for language in paraphrases.LANGUAGES:
        rows = json_of(f"public/{phase}/{PARAPHRASE}/items.zip", f"{language}/test.blind.json")
        assert {tuple(row) for row in rows} == {("source_sent_id", "raw_text")}
        assert not [row for row in rows if "[[" in row["raw_text"]]
    published = {path.name for path in (DEMO / "public" / phase / PARAPHRASE).iterdir()}
    assert ("gold.zip" in published) == (phase == "practice")


@every_phase
@pytest.mark.parametrize("name", [*paraphrases.SYSTEMS, "template"])
def test_every_system_and_the_filled_template_are_valid_submissions(phase: str, name: str) -> None:
    task = TASK_TYPES["mwe-paraphrase"]
    options = read_options(task, {"languages": ["en", "pt"]})
    gold = task.read_gold(DEMO / "gold" / phase / PARAPHRASE, options)
    items = task.read_items(DEMO / "public" / phase / PARAPHRASE / "items.zip", options)
    assert task.items_of(gold, options) == items
    folder = f"public/{phase}" if name == "template" else f"submissions/{phase}"
    prediction = task.read_prediction(DEMO / folder / PARAPHRASE / f"{name}.zip", items, options)
    assert set(prediction.languages) == {"en", "pt"}
    if name == "template":
        assert {text for texts in prediction.languages.values() for text in texts.values()} == {""}


def test_systems_differ_in_how_much_they_remove_and_how_various_they_are() -> None:
    """Check the picture without torch: there is no BERTScore, but everything else."""
    task = TASK_TYPES["mwe-paraphrase"]
    options = read_options(task, {"languages": ["en", "pt"]})
    gold = task.read_gold(DEMO / "gold" / "evaluation" / PARAPHRASE, options)
    items = task.items_of(gold, options)
    removed, entropy = {}, {}
    for name in paraphrases.SYSTEMS:
        path = DEMO / "submissions" / "evaluation" / PARAPHRASE / f"{name}.zip"
        assert task.report
        report = task.report(gold, task.read_prediction(path, items, options), options)
        removed[name] = report["languages"]["pt"]["all"]["removed"]
        entropy[name] = report["languages"]["pt"]["all"]["entropy"]
        assert report["languages"]["pt"]["never_removed"] == 0
    assert removed["copy"] == 0
    assert removed["deletion"] == 1
    assert 0.5 < removed["magpie"] < removed["saudade-lab"] < 1
    assert entropy["copy"] is None
    assert (
        entropy["deletion"]
        < entropy["magpie"]
        < entropy["loureiro"]
        < report["references"]["creative"]["pt"]["entropy"]
    )
