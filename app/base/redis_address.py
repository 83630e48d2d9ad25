"""Addresses of Redis or Valkey in Celery's formats; separate from the client, which takes long to load."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

_PLAIN, _TLS = ("redis", "valkey"), ("rediss", "valkeys")
#: Celery's scheme for Unix sockets, and other common ones.
_SOCKETS = ("redis+socket", "redis+unix", "valkey+unix")


def redis_address(address: str) -> str | None:
    """Return an address in the format of the package `redis`; None for other schemes. Raises ValueError.

    `redis://:password@host:6379/0`, `rediss://…` with TLS, or `redis+socket:///path?virtual_host=0`.
    """
    parts, query = urlsplit(address), dict(parse_qsl(urlsplit(address).query))
    if parts.scheme in _SOCKETS:
        database = int(query.get("virtual_host", query.get("db", "")) or 0)
        return f"unix://{parts.netloc}{parts.path}?db={database}"
    if parts.scheme not in (*_PLAIN, *_TLS):
        return None
    database, _ = int(unquote(parts.path).strip("/") or 0), parts.port  # the port is checked when it is read
    if parts.scheme in _PLAIN:
        return f"redis://{parts.netloc}/{database}"
    tls = {name: value for name, value in query.items() if name.startswith("ssl_")}
    if "ssl_cert_reqs" in tls:  # Celery takes the names of Python's constants, too
        tls["ssl_cert_reqs"] = tls["ssl_cert_reqs"].lower().removeprefix("cert_")
    return f"rediss://{parts.netloc}/{database}?{urlencode(tls)}"
