"""Settings from the environment (`EVERGOLD_…`), with a default for each; names include the units.

There is deliberately no setting for gold: only `workers.gold` knows where it is.
"""

from __future__ import annotations

import re
from email.errors import MessageError
from email.headerregistry import Address
from functools import lru_cache
from ipaddress import ip_network
from pathlib import Path
from typing import Literal, Self, TypeVar
from urllib.parse import quote, urlsplit

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from app.base.live_settings import PRODUCT, LiveSettings
from app.base.providers import Provider
from app.base.redis_address import redis_address
from evergold.value_words import fault_words, field_of, own_words

MEBIBYTE = 1024 * 1024
_SENDER = re.compile(
    r"(?P<alone>[^\s<>,;@]+@[^\s<>,;@]+)|(?P<name>[^<>]*)<(?P<named>[^\s<>,;@]+@[^\s<>,;@]+)>", re.ASCII
)
_SENDER_WORDS = "mail_from must be an address, or a name and an address: Example Scores <scores@example.org>"


class InvalidSettings(Exception):
    """An error in the environment, in words for administrators, without values, which may be secrets."""


class Settings(LiveSettings, BaseSettings):
    """The settings shared by web, workers and the command line; those in `LiveSettings` may later be changed."""

    model_config = SettingsConfigDict(
        env_prefix="EVERGOLD_", env_nested_delimiter="__", hide_input_in_errors=True, frozen=False
    )

    data_dir: Path = Field(
        Path("var"), description="folder of all data of this server, except data for which an address is set below"
    )
    sealed_dir: Path = Field(
        default_factory=lambda known: known["data_dir"] / "sealed",
        description="ciphertext that only workers can read; default: data_dir/sealed",
    )
    sealing_keys: str = Field(
        "",
        description="workers' keys that gold is sealed for: IDs separated by commas; empty: those in the database",
    )
    files_group: str = Field(
        "",
        description=(
            "the group of users that may read the files which web, workers and sweep share; empty: only the one "
            "user that runs them"
        ),
    )
    storage: Literal["folder", "s3"] = Field(
        "folder",
        description="storage of uploads, public and sealed files: the folders above, or EVERGOLD_S3_BUCKET",
    )
    storage_before: Literal["", "folder", "s3"] = Field(
        "", description="the previous storage, as long as `evergold storage move` moves files"
    )
    cache_dir: Path = Field(
        default_factory=lambda known: known["data_dir"] / "cache",
        description="with s3: folder for copies of the files read; default: data_dir/cache",
    )
    database_url: str = Field("", description="SQLAlchemy address; empty: SQLite in data_dir")
    broker_url: str = Field(
        "", description="address of the Redis or Valkey for messages to workers; empty: files in data_dir/broker"
    )
    phases_file: Path = Field(Path("phases.yaml"), description="file that declares the competitions of this server")
    base_url: str = Field(
        "",
        description=(
            "public address of this server, for links; empty: that of the request, and in mails the address on "
            "which the server listens"
        ),
    )

    upload_limit_bytes: int = Field(64 * MEBIBYTE, gt=0, description="largest upload; a phase may allow less")
    long_poll_limit_seconds: float = Field(60.0, ge=0)
    lease_seconds: int = Field(
        60, gt=0, description="a run whose worker has not reported for this long is given to another worker"
    )
    run_limit_seconds: int = Field(120, gt=0, description="a run that takes longer is stopped and its file rejected")
    encoding_limit_seconds: int = Field(3600, gt=0, description="`run_limit_seconds` for task types that need torch")
    check_limit_seconds: int = Field(120, gt=0, description="a validation that takes longer is stopped")
    lean: bool = Field(False, description="there is no worker with torch on purpose: waiting for one is no fault")
    mail_days: int = Field(
        30, gt=0, description="how long sent mails (without their text) and undeliverable mails are stored"
    )
    login_days: int = Field(30, gt=0, description="how long expired log-ins, tokens and links are stored")
    download_days: int = Field(
        730, ge=0, description="how long the log of downloads of files for participants is stored; 0: for ever"
    )
    draft_days: int = Field(
        365,
        ge=0,
        description="how long an unchanged draft of a competition is stored, at least a week after a mail; 0: for ever",
    )
    archive_days: int = Field(7, gt=0, description="how long people can download the archive of their own data")
    deletion_days: int = Field(14, ge=0, description="how long the deletion of an account can be undone")
    sweep_seconds: float = Field(30.0, gt=0, description="how often the sweep looks for lost runs")
    attempts: int = Field(3, gt=0, description="how often a run is tried before it is marked failed")
    answers_mebibytes: int = Field(64, ge=0, description="memory for caching public pages and boards; 0: no cache")
    session_hours: int = Field(24 * 14, gt=0, description="how long a log-in on the pages lasts")
    secure_cookies: bool = Field(
        False, description="true behind HTTPS: cookies are only sent over HTTPS; default: true if base_url is https"
    )
    trusted_proxies: str = Field(
        "", description="addresses and networks of this server's reverse proxies: only their X-Forwarded-For is trusted"
    )

    providers: dict[str, Provider] = Field(
        default_factory=dict,
        description="providers to log in with: EVERGOLD_PROVIDERS__<NAME>__CLIENT_ID, …__CLIENT_SECRET, …__ISSUER, …",
    )
    passwords: bool = Field(True, description="false: nobody can log in or create an account with a password")

    codabench_api: bool = Field(
        True, description="whether clients of Codabench are answered at /api/…, by the same rules as /api/v1"
    )
    # Rate limits (app.web.http.rate_limits); 0: no limit.
    rate_limit_url: str = Field(
        "", description="address of the Redis that counts requests; empty: the broker if it is Redis, otherwise memory"
    )
    failed_logins_per_10_minutes: int = Field(10, ge=0, description="failed log-ins per account and address")
    failed_logins_per_hour_and_account: int = Field(
        100, ge=0, description="failed log-ins per account, from any address"
    )
    failed_logins_per_hour_and_address: int = Field(
        200, ge=0, description="failed log-ins per address, for any account"
    )
    logins_per_hour_and_account: int = Field(120, ge=0, description="successful log-ins per account")
    passwords_per_hour_and_address: int = Field(
        1000, ge=0, description="passwords checked or set per address: log-ins, new accounts, …"
    )
    password_resets_per_hour: int = Field(30, ge=0, description="links to reset a password, per address")
    password_resets_per_hour_and_account: int = Field(5, ge=0, description="links to reset a password, per account")
    uploads_per_minute: int = Field(600, ge=0, description="uploads per team, to stop runaway scripts")

    passwords_at_once: int = Field(
        1, gt=0, description="passwords that a web process hashes at the same time; each takes 64 MiB and about 0.1 s"
    )
    password_reset_minutes: int = Field(60, gt=0, description="how long a link to reset a password is valid")
    smtp_url: SecretStr = Field(
        SecretStr(""),
        description=(
            "mail server: smtps://user:password@host (TLS), smtp+starttls://… or smtp://…; empty: mails are written "
            "to files"
        ),
    )
    mail_from: str = Field("evergold@localhost", description="sender of mails: an address, or a name and <an address>")

    webhook_ranges: str = Field(
        "", description="private networks that webhooks may call, separated by commas: 10.1.0.0/16; empty: none"
    )
    webhook_http: bool = Field(False, description="whether webhooks may also use unencrypted http://")
    webhook_log_days: int = Field(30, gt=0, description="how long finished deliveries of webhooks are stored")

    contact_file: Path | None = Field(None, description="Markdown for /contact, in the footer: who runs this server")
    privacy_file: Path | None = Field(None, description="Markdown for /privacy, in the footer")
    imprint_file: Path | None = Field(None, description="Markdown for /imprint, in the footer")

    queue_limit_seconds: int = Field(900, gt=0, description="/readyz reports a problem if a run waits longer")
    metrics_token: SecretStr = Field(
        SecretStr(""), description="token to read /metrics; empty: only loopback may read it"
    )
    log_format: Literal["text", "json"] = Field("text", description="text for people, or JSON for log collectors")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.base_url.startswith("https://") and "secure_cookies" not in self.model_fields_set:
            self.secure_cookies = True
        self._check_mail(self.smtp_url.get_secret_value())
        self._check_providers()
        sender_of(self.mail_from)
        return self

    def _check_mail(self, address: str) -> None:
        parts = urlsplit(address)
        if address and (parts.scheme not in ("smtps", "smtp+starttls", "smtp") or not parts.hostname):
            raise ValueError(
                "smtp_url must be smtps://user:password@host, smtp+starttls://user:password@host or smtp://host"
            )
        if address and not self.base_url:
            raise ValueError(
                "set base_url together with smtp_url: mails contain links, and the Host of a request is not trusted"
            )

    def _check_providers(self) -> None:
        for name, provider in self.providers.items():
            if fault := provider.fault(name):
                raise ValueError(f"providers, {name}: {fault}")
        if self.providers and not self.base_url:
            raise ValueError("set base_url together with providers: they redirect people to a registered address")
        if not self.passwords and not self.providers:
            raise ValueError("passwords is false and there are no providers, so nobody could log in: set one of them")

    @field_validator("webhook_ranges")
    @classmethod
    def _check_ranges(cls, ranges: str) -> str:
        try:
            networks = [ip_network(one.strip()) for one in ranges.split(",") if one.strip()]
        except ValueError:
            raise ValueError("networks separated by commas: 10.1.0.0/16, fd00:1::/32") from None
        return ",".join(map(str, networks))

    @field_validator("broker_url")
    @classmethod
    def _known_broker(cls, address: str) -> str:
        if address and redis_address(address) is None:
            raise ValueError("broker_url must be redis://…, rediss://… or redis+socket://…, or empty for files")
        return address

    @field_validator("storage_before")
    @classmethod
    def _another(cls, before: str, info: ValidationInfo) -> str:
        if before and before == info.data.get("storage"):
            raise ValueError("must differ from storage; leave it empty unless files are being moved")
        return before

    @property
    def database_address(self) -> str:
        """The address of the database for SQLAlchemy; by default that of the embedded SQLite file."""
        if self.database_url:
            return self.database_url
        return f"sqlite:///{quote(str(self.data_dir.resolve() / 'evergold.db'))}"

    @property
    def site_texts(self) -> dict[str, Path | None]:
        """The Markdown files of this server's text pages, by address."""
        return {"contact": self.contact_file, "privacy": self.privacy_file, "imprint": self.imprint_file}

    @property
    def storage_dir(self) -> Path:
        """The folder of uploads and public files, named by their sha256."""
        return self.data_dir / "storage"


