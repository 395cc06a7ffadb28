"""Hints run as typed where they are read."""

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer import TyperException
from typer.main import get_command

from predibot.cli import place
from predibot.cli.app import program
from predibot.reports.terminal.hints import CallSite, in_place, runnable

HERE = CallSite("bin/predibot", "--ledger sqlite:///my.db", {"report", "ledger stats"}, "bin/pip install '.[{extra}]'")


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("Run `predibot report` first.", "Run `bin/predibot report --ledger sqlite:///my.db` first."),
        ("`predibot ledger stats` tells", "`bin/predibot ledger stats --ledger sqlite:///my.db` tells"),
        ("`predibot ledger copy A B`", "`bin/predibot ledger copy A B`"),
        ("`predibot report --ledger x.db`", "`bin/predibot report --ledger x.db`"),
        ("`predibot report '--ledger=x y.db'`", "`bin/predibot report '--ledger=x y.db'`"),
        ("See `predibot report --help`", "See `bin/predibot report --help`"),
        ("  predibot bots", "  bin/predibot bots"),
        ("see predibot report", "see predibot report"),
        ("pictures: pip install 'predibot[plots]'", "pictures: bin/pip install '.[plots]'"),
    ],
)
def test_a_command_of_a_text_is_typed_as_the_place_has_it(text: str, typed: str) -> None:
    with in_place(HERE):
        assert runnable(text) == typed
    assert runnable(text) == text


PACKAGE = Path(place.__file__).parents[1]
TEXTS = [file for kind in ("py", "html", "toml") for file in sorted(PACKAGE.rglob(f"*.{kind}"))]


def hints_in(source: str) -> Iterator[str]:
    """Yield the commands in the texts of a source that people read, each text as one piece; docstrings are left out."""
    whole = re.sub(r'"\s*\n\s*f?"', "", re.sub(r'""".*?"""', "", source, flags=re.DOTALL))
    yield from re.findall(r"(?:`|^  |[\"\n]  |, \"|#   |<code>)predibot ([a-z][^`\n\"<]*)", whole, flags=re.MULTILINE)


def why_not_run(hint: str, whole: Any) -> str:
    """Return why the program would not take a hint, with any value in the place of each field; empty if it would."""
    error = "it names no command"
    # The value of a field is a word, a number, a folder, an instant or a study.
    for value in ("x", "1", ".", "2026-01-01T00:00Z", "stakebench"):
        # Help would be printed.
        filled = re.sub(r"(\w?)\{[^{}]*\}", rf"\1 {value}", hint.replace(" --help", ""))
        command, words = whole, shlex.split(filled)
        context = command.context_class(command)
        while words and hasattr(command, "commands") and (below := command.get_command(context, words[0])):
            command = below
            context, words = command.context_class(command, parent=context), words[1:]
        if command is whole or (words and hasattr(command, "commands") and command.name != "schedule"):
            continue
        try:
            command.parse_args(context, words)
        except TyperException as wrong:
            error = f"{wrong}"
        else:
            return ""
    return error


def test_the_program_takes_each_command_that_any_text_of_the_package_names() -> None:
    whole: Any = get_command(program())
    sources = [source for file in TEXTS if "predibot " in (source := file.read_text("utf-8"))]
    found = {hint for source in sources for hint in hints_in(source)}
    wrong = [(hint, why) for hint in found if (why := why_not_run(hint, whole))]
    assert (wrong, len(found) > 50) == ([], True)


def test_each_command_with_a_ledger_is_known_to_hints() -> None:
    def has_ledger(command: Any) -> bool:
        return any(option.name == "ledger" for option in command.params)

    whole: Any = get_command(program())
    found = set[str]()
    for name, command in whole.commands.items():
        below = getattr(command, "commands", {})
        of = {each: has_ledger(one) for each, one in below.items()} or {"": has_ledger(command)}
        found |= {name} if all(of.values()) else {f"{name} {each}" for each, has in of.items() if has}
    assert found == {*place._WITH_LEDGER}


@pytest.mark.parametrize(
    ("called", "path", "typed"),
    [
        ("predibot", "", "./predibot"),
        (".venv/bin/predibot", "", ".venv/bin/predibot"),
        (".venv/bin/predibot", ".venv/bin", "predibot"),
        ("predibot/__main__.py", "", ".venv/bin/predibot"),
        ("-c", "", ".venv/bin/predibot"),
    ],
)
def test_the_program_is_named_as_it_was_called(
    called: str, path: str, typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / ".venv/bin/predibot"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    (tmp_path / "predibot").write_text("#!/bin/sh\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / called)])
    monkeypatch.setattr(sys, "executable", str(script.with_name("python")))
    monkeypatch.setenv("PATH", str(tmp_path / path) if path else "")
    found = place.place_of(["report", "--ledger", "other", "--ledger=sqlite:///a b.db"])
    assert (found.program, found.ledger) == (typed, "'--ledger=sqlite:///a b.db'")
    assert found.install.startswith(".venv/bin/python -m pip install -e '") and found.install.endswith("[{extra}]'")


def test_in_a_folder_that_is_gone_paths_are_as_they_were_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    script = tmp_path / "predibot"
    script.write_text("#!/bin/sh\n")
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setenv("PATH", "")
    assert place.place_of([]).program == str(script)
