"""Which functions of predibot each test reaches, in its own process and in its children; Python 3.12 or later.

    pytest -p tests.benchmarks.reached --reached FOLDER

It watches with `sys.monitoring`, which costs one call a function and test. For the children it puts a file into the
environment that it runs in, and takes it out at the end.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

ROOT = f"{Path(__file__).resolve().parents[2]}/"
ROOMS = ("predibot/", "tools/", "strategies/")
TOOL = 4
HOOK = "predibot_reached.pth"
HOOKED = "import os; exec(open(os.environ['REACHED_BY']).read()) if 'REACHED_BY' in os.environ else None"


def watch(reached: Callable[[str], object]) -> None:
    """Tell of each function that is begun for the first time since events were restarted."""

    def begun(code: CodeType, _: int) -> object:
        if code.co_filename.startswith(ROOT):
            name = code.co_filename.removeprefix(ROOT)
            if name.startswith(ROOMS):
                reached(f"{name}:{code.co_qualname}")
        return sys.monitoring.DISABLE

    sys.monitoring.use_tool_id(TOOL, "reached")
    sys.monitoring.register_callback(TOOL, sys.monitoring.events.PY_START, begun)
    sys.monitoring.set_events(TOOL, sys.monitoring.events.PY_START)


CHILD = f"""
import os, sys
ROOT, ROOMS, TOOL = {ROOT!r}, {ROOMS!r}, {TOOL}
def reached(name, file=os.environ["REACHED_IN"]):
    try:
        # Opened each time: a child may close what it did not open.
        with open(file, "a") as stream:
            stream.write(name + "\\n")
    except OSError:
        pass
"""


class Reached:
    """Keeps what each test reached, and what the fixtures reached that it shares with others."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.now: set[str] = set()
        self.fixtures: dict[int, set[str]] = {}
        self.file = (folder / f"{os.getpid()}.jsonl").open("w", encoding="utf-8")
        descriptor, name = tempfile.mkstemp(prefix="reached-")
        os.close(descriptor)
        self.children = Path(name)
        child = self.children.with_suffix(".py")
        source = Path(__file__).read_text(encoding="utf-8")
        watching = source[source.index("def watch(") : source.index("\n\nCHILD")]
        child.write_text(f"from typing import *\nCallable = CodeType = Any\n{CHILD}\n{watching}\nwatch(reached)\n")
        os.environ |= {"REACHED_BY": str(child), "REACHED_IN": name}
        watch(self.now.add)

    def _take(self) -> set[str]:
        """Return what was reached since the last time."""
        taken = self.now | set(self.children.read_text(encoding="utf-8").split())
        self.children.write_text("")
        self.now.clear()
        sys.monitoring.restart_events()
        return taken

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Keep what a fixture of several tests reaches for all of them."""
        if fixturedef.scope == "function":
            return (yield)
        before = self._take()
        try:
            return (yield)
        finally:
            self.fixtures[id(fixturedef)] = self._take()
            self.now |= before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Write down what a test reached."""
        self._take()
        result = yield
        reached = self._take()
        for each in (each for several in item._fixtureinfo.name2fixturedefs.values() for each in several):
            reached |= self.fixtures.get(id(each), set())
        self.file.write(json.dumps([item.nodeid, sorted(reached)]) + "\n")
        self.file.flush()
        return result


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let reaching be watched."""
    parser.addoption("--reached", metavar="FOLDER", type=Path, help="write which functions each test reaches")


def pytest_configure(config: pytest.Config) -> None:
    """Watch in whoever runs tests, and hook children from whoever started it all."""
    folder = config.getoption("reached")
    if folder is None:
        return
    is_worker = hasattr(config, "workerinput")
    if not is_worker:
        hook = Path(sys.prefix) / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages" / HOOK
        hook.write_text(HOOKED)
        config.add_cleanup(hook.unlink)
    if is_worker or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Reached(folder.absolute()), "reached-by-tests")
