"""Calls the `evaluate` of an EvalAI evaluation script inside a sandbox, and writes its result as scores.json.

Started as `python3 -c` with this text and: the folders of the script, of gold, of the submission and of the output, and
a JSON list of the phase's codename and the submission's metadata. Needs only Python 3.6 and its standard library.
"""

import importlib.util
import json
import os
import sys
from typing import Any


def main() -> None:
    """Load the script, call it, and write the scores."""
    program, gold, submission, output, given = sys.argv[1:]
    phase, metadata = json.loads(given)
    evaluate = load(program)
    answer = evaluate(only_file(gold), only_file(submission), phase, submission_metadata=metadata)
    if not isinstance(answer, dict) or not isinstance(answer.get("result"), list):
        raise SystemExit("evaluate() returned no list `result`")
    with open(os.path.join(output, "scores.json"), "w") as file:
        json.dump(scores_of(answer), file, default=plain)


def load(program: str) -> Any:
    """Import the script as EvalAI does, as a package, and return its `evaluate`; its folder may be nested."""
    names = os.listdir(program)
    if not {"__init__.py", "main.py"} & set(names):
        inner = [name for name in names if os.path.isfile(os.path.join(program, name, "__init__.py"))]
        if len(inner) != 1:
            raise SystemExit("the evaluation script has no __init__.py")
        program = os.path.join(program, inner[0])
    sys.path[:0] = [program, os.path.dirname(program)]
    for name in ("__init__.py", "main.py"):
        path = os.path.join(program, name)
        if os.path.isfile(path):
            spec = importlib.util.spec_from_file_location(
                "evaluation_script", path, submodule_search_locations=[program]
            )
            if spec is None or spec.loader is None:
                raise SystemExit(name + " cannot be imported")
            module = importlib.util.module_from_spec(spec)
            sys.modules["evaluation_script"] = module
            spec.loader.exec_module(module)
            if hasattr(module, "evaluate"):
                return module.evaluate
    raise SystemExit("the evaluation script has no function evaluate()")


def only_file(folder: str) -> str:
    """Return the path of the only file, with its name and extension; if there are several, the folder."""
    found = [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names]
    return found[0] if len(found) == 1 else folder


def scores_of(answer: "dict[str, Any]") -> "dict[str, Any]":
    """Return scores by `split/label`, or by label if there is only one split."""
    splits: dict[str, dict[str, Any]] = {}
    for part in answer["result"]:
        for split, labels in part.items():
            splits.setdefault(split, {}).update(labels)
    scores: dict[str, Any] = {}
    for split, labels in splits.items():
        for label, value in labels.items():
            scores[f"{split}/{label}"] = value
            if len(splits) == 1:
                scores[label] = value
    for part in answer.get("error") or []:
        scores.setdefault("errors", []).append(part)
    return scores


def plain(value: Any) -> Any:
    """Return numpy scalars and arrays as numbers and lists, and anything else as text."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


if __name__ == "__main__":
    main()
