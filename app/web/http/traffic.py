"""Durations and statuses of responses for Prometheus, in memory or in a folder shared by several web processes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.types import Scope

#: Read by the library when it is imported: with it, counts lie in files of this folder.
_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_registry = CollectorRegistry()
_seconds = Histogram(
    "evergold_http_request_seconds",
    "Seconds from a request to the end of its answer, by route.",
    ["route"],
    registry=_registry,
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
_responses = Counter(
    "evergold_http_responses",
    "Answers, by route and class of status.",
    ["route", "status"],
    registry=_registry,
)


def count_answer(scope: Scope, status: int, seconds: float) -> None:
    """Count one response. status: 0 if no response was started, which counts as a server error."""
    route = _route(scope)
    _seconds.labels(route).observe(seconds)
    _responses.labels(route, f"{status // 100}xx" if status else "5xx").inc()


def traffic_exposition() -> bytes:
    """Return these metrics of all processes that share the port, in Prometheus' text format."""
    if _FOLDER not in os.environ:
        return generate_latest(_registry)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


@contextmanager
def shared_counts() -> Iterator[None]:
    """Let the processes that start during the block share their counts."""
    with tempfile.TemporaryDirectory(prefix="evergold-metrics-") as folder:
        os.environ[_FOLDER] = folder
        try:
            yield
        finally:
            del os.environ[_FOLDER]


def _route(scope: Scope) -> str:
    """Return the pattern of the address without names, because names of competitions may be private."""
    path = getattr(scope.get("route"), "path", None)
    if path is None:
        return "other"
    return f"{path} (waiting)" if b"wait=" in scope["query_string"] else str(path)
