"""Settings of an S3-compatible store (`EVERGOLD_S3_…`), read only if one is in use."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

#: Variables that open the bucket; removed for child processes that access no files.
KEYS = frozenset(
    {
        "EVERGOLD_S3_ACCESS_KEY_ID",
        "EVERGOLD_S3_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
    }
)


class S3Settings(BaseSettings):
    """The access of this process to the bucket; each process may have separate keys with minimal rights."""

    model_config = SettingsConfigDict(env_prefix="EVERGOLD_S3_", env_ignore_empty=True, hide_input_in_errors=True)

    bucket: str = Field("", description="name of the bucket, which must exist and be private")
    endpoint: str = Field("", description="address of the store, https://…; empty: Amazon's address of the region")
    region: str = Field("us-east-1", description="the store's region; stores other than Amazon's accept any")
    prefix: str = Field("", description="prefix of this server's keys, if the bucket also stores other things")
    access_key_id: SecretStr = Field(
        SecretStr(""), description="ID of the access key; empty: the machine's role, or AWS_… variables"
    )
    secret_access_key: SecretStr = Field(SecretStr(""), description="secret of that access key")
    public_endpoint: str = Field(
        "",
        description="address at which browsers fetch public files from the store; empty: they use the server's",
    )
    cache_mebibytes: int = Field(2048, gt=0, description="largest total size of copies on this machine's disk")
    timeout_seconds: float = Field(20.0, gt=0, description="how long a request may wait for the store")
    tries: int = Field(4, gt=0, description="how often a failed or throttled request is tried")
