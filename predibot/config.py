"""Settings of the installation, from the environment, the current folder's `predibot.toml` and the user's.

Settings of the current folder that could do harm count only once its user trusts it (`trust.py`). Two other modules
read the environment: `environment.py` what is no setting, and `_folders.py` what the import system needs first.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AnyHttpUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from predibot.domain.spelling import did_you_mean
from predibot.domain.terms import KEY_NAME, NOTICE_KINDS, SECRET_ADDRESS_NAME, SECRET_NAME, NoticeKind
from predibot.domain.untrusted_text import toml_table
from predibot.environment import configuration_folder
from predibot.errors import UsageError
from predibot.plain_file import plain_text
from predibot.plugins.venues import url_names
from predibot.trust import MAX_BYTES, SETTINGS_FILE, Folder


def _check_url(value: object) -> str:
    return str(_ADDRESS.validate_python(value))


_ADDRESS = TypeAdapter(AnyHttpUrl)
Url = Annotated[str, BeforeValidator(_check_url)]

_PREFIX = "PREDIBOT_"
_MOST_SECONDS = 30 * 86_400.0
"""The longest wait: clocks and locks of some systems count no further than months."""
_BOUND_HOST = re.compile(r"(?:http://)?(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_KEY_HOSTS = (
    "write NAME_API_KEY=host for each host a key may go to, with commas between them; "
    "a host is api.acme.com, api.acme.com:8443 or http://10.0.0.5:8000"
)


def _parse_key_hosts(value: object) -> dict[str, tuple[str, ...]]:
    """Return the hosts of each key, from `NAME=host,...` in the environment or a table in the file."""
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


KeyHosts = Annotated[dict[str, tuple[str, ...]], NoDecode, BeforeValidator(_parse_key_hosts)]


def _check_variable(value: object) -> str:
    """Return the name of a variable that holds a secret; the name makes sure that every text hides its value."""
    if isinstance(value, str) and (SECRET_NAME.fullmatch(value) or SECRET_ADDRESS_NAME.fullmatch(value)):
        return value
    # What is wrong is not repeated: it may be the secret.
    raise ValueError(
        "name the variable of the environment that holds it, not what it holds; its name ends in _WEBHOOK, _PING, "
        "_APPRISE, _PASSWORD, _TOKEN or _SECRET, an address's also in _URL behind that"
    )


def _check_mail_address(value: object) -> str:
    text = str(value)
    if not _MAIL_ADDRESS.fullmatch(text):
        raise ValueError("write an address such as me@example.org, without a name beside it")
    return text


_MAIL_ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")
Variable = Annotated[str, BeforeValidator(_check_variable)]
MailAddress = Annotated[str, BeforeValidator(_check_mail_address)]
MailSecurity = Literal["starttls", "tls", "none"]
_MAIL_PORTS: Mapping[MailSecurity, int] = {"starttls": 587, "tls": 465, "none": 25}


class _NotifyTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_secrets(cls, table: Any) -> Any:
        for name in ("url", "urls", "password"):
            if isinstance(table, dict) and name in table and f"{name}_env" in cls.model_fields:
                raise ValueError(
                    f"{name} is a secret: put it into a variable of the environment and name that with {name}_env"
                )
        return table


class WebhookSettings(_NotifyTable):
    """A chat that takes Slack's JSON."""

    url_env: Variable = "PREDIBOT_WEBHOOK"


class PingSettings(_NotifyTable):
    """A watchdog that raises the alarm when no ping arrives."""

    url_env: Variable = "PREDIBOT_PING"
    fail: bool = True
    """Whether a failed slot pings `/fail` behind the address, as healthchecks.io has it."""


class AppriseSettings(_NotifyTable):
    """Services that the library apprise knows."""

    urls_env: Variable = "PREDIBOT_APPRISE"
    """A variable that holds addresses with blanks between them."""


class EmailSettings(_NotifyTable):
    """Mail over SMTP."""

    host: str = Field(min_length=1, pattern=r"^[A-Za-z0-9.:-]+$")
    port: int = Field(default=0, ge=0, le=65_535)
    """0 means the usual port of `security`."""
    security: MailSecurity = "starttls"
    """`none` is for this machine only."""
    user: str | None = None
    password_env: Variable = "PREDIBOT_SMTP_PASSWORD"
    sender: MailAddress
    to: tuple[MailAddress, ...] = Field(min_length=1, max_length=20)

    @model_validator(mode="after")
    def _check_encrypted(self) -> "EmailSettings":
        """Refuse to send a mail, and a password, in the clear over a network."""
        if self.security == "none" and self.host not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError("security = 'none' is for a server on localhost; write starttls or tls")
        return self

    @property
    def usual_port(self) -> int:
        """Return the port to connect to."""
        return self.port or _MAIL_PORTS[self.security]


class CommandSettings(_NotifyTable):
    """A command that gets the message on stdin."""

    run: tuple[Annotated[str, Field(max_length=1_000)], ...] = Field(min_length=1, max_length=50)
    """The program and its arguments; no shell reads them."""
    seconds: float = Field(default=10.0, gt=0, le=60)
    env: tuple[str, ...] = ()
    """Variables it gets although their names are those of secrets."""


