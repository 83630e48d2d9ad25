"""Processor time of the web process for the requests that a team makes after an upload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import httpx

from bench._processors import processor_seconds

Address = tuple[str, Mapping[str, str]]


def addresses(token: str, cookie: Mapping[str, str], runs: str, newest: str, before: str) -> dict[str, Address]:
    """Return the requests by name, each as its head. runs: the page of the competition's runs;
    newest, before: submissions."""
    by_token = {"Authorization": f"Bearer {token}"}
    by_cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookie.items()), "Accept": "text/html"}
    one = f"/api/v1/submissions/{newest}"
    return {
        "submission": (one, by_token),
        "submission_page": (f"/submissions/{newest}", by_cookie),
        "submissions": ("/api/v1/submissions", by_token),
        "runs_page": (runs, by_cookie),
        "comparison": (f"{one}/comparison/{before}", by_token),
    }


def milliseconds_each(url: str, web: int, asked: Mapping[str, Address], times: int) -> Iterator[tuple[str, float]]:
    """Yield the processor milliseconds of each request, by name. web: the web process."""
    with httpx.Client(base_url=url, timeout=60) as client:
        for name, (path, head) in asked.items():
            client.get(path, headers=dict(head)).raise_for_status()
            before = processor_seconds(web)
            for _ in range(times):
                client.get(path, headers=dict(head)).raise_for_status()
            yield name, round(1000 * (processor_seconds(web) - before) / times, 1)
