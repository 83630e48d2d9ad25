"""Requests to identity providers: the address where a log-in begins, and the person who returned from it.

OpenID Connect with the authorization code, PKCE, state and nonce; for GitHub, which has only OAuth 2, its own API. A
response is trusted if it came over TLS from the configured issuer, is signed with its keys, and belongs to this client
and log-in.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, ClassVar

import httpx
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from app.base.errors import EvergoldError
from app.base.providers import Provider
from app.base.text import is_address, one_line
from app.models.logins import LABEL_CHARACTERS
from app.people.providers import Person, Secrets, is_orcid

#: Signatures that need the provider's private key; never `none`, nor one that our client secret could make.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
SECONDS = 10.0
LARGEST_ANSWER_BYTES = 1024 * 1024
#: Metadata and keys of a provider are kept for this long …
KEPT_SECONDS = 3600.0
#: … and keys are loaded again, if one is missing, at most this often.
ANEW_SECONDS = 60.0
LEEWAY_SECONDS = 120
_JSON = {"Accept": "application/json", "User-Agent": "evergold"}


class ProviderAway(EvergoldError):
    """The provider did not respond, or its response is malformed."""

    status: ClassVar[int] = 503
    code: ClassVar[str] = "provider_away"


class ProviderRefused(EvergoldError):
    """The provider refused the log-in, or its response cannot be trusted."""

    status: ClassVar[int] = 403
    code: ClassVar[str] = "provider_refused"


@dataclass(frozen=True, slots=True)
class Client:
    """This server as a client of a provider. redirect: the address to which the provider sends people back."""

    name: str
    settings: Provider
    redirect: str

    @property
    def title(self) -> str:
        """The name of the provider for people."""
        return self.settings.title_of(self.name)

    @property
    def issuer(self) -> str:
        """The configured issuer."""
        return self.settings.issuer_of(self.name)

    @property
    def is_github(self) -> bool:
        """True if the provider uses GitHub's own protocol."""
        return self.settings.kind_of(self.name) == "github"


def authorization_address(client: Client, secrets: Secrets) -> str:
    """Return the provider's address at which the log-in begins. Raises ProviderAway."""
    address: str = prepare_grant_uri(
        _endpoints(client)["authorization_endpoint"],
        client_id=client.settings.client_id,
        response_type="code",
        redirect_uri=client.redirect,
        scope=client.settings.scopes_of(client.name),
        state=secrets.state,
        nonce=secrets.nonce,
        code_challenge=create_s256_code_challenge(secrets.verifier),
        code_challenge_method="S256",
    )
    return address


def person_of(client: Client, answer: Mapping[str, str], secrets: Secrets) -> Person:
    """Return the person identified by a response. answer: the parameters of the address. Raises ProviderRefused,
    ProviderAway.
    """
    _check_issuer(client, answer)
    if "error" in answer or "code" not in answer:
        raise ProviderRefused(f"{client.title} did not log you in. Nothing was changed.")
    tokens = _tokens(client, answer["code"], secrets)
    if client.is_github:
        return _github_person(client, tokens)
    return _oidc_person(client, tokens, secrets.nonce)


def _check_issuer(client: Client, answer: Mapping[str, str]) -> None:
    """Raise ProviderRefused for a response of another provider (RFC 9207: issuer mix-up)."""
    is_promised = bool(_endpoints(client).get("authorization_response_iss_parameter_supported"))
    if (is_promised or "iss" in answer) and answer.get("iss") != client.issuer:
        raise ProviderRefused("This answer does not come from the provider that you chose.")


