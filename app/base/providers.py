"""Settings of an identity provider, such as a university or ORCID, with which people log in."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr

#: Allowed names of providers: they are part of addresses and, in capitals, of environment variables.
_NAME = re.compile(r"[a-z0-9]{1,40}")
_ORCID = "https://orcid.org"
_GITHUB = "https://github.com"
_TITLES = {"github": "GitHub", "orcid": "ORCID"}


class Provider(BaseModel):
    """A provider of OpenID Connect, or GitHub, which has a different protocol."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: Literal["", "oidc", "github", "orcid"] = Field(
        "", description="empty: `github` and `orcid` for providers of these names, otherwise `oidc`"
    )
    title: str = Field(
        "", max_length=60, description="name on the button; default: GitHub, ORCID, or the issuer's host"
    )
    issuer: str = Field(
        "", description="address of the provider, without /.well-known/openid-configuration; not needed for ORCID"
    )
    client_id: str = Field("", description="client ID registered with the provider")
    client_secret: SecretStr = Field(
        SecretStr(""), description="client secret registered with the provider; empty: none"
    )
    scopes: str = Field("", description="scopes to request; default: openid profile email (ORCID: openid)")
    trusted: bool = Field(
        False,
        description="whether an address that the provider has verified opens the account with this address at once",
    )

    def fault(self, name: str) -> str:
        """Return a sentence on invalid settings; "" if they are valid."""
        if not _NAME.fullmatch(name):
            return "a name must have 1 to 40 letters and digits"
        if not self.client_id:
            return "client_id is missing"
        if self.kind_of(name) == "oidc" and not self.issuer:
            return "issuer is missing"
        parts = urlsplit(self.issuer_of(name))
        if parts.query or parts.fragment or not parts.hostname:
            return "issuer must be an address, as the provider writes it in `iss`"
        if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(parts.hostname)):
            return "issuer must begin with https://"
        return ""

    def kind_of(self, name: str) -> str:
        """Return the protocol: `oidc`, `github`, or `orcid`, which is OpenID Connect without e-mail addresses."""
        return self.kind or (name if name in _TITLES else "oidc")

    def issuer_of(self, name: str) -> str:
        """Return the issuer; for GitHub, the address of its pages."""
        if self.kind_of(name) == "github":
            return self.issuer.rstrip("/") or _GITHUB
        return self.issuer or {"orcid": _ORCID}.get(self.kind_of(name), "")

    def title_of(self, name: str) -> str:
        """Return the name of the provider for people."""
        return self.title or _TITLES.get(self.kind_of(name)) or urlsplit(self.issuer).hostname or name

    def scopes_of(self, name: str) -> str:
        """Return the scopes to request."""
        defaults = {"github": "read:user user:email", "orcid": "openid"}
        return self.scopes or defaults.get(self.kind_of(name), "openid profile email")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
