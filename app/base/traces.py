"""Traces for OpenTelemetry: requests, their queries, and runs.

They are off unless OTEL_EXPORTER_OTLP_ENDPOINT names a collector.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.base.config import InvalidSettings
from evergold.version import VERSION

if TYPE_CHECKING:
    from sqlalchemy import Engine

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def are_traces_wanted() -> bool:
    """Return True if the environment names a collector and does not switch the library off."""
    return any(os.environ.get(name) for name in _ENDPOINTS) and os.environ.get("OTEL_SDK_DISABLED") != "true"


def start_traces(part: str, engine: Engine) -> None:
    """Send spans of this process and its queries (without their values). part: `web` or `worker`.

    To be called in the process that does the work, not before it forks. Raises InvalidSettings if the packages are
    missing.
    """
    if not are_traces_wanted():
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.instrumentation.sqlalchemy import SQLAlchemyInstrumentor
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise InvalidSettings(
            f"{_ENDPOINTS[0]} is set, but {error.name} is not installed: pip install 'evergold-server[traces]'."
        ) from None
    resource = Resource.create({"service.name": f"evergold-{part}", "service.version": VERSION})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    # It does not say yet that it works with SQLAlchemy 2.1; a test does.
    SQLAlchemyInstrumentor().instrument(engine=engine, skip_dep_check=True)


@contextmanager
def span(name: str, **attributes: str | int) -> Iterator[None]:
    """Record the block as a span if traces are on. Error messages are left out, because they may quote gold."""
    if not are_traces_wanted():
        yield
        return
    from opentelemetry import trace

    tracer = trace.get_tracer("evergold")
    with tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ):
        yield
