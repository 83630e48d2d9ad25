"""Traces: what arrives at a collector of requests and queries; nothing where none is named."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from app.base.config import InvalidSettings, get_settings
from app.base.db import get_engine
from app.base.traces import span, start_traces
from tests import services
from tests.processes import REPOSITORY, Service, short_folder, stop, wait_until
from tests.services import environment_of, evergold

SECRET = "token-of-a-mail"


@dataclass
class Collector:
    """A collector, with the spans that arrived: (service, name, attributes)."""

    address: str = ""
    spans: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        for group in request.resource_spans:
            service = {one.key: one.value.string_value for one in group.resource.attributes}["service.name"]
            for scope in group.scope_spans:
                for one in scope.spans:
                    said = {a.key: a.value.string_value or str(a.value.int_value) for a in one.attributes}
                    self.spans.append((service, one.name, said))


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.take(gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    found.address = f"http://127.0.0.1:{server.server_port}"
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@contextmanager
def web_with(**variables: str) -> Iterator[tuple[str, Service]]:
    with short_folder() as folder:
        (folder / "phases.yaml").write_text("version: 1\ncompetitions: []\n")
        environment = environment_of(data_dir=folder / "data", phases_file=folder / "phases.yaml") | variables
        services.set_up(environment)
        port = services.free_port()
        web = evergold("web", folder, environment, "web", "--port", str(port))
        address = f"http://127.0.0.1:{port}"
        wait_until(lambda: is_up(address), "it serves", web)
        try:
            yield address, web
        finally:
            stop(web)


def is_up(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz", timeout=10).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.services
def test_requests_and_queries_arrive_without_what_follows_the_path(collector: Collector) -> None:
    quick = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.address, "OTEL_BSP_SCHEDULE_DELAY": "100"}
    with web_with(**quick) as (address, web):
        assert httpx.get(f"{address}/api/v1/competitions?note={SECRET}", timeout=60).status_code == 200
        wait_until(lambda: any("/api/v1/competitions" in name for _, name, _ in collector.spans), "a span came", web)
        wait_until(lambda: any("SELECT" in name for _, name, _ in collector.spans), "and its queries", web)
    assert {service for service, _, _ in collector.spans} == {"evergold-web"}
    assert not [one for one in collector.spans if SECRET in str(one)]
    assert not [one for one in collector.spans if "/healthz" in str(one)]


RUN = """
from opentelemetry import trace
from app.base.config import get_settings
from app.base.db import get_engine
from app.base.traces import span, start_traces

start_traces("worker", get_engine(get_settings().database_address))
try:
    with span("run", run=7, task_type="table"):
        raise ValueError("the gold of line 3 is 'yes'")
except ValueError:
    trace.get_tracer_provider().force_flush()
"""


def test_a_run_arrives_without_the_text_of_its_error(collector: Collector, tmp_path: Path) -> None:
    environment = {**environment_of(data_dir=tmp_path), "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address}
    subprocess.run([sys.executable, "-c", RUN], check=True, env=environment, cwd=REPOSITORY, timeout=120)
    assert collector.spans == [("evergold-worker", "run", {"run": "7", "task_type": "table"})]


def test_an_endpoint_without_the_packages_stops_the_start_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(InvalidSettings, match=r"pip install 'evergold-server\[traces\]'"):
        start_traces("web", get_engine(get_settings().database_address))


def test_without_an_endpoint_a_span_is_nothing() -> None:
    with span("run", run=1):
        pass
