"""docs/operations.md: each command of predibot on the page runs, in its order, and each table of settings is one."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from predibot.config import load_settings
from predibot.domain.terms import NOTICE_KINDS
from predibot.recipe.parse import parse_recipe
from predibot.recipe.text import RecipeText
from tests.acceptance.conftest import Predibot, predibot
from tests.cli.alone import predibot_alone
from tests.ledger.databases import Postgres, postgres
from tests.operator import set_up
from tests.soaks import few
from tests.test_docs import PAGES, ROOT, fenced

__all__ = ["postgres", "predibot"]

PAGE = PAGES["operations"].read_text(encoding="utf-8")
DATABASE, CLUSTER = "postgresql://predibot@db.example/predibot", "dask:tcp://scheduler.example:8786"


def commands() -> list[list[str]]:
    """Return the commands of predibot on the page in their order, those in a sentence too that are whole."""
    lines = [line for kind, block in fenced("operations") if kind == "sh" for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("predibot ")]


def name_of(command: list[str]) -> str:
    return " ".join(command[: 2 if command[0] in ("ledger", "schedule") else 1])


@contextmanager
def cluster() -> Iterator[str]:
    """Run a scheduler of Dask with a worker, and yield its address as an executor."""
    from distributed import LocalCluster  # type: ignore[import-not-found]

    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as running:
        yield f"dask:{running.scheduler_address}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder as an operator has it, whose recipes play in the sandbox."""
    for name in re.findall(r"^mkdir -p ([^~\s]+)$", PAGE, flags=re.MULTILINE):
        (tmp_path / name).mkdir()
    (tmp_path / "runs").mkdir()
    for path in (ROOT / "runs").glob("*.toml"):
        text = path.read_text(encoding="utf-8").replace('venue = "polymarket"', 'venue = "sandbox:events=20"')
        (tmp_path / "runs" / path.name).write_text(text, encoding="utf-8")
    set_up(tmp_path, '[notify.command]\nrun = ["true"]\n')
    return tmp_path


@pytest.mark.parametrize("on_a_cluster", few([True, False], False))
def test_each_command_of_the_page_runs(
    predibot: Predibot, folder: Path, postgres: Postgres, on_a_cluster: bool
) -> None:
    asked, target = commands(), ""
    assert len(asked) >= 14
    for command in asked:
        line = shlex.join(command)
        if "dask:" in line and not (on_a_cluster and find_spec("distributed")):
            continue
        if name_of(command) == "ledger copy":
            target = postgres.empty()
        with cluster() if CLUSTER in command else nullcontext("") as running:
            newest = max((folder / "backups").glob("*.db"), default=Path())
            known = {DATABASE: target, CLUSTER: running, "backups/NEWEST": str(newest)}
            starts_processes = {"--executor", "run-now", "--once"}.intersection(command)
            run = partial(predibot_alone, folder) if starts_processes else predibot
            said = run(*(known.get(word, word) for word in command))
        assert said.code == 0, (command, said.out, said.err)
    assert (folder / "units/predibot.service").exists()
    assert (folder / ".github/workflows/predibot.yml").exists()


def test_its_settings_are_settings_and_name_every_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule, notify = (block for kind, block in fenced("operations") if kind == "toml")
    bot = '[[bots]]\nstrategy = "market_price"\n'
    recipe = parse_recipe(RecipeText(f"{schedule}{bot}", "operations.md", "operations"))
    assert recipe.schedule is not None and set(tomllib.loads(schedule)["schedule"]) >= {"cron", "catch_up", "jitter"}
    monkeypatch.chdir(tmp_path)
    set_up(tmp_path, notify)
    settings = load_settings().notify
    assert None not in (settings.webhook, settings.email, settings.command, settings.apprise, settings.ping)
    assert settings.on == NOTICE_KINDS
    assert all(f"| `{kind}` |" in PAGE for kind in NOTICE_KINDS)
