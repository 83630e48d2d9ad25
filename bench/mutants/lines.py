"""Line ranges of the functions of a module."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def lines_of(source: str, function: str) -> frozenset[int]:
    """Return the lines of the bodies of all functions with this qualified name; their heads run on import."""
    return frozenset(
        line
        for name, node in _functions(ast.parse(source), "")
        if name == function
        for line in range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
    )


def _functions(parent: ast.AST, within: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield within + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{within}{node.name}.")
