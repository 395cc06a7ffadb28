"""What every test may ask for."""

import gc
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.compiled import share_compiled_sql, share_compiled_templates
from tests.costs import Costs
from tests.golden import golden
from tests.ledger.databases import NO_POSTGRES
from tests.quick import NOT_QUICK, ROOMS, Quick
from tests.worlds import worlds

__all__ = ["golden", "worlds"]

# In the background a shell has its programs ignore Ctrl-C, and they hand that on to those they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

share_compiled_sql()
share_compiled_templates()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let tests be measured, the quick ones be chosen, and golden files be written."""
    parser.addoption("--quick", action="store_true", help="leave tests that need a process, a socket or a database")
    parser.addoption("--costs", metavar="FILE", help="write what each test costs, the dearest first")
    parser.addoption("--golden", action="store_true", help="write the golden files of the tests that run again")


def pytest_configure(config: pytest.Config) -> None:
    """Do what the options ask for, in workers too, which get them."""
    config.addinivalue_line(
        "markers", "one_database: a file tells what any database would; `make soak` asks PostgreSQL"
    )
    if config.getoption("costs", None) is not None:
        config.pluginmanager.register(Costs(), "costs")
    if config.getoption("quick", False):
        # What a test had open or under way when it was left is nobody's fault, at the end of all tests neither.
        for warning in (
            ResourceWarning,
            pytest.PytestUnraisableExceptionWarning,
            pytest.PytestUnhandledThreadExceptionWarning,
        ):
            config.addinivalue_line("filterwarnings", f"ignore::{warning.__module__}.{warning.__name__}")
            warnings.simplefilter("ignore", warning)
        config.pluginmanager.register(Quick(), "quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave rooms that are not quick, and benchmarks where none is asked for, as loading them takes seconds."""
    if collection_path.parent != Path(__file__).parent:
        return None
    is_left = collection_path.name == "benchmarks" and "not benchmark" in config.getoption("markexpr")
    is_slow = collection_path.name in ROOMS and config.getoption("quick", False)
    return True if is_left or is_slow else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to soaks what they alone try, and start the dearest files first, so that none is left at the end."""
    for item in items:
        if item.get_closest_marker("one_database") and "postgresql" in item.name.partition("[")[2]:
            item.add_marker("soak")
    dearest = Path(__file__).with_name("dearest.txt").read_text(encoding="utf-8").split()
    places = {file: place for place, file in enumerate(dearest)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(places)))


def _load_own_share(config: pytest.Config) -> None:
    """Load, of all tests, first those that no other worker loads first: each then compiles a part, for all.

    After a change of branch, and in a fresh clone, compiling takes each of them longer than all else before the tests.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args_source is not config.ArgsSource.TESTPATHS or config.getoption("quick"):
        return
    here = Path(__file__).parent
    files = sorted(path for path in here.rglob("test_*.py") if path.relative_to(here).parts[0] != "benchmarks")
    share = int(worker["workerid"].removeprefix("gw"))
    for file in files[len(files) * share // worker["workercount"] : len(files) * (share + 1) // worker["workercount"]]:
        # A file that does not load is told by pytest, which loads it again.
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(file.relative_to(here.parent).with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Look for no garbage in what is collected, which lives as long as the tests, nor while it is loaded."""
    gc.disable()
    try:
        _load_own_share(session.config)
        return (yield)
    finally:
        gc.freeze()
        # As the command line does: looking through what lives finds little, and takes a tenth of the time.
        gc.set_threshold(10_000, 50, 100)
        gc.enable()


# A slow machine is no failure, so laws have no deadline; what 25 draws miss, the next run or `make soak` draws.
for _profile, _draws in (("predibot", 25), ("soak", 400)):
    settings.register_profile(
        _profile, settings(), max_examples=_draws, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("predibot")


@pytest.fixture(scope="session", autouse=True)
def _own_state() -> Iterator[None]:
    """Let no test read or write what the user's own predibot keeps outside of ledgers."""
    with tempfile.TemporaryDirectory(prefix="predibot-state-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", folder)
        patch.setenv("XDG_CONFIG_HOME", folder)
        patch.setenv("XDG_CACHE_HOME", folder)
        patch.delenv("PREDIBOT_TRUST", raising=False)
        patch.delenv("COLUMNS", raising=False)
        # Programs that tests start read what is compiled beside its source, as the workers wrote it, and add to it.
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


NO_BROWSER = "no Chromium is installed"
WITHOUT_BROWSER = "skipped without a browser"
WITHOUT_POSTGRES = "skipped without PostgreSQL"
"""What such tests are counted as in the last line; their reason says why there is none."""


def pytest_report_teststatus(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str, str] | None:
    """Count tests that wanted a database, a browser or a whole run apart from others that were skipped."""
    if report.skipped and isinstance(report.longrepr, tuple):
        if NO_POSTGRES in report.longrepr[2]:
            return WITHOUT_POSTGRES, "s", "SKIPPED"
        if NO_BROWSER in report.longrepr[2]:
            return WITHOUT_BROWSER, "s", "SKIPPED"
        if NOT_QUICK in report.longrepr[2]:
            return "left to make test", "", "SKIPPED"
    return None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of recorded real data beside the checkout, or skip the test."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no recorded data beside this checkout")
    return folder
