"""Folders in the form in which organisers publish their data, small and of our own, with which everybody can test
importers.

The official ones are optional (conformance.py). Development data are the golden cases, so that their scores are those
computed by hand there; everything else is made up.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from app.importers.ncimp import HUMAN_SCORES, PROBE_COLUMNS
from tests.processes import REPOSITORY

GOLDEN = REPOSITORY / "tests" / "golden"
#: Of the golden case; EN and PT.
DEVELOPMENT = {"SubTaskA": "idiom-detection", "SubTaskB": "idiom-similarity"}
SETTINGS = {"SubTaskA": ("zero_shot", "one_shot", "Label"), "SubTaskB": ("pre_train", "fine_tune", "Sim")}
#: Rank, team, scores, moment, as CodaLab prints them; one has no rank.
RESULTS: dict[str, list[tuple[str, ...]]] = {
    "subtask_a_zero_shot.csv": [
        ("1", "Alder", "0.8123 ", "2022-01-29 13:46:21.560411+00:00"),
        ("2", "Birch", "0.7001 ", "2022-01-30 02:14:27.374243+00:00"),
        ("-", "Cedar", "0.9500 ", "2022-01-30 14:32:28.100000+00:00"),
    ],
    "subtask_a_one_shot.csv": [("1", "Birch", "0.9100 ", "2022-01-31 07:23:41.351849+00:00")],
    "subtask_b_pretrain.csv": [
        ("1", "Alder", "0.6100 ", "0.4100 ", "0.8100 ", "2022-01-31 19:31:26.814727+00:00"),
    ],
    "subtask_b_finetune.csv": [
        ("1", "Birch", "0.6600 ", "0.4200 ", "0.6500 ", "2022-01-23 05:46:52.892416+00:00"),
    ],
}
RHO = ("Spearman's R", "Spearman's R (Idiom Only)", "Spearman's R (STS Only)")


#: AStitchInLanguageModels, the same for every language and phase.
TASK_1 = "label,sentence1,sentence2\n0,He is a big fish.,big fish\n1,They caught a big fish.,big fish\n"
FINE = (
    "label,sentence1,sentence2\n1,He is a big fish.,important person\n0,He is a big fish.,Proper Noun\n"
    "0,They caught a big fish.,important person\n1,They caught a big fish.,large animal\n"
)
RAW = (
    "sent_idiom,sent_idiom_tokenised,sent_other,sim,idiom,correct,incorrect\n"
    "He is a big fish.,He is a IDbigfishID.,He is an important person.,1,big fish,He is an important person.,None\n"
    "He is a big fish.,He is a IDbigfishID.,He is a large animal.,None,big fish,He is an important person.,"
    "He is a large animal.\n"
)
STS = '0.5,"A man, eating.",A man.\n'


def semeval2022(root: Path) -> Path:
    """Make a checkout like SemEval_2022_Task2-idiomaticity: development data with gold, two blind sets,
    result lists.
    """
    for part, case in DEVELOPMENT.items():
        data = root / part / ("Data" if part == "SubTaskA" else "EvaluationData")
        data.mkdir(parents=True)
        shutil.copyfile(GOLDEN / case / "items.csv", data / "dev.csv")
        gold = "dev_gold.csv" if part == "SubTaskA" else "dev.gold.csv"
        shutil.copyfile(GOLDEN / case / "gold.csv", data / gold)
        form = "{}_submission_format.csv" if part == "SubTaskA" else "{}.submission_format.csv"
        _template(part, data / "dev.csv", data / form.format("dev"))
        _blind(part, data / "eval.csv", ("EN", "PT"))
        _template(part, data / "eval.csv", data / form.format("eval"))
        _blind(part, root / part / "TestData" / "test.csv", ("EN", "PT", "GL"))
        _template(part, root / part / "TestData/test.csv", root / part / "TestData/test_submission_format.csv")
    for name, rows in RESULTS.items():
        scores = ("F1 Score",) if name.startswith("subtask_a") else RHO
        folder = root / "results" / "best_submission_for_each_participant"
        _write(folder / name, ["", "User", *scores, "Date"], rows)
    return root


def astitch(root: Path) -> Path:
    """Make a checkout like AStitchInLanguageModels: both tasks, English and Portuguese."""
    for code in ("EN", "PT"):
        for phase in ("dev", "test"):
            for name, text in (
                (f"Task1/SubTaskA/{code}/ContextExcluded_IdiomIncluded/{phase}.csv", TASK_1),
                (f"Task1/SubTaskB/{code}/ContextExcluded/{phase}.csv", FINE),
                (f"Task2/CreateEvaluationData/{code}/WithResults/evalData/{phase}_rawSimData.csv", RAW),
                (f"Task2/CreateEvaluationData/EvalSTSData/{code.lower()}_{phase}_Eval_STS_Data.csv", STS),
            ):
                path = root / "Dataset" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    return root


def ncimp(root: Path) -> Path:
    """Make a checkout like NCIMP: one Portuguese compound with its probes, and the spreadsheet of human scores."""
    import openpyxl

    write_sentences(root / "dataset/PT/neutral.csv", "neutral sentence")
    book = openpyxl.Workbook()
    book.active.append(["language", "compound", "CompositionalityTokenSents", "ClassType"])
    book.active.append(["pt", "peixe", 1.25, "NC"])
    book.save(root / HUMAN_SCORES)
    return root


def write_sentences(path: Path, original: str, tags: str = "[False, True]") -> None:
    """Write one compound, its original and its nine probes, each with two words of which the second is the compound."""
    columns = {"compound": "peixe", original: "Um peixe", "original sentence_tag": tags}
    for column in PROBE_COLUMNS.values():
        columns |= {column: f"Um {column.replace(' ', '-')}", f"{column}_tag": "[False, True]"}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["unused", *columns], ["x", *columns.values()]])


def parseme(root: Path) -> Path:
    """Make a folder of languages as PARSEME has them: the golden case's French and Croatian."""
    return Path(shutil.copytree(GOLDEN / "mwe-identification" / "gold", root))


def _blind(part: str, path: Path, languages: Sequence[str]) -> None:
    """Write two items of each language."""
    texts = {"SubTaskA": "MWE,Previous,Target,Next", "SubTaskB": "MWE1,MWE2,sentence1,sentence2"}
    rows = [
        (100 * (number + 1) + n, language, "big fish", "None", f"He is a big fish {n}.", "He is important.")
        for number, language in enumerate(languages)
        for n in (1, 2)
    ]
    _write(path, ["ID", "Language", *texts[part].split(",")], rows)


def _template(part: str, items: Path, path: Path) -> None:
    """Write every item once per setting, without an answer."""
    *settings, answer = SETTINGS[part]
    with items.open(encoding="utf-8", newline="") as file:
        known = [(row["ID"], row["Language"]) for row in csv.DictReader(file)]
    _write(path, ["ID", "Language", "Setting", answer], [(*item, name, "") for name in settings for item in known])


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
