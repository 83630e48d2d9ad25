"""Rules for the addresses of webhooks: those of the public internet, and ranges that the operator allows.

A name is resolved once per attempt, all its addresses are checked, and the connection is made to exactly the checked
address. So no name can lead elsewhere between check and connection.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from app.base.config import Settings
from app.base.errors import EvergoldError
from app.models.webhooks import ADDRESS_CHARACTERS

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

#: Ports on the public internet to which connections are made: HTTPS, and two that servers of Matrix and others use.
_HTTPS_PORTS = frozenset({443, 8443, 8448})
_HTTP_PORTS = frozenset({80})
#: All public addresses are in this network; mapped (::ffff:0:0/96), NAT64 and local ones are not …
_PUBLIC_IPV6 = IPv6Network("2000::/3")
#: … except these networks, which may contain a hidden IPv4 address (Teredo, 6to4) or are unused.
_NOT_PUBLIC: tuple[Network, ...] = tuple(
    ip_network(one)
    for one in (
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "168.63.129.16/32",  # Azure's own services, at an address that looks public
    )
)

#: Finds the addresses of a name, as text. Raises OSError.
Resolver = Callable[[str, int], list[str]]


class AddressRefused(EvergoldError):
    """The server does not connect to this address; the message explains the reason to the owner of the webhook."""

    status = 422
    code = "address_refused"


@dataclass(frozen=True, slots=True)
class Rules:
    """Addresses allowed by the operator in addition to HTTPS to the public internet. ranges: allowed at any port."""

    ranges: tuple[Network, ...] = ()
    allows_http: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """An address to which the server may connect. ip: of the connection; host: the name in its certificate."""

    scheme: str
    host: str
    port: int
    path: str  # with its query
    ip: str


def rules_of(settings: Settings) -> Rules:
    """Return the rules in the settings."""
    return Rules(networks_in(settings.webhook_ranges), settings.webhook_http)


@lru_cache(maxsize=8)
def networks_in(text: str) -> tuple[Network, ...]:
    """Return the networks in a comma-separated text. Raises ValueError."""
    return tuple(ip_network(one.strip()) for one in text.split(",") if one.strip())


def check_form(address: str, rules: Rules) -> SplitResult:
    """Return the parts of an address whose form is allowed; its name is not resolved. Raises AddressRefused."""
    is_plain = address.isascii() and address.isprintable() and " " not in address and "\\" not in address
    if not is_plain or len(address) > ADDRESS_CHARACTERS:
        raise AddressRefused("Give an address that begins with https://, without spaces.")
    try:
        parts = urlsplit(address)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise AddressRefused("This is not an address.") from None
    if parts.scheme != "https" and not (parts.scheme == "http" and rules.allows_http):
        raise AddressRefused("The address must begin with https://.")
    if not host:
        raise AddressRefused("The address has no host.")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("The address must not contain a user name or password.")
    if parts.fragment:
        raise AddressRefused("The address must not have a part after '#'.")
    literal = _literal(host)
    if literal is not None:
        _check_ip(literal, port or _usual_port(parts.scheme), parts.scheme, rules)
    elif not _is_name(host):
        raise AddressRefused("The host must be a name such as chat.example.org.")
    elif not rules.ranges and (port or _usual_port(parts.scheme)) not in _ports(parts.scheme):
        raise AddressRefused(f"The port must be one of {_listed(parts.scheme)}.")
    return parts


def find_target(address: str, rules: Rules, resolve: Resolver | None = None) -> Target:
    """Resolve the address once and return the target to connect to. Raises AddressRefused; OSError if unknown."""
    parts = check_form(address, rules)
    host, port = parts.hostname or "", parts.port or _usual_port(parts.scheme)
    literal = _literal(host)
    found = [str(literal)] if literal is not None else (resolve or resolve_name)(host, port)
    if not found:
        raise OSError(f"the name {host} has no address")
    ips = [ip_address(one.partition("%")[0]) for one in found]
    for ip in ips:
        _check_ip(ip, port, parts.scheme, rules)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port, path, str(ips[0]))


def resolve_name(host: str, port: int) -> list[str]:
    """Return the addresses of a name, with IPv4 first, which works from everywhere."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    ordered = sorted(found, key=lambda one: one[0] != socket.AF_INET)
    return [str(one[4][0]) for one in ordered]


def is_public(ip: Address) -> bool:
    """Return whether an address belongs to the public internet, and embeds no other address."""
    if any(ip.version == one.version and ip in one for one in _NOT_PUBLIC):
        return False
    if isinstance(ip, IPv6Address):
        return ip in _PUBLIC_IPV6 and ip.is_global
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def _check_ip(ip: Address, port: int, scheme: str, rules: Rules) -> None:
    if any(ip.version == one.version and ip in one for one in rules.ranges):
        return
    if not is_public(ip):
        raise AddressRefused("The address leads into a private network, or to this server itself.")
    if port not in _ports(scheme):
        raise AddressRefused(f"The port must be one of {_listed(scheme)}.")


def _literal(host: str) -> Address | None:
    """Return the IP address that the host is, including the unusual forms of IPv4 that resolvers accept (127.1,
    0x7f000001, 2130706433); None for a name.
    """
    try:
        return ip_address(host)
    except ValueError:
        pass
    if ":" in host or not host.rpartition(".")[2][:1].isdigit():
        return None
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def _is_name(host: str) -> bool:
    labels = host.removesuffix(".").split(".")
    return (
        all(0 < len(one) < 64 and one.replace("-", "").replace("_", "").isalnum() for one in labels)
        and not labels[-1].isdigit()
    )


def _usual_port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _ports(scheme: str) -> frozenset[int]:
    return _HTTPS_PORTS if scheme == "https" else _HTTP_PORTS


def _listed(scheme: str) -> str:
    return ", ".join(map(str, sorted(_ports(scheme))))
