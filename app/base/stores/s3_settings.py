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

    bucket: str = Field("", description="the bucket, which is there already, and private")
    endpoint: str = Field("", description="address of the store, https://…; empty: Amazon's, of the region")
    region: str = Field("us-east-1", description="the store's region; stores other than Amazon's accept any")
    prefix: str = Field("", description="what our keys begin with, where the bucket has other things, too")
    access_key_id: SecretStr = Field(SecretStr(""), description="empty: the machine's role, or AWS_… variables")
    secret_access_key: SecretStr = Field(SecretStr(""), description="the secret of that key")
    public_endpoint: str = Field(
        "", description="where browsers reach the store: public files are then fetched there; empty: from the server"
    )
    cache_mebibytes: int = Field(2048, gt=0, description="bound for copies on this machine's disk")
    timeout_seconds: float = Field(20.0, gt=0, description="how long the store may say nothing in one request")
    tries: int = Field(4, gt=0, description="how often a request is tried that failed or was refused as too many")
