"""The newcomer's tour, and the house it leads through: names exist, folders stay small, no imports run in a circle."""

import re
from collections import Counter, defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from tests.packaging.conftest import REPOSITORY

MOST_MODULES = 18
ONE_FILE_A_COMMAND = {"predibot/cli"}
CONTRIBUTING = REPOSITORY / "CONTRIBUTING.md"
PAGES = [
    CONTRIBUTING,
    REPOSITORY / "README.md",
    REPOSITORY / "tools" / "README.md",
    *(REPOSITORY / "docs").glob("*.md"),
]
TOUR = CONTRIBUTING.read_text("utf-8").split("\n## ")[1]


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("predibot", cache_dir=None)


def _paths(page: Path) -> set[Path]:
    """Return the files that a page names or links to; those of `runs/out/` are made, and the user's."""
    text = page.read_text("utf-8")
    named = re.findall(r"`((?:predibot|strategies|tools|tests|docs|runs(?!/out)|\.ci)/[\w/.-]*)`", text)
    linked = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    return {REPOSITORY / path for path in named} | {page.parent / path for path in linked}


def test_every_path_that_a_page_names_exists() -> None:
    assert len(_paths(CONTRIBUTING)) > 60
    missing = [f"{page.name}: {path}" for page in PAGES for path in _paths(page) if not path.exists()]
    assert missing == []


def test_the_tour_names_fifteen_changes_and_every_name_it_uses() -> None:
    table = TOUR.split("| I want to ... | open ... |")[1]
    assert len([line for line in table.splitlines() if line.startswith("| ")]) == 15
    code = "\n".join(path.read_text("utf-8") for path in (REPOSITORY / "predibot").rglob("*.py"))
    names = set(re.findall(r"`([A-Z][A-Za-z]+)`", TOUR))
    assert names
    assert [name for name in sorted(names) if f"class {name}" not in code] == []


def test_a_folder_holds_so_many_modules_at_most() -> None:
    modules = [path.relative_to(REPOSITORY) for path in (REPOSITORY / "predibot").rglob("*.py")]
    held = Counter(path.parent.as_posix() for path in modules if path.name != "__init__.py")
    too_flat = {room: count for room, count in held.items() if count > MOST_MODULES}
    assert too_flat.keys() <= ONE_FILE_A_COMMAND


def test_no_module_imports_in_a_circle(graph: grimp.ImportGraph) -> None:
    imported = {name: set(graph.find_modules_directly_imported_by(name)) for name in graph.modules}
    TopologicalSorter(imported).prepare()


def test_no_room_imports_in_a_circle_with_its_neighbours(graph: grimp.ImportGraph) -> None:
    circles = {}
    for room in sorted({name.rpartition(".")[0] for name in graph.modules} - {""}):
        depth = room.count(".") + 1
        below: defaultdict[str, set[str]] = defaultdict(set)
        for name in graph.find_descendants(room):
            for other in graph.find_modules_directly_imported_by(name):
                if other.startswith(f"{room}."):
                    one, two = name.split(".")[depth], other.split(".")[depth]
                    below[one] |= {two} - {one}
        try:
            TopologicalSorter(below).prepare()
        except CycleError as error:
            circles[room] = error.args[1]
    assert circles == {}
