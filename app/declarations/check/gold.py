"""Checks that need the gold: that it is readable and matches the blind items, and the scores of baselines.

They are for organisers who have plain gold (`evergold check --gold FOLDER`), and never run by a server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from app.competitions.confirmation import decimals_of, is_as_declared
from app.declarations.check.competition import PhaseTaskNode
from app.declarations.check.shape import elements
from app.declarations.findings import Findings, quoted
from app.declarations.historic import score_fault
from app.declarations.model import PrivatePartDeclaration
from evergold.scoring.errors import InvalidFile, ScoringError
from evergold.scoring.halves import Division, Half, half
from evergold.scoring.resampling.power import smallest_of_shares
from evergold.scoring.task import AnyTask, Score
from evergold.yaml_lines import Node

#: Minimum number of items in a language: with fewer, systems 17 points apart may tie.
FEWEST_ITEMS = 100
#: Number of names quoted in a finding.
QUOTED = 3


def check_declared_scores(phase_task: PhaseTaskNode, findings: Findings) -> None:
    """Check that the scores declared for baselines exist in the task; needs no gold."""
    if phase_task.task.type is None or phase_task.options is None:
        return
    offered = phase_task.task.type.columns(phase_task.options)
    for baseline in elements(phase_task.node, "baselines"):
        for name, node in _declared(baseline).items():
            metric, _, split = name.partition(" ")
            if fault := score_fault(metric, split, phase_task.task.type, offered):
                findings.error(node, f"'{name}': {fault}")


def check_with_gold(phase_task: PhaseTaskNode, items: Any, folder: Path, findings: Findings) -> None:
    """Compare the items and baselines of a task in a phase with its plain gold, if the folder has it."""
    node, task = phase_task.node.entries.get("gold"), phase_task.task.type
    name = node.text if node else None
    if node is None or not name or name == "sealed" or task is None or phase_task.options is None:
        return
    path = folder / name
    if ".." in PurePosixPath(name).parts or not path.exists():
        findings.warning(node, f"{name} is not in the folder of gold, so nothing was compared with it")
        return
    try:
        gold = task.read_gold(path, phase_task.options)
    except InvalidFile as invalid:
        findings.error(node, f"'{task.name}' cannot use {name} as gold: {quoted(invalid)}")
        return
    if items is not None and task.demands is not None:
        demanded = task.demands(task.items_of(gold, phase_task.options))
        for misfit in misfits(task.demands(items), demanded) if demanded else []:
            findings.error(node, f"{name} does not fit the items: {misfit}")
    for part, kept in _parts(phase_task, task, gold, findings):
        _check_sizes(task, part, kept, node, findings)
    _check_scores(phase_task, gold, items, findings)


def _parts(phase_task: PhaseTaskNode, task: AnyTask, gold: Any, findings: Findings) -> list[tuple[str, Any]]:
    """Return the parts that are scored separately, in words, with their gold: all of it, or public and private part."""
    node = phase_task.node.entries.get("private_part")
    division = _division(node)
    if node is None or division is None or task.part is None:
        return [("", gold)]
    from evergold.scoring.rehearsal import simulated

    prediction = simulated(task, gold, phase_task.options, 1)  # some types divide gold and prediction together
    found = []
    for one in Half:
        try:
            found.append((f" in the {one} part", half(task, gold, prediction, division, one)[0]))
        except InvalidFile as empty:
            findings.error(node, f"no run could be scored with this gold: {quoted(empty)}")
    return found


def _division(node: Node | None) -> Division | None:
    """Return the division; None if there is none, or it has the wrong type, which is reported elsewhere."""
    try:
        declared = PrivatePartDeclaration.model_validate(node.plain()) if node is not None else None
    except ValidationError:
        return None
    return Division(declared.share, declared.seed) if declared else None


def _check_sizes(task: AnyTask, part: str, gold: Any, node: Node, findings: Findings) -> None:
    """Warn about languages with too few items to rank systems; `evergold power` has details."""
    from evergold.scoring.rehearsal import sizes_by_language

    for language, items in sizes_by_language(task, gold).items():
        if items < FEWEST_ITEMS:
            where = "the test set" if language == "all" else language
            apart = min(100, round(100 * smallest_of_shares(max(items, 1))))
            number = f"{items} item{'' if items == 1 else 's'}{part}"
            message = (
                f"{where} has only {number}: a difference of {apart} points may not be significant (see evergold power)"
            )
            findings.warning(node, message)


def misfits(items: Mapping[str, object], gold: Mapping[str, object]) -> list[str]:
    """Return sentences on the differences between the requirements of the blind items and of the gold."""
    only_gold = [name for name in gold if name not in items]
    only_items = [name for name in items if name not in gold]
    other = [name for name in gold if name in items and gold[name] != items[name]]
    sentences = (
        (only_gold, "it has {count} that are not among the blind items: {names}"),
        (only_items, "it lacks {count} of the blind items: {names}"),
        (other, "{count} differ there: {names}"),
    )
    return [words.format(count=len(names), names=_a_few(names)) for names, words in sentences if names]


def _check_scores(phase_task: PhaseTaskNode, gold: Any, items: Any, findings: Findings) -> None:
    """Check the scores of every baseline that declares them; unreadable files are reported elsewhere."""
    task, options = phase_task.task.type, phase_task.options
    if task is None or options is None:
        return
    for baseline in elements(phase_task.node, "baselines"):
        declared, file = _declared(baseline), baseline.entries.get("file")
        if not declared or file is None or not file.text:
            continue
        try:
            demanded = items if items is not None else task.items_of(gold, options)
            prediction = task.read_prediction(Path(file.file).parent / file.text, demanded, options)
            scores = task.score(gold, prediction, options)
        except (InvalidFile, OSError):
            continue
        except ScoringError as error:  # e.g. torch is not installed here
            findings.warning(file, f"{file.text} was not scored: {error}")
            continue
        _compare(declared, {f"{score.metric} {score.split}": score for score in scores}, file, findings)


def _compare(declared: Mapping[str, Node], scores: Mapping[str, Score], file: Node, findings: Findings) -> None:
    for name, node in declared.items():
        wanted, score = node.value, scores.get(name)
        if not isinstance(wanted, int | float) or score is None:
            continue  # of the wrong shape, or unknown: reported already
        if score.value is None:
            findings.error(node, f"{file.text} has no {name}: {score.reason}")
        elif not is_as_declared(score.value, wanted):
            findings.error(node, f"{file.text} scores {score.value:.{decimals_of(wanted)}f} in {name}, not {wanted}")


def _declared(baseline: Node) -> dict[str, Node]:
    scores = baseline.entries.get("scores")
    return scores.entries if scores else {}


def _a_few(names: Sequence[str]) -> str:
    more = f" and {len(names) - QUOTED} more" if len(names) > QUOTED else ""
    return ", ".join(f"'{name}'" for name in names[:QUOTED]) + more
