"""Traces requests if OpenTelemetry is switched on (`app.base.traces`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.base.traces import are_traces_wanted, start_traces

if TYPE_CHECKING:
    from fastapi import FastAPI

_UNTRACED = "/healthz,/readyz,/metrics,/static/"
#: Attributes that hold what follows the path: links of mails have their secrets there.
_WITH_QUERY = ("url.query", "url.full", "http.url", "http.target")


def trace_requests(app: FastAPI) -> None:
    """Send a span for each request. Raises InvalidSettings if the packages are missing."""
    if not are_traces_wanted():
        return
    start_traces("web", app.state.server.engine)
    from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor

    FastAPIInstrumentor.instrument_app(app, excluded_urls=_UNTRACED, server_request_hook=_forget_query)


def _forget_query(span: Any, scope: dict[str, Any]) -> None:
    for name in _WITH_QUERY:
        if name in (span.attributes or {}):
            span.set_attribute(name, "" if name == "url.query" else scope["path"])
