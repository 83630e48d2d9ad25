"""`evergold tasks`: the available task types and their origin; details of one of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergold.cli.output import LOCAL, Code, CommandError, JsonOption, print_json, print_table, remark, say

if TYPE_CHECKING:
    from evergold.scoring.task import AnyTask

commands = typer.Typer()


@commands.command(rich_help_panel=LOCAL)
def tasks(
    name: Annotated[
        str, typer.Argument(metavar="[TASK]", help="Show this task type with its options and metrics.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """List the task types that are installed here and the distributions they come from, or show one."""
    from evergold.scoring import TASKS, UnknownTask, get_task
    from evergold.scoring.tasks import unusable_plugins

    try:
        shown = [get_task(name)] if name else [TASKS[known] for known in sorted(TASKS)]
    except UnknownTask as error:
        raise CommandError(f"{error}.", Code.USAGE, name="unknown_task") from None
    if as_json:
        unusable = [
            {"name": plugin.name, "distribution": plugin.distribution, "reason": plugin.reason}
            for plugin in unusable_plugins()
        ]
        print_json({"tasks": [_document(task) for task in shown], "unusable": unusable})
        return
    if name:
        _show(shown[0])
    else:
        rows = [(task.name, str(task.version), task.title, origin(task)) for task in shown]
        print_table(["Task type", "Version", "Title", "From"], rows, numbers=["Version"])
    for plugin in unusable_plugins():
        remark(f"Left out: {plugin}.")


def origin(task: AnyTask) -> str:
    """Return the distribution that a task type is from, with its version: `evergold-quiz 1.0.0`."""
    from evergold.version import VERSION

    return task.distribution or f"evergold {VERSION}"


def _document(task: AnyTask) -> dict[str, Any]:
    metrics = [
        {"name": name, "title": metric.title, "description": metric.description}
        for name, metric in task.metrics.items()
    ]
    return {
        "name": task.name,
        "version": task.version,
        "title": task.title,
        "summary": task.summary,
        "distribution": origin(task),
        "options": {option: _default(task, option) for option in _declared(task)},
        "formats": ["table", "json", *task.text_reports],
        "metrics": metrics,
    }


def _show(task: AnyTask) -> None:
    document = _document(task)
    say(f"{task.name}, version {task.version}, from {document['distribution']}: {task.summary}")
    say(f"Formats of `evergold score`: {', '.join(document['formats'])}.")
    if document["options"]:
        print_table(["Option", "Default"], list(document["options"].items()))
    if document["metrics"]:
        print_table(["Metric", "Title", "What it is"], [tuple(metric.values()) for metric in document["metrics"]])
    else:
        say("The organisers declare its metrics.")


def _declared(task: AnyTask) -> list[str]:
    """List the options that organisers declare, without those that the server fills in."""
    properties = task.options.model_json_schema()["properties"]
    return [name for name in task.options.model_fields if not properties[name].get("readOnly")]


def _default(task: AnyTask, name: str) -> str:
    field = task.options.model_fields[name]
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    if hasattr(default, "model_dump"):
        return json.dumps(default.model_dump(mode="json"))
    return ",".join(str(part) for part in default) if isinstance(default, tuple) else str(default)
