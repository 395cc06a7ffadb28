"""Ten trading days of two stocks by hand: a split of four for one, a dividend, a halt and a delisting."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from predibot.config import Settings
from predibot.domain.account import JournalRow
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.replay.replay import ReplayInstant, plan_replay, replay
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import accounts, read_journal, valuations
from predibot.recipe.parse import parse_recipe
from predibot.recipe.recipe import Recipe
from predibot.recipe.text import RecipeText
from tests.jobs.tiny import clock, nobody

DAYS = ("05", "06", "07", "08", "09", "12", "13", "14", "15", "16")
"""Of January 2026; the 10th and 11th are a weekend."""
AAA = (100.0, 104.0, 108.0, 112.0, 28.5, 29.0, 30.0, 29.5, 31.0, 32.0)
"""Split four for one on the 9th."""
BBB = (50.0, 52.0, 51.0, 53.0, 54.0, 53.0, 55.0, 56.0, 54.0, 57.0)
"""A dividend of $0.50 on the 13th."""
ACTIONS = ("2026-01-09,AAA,split,4", "2026-01-13,BBB,dividend,0.5")
BOTS = ("all_cash", "equal_weights", "buy_and_hold", "random_weights")


def write_stocks(
    folder: Path, closes: dict[str, Sequence[float | None]] | None = None, actions: Sequence[str] = ACTIONS
) -> Path:
    """Write closes by ticker, None for a day without a row, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for ticker, prices in (closes or {"AAA": AAA, "BBB": BBB}).items():
        rows = [
            f"2026-01-{day},{price},{price},{price},{price},1000"
            for day, price in zip(DAYS, prices, strict=True)
            if price is not None
        ]
        (folder / f"{ticker}.csv").write_text("\n".join(["date,open,high,low,close,volume", *rows]) + "\n")
    (folder / "actions.csv").write_text("\n".join(["date,ticker,action,value", *actions]) + "\n")
    return folder


def at(day: int, hour: int = 21, minute: int = 5) -> datetime:
    """Return an instant of January 2026."""
    return datetime(2026, 1, day, hour, minute, tzinfo=UTC)


def recipe_of(*bots: str, game: str = "", every: str = "1d", tickers: str = '["AAA", "BBB"]') -> Recipe:
    listed = "".join(f'\n[[bots]]\nstrategy = "{bot}"\n' for bot in bots or BOTS)
    text = (
        f'name = "tiny"\nvenue = "stocks:."\nevery = "{every}"\n'
        f'[game]\nname = "portfolio_weights"\ntickers = {tickers}\n{game}\n{listed}'
    )
    return parse_recipe(RecipeText(text, "tiny", "tiny"))


def play(
    store: Store,
    folder: Path,
    recipe: Recipe,
    *,
    first: datetime | None = None,
    last: datetime | None = None,
) -> tuple[ReplayInstant, ...]:
    plan = plan_replay(
        RunRequest(recipe, recipe.digest),
        venue=f"stocks:{folder}",
        first=first,
        last=last,
        settings=Settings(),
        clock=clock,
    )
    return replay(plan, Resources(store, Settings(), clock, nobody), lambda _: None)


def journal_of(store: Store, bot: str) -> tuple[JournalRow, ...]:
    with store.read() as connection:
        number = connection.execute(accounts.select().where(accounts.c.bot == bot)).one().id
        return read_journal(connection, number)


def values_of(store: Store, bot: str) -> dict[datetime, float]:
    """Return what a bot's account was worth, by instant, as last corrected."""
    with store.read() as connection:
        number = connection.execute(accounts.select().where(accounts.c.bot == bot)).one().id
        rows = connection.execute(
            valuations.select()
            .where(valuations.c.account_id == number)
            .order_by(valuations.c.at, valuations.c.revision)
        )
        return {row.at: row.value_usd for row in rows}
