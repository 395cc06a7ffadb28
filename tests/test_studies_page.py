"""The page of the five papers: each command that it names runs as typed."""

import re
import shlex
from itertools import product
from pathlib import Path

import pytest

from tests.acceptance.conftest import said_here
from tests.soaks import few

PAGE = (Path(__file__).parents[1] / "docs" / "studies.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize(
    ("paper", "draws"),
    few(product(SECTIONS, (True, False)), *((paper, paper == "PrediBench") for paper in SECTIONS)),
)
def test_each_command_runs_and_prints_something(
    paper: str, draws: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arena.csv").write_text("bot,arena\nscript_sharp,1400\nscript_lazy,1200\n", encoding="utf-8")
    block = re.search(r"```sh\n(.*?)```", SECTIONS[paper], flags=re.DOTALL)
    assert block is not None
    ledger, *first = block.group(1).splitlines()
    monkeypatch.setenv("PREDIBOT_LEDGER", ledger.removeprefix("export PREDIBOT_LEDGER="))
    named = re.findall(r"^\|[^|]*\| `(.*?)` \|", SECTIONS[paper], flags=re.MULTILINE)
    assert len(named) >= 5
    for command in dict.fromkeys((*first, *named)):
        program, *arguments = shlex.split(command)
        if "--figures" in arguments and not draws:
            continue
        said = said_here(*arguments)
        assert (program, said.code) == ("predibot", 0), f"{command}: {said.err}"
        assert said.out.strip() and ": 0 rows" not in said.out, command


def test_the_papers_of_the_page_are_those_of_the_command() -> None:
    printed = said_here("studies").out
    assert SECTIONS and all(paper in printed for paper in SECTIONS)
