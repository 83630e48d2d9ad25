"""Webhooks lead only to the public internet, however an address is written or a name resolves."""

from __future__ import annotations

import pytest

from app.base.config import Settings
from app.webhooks.addresses import AddressRefused, Rules, check_form, find_target, networks_in, rules_of

PUBLIC, OTHER_PUBLIC = "93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"
STRICT = Rules()
INNER = [
    "0.0.0.0",  # noqa: S104 - not bound to
    "10.0.0.8",
    "100.64.0.1",  # of carriers
    "100.100.100.200",  # metadata
    "127.0.0.1",
    "127.255.0.9",
    "168.63.129.16",  # metadata
    "169.254.169.254",  # metadata
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",  # metadata
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.7",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.8",
    "::ffff:93.184.216.34",
    "64:ff9b::a00:8",
    "64:ff9b:1::a00:8",
    "100::1",
    "2001::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:a00:8::1",
    "2002:7f00:1::",
    "3fff::1",
    "fc00::1",
    "fd00:ec2::254",  # metadata
    "fe80::1",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("inner", INNER)
def test_no_name_that_resolves_to_an_inner_address_is_connected_to(inner: str) -> None:
    for found in ([inner], [PUBLIC, inner], [inner, PUBLIC]):
        with pytest.raises(AddressRefused, match="private network"):
            find_target("https://chat.example.org/x", STRICT, lambda host, port, found=found: found)  # type: ignore[misc]


@pytest.mark.parametrize("inner", INNER)
def test_no_inner_address_is_connected_to_by_itself(inner: str) -> None:
    host = f"[{inner}]" if ":" in inner else inner
    with pytest.raises(AddressRefused, match="private network"):
        check_form(f"https://{host}/x", STRICT)


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "127.0.0.1."])
def test_no_other_spelling_of_an_inner_address_is_taken(host: str) -> None:
    with pytest.raises(AddressRefused):
        find_target(f"https://{host}/", STRICT, lambda host, port: ["127.0.0.1"])


@pytest.mark.parametrize("public", [PUBLIC, OTHER_PUBLIC, "8.8.8.8", "2a00:1450:4001::200e"])
def test_the_public_internet_is_connected_to_at_the_address_that_was_checked(public: str) -> None:
    asked: list[tuple[str, int]] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return [public]

    target = find_target("https://chat.example.org/hook?key=1", STRICT, resolve)
    assert (target.ip, target.host, target.port, target.path) == (public, "chat.example.org", 443, "/hook?key=1")
    assert asked == [("chat.example.org", 443)], "resolved once"


@pytest.mark.parametrize(
    "address",
    [
        "http://chat.example.org/",
        "ftp://chat.example.org/",
        "file:///etc/passwd",
        "gopher://chat.example.org/",
        "chat.example.org",
        "https://",
        "https:///x",
        "https://user:word@chat.example.org/",
        "https://user@chat.example.org/",
        "https://chat.example.org:22/",
        "https://chat.example.org:6379/",
        "https://chat.example.org:99999/",
        "https://chat.example.org/#x",
        "https://chat.example.org/a b",
        "https://chat.example.org\\@127.0.0.1/",
        "https://chat.example.org/\r\nX: y",
        "https://ch\u00e4t.example.org/",
        "https://chat..example.org/",
        "https://%31%32%37.0.0.1/",
        "https://[::1",
        f"https://chat.example.org/{'x' * 2000}",
    ],
)
def test_what_is_no_plain_https_address_is_refused(address: str) -> None:
    with pytest.raises(AddressRefused):
        find_target(address, STRICT, lambda host, port: [PUBLIC])


def test_the_operator_names_ranges_and_allows_http() -> None:
    rules = rules_of(Settings(webhook_ranges="10.1.0.0/16, fd00:1::/32", webhook_http=True))
    for inner, address in (("10.1.2.3", "http://chat.lan:8065/"), ("fd00:1::5", "https://chat.lan:8443/")):
        assert find_target(address, rules, lambda host, port, inner=inner: [inner]).ip == inner  # type: ignore[misc]
    for outside in ("10.2.0.1", "127.0.0.1", "169.254.169.254", "::ffff:10.1.2.3", "fd00:2::5"):
        with pytest.raises(AddressRefused):
            find_target("https://chat.lan/", rules, lambda host, port, outside=outside: [outside])  # type: ignore[misc]
    with pytest.raises(AddressRefused, match="port"):
        find_target("https://chat.example.org:8065/", rules, lambda host, port: [PUBLIC])
    assert find_target("http://chat.example.org/", rules, lambda host, port: [PUBLIC]).port == 80


def test_ranges_that_are_none_stop_the_server() -> None:
    with pytest.raises(ValueError, match="networks separated by commas"):
        Settings(webhook_ranges="10.1.0.0/16, everything")
    assert networks_in("") == ()


def test_a_name_that_nobody_knows_is_an_error_of_the_network() -> None:
    with pytest.raises(OSError, match="no address"):
        find_target("https://chat.example.org/", STRICT, lambda host, port: [])


@pytest.mark.parametrize("sign", [" ", "\\", "\u00e4", "\u007f"])
def test_an_address_has_no_sign_that_programs_read_in_two_ways(sign: str) -> None:
    with pytest.raises(AddressRefused):
        check_form(f"https://chat.example.org/a{sign}b", STRICT)
