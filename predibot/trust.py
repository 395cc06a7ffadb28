"""Trust in folders: the settings and recipes that only a folder's user may allow.

A folder may come from anybody. Its `predibot.toml` may send keys and texts elsewhere, start a program, or write files,
and a recipe may start a program or load the code of a model. `predibot trust` allows these powers: it stores the
folder's path with a digest of its `predibot.toml` and of every such recipe. So does the digest in `PREDIBOT_TRUST`.
"""

import hashlib
import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any

from predibot.domain.untrusted_text import toml_table
from predibot.environment import state_folder, trusted_digests
from predibot.errors import NotTrusted, PluginError, UsageError
from predibot.plain_file import plain_text
from predibot.plugins import strategies, tools
from predibot.whole_file import blame_path, whole_file

SETTINGS_FILE = "predibot.toml"
HARMLESS = frozenset(
    {
        "call_deadline_seconds",
        "decision_deadline_seconds",
        "lease_seconds",
        "list_deadline_seconds",
        "log_json",
        "max_concurrency",
        "worker_wait_seconds",
        "workers",
    }
)
"""Settings that any folder may have: how patient to be, and how much to do at once."""
MAX_BYTES = 1_000_000
_RUNS = "runs"
_MOST_FILES = 1_000
_MOST_CHARACTERS = 4_000_000
"""The bound for all files together; a megabyte takes two seconds to read."""
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Folder:
    """A folder with its settings and recipes, and which of these need its user's trust."""

    path: Path
    """Absolute, without links."""
    texts: Mapping[str, str]
    """`predibot.toml`, and the recipes beside it and in `runs/`, by name."""

    @classmethod
    def read(cls, path: Path, known: Mapping[str, str] | None = None) -> "Folder":
        """Return a folder as it is now, with `known` texts by file name in place of what its files say.

        Raises `UsageError` if it holds too many recipes, or too long ones.
        """
        whole = path.resolve()
        files = [whole / SETTINGS_FILE, *sorted(whole.glob("*.toml")), *sorted((whole / _RUNS).glob("*.toml"))]
        if len(files) > _MOST_FILES:
            raise UsageError(f"{path} holds more than {_MOST_FILES:,} recipes. Move some to another folder")
        texts = {file.relative_to(whole).as_posix(): text for file in files if (text := _read_text(file)) is not None}
        if sum(map(len, texts.values())) > _MOST_CHARACTERS:
            raise UsageError(f"the recipes in {path} have more than {_MOST_CHARACTERS:,} characters. Move some away")
        return cls(whole, {**texts, **(known or {})})

    @cached_property
    def powers(self) -> Mapping[str, tuple[str, ...]]:
        """Return what needs the user's trust, by file name; harmless files are left out."""
        found = {name: tuple(_powers(name, parse_toml_or_empty(text))) for name, text in self.texts.items()}
        return {name: powers for name, powers in found.items() if powers}

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the settings and of every recipe that needs trust, as they are written."""
        counted = {name: text for name, text in self.texts.items() if name == SETTINGS_FILE or name in self.powers}
        text = json.dumps(sorted(counted.items()), ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def trust(self) -> None:
        """Store the user's trust in this folder as it is; raise `UsageError` if it cannot be stored."""
        path = _trust_file(self.path)
        with blame_path(path, ". Set XDG_STATE_HOME to a folder"):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with whole_file(path) as file:
                file.write(json.dumps({"folder": str(self.path), "digest": self.digest}).encode())

    def distrust(self) -> None:
        """Forget the user's trust."""
        _trust_file(self.path).unlink(missing_ok=True)

    @property
    def is_trusted(self) -> bool:
        """Return whether the user trusts it as it is."""
        return self.digest in trusted_digests() or self.digest == self._trusted_digest

    @property
    def _trusted_digest(self) -> str | None:
        try:
            trust = json.loads(_read_text(_trust_file(self.path)) or "null")
        except (ValueError, RecursionError, UsageError):
            return None
        return trust.get("digest") if isinstance(trust, dict) and trust.get("folder") == str(self.path) else None

    @classmethod
    def check_settings(cls, path: Path, text: str) -> None:
        """Refuse the settings of a folder where they need the user's trust and do not have it."""
        if any(_powers(SETTINGS_FILE, parse_toml_or_empty(text))):
            cls.read(path, {SETTINGS_FILE: text}).check(SETTINGS_FILE)

    def check(self, name: str) -> None:
        """Refuse a file of the folder where it needs the user's trust and does not have it."""
        powers = self.powers.get(name)
        if not powers or self.is_trusted:
            return
        named = ", ".join((*powers[:_MOST_SHOWN], *["and more"][: len(powers) > _MOST_SHOWN]))
        why = "was changed since it was trusted" if self._trusted_digest else "is not trusted"
        raise NotTrusted(
            f"{name} of the folder {self.path} sets {named}, which can send keys away, start programs or write files, "
            f"and the folder {why}. Read it; `predibot trust {shlex.quote(str(self.path))}` allows what it is now"
        )


