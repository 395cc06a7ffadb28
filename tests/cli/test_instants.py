"""Instants as people read them: cut to the second on every screen, exact in documents and in commands to be typed."""

import re
from pathlib import Path

from predibot import __file__ as own_file
from tests.acceptance.conftest import Predibot
from tests.cli.conftest import daily_tracked
from tests.worlds import Worlds

EXACT = {
    "cli/replay.py": 1,  # a command to be typed
    "reports/table.py": 1,
    "reports/terminal/closeups/beliefs.py": 2,
    "reports/terminal/closeups/related.py": 2,
    "reports/views/evaluation.py": 2,
}
"""Modules of screens and documents that write exact instants, and how often."""
SCREENS = (
    "runs", "runs 1", "status", "report", "report --full", "report --bot market_price", "report --event",
    "report --event 1", "bots market_price", "track", "evaluate", "verify", "verify --rows", "ledger stats",
    "ledger prune --traces-older-than 1d",
)  # fmt: skip


def test_no_other_module_of_a_screen_writes_exact_instants() -> None:
    package = Path(own_file).parent
    found = {}
    for folder in ("reports", "cli"):
        for file in (package / folder).rglob("*.py"):
            if uses := len(re.findall(r"\bformat_instant\(", file.read_text(encoding="utf-8"))):
                found[file.relative_to(package).as_posix()] = uses
    assert found == EXACT


def test_no_screen_has_fractions_of_a_second(tmp_path: Path, worlds: Worlds, predibot: Predibot) -> None:
    worlds.copy(daily_tracked, tmp_path)
    printed = {screen: predibot(*screen.split()) for screen in SCREENS}
    assert {screen for screen, said in printed.items() if re.search(r":\d\d\.\d+", said.out + said.err)} == set()
    assert all(said.out for said in printed.values())
