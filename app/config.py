"""Settings from the environment (`EVERGOLD_…`), with an embedded default for each; units stand in the names.

Deliberately without a word about gold: where gold lies is known to `workers.gold` alone.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

MEBIBYTE = 1024 * 1024


class Settings(BaseSettings):
    """What web, workers and the command line share."""

    model_config = SettingsConfigDict(env_prefix="EVERGOLD_", extra="ignore")

    data_dir: Path = Field(
        Path("var"), description="all that this server keeps, unless an address below says otherwise"
    )
    database_url: str = Field("", description="SQLAlchemy address; empty: SQLite in data_dir")
    broker_url: str = Field("", description="Celery broker; empty: files in data_dir/broker")
    phases_file: Path = Field(Path("phases.yaml"), description="the competitions of this server")
    base_url: str = Field("", description="address that people see, for links; empty: as in the request")

    upload_limit_bytes: int = Field(64 * MEBIBYTE, gt=0, description="bound for every upload; a phase may set less")
    long_poll_limit_seconds: float = Field(60.0, ge=0)
    lease_seconds: int = Field(60, gt=0, description="a run whose worker was silent for this long is given to another")
    run_limit_seconds: int = Field(3600, gt=0, description="a run that takes longer is stopped")
    sweep_seconds: float = Field(30.0, gt=0, description="how often the sweep looks for lost runs")
    attempts: int = Field(3, gt=0, description="how often a run is tried before it is marked failed")
    session_hours: int = Field(24 * 14, gt=0, description="how long a log-in on the pages lasts")
    secure_cookies: bool = Field(False, description="set true behind HTTPS: cookies are then never sent in clear")

    @property
    def database_address(self) -> str:
        """The SQLAlchemy address, the embedded SQLite file where none was named."""
        if self.database_url:
            return self.database_url
        return f"sqlite:///{quote(str(self.data_dir.resolve() / 'evergold.db'))}"

    @property
    def storage_dir(self) -> Path:
        """Where uploads and public files lie, named by their sha256."""
        return self.data_dir / "storage"


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """The settings of this process, read once."""
    return Settings()
