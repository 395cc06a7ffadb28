"""The pages: each fenced block says what it holds, and each command in one runs, and prints what stands below it.

Commands that only a network, another machine or another program can run are named as such. README.md, the page of the
five papers and that of operations are played in worlds of their own, by the files of tests that are named here.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from predibot.cli.app import program
from tests.acceptance.conftest import own_plugins, said_here
from tests.forked import Forked
from tests.jobs.imports import predibench_day, test_forecastbench
from tests.worlds import Worlds, demo, three_games, week_of_stocks, weeks

ROOT = Path(__file__).parents[1]
PAGES = {path.stem: path for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md")))}
PLAYED_ELSEWHERE = {"README": "test_readme.py", "operations": "test_operations.py", "studies": "test_studies_page.py"}
OTHER_PROGRAMS = {"make", "pip", "git", "dask", "systemctl", "loginctl", "cp", "touch", ".ci/run", "source", "python3"}
LANGUAGES = {"sh", "console", "text", "toml", "json", "csv", "python", "py", "yaml", "html"}
CHANGING = re.compile(r"\b[0-9a-f]{64}\b|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z|\b\d+\.\d+ s\b")
"""What is another one at each call: hashes of what has clocks in it, instants with their microseconds, and times."""


@dataclass(frozen=True)
class Step:
    """A command of a page, and the pieces of what it prints that stand below it."""

    command: str
    printed: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """Return what is run, without the variables before it."""
        return next(word for word in shlex.split(self.command, comments=True) if "=" not in word)

    @property
    def runs_here(self) -> bool:
        """Return whether neither a network nor another program is needed."""
        return "# needs " not in self.command and self.program not in OTHER_PROGRAMS


def fenced(page: str) -> list[tuple[str, str]]:
    """Return the language and the text of each block, in their order."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", PAGES[page].read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def steps(page: str) -> Iterator[Step]:
    """Return the commands of a page, in their order."""
    for language, text in fenced(page):
        if language == "sh":
            yield from (Step(line) for line in text.splitlines() if line.strip() and not line.startswith("#"))
        elif language == "console":
            for each in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, printed = each.partition("\n")
                yield Step(
                    command, tuple(piece.strip() for piece in re.split(r"^\.\.\.$", printed, flags=re.MULTILINE))
                )
    # Those of tables, as the page of the studies has them.
    cells = re.findall(r"^\|[^|]*\| `(predibot .*?)` \|", PAGES[page].read_text("utf-8"), flags=re.MULTILINE)
    yield from map(Step, cells if page == "studies" else ())


def same_each_time(text: str) -> str:
    """Return a text without what changes from call to call, and without blanks at the ends of lines."""
    return CHANGING.sub("*", re.sub(r" +$", "", text, flags=re.MULTILINE))


def run(step: Step, patch: pytest.MonkeyPatch) -> None:
    """Run a step in the current folder as a shell would, within this process."""
    words = shlex.split(step.command, comments=True)
    if words[0] == "export":
        name, value = words[1].split("=", 1)
        patch.setenv(name, os.path.expandvars(value.replace("$PWD", str(Path.cwd()))))
    elif words[0] == "cd":
        patch.chdir(words[1])
    elif words[:2] == ["mkdir", "-p"]:
        Path(words[2]).mkdir(parents=True, exist_ok=True)
    elif words[0] == "echo":
        Path(words[3]).write_text(f"{words[1]}\n", encoding="utf-8")
    elif words[:2] == ["predibot", "serve"]:
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with Forked(*words[1:], "--port", "0", folder=Path.cwd(), environment=os.environ, **streams) as server:
            assert server.stdout is not None
            lines = iter(server.stdout.readline, "")
            assert any("http://127.0.0.1:" in line for line in lines)
            server.terminate()
            server.stdout.read()
    else:
        program, *arguments = words
        target = arguments.pop() if len(arguments) > 1 and arguments[-2] in (">", ">>") else None
        added = target is not None and arguments.pop() == ">>"
        if "backups/NEWEST" in arguments:
            arguments[arguments.index("backups/NEWEST")] = str(max(Path("backups").glob("*.db")))
        own = os.environ.get("PREDIBOT_STRATEGIES")
        # A folder of plug-ins is looked into when the program starts.
        with nullcontext() if own is None else own_plugins("strategies", Path(own)):
            said = said_here(*arguments)
        assert (program, said.code) == ("predibot", 0), f"{step.command}: {said.out}{said.err}"
        if target is not None:
            with Path(target).open("a" if added else "w", encoding="utf-8") as file:
                file.write(said.out)
        rest = same_each_time(said.out)
        for piece in filter(None, map(same_each_time, step.printed)):
            assert piece in rest, f"{step.command} does not print\n{piece}\nbut\n{rest}"
            rest = rest.partition(piece)[2]


# What a page takes for granted, in the folder of its commands.


def of_csv_blocks(page: str, *names: str) -> None:
    """Write the tables that stand on a page to the files that it calls them."""
    tables = [text for language, text in fenced(page) if language == "csv"]
    for name, table in zip(names, tables, strict=False):
        Path(name).write_text(table, encoding="utf-8")


def of_score(worlds: Worlds) -> None:
    """Write the two files of forecasts, and three sets of ForecastBench."""
    of_csv_blocks("score", "forecasts.csv", "answers.csv")
    of_import(worlds)


def of_import(worlds: Worlds) -> None:
    """Write a recorded day of PrediBench, three sets of ForecastBench, and a ledger."""
    worlds.copy(weeks, Path())
    test_forecastbench.write_sets(*(f"2026-07-19{end}.json" for end in (".acme", "-llm", "_resolution_set")))
    predibench_day.write_day(Path("model_results/2025-09-18"), dict.fromkeys(predibench_day.MODELS, 1))


