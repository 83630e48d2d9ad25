"""Line ranges of the functions of a module, and the lines that a change touches."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence


def lines_of(source: str, function: str) -> frozenset[int]:
    """Return the lines of the bodies of all functions with this qualified name; their heads run on import."""
    return frozenset(
        line
        for name, node in _functions(ast.parse(source), "")
        if name == function
        for line in range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
    )


def changed_lines(before: str, after: str) -> frozenset[int]:
    """Return the lines of a text that one change of it concerns, from the first to the last."""
    old, new = before.splitlines(), after.splitlines()
    first = _equal(old, new)
    last = len(old) - _equal(old[first:][::-1], new[first:][::-1])
    return frozenset(range(first + 1, last + 1))


def _equal(some: Sequence[str], others: Sequence[str]) -> int:
    """Return how many are equal from the start."""
    pairs = zip(some, others, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(some), len(others)))


def _functions(parent: ast.AST, within: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield within + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{within}{node.name}.")
