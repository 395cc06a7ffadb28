"""Files that start the schedules on a machine: a systemd unit, a cron line, a GitHub workflow, or a container."""

import json
import math
import re
import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import yaml

from predibot.errors import UsageError

InstallKind = Literal["systemd", "cron", "github", "container"]

_PASSWORD = re.compile(r"://[^/\s@]*:[^/\s@]+@|[?&](?:ssl)?password=", re.IGNORECASE)
_COMMANDS = ("run", "run-now", "status", "install", "pause", "resume")
"""The subcommands of `predibot schedule`; a recipe may have such a name."""
_UNWRITABLE = ("Cc", "Cs", "Zl", "Zp")
"""Unicode categories of characters that may end a line, and of those that cannot be encoded."""
_STOP_SECONDS = 30
"""Seconds after the grace; giving back claims takes less."""


@dataclass(frozen=True, slots=True)
class Installation:
    """What to run, and where."""

    recipes: tuple[str, ...]
    """Files or names."""
    folder: str
    """The folder with the recipes and the ledger."""
    python: str
    """The interpreter that has predibot."""
    ledger: str | None = None
    """Its URL; None for the one in the folder."""
    grace_seconds: int = 60
    trusted: str = ""
    """The digest of a folder that the user trusts, for another machine; empty if the folder needs no trust."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What this machine's environment has to hold, such as where the user's own strategies are."""

    def __post_init__(self) -> None:
        """Raise `UsageError` if the ledger's URL has a password, or a word holds a control character."""
        if self.ledger is not None and _PASSWORD.search(self.ledger):
            raise UsageError(
                "the URL of the ledger holds a password, and so would what is written. Leave it out of the URL, and "
                "give it to the service as PGPASSWORD"
            )
        for word in (*self.recipes, self.folder, self.python, self.ledger or "", *self.variables.values()):
            if any(unicodedata.category(character) in _UNWRITABLE for character in word):
                raise UsageError(f"{word[:60]!r} holds a control character. Rename it")

    def words(self, *more: str) -> tuple[str, ...]:
        """Return the command without the program's name; no recipe is read as an option or a subcommand."""
        ledger = () if self.ledger is None else ("--ledger", self.ledger)
        if any(each.startswith("-") or each in _COMMANDS for each in self.recipes):
            return ("schedule", "run", *ledger, *more, "--", *self.recipes)
        return ("schedule", *self.recipes, *ledger, *more)


_MODULE = ("-P", "-m", "predibot")
"""Without `-P` Python would import modules of the folder that it is started in."""


def make_files(kind: InstallKind, what: Installation) -> Mapping[str, str]:
    """Return the texts of the files, by name."""
    return {"systemd": _systemd, "cron": _cron, "github": _github, "container": _container}[kind](what)


def _systemd(what: Installation) -> Mapping[str, str]:
    def escape(word: str) -> str:
        return word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")

    def quote(word: str) -> str:
        escaped = escape(word).replace("$", "$$")
        return f'"{escaped}"' if re.search(r"[^\w./:@=+,-]", word) else escaped

    if what.folder[-1:] in ("\\", " "):
        raise UsageError(f"systemd reads {what.folder[-60:]!r} as another folder. Rename it")
    command = (what.python, *_MODULE, *what.words("--grace", str(what.grace_seconds)))
    environment = "".join(f'Environment="{name}={escape(value)}"\n' for name, value in what.variables.items())
    # A path is not quoted here, and may hold blanks.
    folder = what.folder.replace("%", "%%")
    unit = f"""\
# Put this into ~/.config/systemd/user/, then:
#   systemctl --user daemon-reload
#   systemctl --user enable --now predibot
#   loginctl enable-linger          (so that it runs while nobody is logged in)
# Keys go into ~/.config/predibot.env, a line NAME=value each, readable by you alone (chmod 600).
[Unit]
Description=predibot runs its recipes by their schedules
After=network-online.target

[Service]
WorkingDirectory={folder}
{environment}EnvironmentFile=-%h/.config/predibot.env
ExecStart={" ".join(map(quote, command))}
Restart=always
RestartSec=30
# It ends its own processes within the grace, and gives back what they were at.
KillMode=mixed
TimeoutStopSec={what.grace_seconds + _STOP_SECONDS}
NoNewPrivileges=yes

[Install]
WantedBy=default.target
"""
    return {"predibot.service": unit}


def _cron(what: Installation) -> Mapping[str, str]:
    variables = "".join(f"{name}={shlex.quote(value)} " for name, value in what.variables.items())
    command = variables + shlex.join((what.python, *_MODULE, *what.words("--once")))
    # Cron reads a per cent sign as the end of the line, even within quotes.
    line = f"cd {shlex.quote(what.folder)} && mkdir -p runs/out && {command} >> runs/out/schedule.log 2>&1"
    if "\\%" in line:
        raise UsageError("cron ends a line at a per cent sign behind a backslash. Rename the recipe or the folder")
    text = f"""\
# Add this with `crontab -e`. It looks every five minutes what is due, and ends; while one look plays a run,
# the next ones leave it alone. Keys go above it, a line NAME=value each.
*/5 * * * * {line.replace("%", chr(92) + "%")}
"""
    return {"predibot.cron": text}


