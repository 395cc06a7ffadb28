"""Weekly cohorts through whole commands: which decide, who plays in them, and what one that fails holds up."""

from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import text

from predibot.ledger.store import Store
from tests.jobs.program import Program, document_of

RECIPE = """
venue = "sandbox:events=14,named=1"
every = "7d"
[game]
name = "weekly_cohort"
[[bots]]
strategy = "random_trade"
"""
HOLDS = '''"""Holds."""
from dataclasses import dataclass
from predibot.domain.decision import Decision

@dataclass(frozen=True, slots=True)
class Holds:
    """Hold."""
    games = ("weekly_cohort",)

    def decide(self, context):
        """Return a decision without an order."""
        return Decision()
'''
SUNDAY = datetime.fromisoformat("2026-01-11T00:05:00+00:00")


def played(program: Program, recipe: str, week: int, *more: str, code: int = 0) -> Any:
    """Play a week of a recipe in a process of its own, and return its document."""
    (program.folder / "mine.toml").write_text(recipe)
    at = (SUNDAY + timedelta(weeks=week)).isoformat()
    process = program.start(
        "replay", "mine.toml", "--from", at, "--to", at, "--ledger", program.ledger, "--json", *more
    )
    return document_of(process, code=code)


def decided(program: Program, week: int) -> dict[tuple[str, str], tuple[str, str]]:
    """Return status and message of each decision of a week, by cohort and bot."""
    slot = (SUNDAY + timedelta(weeks=week)).strftime("%Y-%m-%d")
    statement = f"""SELECT s.subject_id, b.name, d.status, d.message FROM decisions d JOIN bots b ON b.id = d.bot_id
        JOIN subjects s ON s.id = d.subject_row JOIN runs r ON r.id = d.run_id WHERE r.key LIKE '%@{slot}T%'"""
    with Store.open_to_read(program.ledger) as store, store.read() as connection:
        return {(cohort, bot): (status, said) for cohort, bot, status, said in connection.execute(text(statement))}


def test_a_member_whose_strategy_is_gone_fails_by_itself_and_comes_back_with_it(tmp_path: Path) -> None:
    with closing(Program(tmp_path)) as program:
        program.strategy("holds", HOLDS)
        played(program, RECIPE + '[[bots]]\nstrategy = "holds"\n', 0)
        (tmp_path / "probes" / "holds.py").unlink()
        document = played(program, RECIPE, 1, code=3)
        assert document["replay"]["totals"]["failed"] == 1
        found = decided(program, 1)
        status, said = found.pop(("2026-01-11", "holds"))
        assert status == "failed" and "no strategy 'holds'" in said
        assert found == {(week, "random_trade"): ("recorded", "") for week in ("2026-01-11", "2026-01-18")}
        program.strategy("holds", HOLDS)
        played(program, RECIPE, 1)
        assert decided(program, 1)["2026-01-11", "holds"] == ("recorded", "")