def allowed_programs(path: Path) -> frozenset[str]:
    """Return what starts programs in the recipes of a folder; nothing where its user does not trust it."""
    found = Folder.read(path)
    return frozenset(chain.from_iterable(found.powers.values())) if found.powers and found.is_trusted else frozenset()


def check_recipe(file: Path, text: str) -> None:
    """Refuse a recipe that needs the user's trust where its folder, or the one above `runs/`, does not have it."""
    if powers := [*_powers(file.name, parse_toml_or_empty(text))]:
        if file.suffix != ".toml":
            raise NotTrusted(f"{file} sets {powers[0]}, and its name does not end in .toml. Rename it, and trust it")
        folder = recipe_folder(file)
        name = file.name if folder == file.parent.resolve() else f"{_RUNS}/{file.name}"
        Folder.read(folder, {name: text}).check(name)


def recipe_folder(file: Path) -> Path:
    """Return the folder that a recipe belongs to: its own, or the one above `runs/`."""
    parent = file.parent.resolve()
    return parent.parent if parent.name == _RUNS else parent


def parse_toml_or_empty(text: str) -> Mapping[str, Any]:
    """Return the table of a TOML text; an empty one for broken TOML, which is refused where it is used."""
    try:
        return toml_table(text)
    except ValueError:
        return {}


def _powers(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of a file that need the user's trust."""
    if name == SETTINGS_FILE:
        for key, value in table.items():
            if key == "notify" and isinstance(value, dict) and value:
                yield from (f"notify.{part}"[:80] for part in value)
            elif key not in HARMLESS:
                yield key[:80]
        return
    selection, bots, search = table.get("selection"), table.get("bots"), table.get("search")
    if isinstance(selection, dict) and selection.get("duplicate_model"):
        # The folder of a model may hold code, which sentence-transformers runs.
        yield "selection.duplicate_model"
    for bot in bots if isinstance(bots, list) else ():
        if isinstance(bot, dict):
            yield from find_programs(bot.get("strategy"), bot.get("tools"))
    providers = search.get("providers") if isinstance(search, dict) else None
    for provider in providers if isinstance(providers, list) else ():
        if isinstance(provider, str) and _starts_program(partial(tools.starts_program, kind="search"), provider):
            yield f'search provider "{provider[:80]}"'


def find_programs(strategy: object, tool_names: object) -> Iterator[str]:
    """Yield a bot's strategy and tools where they start programs."""
    if isinstance(strategy, str) and _starts_program(strategies.starts_program, strategy):
        yield f'strategy = "{strategy[:80]}"'
    for tool in tool_names if isinstance(tool_names, list | tuple) else ():
        if isinstance(tool, str) and _starts_program(tools.starts_program, tool):
            yield f'tool "{tool[:80]}"'


def _starts_program(starts_program: Callable[[str], bool], name: str) -> bool:
    try:
        return starts_program(name)
    except PluginError:
        # A broken plug-in starts nothing.
        return False


def _trust_file(path: Path) -> Path:
    try:
        return state_folder() / "predibot" / "trusted" / f"{hashlib.sha256(str(path).encode()).hexdigest()}.json"
    except RuntimeError as error:
        raise UsageError(f"{error}; set XDG_STATE_HOME to a folder") from error


def _read_text(file: Path) -> str | None:
    try:
        return plain_text(file, MAX_BYTES, encoding="utf-8-sig")
    except (OSError, ValueError):
        return None
