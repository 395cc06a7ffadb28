"""What must hold of the ledger of a service that lived through faults, kills and sleep."""

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import text

from predibot.domain.clock import format_instant
from predibot.jobs.schedule.scheduled_recipe import ScheduledRecipe
from predibot.ledger.store import Store
from predibot.ledger.write.slots import read_slots
from predibot.sandbox.world.calendar import SANDBOX_BEGINS_AT
from tests.jobs.schedule.life import DAY, Life


@dataclass(frozen=True)
class Lived:
    """How it went."""

    slots: Counter[str]
    decisions: int
    latest_hours: float
    kills: int
    early_bytes: int
    """Resident, of the processes in their first days."""
    late_bytes: int
    """Resident at the end of the last one."""

    @property
    def done(self) -> int:
        return self.slots["done"]

    @property
    def missed(self) -> int:
        return self.slots["missed"]

    def words(self) -> str:
        """Return the figures in a line."""
        return (
            f"slots {dict(self.slots)}, {self.decisions} decisions, latest {self.latest_hours:.1f} h, {self.kills} "
            f"kills, resident {self.early_bytes / 1e6:.0f} MB early, {self.late_bytes / 1e6:.0f} MB at the end"
        )


def check_life(life: Life) -> Lived:
    """Check that every slot has one row, that a row which is not done says why, and that nothing was decided twice."""
    recipe = ScheduledRecipe.read(str(life.folder / "recipe.toml"))
    with Store.open_to_read(life.ledger) as store, store.read() as connection:
        rows = read_slots(connection, "daily")
        asked = {}
        for key, bot, subject, made in connection.execute(
            text(
                "SELECT runs.key, bots.name, decisions.subject_row, count(*) FROM decisions "
                "JOIN runs ON runs.id = decisions.run_id JOIN bots ON bots.id = decisions.bot_id GROUP BY 1, 2, 3"
            )
        ):
            asked[key, bot, subject] = made
        slots_of_runs = connection.execute(text("SELECT key, slot_at FROM runs WHERE voided_at IS NULL")).all()
        claims = text("SELECT runs.key FROM tasks JOIN runs ON runs.id = tasks.run_id WHERE tasks.status = 'claimed'")
        claimed = set(connection.execute(claims).scalars())
    # A slot at the very end may still be waiting for its draw of the jitter.
    expected = [slot for slot in recipe.schedule.slots(SANDBOX_BEGINS_AT, life.ends_at - DAY / 24)]
    known = {row.slot_at: row for row in rows}
    assert [slot for slot in expected if slot not in known] == []
    assert len(known) == len(rows)
    assert {row.status for row in rows} <= {"done", "partly", "failed", "missed"}
    assert [row for row in rows if row.status != "done" and not row.reason] == []
    assert set(asked.values()) == {1}
    assert len({slot for _, slot in slots_of_runs}) == len(slots_of_runs)
    for row in rows:
        if row.late is not None:
            assert row.late >= recipe.schedule.begins_at(row.slot_at, recipe.seed) - row.slot_at
            assert row.late <= recipe.schedule.catch_up
        if row.status == "done":
            # Each bot on each event, once.
            assert row.run_key == f"daily@{format_instant(row.slot_at)}"
            assert Counter(bot for key, bot, _ in asked if key == row.run_key).keys() == {"market_price", "random_bet"}
    # What a killed process was at goes on with its slot, or is left where that was too old by then.
    assert claimed <= {row.run_key or f"daily@{format_instant(row.slot_at)}" for row in rows if row.status != "done"}
    lates = [row.late.total_seconds() / 3600 for row in rows if row.late is not None]
    early = [size for day, size in life.resident_bytes if day < 5]
    return Lived(
        Counter(row.status for row in rows),
        len(asked),
        max(lates),
        len(life.slept),
        max(early),
        life.resident_bytes[-1][1],
    )
