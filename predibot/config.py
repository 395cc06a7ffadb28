"""Settings of the installation, from `predibot.toml` of the current folder and the environment.

This module alone reads the environment (besides `_folders.py`, which the import
system needs before any settings exist).
"""

import os
import re
import tomllib
from collections.abc import Mapping
from typing import Annotated

from pydantic import AnyHttpUrl, Field, PlainSerializer, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from predibot.errors import UsageError

Url = Annotated[AnyHttpUrl, PlainSerializer(str)]

SETTINGS_FILE = "predibot.toml"
_API_KEY = re.compile(r"(?:[A-Z0-9]+_)+(?:API_)?KEY|HF_TOKEN")


class Settings(BaseSettings):
    """What is the same for every recipe: where the hosts are and how patient to be.

    The environment wins over the file: `PREDIBOT_GAMMA_URL` over `gamma_url`.
    """

    model_config = SettingsConfigDict(env_prefix="PREDIBOT_", toml_file=SETTINGS_FILE, extra="forbid", frozen=True)

    gamma_url: Url = AnyHttpUrl("https://gamma-api.polymarket.com")
    clob_url: Url = AnyHttpUrl("https://clob.polymarket.com")
    call_deadline_seconds: float = Field(default=60.0, gt=0)
    """All tries of one call to a venue together."""
    list_deadline_seconds: float = Field(default=60.0, gt=0)
    """All pages of a venue's list of events together."""
    decision_deadline_seconds: float = Field(default=600.0, gt=0)
    """After this a bot's thread is abandoned and its decision recorded as failed."""
    lease_seconds: float = Field(default=60.0, gt=0)
    """How long a claim outlives the last sign of life of its owner on another machine."""
    workers: int = Field(default=8, ge=1, le=256)
    """Decisions and price histories in flight at once."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return arguments, environment, file, in the order in which they win."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load_settings() -> Settings:
    """Return the settings in force.

    Raises:
        UsageError: If a value is not what the setting takes; it names the setting.
    """
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"setting {name!r} is wrong: {first['msg']}. Mend {SETTINGS_FILE} or PREDIBOT_{name.upper()}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{SETTINGS_FILE} is not TOML: {error}. Mend that line") from None


def api_keys() -> Mapping[str, str]:
    """Return the API keys of the environment by name; whoever holds them keeps them out of every text."""
    return {name: value for name, value in os.environ.items() if value and _API_KEY.fullmatch(name)}


def api_keys_present() -> tuple[str, ...]:
    """Return the names of the API keys in the environment, never their values."""
    return tuple(sorted(api_keys()))
