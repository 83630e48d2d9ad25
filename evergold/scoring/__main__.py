"""`python -m evergold.scoring TASK --gold … --prediction …`: the server's numbers on anybody's machine.

Prints scores to stdout, problems to stderr (with --format json both go to stdout, as one document).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from evergold.scoring.errors import (
    InvalidFile,
    InvalidItems,
    InvalidOptions,
    InvalidPrediction,
    Problem,
    ScoringError,
    UnknownTask,
)
from evergold.scoring.left_out import left_out
from evergold.scoring.task import AnyTask, Options, Score, read_gold, read_options
from evergold.scoring.tasks import TASKS, get_task

#: Exit codes; `--help` lists them.
DONE, FAILED, BAD_PREDICTION, BAD_GOLD, BAD_USAGE, NO_FILE = 0, 1, 2, 3, 4, 5

_EXIT_CODES = """exit codes:
  0  scored (or, without --gold, checked)
  1  cannot be scored here (a package is missing)
  2  the prediction is wrong: every problem is listed
  3  the gold, the training data or the items file is wrong
  4  unknown task, option, format or argument
  5  a file cannot be opened
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Score, check or list, as the arguments say; the exit code."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.list:
        _print(_listing())
        return DONE
    if chosen.task is None or chosen.prediction is None or (chosen.gold is None and chosen.items is None):
        parser.error("TASK, --prediction and --gold (or, to check without scores, --items) are needed; or --list")
    try:
        text = _run(chosen)
    except (ScoringError, OSError) as error:
        return _report(error, chosen)
    _print(text)
    return DONE