def of_weekly(worlds: Worlds) -> None:
    """Put cohorts where the demo of them leaves its ledger."""
    Path("runs/out").mkdir(parents=True)
    shutil.copyfile(worlds(three_games) / "ledger.db", "runs/out/demo_weekly.db")


PREPARED: dict[str, Callable[[Worlds], object]] = {
    # What users of other programs bring.
    "coming-from": lambda _: of_csv_blocks("coming-from", "account.csv", "metaculus.csv"),
    "import": of_import,
    # Three slots of events in the ledger that is taken where none is named.
    "ledger": lambda worlds: worlds.copy(weeks, Path()),
    "related": lambda worlds: worlds.copy(demo, Path()),
    "score": of_score,
    "stocks": lambda worlds: shutil.copytree(worlds(week_of_stocks) / "stocks", "runs/out/demo_stocks"),
    "web": lambda worlds: worlds.copy(weeks, Path()),
    "weekly": of_weekly,
}
ALIKE = ("coming-from", "import", "score", "beliefbench", "stakebench", "studies")
"""Pages that repeat commands of each other, which are played on the last of them."""
PLAYED_ON = {tuple(shlex.split(step.command, comments=True)): page for page in ALIKE for step in steps(page)}
WITH_COMMANDS = [page for page in PAGES if page not in PLAYED_ELSEWHERE and any(step.runs_here for step in steps(page))]


@pytest.mark.parametrize("page", PAGES)
def test_each_block_says_what_it_holds_and_every_file_it_points_to_is_there(page: str) -> None:
    assert {language for language, _ in fenced(page)} <= LANGUAGES
    assert all((ROOT / "tests" / file).exists() for file in PLAYED_ELSEWHERE.values())
    targets = re.findall(r"\]\(([^)#:]+)\)", PAGES[page].read_text("utf-8"))
    assert [each for each in targets if not (PAGES[page].parent / each).exists()] == []


def test_every_folder_that_the_readme_names_is_there() -> None:
    readme, later = PAGES["README"].read_text("utf-8"), ("runs/out", "strategies/contrarian.py")
    named = re.findall(r"`((?:predibot|tests|strategies|tools|runs|docs)[\w/.]*)`", readme)
    gone = {each for each in named if not (ROOT / each).exists() and not each.startswith(later)}
    assert gone <= {"predibot.toml"}


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_each_command_of_a_page_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worlds: Worlds
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    PREPARED.get(page, lambda worlds: None)(worlds)
    for step in steps(page):
        words = tuple(shlex.split(step.command, comments=True))
        if step.runs_here and (page not in ALIKE or PLAYED_ON[words] == page):
            run(step, monkeypatch)
    if page == "tutorial":
        for language, text in fenced(page):
            if language == "python":
                exec(compile(text, page, "exec"), {})


def test_no_page_has_a_word_that_only_we_know() -> None:
    prose = {
        page: re.sub(r"```.*?```|`[^`]*`", "", path.read_text("utf-8"), flags=re.DOTALL) for page, path in PAGES.items()
    }
    private = re.compile(r"\b(event-)?slots?\b|sure~error|E below 20", re.IGNORECASE)
    assert {page: found[0] for page, text in prose.items() if (found := private.search(text))} == {}


SOURCE = re.compile(r"Measured by `(tests/[\w/]+\.py)`, (?:no seed|seeds? [^`]+), commit `([0-9a-f]{8})`\.")


def test_what_was_measured_names_its_script_its_seed_and_its_commit() -> None:
    texts = {page: path.read_text("utf-8") for page, path in PAGES.items()}
    found = {page: SOURCE.findall(text) for page, text in texts.items()}
    assert {page for page, text in texts.items() if text.count("Measured by") != len(found[page])} == set()
    assert not [page for page, text in texts.items() if re.search(r"tests/benchmarks/\w", SOURCE.sub("", text))]
    tables = [each for each in re.split(r"^#{2,3} ", texts["coverage"], flags=re.MULTILINE) if "|---:|" in each]
    assert len(tables) > 10 and [each.partition("\n")[0] for each in tables if not SOURCE.search(each)] == []
    scripts, commits = zip(*{source for of_page in found.values() for source in of_page}, strict=True)
    assert [script for script in scripts if not (ROOT / script).exists()] == []
    git = partial(subprocess.run, cwd=ROOT, capture_output=True, text=True, check=False)
    if git(["git", "rev-parse", "--is-shallow-repository"]).stdout.strip() == "false":
        listed = git(["git", "cat-file", "--batch-check"], input="\n".join(commits)).stdout.splitlines()
        assert [line for line in listed if line.split()[1] != "commit"] == []


def test_each_command_that_is_named_in_a_sentence_has_the_options_named_with_it() -> None:
    root: Any = get_command(program())
    wrong, count = [], 0
    for page, path in PAGES.items():
        # One of many words is a sentence that begins with the name.
        for line in re.findall(r"`predibot ([a-z][^`]*)`", path.read_text("utf-8")):
            command, words = root, shlex.split(line, comments=True)
            while words and words[0] in getattr(command, "commands", ()):
                command = command.commands[words.pop(0)]
            if command.name == "schedule":
                command = command.commands["run"]
            options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {"--help"}
            named = {word.partition("=")[0] for word in words if word.startswith("--")}
            count += 1
            if command is root or not (named <= options or line.startswith("import --format")):
                wrong.append(f"{page}: {line}")
    assert (wrong, count > 200) == ([], True)
