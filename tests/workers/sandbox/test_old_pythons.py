"""Code that runs inside must run on Python 3.6, whatever runs the worker: images of organisers are old."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import workers.sandbox

FOLDER = Path(workers.sandbox.__file__).parent


@pytest.mark.parametrize("name", ["inside.py", "evalai_inside.py"])
def test_what_runs_inside_is_python_3_6(name: str) -> None:
    """Check its syntax, and that it has no annotation that an old Python would evaluate and not understand."""
    tree = ast.parse((FOLDER / name).read_text(), feature_version=(3, 6))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert len(functions) > 3
    annotations = [one.annotation for function in functions for one in function.args.args] + [
        function.returns for function in functions
    ]
    annotations += [node.annotation for node in tree.body if isinstance(node, ast.AnnAssign)]
    for annotation in filter(None, annotations):
        assert isinstance(annotation, ast.Name | ast.Constant), ast.unparse(annotation)
    imported = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert {"workers", "app", "evergold"}.isdisjoint(imported)