class NotifySettings(_NotifyTable):
    """The channels for notices of runs that nobody watches, and what they are about."""

    on: tuple[NoticeKind, ...] = NOTICE_KINDS
    budget_share: float = Field(default=0.8, gt=0, le=1)
    """The share of a limit from which on it counts as nearly spent."""
    leaderboard_lines: int = Field(default=5, ge=0, le=15)
    """The length of the leaderboard in the daily summary."""
    webhook: WebhookSettings | None = None
    email: EmailSettings | None = None
    command: CommandSettings | None = None
    apprise: AppriseSettings | None = None
    ping: PingSettings | None = None


class _VenueUrls(PydanticBaseSettingsSource):
    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[None, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        known = {name.upper(): url for name, url in os.environ.items()}
        urls = {
            name: url
            for name, url in known.items()
            if name.startswith(_PREFIX) and name.endswith("_URL") and not SECRET_ADDRESS_NAME.fullmatch(name)
        }
        return {"urls": {name.removeprefix(_PREFIX).lower(): url for name, url in urls.items()}} if urls else {}


class _SettingsFile(InitSettingsSource):
    """A settings file; its keys that end in `_url` are addresses of venues."""

    def __init__(self, settings_cls: type[BaseSettings], file: Path, *, is_users: bool) -> None:
        """Read the file if it is there. Raises `UsageError` if it cannot be read, and `NotTrusted` if it is not the
        user's own and sets what its folder may not set untrusted.
        """
        text = _read_settings(file)
        try:
            table = {} if text is None else toml_table(text)
        except ValueError as error:
            raise UsageError(f"{file} is not TOML: {error}. Fix that line") from None
        if text is not None and not is_users:
            Folder.check_settings(file.parent, text)
        urls = {name: table.pop(name) for name in list(table) if name.endswith("_url")}
        super().__init__(settings_cls, {**table, "urls": urls} if urls else table)


def _read_settings(file: Path) -> str | None:
    try:
        return plain_text(file, MAX_BYTES, encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8. Save it as UTF-8") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}. Mend it, or take it away") from error


class Settings(BaseSettings):
    """Settings that hold for every recipe: where the hosts are and how patient to be. The environment wins over the
    files, such as `PREDIBOT_WORKERS` over `workers`, and the folder's file over the user's.
    """

    model_config = SettingsConfigDict(env_prefix=_PREFIX, extra="forbid", frozen=True)

    urls: dict[str, Url] = {}
    """Addresses that replace the venues' own, under the venues' names for them, which end in `_url`."""
    call_deadline_seconds: float = Field(default=60.0, gt=0, le=_MOST_SECONDS)
    """For all tries of one call to a venue together."""
    list_deadline_seconds: float = Field(default=60.0, gt=0, le=_MOST_SECONDS)
    """For all pages of a venue's list of events together."""
    decision_deadline_seconds: float = Field(default=600.0, gt=0, le=_MOST_SECONDS)
    """After this a bot's thread is abandoned and its decision recorded as failed."""
    lease_seconds: float = Field(default=60.0, gt=0, le=_MOST_SECONDS)
    """How long a claim outlives the last sign of life of its owner on another machine."""
    worker_wait_seconds: float = Field(default=600.0, gt=0, le=_MOST_SECONDS)
    """How long a Dask cluster may have no worker before a call that waits for one ends."""
    workers: int = Field(default=8, ge=1, le=256)
    log_file: str | None = None
    """The log of `decide`, `replay`, `track`, `evaluate`, `record` and `schedule`; None writes none."""
    log_json: bool = False
    """Whether each line of the log is a JSON object."""
    log_file_bytes: int = Field(default=10_000_000, ge=1_000)
    """A log that would grow longer becomes the first of its backups."""
    log_backups: int = Field(default=5, ge=1, le=1_000)
    otlp_endpoint: Url | None = None
    """A collector, such as `http://127.0.0.1:4318`, that gets spans of each decision with a trace after its run."""
    max_concurrency: int = Field(default=256, ge=1, le=4096)
    """The most calls at once to one provider of models, by all processes of a ledger together."""
    key_hosts: KeyHosts = {}
    """Hosts that may get a key besides its provider's own, by the key's variable."""
    notify: NotifySettings = NotifySettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return arguments, environment and files, in the order in which they win."""
        here, own = Path(SETTINGS_FILE), configuration_folder()
        users = () if own is None else (own / "predibot" / SETTINGS_FILE,)
        is_users = here.resolve() in [file.resolve() for file in users]
        files = (_SettingsFile(settings_cls, file, is_users=file in users or is_users) for file in (here, *users))
        return init_settings, _VenueUrls(settings_cls), env_settings, *files


def load_settings() -> Settings:
    """Return the settings in force. Raises `UsageError` for a setting with a wrong value, and `NotTrusted` if the
    current folder's settings need a trust that it does not have.
    """
    try:
        settings = Settings()
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        name = ".".join(str(part) for part in first["loc"] if part != "urls")
        where = f"{SETTINGS_FILE} or PREDIBOT_{name.partition('.')[0].upper()}"
        what = first["msg"].removeprefix("Value error, ").replace("Input", "it")
        raise UsageError(f"setting {name!r} is wrong: {what}. Fix {where}") from None
    except SettingsError as error:
        # Its cause may quote the value.
        name = str(error).partition('"')[2].partition('"')[0]
        raise UsageError(f"setting {name!r} is wrong: {_PREFIX}{name.upper()} is no JSON. Fix or unset it") from None
    for name in settings.urls:
        # Other programs may have variables that look alike, so only the files are checked.
        if f"{_PREFIX}{name.upper()}" not in os.environ and name not in (known := url_names()):
            raise UsageError(f"no venue has an address {name!r}. {did_you_mean(name, known)}")
    return settings