def _tokens(client: Client, code: str, secrets: Secrets) -> dict[str, Any]:
    """Exchange the code for tokens and return them."""
    endpoints = _endpoints(client)
    body = prepare_token_request(
        "authorization_code", redirect_uri=client.redirect, code=code, code_verifier=secrets.verifier
    )
    headers = {**_JSON, "Content-Type": "application/x-www-form-urlencoded;charset=UTF-8"}
    secret = client.settings.client_secret.get_secret_value()
    ways = endpoints.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    way = "client_secret_basic" if "client_secret_basic" in ways else "client_secret_post"
    prove = ClientAuth(client.settings.client_id, secret or None, way if secret else "none")
    address, headers, body = prove.prepare("POST", endpoints["token_endpoint"], headers, body)
    tokens = _request_json(client, httpx.Request("POST", address, headers=headers, content=body), refuses=True)
    if not isinstance(tokens, dict) or not isinstance(tokens.get("access_token"), str):
        raise ProviderRefused(f"{client.title} did not accept this log-in. Please start again.")
    return tokens


# -------------------------------------------------------------------------------------------------- OpenID Connect


def _oidc_person(client: Client, tokens: Mapping[str, Any], nonce: str) -> Person:
    claims = dict(_id_claims(client, tokens, nonce))
    endpoint = _endpoints(client).get("userinfo_endpoint")
    if endpoint and "email" not in claims and "email" in client.settings.scopes_of(client.name).split():
        more = _read(client, endpoint, tokens["access_token"])
        if not isinstance(more, dict) or more.get("sub") != claims["sub"]:
            raise ProviderRefused(f"{client.title} answered about another person than the one who logged in.")
        claims = {**more, **claims}
    subject, orcid = claims["sub"], ""
    is_of_orcid = client.settings.kind_of(client.name) == "orcid"
    is_kept = isinstance(subject, str) and 0 < len(subject) <= 255 and subject.isprintable()
    if not is_kept or (is_of_orcid and not is_orcid(subject)):
        raise ProviderRefused(f"{client.title} sent a name for you that cannot be stored.")
    email = _address(claims.get("email"))
    both = one_line(f"{_line(claims.get('given_name'))} {_line(claims.get('family_name'))}")
    name = _line(claims.get("name")) or both
    if is_of_orcid:
        orcid, email = subject, ""
    return Person(
        issuer=client.issuer,
        subject=subject,
        label=orcid or email or _line(claims.get("preferred_username")) or name or subject[:LABEL_CHARACTERS],
        email=email,
        is_email_proved=bool(email) and claims.get("email_verified") is True,
        name=name,
        username=_line(claims.get("preferred_username")),
        orcid=orcid,
    )


def _id_claims(client: Client, tokens: Mapping[str, Any], nonce: str) -> Mapping[str, Any]:
    """Return the claims of the ID token after verification: signed by the issuer, for this client and log-in, not
    expired.
    """
    id_token, refused = tokens.get("id_token"), f"The answer of {client.title} cannot be trusted. Nothing was changed."
    if not isinstance(id_token, str):
        raise ProviderRefused(refused)
    try:
        decoded = _decoded(client, id_token)
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            {
                "iss": {"essential": True, "value": client.issuer},
                "aud": {"essential": True, "value": client.settings.client_id},
            },
            {"nonce": nonce, "client_id": client.settings.client_id, "access_token": tokens["access_token"]},
        )
        claims.validate(leeway=LEEWAY_SECONDS)
    except (JoseError, ValueError, TypeError) as error:  # the library raises the latter for malformed tokens
        raise ProviderRefused(refused, reason=type(error).__name__) from None
    return dict(claims)


def _decoded(client: Client, id_token: str) -> jwt.Token:
    registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)  # some have headers of their own
    try:
        return jwt.decode(id_token, _keys(client), registry=registry)
    except InvalidKeyIdError:  # the provider may have new keys
        return jwt.decode(id_token, _keys(client, seconds=ANEW_SECONDS), registry=registry)


def _keys(client: Client, seconds: float = KEPT_SECONDS) -> KeySet:
    document = _documents().read(client, str(_endpoints(client).get("jwks_uri", "")), seconds)
    return KeySet.import_key_set(document)  # type: ignore[arg-type]  # checked there


