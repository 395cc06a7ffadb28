"""Walks of accounts through the sandbox, and what ledgers hold of them."""

from datetime import datetime, timedelta
from typing import Any

from predibot.config import Settings
from predibot.contracts import Past
from predibot.domain.schedule import Timetable
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.open_venue import open_past
from predibot.jobs.replay.replay import ReplayInstant, ReplayPlan, evaluation_instant, replay
from predibot.jobs.verify import verify
from predibot.ledger.read.export import export_rows
from predibot.ledger.store import Store
from predibot.recipe.parse import parse_recipe
from predibot.recipe.text import RecipeText
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from tests.jobs.tiny import DAY, clock, nobody

SANDBOX = "sandbox:events=40"


def request_with(options: str, *bots: str, every: str = "1d") -> RunRequest:
    """Return what asks for portfolios with options of the game, and bots given as strategies or as lines of one."""
    lines = [f'every = "{every}"', '[game]\nname = "portfolio_weights"', options]
    for bot in bots:
        lines += ["[[bots]]", f'strategy = "{bot}"' if "=" not in bot else bot]
    recipe = parse_recipe(RecipeText("\n".join(lines), "walk", "walk"))
    return RunRequest(recipe, recipe.digest)


def past_of(spec: str = SANDBOX) -> Past:
    return open_past(spec, Settings(), clock)


def replay_days(
    store: Store,
    request: RunRequest,
    days: int,
    *,
    past: Past | None = None,
    first: datetime = SANDBOX_OPENS_AT,
    every: timedelta = DAY,
) -> tuple[ReplayInstant, ...]:
    past = past or past_of()
    instants = Timetable(first, first + (days - 1) * every, every)
    plan = ReplayPlan(request, past, instants, evaluation_instant(instants, past, None))
    return replay(plan, Resources(store, Settings(), clock, nobody), lambda _played: None)


def rows(store: Store, table: str, **same: object) -> list[dict[str, Any]]:
    with store.read() as connection:
        found = [dict(row) for row in export_rows(connection, table)]
    return [row for row in found if all(row[name] == value for name, value in same.items())]


def broken(store: Store) -> list[str]:
    return [str(each) for each in verify(store).broken]