def _github(what: Installation) -> Mapping[str, str]:
    words = shlex.join(what.words("--once"))
    if what.ledger is not None:
        raise UsageError("the workflow keeps its ledger in a branch of its own. Leave out --ledger")
    # GitHub would evaluate `${{`; inside an expression, a string stays as it is.
    command = f"predibot {words}".replace("${{", "${{ '${{' }}")
    trusted = f"    env:\n      PREDIBOT_TRUST: {what.trusted}\n" if what.trusted else ""
    return {
        ".github/workflows/predibot.yml": _WORKFLOW.replace("@TRUSTED@", trusted).replace(
            "@COMMAND@", yaml.safe_dump(command, default_style='"', allow_unicode=True, width=math.inf).rstrip("\n")
        )
    }


_WORKFLOW = """\
# GitHub starts this late, at times by hours, and now and then not at all. So it looks every hour what is due: a run
# that was missed is made up within `catch_up` of its recipe, and an older one has a row that says so.
#
# The ledger lives between runs in the branch predibot-ledger, which has one commit and no other files. Anybody who can
# read the repository can read it. It is pushed after every run, also one that failed, unless it could not be fetched.
name: predibot
on:
  schedule:
    - cron: "17 * * * *"
  workflow_dispatch:
# One at a time, and none is ended by the next: a second one would begin from a ledger that is not pushed yet.
concurrency:
  group: predibot-ledger
  cancel-in-progress: false
permissions:
  contents: write
jobs:
  schedule:
    runs-on: ubuntu-latest
    timeout-minutes: 180
@TRUSTED@    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2
        with:
          persist-credentials: false
      - uses: actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0
        with:
          python-version: "3.12"
          cache: pip
      - name: install
        run: .github/daily/install
      - name: fetch the ledger
        id: fetch
        run: .github/daily/fetch-ledger
        # Whoever has this address can write to the repository: it is kept in no file, as agents play beside these.
        env:
          LEDGER_REMOTE: https://x-access-token:${{ github.token }}@github.com/${{ github.repository }}
      - name: play what is due
        # A key a line, from the secrets of the repository:
        # env:
        #   OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}
        run: @COMMAND@
      - name: store the ledger
        # Also after a failure, but never where the ledger was not fetched: an empty one would take its place.
        if: always() && steps.fetch.outcome == 'success'
        run: .github/daily/store-ledger
        env:
          LEDGER_REMOTE: https://x-access-token:${{ github.token }}@github.com/${{ github.repository }}
      - name: say whether all is well
        if: always()
        run: predibot status
"""


def _container(what: Installation) -> Mapping[str, str]:
    command = json.dumps(what.words("--grace", str(what.grace_seconds)))
    health = json.dumps(("predibot", "status", *(() if what.ledger is None else ("--ledger", what.ledger))))
    # The driver of PostgreSQL is an extra.
    pins = ("requirements.txt", *(["requirements-postgres.txt"] if (what.ledger or "").startswith("postgres") else []))
    dockerfile = f"""\
# Build it in a checkout of predibot, whose recipes in runs/ come with it.
FROM python:3.12-slim
WORKDIR /predibot
COPY {" ".join(pins)} ./
RUN python -m pip install --no-cache-dir --require-hashes {" ".join(f"-r {each}" for each in pins)}
COPY . .
RUN python -m pip install --no-cache-dir --no-deps --no-build-isolation . \\
    && useradd --create-home predibot \\
    && mkdir -p runs/out \\
    && chown predibot runs/out
USER predibot
# The ledger is in here, and must outlive the container.
VOLUME /predibot/runs/out
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5m --timeout=30s CMD {health}
ENTRYPOINT ["predibot"]
CMD {command}
"""
    trusted = f"    environment:\n      PREDIBOT_TRUST: {what.trusted}\n" if what.trusted else ""
    compose = f"""\
services:
  predibot:
    build: .
    restart: unless-stopped
    init: true
    stop_grace_period: {what.grace_seconds + _STOP_SECONDS}s
    volumes:
      - ledger:/predibot/runs/out
{trusted}    # Keys, a line NAME=value each; the file is no part of the image.
    env_file:
      - path: .env
        required: false
volumes:
  ledger:
"""
    ignored = ".git\n.venv\n.env\nruns/out\n**/__pycache__\n"
    return {"Dockerfile": dockerfile, "compose.yaml": compose, ".dockerignore": ignored}
