"""Recipe texts: found by path or name, the user's own or packaged ones, with the line of every key."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from predibot.domain.category import CryptoWords, parse_crypto_words
from predibot.domain.spelling import nearest
from predibot.errors import RecipeError
from predibot.plain_file import plain_text
from predibot.trust import MAX_BYTES, check_recipe, recipe_folder

KeyPath = tuple[str | int, ...]
DEFAULT = "daily"
_RUNS = "runs"
_ENDING = ".toml"


@dataclass(frozen=True, slots=True)
class RecipeText:
    """The text of a recipe."""

    text: str
    label: str
    """Its name in messages: the path as the user writes it, or that it is packaged."""
    name: str
    """The recipe's name where the text states none: the file name without its ending."""
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    """The lines of its keys, once known; the empty path has the last line."""
    folder: Path | None = None
    """The folder of its files, which is the one above `runs/` for a recipe there; None for a packaged recipe."""

    def line(self, path: KeyPath) -> int:
        """Return the line of a key, or of the nearest table around it that has one."""
        around = (path[:length] for length in range(len(path), -1, -1))
        return next(self.lines[part] for part in around if part in self.lines)

    def error(self, path: KeyPath, what: str) -> RecipeError:
        """Return the error that says what is wrong with a key."""
        return RecipeError(f"{self.label}, line {self.line(path)}: {what}")


def find_recipe(argument: str | None, folder: Path) -> RecipeText:
    """Return the text of a recipe; raise `NotTrusted` if it needs the user's trust, and its folder does not have it.

    A name, and None for the daily recipe, are looked up first in `runs/` of the folder and then among the packaged
    ones.
    """
    name = DEFAULT if argument is None else argument
    is_path = name.endswith(_ENDING) or len(Path(name).parts) > 1
    label = name if is_path else f"{_RUNS}/{name}{_ENDING}"
    path = folder / label
    text = _read_text(path, label)
    if text is not None:
        check_recipe(path, text)
        return RecipeText(text, label, path.stem, folder=recipe_folder(path))
    if not is_path and name in packaged_recipe_names():
        return RecipeText(packaged_recipe_text(name), f"the packaged recipe {name!r}", name)
    raise RecipeError(f"no recipe {name!r}. {_suggest(name, folder)}")


def _suggest(name: str, folder: Path) -> str:
    """Return the recipe with the most similar name, or all names."""
    known = {recipe: repr(recipe) for recipe in packaged_recipe_names()}
    known |= {path.stem: repr(f"{_RUNS}/{path.name}") for path in sorted((folder / _RUNS).glob(f"*{_ENDING}"))}
    found = nearest(Path(name).stem, known)
    if found is not None:
        return f"Did you mean {known[found]}?"
    return f"There are: {', '.join(known[recipe] for recipe in sorted(known))}"


def _read_text(path: Path, label: str) -> str | None:
    try:
        return plain_text(path, MAX_BYTES, encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise RecipeError(f"{label}, line {line}: this is not UTF-8. Save the file as UTF-8") from None
    except OSError as error:
        raise RecipeError(f"{label} cannot be read: {error.strerror}. Name a recipe file") from None


def packaged_recipe_names() -> tuple[str, ...]:
    """Return the names of the recipes that come with predibot."""
    found = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in found if name.endswith(_ENDING)))


def packaged_recipe_text(name: str) -> str:
    """Return the text of a packaged recipe."""
    return _folder().joinpath(f"{name}{_ENDING}").read_text(encoding="utf-8")


def packaged_crypto_words() -> CryptoWords:
    """Return the words that mark an event as one about crypto."""
    return parse_crypto_words(_folder().joinpath("crypto_words.txt").read_text(encoding="utf-8"))


def _folder() -> Traversable:
    return files("predibot").joinpath("recipes")


def key_lines(text: str) -> dict[KeyPath, int]:
    r"""Return the line of every key, table and list element of a valid TOML text, counted from 1.

    Tables of a list have their index in the path: `("bots", 0, "name")`. A table that only a longer key implies stands
    where it is first implied. The parser of the standard library keeps no lines.

    Examples:
        >>> key_lines("seed = 1\n[[bots]]\nstrategy = 'x'")[("bots", 0, "strategy")]
        3
    """
    scan = _LineScanner(text.replace("\r\n", "\n"))
    scan.document()
    return scan.lines


_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]+")


class _LineScanner:
    """One pass over a text; it recognises strings, and reads no values."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._text = text
        self._at = 0
        self._line, self._counted_to = 1, 0
        self._last_index: dict[KeyPath, int] = {}

    def document(self) -> None:
        table: KeyPath = ()
        while self._peek(_BLANK):
            table = self._read_header() if self._text[self._at] == "[" else self._read_pair(table)

    def _peek(self, skipped: re.Pattern[str]) -> str:
        """Skip a pattern and return the next character; empty at the end."""
        self._skip(skipped)
        return self._text[self._at : self._at + 1]

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found.group()

    def _add_lines(self, path: KeyPath, since: int) -> None:
        # Keys come in the order of the text, so each line is counted only once.
        self._line += self._text.count("\n", self._counted_to, since)
        self._counted_to = since
        line = self._line
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)

    def _read_header(self) -> KeyPath:
        """Read `[a.b]` or `[[a.b]]` and return the table that the next keys belong to."""
        since = self._at
        is_list = self._text.startswith("[[", self._at)
        self._at += 2 if is_list else 1
        keys = self._read_key()
        self._at += 2 if is_list else 1
        path: KeyPath = ()
        for key in keys[:-1]:
            path = self._latest((*path, key))
        path = (*path, keys[-1])
        if is_list:
            self._last_index[path] = self._last_index.get(path, -1) + 1
        path = self._latest(path)
        self._add_lines(path, since)
        return path

    def _latest(self, path: KeyPath) -> KeyPath:
        """Return the path with the index of its newest table, if it is a list of tables."""
        return (*path, self._last_index[path]) if path in self._last_index else path

    def _read_key(self) -> tuple[str, ...]:
        parts = []
        while True:
            if self._peek(_SPACE) in ('"', "'"):
                parts.append(str(tomllib.loads(f"key = {self._skip(_STRING)}")["key"]))
            else:
                parts.append(self._skip(_BARE_KEY))
            if self._peek(_SPACE) != ".":
                return tuple(parts)
            self._at += 1

    def _read_pair(self, table: KeyPath) -> KeyPath:
        since = self._at
        path = (*table, *self._read_key())
        self._add_lines(path, since)
        self._at += 1
        self._read_value(path)
        return table

    def _read_value(self, path: KeyPath) -> None:
        first = self._peek(_SPACE)
        if first == "[":
            self._read_list(path)
        elif first == "{":
            self._read_inline_table(path)
        elif first in ('"', "'"):
            self._skip(_STRING)
        else:
            self._skip(_SCALAR)

    def _read_list(self, path: KeyPath) -> None:
        self._at += 1
        index = 0
        while (following := self._peek(_BLANK)) != "]":
            if following == ",":
                self._at += 1
                continue
            self._add_lines((*path, index), self._at)
            self._read_value((*path, index))
            index += 1
        self._at += 1

    def _read_inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while (following := self._peek(_BLANK)) != "}":
            if following == ",":
                self._at += 1
            else:
                self._read_pair(path)
        self._at += 1
