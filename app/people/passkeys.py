"""Passkeys: options for the browser, and its signed responses (WebAuthn, with the library `webauthn`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.base.live_settings import PRODUCT

if TYPE_CHECKING:
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor


@dataclass(frozen=True, slots=True)
class Site:
    """The server as browsers know it: an origin, whose host passkeys are bound to, and a name for people."""

    origin: str
    name: str = PRODUCT

    @property
    def host(self) -> str:
        """The host of the origin."""
        return urlsplit(self.origin).hostname or ""


@dataclass(frozen=True, slots=True)
class Key:
    """A verified passkey. credential: its id, in base64url."""

    credential: str
    public_key: bytes
    sign_count: int


def creation_options(site: Site, user: tuple[int, str], known: Collection[str]) -> tuple[str, str]:
    """Return the options for a new passkey as JSON, and their challenge. user: id and name; known: ids of existing
    passkeys.
    """
    from webauthn import generate_registration_options, options_to_json
    from webauthn.helpers import bytes_to_base64url

    options = generate_registration_options(
        rp_id=site.host,
        rp_name=site.name,
        user_id=hashlib.sha256(f"{site.host} {user[0]}".encode()).digest(),
        user_name=user[1],
        exclude_credentials=_descriptors(known),
    )
    return options_to_json(options), bytes_to_base64url(options.challenge)


def request_options(site: Site, challenge: str, known: Collection[str]) -> str:
    """Return the options for logging in with one of these passkeys, as JSON."""
    from webauthn import base64url_to_bytes, generate_authentication_options, options_to_json

    return options_to_json(
        generate_authentication_options(
            rp_id=site.host, challenge=base64url_to_bytes(challenge), allow_credentials=_descriptors(known)
        )
    )


def verified_key(answer: str, challenge: str, site: Site) -> Key | None:
    """Return the new passkey in the browser's response; None if it is not for this site and challenge."""
    from webauthn import base64url_to_bytes, verify_registration_response
    from webauthn.helpers import bytes_to_base64url
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        found = verify_registration_response(
            credential=answer,
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=site.host,
            expected_origin=site.origin,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError):  # the library raises these for malformed answers
        return None
    return Key(bytes_to_base64url(found.credential_id), found.credential_public_key, found.sign_count)


def verified_answer(answer: str, challenge: str, known: Mapping[str, tuple[bytes, int]], site: Site) -> Key | None:
    """Return the passkey that signed the browser's response, with its new count; None if no known one did.

    known: public key and count by credential id.
    """
    from webauthn import base64url_to_bytes, verify_authentication_response
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        credential = json.loads(answer)["id"]
        public_key, sign_count = known[credential]
        found = verify_authentication_response(
            credential=answer,
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=site.host,
            expected_origin=site.origin,
            credential_public_key=public_key,
            credential_current_sign_count=sign_count,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError):
        return None
    return Key(credential, public_key, found.new_sign_count)


def _descriptors(known: Collection[str]) -> list[PublicKeyCredentialDescriptor]:
    from webauthn import base64url_to_bytes
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

    return [PublicKeyCredentialDescriptor(id=base64url_to_bytes(one)) for one in known]
