"""Settings of the installation, from `predibot.toml` of the current folder and the environment.

Besides it only `environment.py` reads the environment, for what is no setting, and
`_folders.py`, which the import system needs before any settings exist.
"""

import re
import tomllib
from typing import Annotated

from pydantic import AnyHttpUrl, BeforeValidator, Field, PlainSerializer, ValidationError
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from predibot.domain.terms import KEY_NAME
from predibot.errors import UsageError

Url = Annotated[AnyHttpUrl, PlainSerializer(str)]

SETTINGS_FILE = "predibot.toml"
_BOUND_HOST = re.compile(r"(?:http://)?(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_KEY_HOSTS = (
    "write NAME_API_KEY=host for each host a key may go to, with commas between them; "
    "a host is api.acme.com, api.acme.com:8443 or http://10.0.0.5:8000"
)


def _key_hosts(value: object) -> dict[str, tuple[str, ...]]:
    """Return the hosts of each key, from `NAME=host,...` of the environment or a table of the file."""
    if isinstance(value, str):
        pairs = [part.strip().partition("=")[::2] for part in value.split(",") if part.strip()]
    elif isinstance(value, dict):
        pairs = [
            (name, host) for name, hosts in value.items() for host in (hosts if isinstance(hosts, list) else [hosts])
        ]
    else:
        raise ValueError(_KEY_HOSTS)
    bound: dict[str, tuple[str, ...]] = {}
    for name, host in pairs:
        place = str(host).strip().lower().removeprefix("https://").rstrip("/")
        place = place.removesuffix(":80" if place.startswith("http://") else ":443")
        # What is wrong is not repeated: it may be a key.
        if not KEY_NAME.fullmatch(str(name).strip()) or not _BOUND_HOST.fullmatch(place):
            raise ValueError(_KEY_HOSTS)
        bound[str(name).strip()] = (*bound.get(str(name).strip(), ()), place)
    return bound


KeyHosts = Annotated[dict[str, tuple[str, ...]], NoDecode, BeforeValidator(_key_hosts)]


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
    key_hosts: KeyHosts = {}
    """Hosts a key of the environment may go to besides its provider's own, by the key's name."""

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
            f"setting {name!r} is wrong: {first['msg']}. Fix {SETTINGS_FILE} or PREDIBOT_{name.upper()}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{SETTINGS_FILE} is not TOML: {error}. Fix that line") from None