def _endpoints(client: Client) -> Mapping[str, Any]:
    """Return the provider's metadata, which must name the configured issuer."""
    if client.is_github:
        return {
            "authorization_endpoint": f"{client.issuer}/login/oauth/authorize",
            "token_endpoint": f"{client.issuer}/login/oauth/access_token",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }
    address = f"{client.issuer.removesuffix('/')}/.well-known/openid-configuration"
    found = _documents().read(client, address, KEPT_SECONDS)
    needed = ("authorization_endpoint", "token_endpoint", "jwks_uri")
    if found.get("issuer") != client.issuer or not all(isinstance(found.get(name), str) for name in needed):
        raise ProviderAway(
            f"{client.title} publishes an invalid configuration. Please notify the people who run this server."
        )
    return found


# ---------------------------------------------------------------------------------------------------------- GitHub


def _github_person(client: Client, tokens: Mapping[str, Any]) -> Person:
    """Return the person from GitHub's API. The id of an account never changes; its name may, and may pass to another
    person.
    """
    is_public = client.issuer == "https://github.com"
    api = "https://api.github.com" if is_public else f"{client.issuer}/api/v3"
    token = tokens["access_token"]
    account, addresses = _read(client, f"{api}/user", token), _read(client, f"{api}/user/emails", token)
    number = account.get("id") if isinstance(account, dict) else None
    if not isinstance(account, dict) or not isinstance(number, int) or not isinstance(addresses, list):
        raise ProviderAway(f"{client.title} did not identify you.")
    proved = [one for one in addresses if isinstance(one, dict) and one.get("verified") is True]
    primary = next((one for one in proved if one.get("primary") is True), {})
    email = _address(primary.get("email"))
    login = _line(account.get("login"))
    return Person(
        issuer=client.issuer,
        subject=str(number),
        label=login or str(number),
        email=email,
        is_email_proved=bool(email),
        name=_line(account.get("name")),
        username=login,
    )


# --------------------------------------------------------------------------------------------------------- requests


def _read(client: Client, address: str, access_token: str) -> object:
    headers = {**_JSON, "Authorization": f"Bearer {access_token}"}
    return _request_json(client, httpx.Request("GET", address, headers=headers))


def _request_json(client: Client, request: httpx.Request, *, refuses: bool = False) -> object:
    """Return the JSON response. refuses: a 4xx status means that the log-in is refused. Redirects are not followed."""
    away = f"{client.title} does not answer correctly at the moment. Please try again later."
    body = b""
    try:
        with httpx.Client(timeout=SECONDS) as connection:
            answer = connection.send(request, stream=True)
            for part in answer.iter_bytes():
                body += part
                if len(body) > LARGEST_ANSWER_BYTES:
                    raise ProviderAway(away)
            answer.close()
        if refuses and 400 <= answer.status_code < 500:
            raise ProviderRefused(f"{client.title} did not accept this log-in. Please start again.")
        if answer.status_code != 200:
            raise ProviderAway(away, answered=answer.status_code)
        return json.loads(body)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise ProviderAway(away, reason=type(error).__name__) from None


class _Kept:
    """Metadata and keys of providers, cached in this process."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._found: dict[str, tuple[float, dict[str, Any]]] = {}

    def read(self, client: Client, address: str, seconds: float) -> dict[str, Any]:
        """Return the JSON object at this address, at most this many seconds old."""
        with self._turn:
            at, known = self._found.get(address, (float("-inf"), {}))
        if time.monotonic() - at < seconds:
            return known
        found = _request_json(client, httpx.Request("GET", address, headers=_JSON))
        if not isinstance(found, dict):
            raise ProviderAway(f"{client.title} publishes an incomplete configuration.")
        with self._turn:
            self._found[address] = (time.monotonic(), found)
        return found


@lru_cache(maxsize=1)
def _documents() -> _Kept:
    return _Kept()


def _line(value: object) -> str:
    text = one_line(value) if isinstance(value, str) else ""
    return text[:LABEL_CHARACTERS] if text.isprintable() else ""


def _address(value: object) -> str:
    address = value.strip().lower() if isinstance(value, str) else ""
    return address if is_address(address) and len(address) <= 320 else ""
