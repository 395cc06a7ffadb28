"""Settings of the installation, from `predibot.toml` of the current folder and the environment.

Besides it only `environment.py` reads the environment, for what is no setting, and
`_folders.py`, which the import system needs before any settings exist.
"""

import os
import re
import tomllib
from typing import Annotated, Any

from pydantic import AnyHttpUrl, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from predibot.domain.spelling import did_you_mean
from predibot.domain.terms import KEY_NAME
from predibot.errors import UsageError
from predibot.plugins.venues import url_names


def _url(value: object) -> str:
    """Return an address as it is asked at, or refuse what is none."""
    return str(_ADDRESS.validate_python(value))


_ADDRESS = TypeAdapter(AnyHttpUrl)
Url = Annotated[str, BeforeValidator(_url)]

_PREFIX = "PREDIBOT_"
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


class _Urls(PydanticBaseSettingsSource):
    """The addresses of venues, whose names are those of the venues and not of this file."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[None, str, bool]:
        """Return nothing: a whole source is asked for at once."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return those of the environment."""
        known = {name.upper(): url for name, url in os.environ.items()}
        urls = {name: url for name, url in known.items() if name.startswith(_PREFIX) and name.endswith("_URL")}
        return {"urls": {name.removeprefix(_PREFIX).lower(): url for name, url in urls.items()}} if urls else {}


class _File(TomlConfigSettingsSource):
    """The file, in which those addresses are keys like all others."""

    def __call__(self) -> dict[str, Any]:
        """Return what the file says."""
        said = super().__call__()
        urls = {name: said.pop(name) for name in list(said) if name.endswith("_url")}
        return {**said, "urls": urls} if urls else said


class Settings(BaseSettings):
    """What is the same for every recipe: where the hosts are and how patient to be.

    The environment wins over the file: `PREDIBOT_WORKERS` over `workers`.
    """

    model_config = SettingsConfigDict(env_prefix=_PREFIX, toml_file=SETTINGS_FILE, extra="forbid", frozen=True)

    urls: dict[str, Url] = {}
    """Addresses of venues that are not the venues' own, by the names that venues give them, which end in `_url`."""
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
    log_file: str | None = None
    """Where `decide`, `replay`, `track`, `evaluate` and `record` write what they do; left out, nowhere."""
    log_json: bool = False
    """Whether a line of the log is a JSON object."""
    log_file_bytes: int = Field(default=10_000_000, ge=1_000)
    """A log that would be longer becomes the first of its backups."""
    log_backups: int = Field(default=5, ge=1, le=1_000)
    """How many are kept beside the log."""
    otlp_endpoint: Url | None = None
    """A collector that spans of each decision with a trace are sent to after its run, as `http://127.0.0.1:4318`."""
    max_concurrency: int = Field(default=256, ge=1, le=4096)
    """The most calls at once to one provider of models, by all processes of a ledger; fewer where it bears no more."""
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
        return init_settings, _Urls(settings_cls), env_settings, _File(settings_cls)


def load_settings() -> Settings:
    """Return the settings in force.

    Raises:
        UsageError: If a value is not what the setting takes; it names the setting.
    """
    try:
        settings = Settings()
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        name = ".".join(str(part) for part in first["loc"] if part != "urls")
        raise UsageError(
            f"setting {name!r} is wrong: {first['msg']}. Fix {SETTINGS_FILE} or PREDIBOT_{name.upper()}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{SETTINGS_FILE} is not TOML: {error}. Fix that line") from None
    for name in settings.urls:
        # Of the environment others may use what looks alike.
        if f"{_PREFIX}{name.upper()}" not in os.environ and name not in (known := url_names()):
            raise UsageError(f"no venue has an address {name!r}. {did_you_mean(name, known)}")
    return settings