def sender_of(mail_from: str, server_name: str = PRODUCT) -> Address:
    """Parse a sender: `scores@example.org`, which gets the server's name, or `Example Scores <scores@example.org>`.

    Raises ValueError, with a sentence.
    """
    found = _SENDER.fullmatch(mail_from.strip())
    try:
        if found is None or not mail_from.isprintable():
            raise ValueError(mail_from)
        name = (found["name"] or "").strip().strip('"').strip()
        address = found["named"] or found["alone"]
        sender = Address(name or server_name, addr_spec=address.encode("ascii").decode())
    except (MessageError, ValueError):  # the library raises both
        raise ValueError(_SENDER_WORDS) from None
    return sender


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """Return the settings of this process, cached. Raises InvalidSettings."""
    return read_settings(Settings)


Kind = TypeVar("Kind", bound=BaseSettings)


def read_settings(kind: type[Kind]) -> Kind:
    """Return settings of this kind from the environment. Raises InvalidSettings."""
    try:
        return kind()
    except ValidationError as error:
        prefix = kind.model_config["env_prefix"]
        words = [_words(fault, prefix, field_of(kind, fault["loc"])) for fault in error.errors()]
    except SettingsError:  # of the only settings that have parts
        words = ["EVERGOLD_PROVIDERS itself takes no value: set EVERGOLD_PROVIDERS__<NAME>__CLIENT_ID and the others"]
    raise InvalidSettings("\n".join(f"Invalid settings: {one}." for one in words))


def _words(fault: ErrorDetails, prefix: str, field: FieldInfo | None) -> str:
    """Return a sentence on an invalid variable, or on several together, without values, which may be secrets."""
    variable = prefix + "__".join(str(name).upper() for name in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"{variable}: there is no such setting"
    if fault["type"] == "value_error":
        return f"{variable}: {own_words(fault)}" if fault["loc"] else own_words(fault)
    return f"{variable} {fault_words(fault, field, shows_value=False)}"