class _Parser(argparse.ArgumentParser):
    """argparse would leave with 2, which here means a wrong prediction."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(BAD_USAGE, f"{self.prog}: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m evergold.scoring",
        description="Score a prediction against gold; without --gold, check it against --items.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("task", metavar="TASK", nargs="?", help="the task type; --list shows them")
    parser.add_argument("--gold", type=Path, help="the gold: a file, or a folder where the task has several")
    parser.add_argument("--prediction", type=Path, help="the prediction as it would be uploaded, also zipped")
    parser.add_argument("--items", type=Path, help="the blind file (default: the gold says what must be covered)")
    parser.add_argument("--train", type=Path, action="append", default=[], help="training data; may be repeated")
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="an option of the task type; the value is JSON or plain text (languages=en,pt); may be repeated",
    )
    parser.add_argument("--format", default="table", help="table, json, or a report of the task (default: table)")
    parser.add_argument("--list", action="store_true", help="list the task types, their options and reports")
    return parser


def _run(chosen: argparse.Namespace) -> str:
    """What goes to stdout when nothing is wrong; warnings of a table go to stderr."""
    task = get_task(chosen.task)
    _check_format(task, chosen.format)
    options = read_options(task, _options(chosen.option))
    if chosen.gold is None:
        if chosen.format not in ("table", "json"):
            raise InvalidOptions([Problem("unknown-format", f"--format {chosen.format} needs --gold")])
        checked = task.read_prediction(chosen.prediction, task.read_items(chosen.items, options), options)
        return _checked(task, checked.warnings, chosen.format)
    gold = read_gold(task, chosen.gold, chosen.train, options)
    items = task.read_items(chosen.items, options) if chosen.items else task.items_of(gold, options)
    prediction = task.read_prediction(chosen.prediction, items, options)
    if chosen.format in task.text_reports:
        report = task.report(gold, prediction, options) if task.report else None
        return task.text_reports[chosen.format](report, options)
    return _scored(task, task.score(gold, prediction, options), prediction.warnings, chosen.format)


def _check_format(task: AnyTask, name: str) -> None:
    known = ("table", "json", *task.text_reports)
    if name not in known:
        message = f"{task.name} has no format {name!r}; the formats are {', '.join(known)}"
        raise InvalidOptions([Problem("unknown-format", message)])


def _options(pairs: Sequence[str]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign or name in document:
            why = "is given twice" if sign else "must be written NAME=VALUE"
            raise InvalidOptions([Problem("bad-option", f"--option {pair}: {name} {why}")])
        try:
            document[name] = json.loads(text)
        except ValueError:
            document[name] = text
    return document


def _scored(task: AnyTask, scores: Sequence[Score], warnings: Sequence[Problem], form: str) -> str:
    if form == "table":
        _warn(warnings)
        return _table(scores)
    document = {
        "task": task.name,
        "version": task.version,
        "scores": [
            {
                "metric": score.metric,
                "split": score.split,
                "value": score.value,
                "reason": score.reason,
                "signature": score.signature,
            }
            for score in scores
        ],
        "warnings": [warning.as_dict() for warning in warnings],
    }
    return json.dumps(document, allow_nan=False, indent=1)


def _checked(task: AnyTask, warnings: Sequence[Problem], form: str) -> str:
    if form == "table":
        _warn(warnings)
        return "the prediction can be scored"
    document = {
        "task": task.name,
        "version": task.version,
        "problems": [],
        "warnings": [warning.as_dict() for warning in warnings],
    }
    return json.dumps(document, indent=1)


def _table(scores: Sequence[Score]) -> str:
    """Metric, split and value in columns, or a reason; what was not entered is said once, below."""
    missing = left_out([(score.split, score.value, score.reason) for score in scores])
    scores = [score for number, score in enumerate(scores) if number not in missing.rows]
    lines = [f"not entered: {', '.join(missing.parts)}"] if missing.parts else []
    if not scores:
        return "\n".join(lines) or "no scores"
    metric = max(len(score.metric) for score in scores)
    split = max(len(score.split) for score in scores)
    rows = [
        f"{score.metric:<{metric}}  {score.split:<{split}}  "
        + (f"{score.value:>10.6f}" if score.value is not None else f"{'-':>10}  {score.reason}")
        for score in scores
    ]
    return "\n".join([*rows, *lines])


def _listing() -> str:
    lines = []
    for name, task in sorted(TASKS.items()):
        lines += [f"{name} (version {task.version}): {task.summary}"]
        lines += [
            f"  --option {option}  (default: {_default(task.options, option)})" for option in task.options.model_fields
        ]
        lines += [f"  --format {report}" for report in task.text_reports]
    return "\n".join(lines)


def _default(options: type[Options], name: str) -> str:
    field = options.model_fields[name]
    if field.is_required():
        return "must be given"
    default = field.get_default(call_default_factory=True)
    return ",".join(str(part) for part in default) if isinstance(default, tuple) else str(default)


def _report(error: ScoringError | OSError, chosen: argparse.Namespace) -> int:
    """Say what is wrong in the chosen format; the exit code that goes with it."""
    problems: tuple[Problem, ...] = getattr(error, "problems", ())
    omitted: int = getattr(error, "omitted", 0)
    kind, code = _kind(error)
    if chosen.format == "json":
        document = {
            "task": chosen.task,
            "error": kind,
            "message": str(error),
            "problems": [problem.as_dict() for problem in problems],
            "omitted": omitted,
        }
        _print(json.dumps(document, indent=1))
        return code
    title = kind.replace("-", " ")
    _complain(f"{title}:" if problems else f"{title}: {error}")
    for problem in problems:
        _complain(f"  {problem}")
    if omitted:
        _complain(f"  and {omitted} more")
    return code


def _kind(error: ScoringError | OSError) -> tuple[str, int]:
    kinds: tuple[tuple[type[Exception], str, int], ...] = (
        (InvalidPrediction, "invalid-prediction", BAD_PREDICTION),
        (InvalidItems, "invalid-items", BAD_GOLD),
        (InvalidFile, "invalid-gold", BAD_GOLD),
        (InvalidOptions, "invalid-options", BAD_USAGE),
        (UnknownTask, "unknown-task", BAD_USAGE),
        (OSError, "unreadable-file", NO_FILE),
    )
    return next(((word, code) for kind, word, code in kinds if isinstance(error, kind)), ("cannot-score", FAILED))


def _warn(warnings: Sequence[Problem]) -> None:
    for warning in warnings:
        _complain(f"warning: {warning}")


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")


def _complain(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
