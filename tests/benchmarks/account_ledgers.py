"""Ledgers of accounts, filled in bulk: a year of portfolios that are rebalanced every day."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr, ndtri
from sqlalchemy import Connection

from predibot.ledger.schema.column_types import to_microseconds
from predibot.ledger.schema.packed_points import POINT, pack_points
from predibot.ledger.store import Store
from predibot.recipe.parse import parse_recipe
from predibot.recipe.text import RecipeText
from tests.benchmarks.ledgers import BEGIN, put

DAY = 86_400 * 1_000_000
STAKE_USD = 500.0
OPEN = 10
"""Markets that can be bought at a time."""
LIFE = 30
"""Days that a market is open; the last of the ten settles then."""


@dataclass(frozen=True)
class Portfolios:
    """How many bots play how many days."""

    bots: int
    days: int
    fair: bool = False
    """Whether prices are the chances of what is paid, and nobody puts much on one market."""

    @property
    def markets(self) -> int:
        """Return how many markets are open at some time."""
        return OPEN * (self.days // LIFE + 1)


@dataclass
class Kept:
    """An account while it is played, and the rows that it leaves."""

    cash_usd: float = STAKE_USD
    shares: dict[int, float] = field(default_factory=dict)
    journal: list[tuple[object, ...]] = field(default_factory=list)
    valuations: list[tuple[object, ...]] = field(default_factory=list)
    marks: list[tuple[object, ...]] = field(default_factory=list)
    turns: list[tuple[object, ...]] = field(default_factory=list)

    def book(
        self, account: int, kind: str, at: int, instrument: int, shares: float, cash_usd: float, **of: int
    ) -> None:
        """Add a row to the journal, and to what is held."""
        self.cash_usd += cash_usd
        left = self.shares.get(instrument, 0.0) + shares
        self.shares[instrument] = left
        if left == 0.0:
            del self.shares[instrument]
        follows = (of.get("decision"), of.get("market"), 1 if "market" in of else None)
        self.journal.append((account, len(self.journal) + 1, kind, at, instrument, shares, cash_usd, *follows))


def fill_accounts(store: Store, size: Portfolios, rng: np.random.Generator) -> None:
    """Store accounts that hold random weights, the last that of a bot which never buys, and what they came to."""
    walk = rng.normal(0.0, 0.04, (size.days, size.markets)).cumsum(axis=0)
    prices, paid = np.clip(1.0 / (1.0 + np.exp(-walk)), 0.02, 0.98), np.arange(size.markets) % 2.0
    if size.fair:
        prices, paid = _fair(size, rng)
    with store.write() as connection:
        _fill_markets(connection, size, prices, paid)
        _fill_runs(connection, size)
        decision = 0
        for bot in range(size.bots):
            kept = Kept()
            kept.journal.append((bot + 1, 1, "deposit", slot(0), None, 0.0, STAKE_USD, None, None, None))
            asked: dict[int, float] = {}
            for day in range(size.days):
                _advance(kept, bot + 1, day, prices, paid, asked, decision)
                decision += 1
                asked = {} if bot == size.bots - 1 else _asked(day, size, rng)
                _decide(connection, decision, bot, day, size, asked)
            _put_account(connection, bot, kept)


def slot(day: int) -> int:
    """Return the instant of a day's slot."""
    return to_microseconds(BEGIN) + day * DAY


def _fair(size: Portfolios, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the chance of YES on each day as far as a walk has shown it, and what it comes to in the end."""
    first = LIFE * (np.arange(size.markets) // OPEN)
    steps = rng.standard_normal((LIFE, size.markets)).cumsum(axis=0)
    start = ndtri(rng.uniform(0.1, 0.9, size.markets)) * LIFE**0.5
    day = np.clip(np.arange(size.days)[:, np.newaxis] - first, 0, LIFE - 1)
    level = start + np.where(day > 0, np.take_along_axis(steps, np.maximum(day - 1, 0), axis=0), 0.0)
    return np.clip(ndtr(level / np.sqrt(LIFE - day)), 1e-3, 1.0 - 1e-3), (start + steps[-1] > 0.0).astype(float)


def _settled(market: int, day: int) -> bool:
    return day >= LIFE * (market // OPEN + 1)


def _asked(day: int, size: Portfolios, rng: np.random.Generator) -> dict[int, float]:
    """Return weights of instruments: one side of each open market."""
    first = OPEN * (day // LIFE)
    weights = rng.dirichlet(np.full(OPEN + 1, 10.0 if size.fair else 1.0))[:OPEN].tolist()
    return {2 * (first + each) + 1 + int(rng.integers(2)): weight for each, weight in enumerate(weights)}


def _advance(
    kept: Kept,
    account: int,
    day: int,
    prices: np.ndarray,
    payouts: np.ndarray,
    asked: dict[int, float],
    decision: int,
) -> None:
    at = slot(day)
    for instrument in [each for each in kept.shares if _settled((each - 1) // 2, day)]:
        market, shares = (instrument - 1) // 2, kept.shares[instrument]
        paid = float(abs(payouts[market] - (instrument - 1) % 2))
        kept.book(account, "settlement", at, instrument, -shares, shares * paid, market=market + 1)
    mids = {each: float(abs(prices[day, (each - 1) // 2] - (each - 1) % 2)) for each in {*kept.shares, *asked}}
    worth_usd = kept.cash_usd + sum(shares * mids[each] for each, shares in kept.shares.items())
    kept.valuations.append((account, at, 1, len(kept.journal), kept.cash_usd, worth_usd))
    kept.marks.extend((account, at, 1, each, mids[each], at, "quoted") for each in sorted(kept.shares))
    if asked:
        open_ = {each: weight for each, weight in asked.items() if not _settled((each - 1) // 2, day)}
        for each in sorted({*kept.shares, *open_}, key=lambda one: (one in open_, one)):
            wanted = open_.get(each, 0.0) * worth_usd / mids[each]
            moved = wanted - kept.shares.get(each, 0.0)
            if moved:
                kept.book(account, "fill", at, each, moved, -moved * mids[each], decision=decision)
    kept.turns.append((account, at, day + 1, at, len(kept.journal)))


def _fill_markets(connection: Connection, size: Portfolios, prices: np.ndarray, paid: np.ndarray) -> None:
    every = range(size.markets)
    put(connection, "events", ("id", "venue", "event_id", "title"), ((m + 1, "sandbox", f"e{m}", "?") for m in every))
    columns = ("id", "venue", "market_id", "event_row", "token_ids_json", "question")
    put(connection, "markets", columns, ((m + 1, "sandbox", f"m{m}", m + 1, "[]", "?") for m in every))
    columns = (
        "id",
        "venue",
        "kind",
        "instrument_id",
        "market_row",
        "side",
        "currency",
        "lowest_price",
        "highest_price",
    )
    sides = [(m, index, side) for m in every for index, side in enumerate(("YES", "NO"))]
    rows = ((2 * m + i + 1, "sandbox", "binary_outcome", f"m{m}:{s}", m + 1, s, "USD", 0.0, 1.0) for m, i, s in sides)
    put(connection, "instruments", columns, rows)
    points = np.zeros((size.markets, size.days), dtype=POINT)
    points["at"] = slot(0) + DAY * np.arange(size.days)
    points["price"] = prices.T
    paths = ((2 * m + 1, pack_points(path)) for m, path in enumerate(points))
    put(connection, "price_paths", ("instrument_row", "points"), paths)
    columns = ("market_row", "revision", "payout_yes", "settled_at", "settled_source", "effective_at", "seen_at")
    ends = ((m, slot(LIFE * (m // OPEN + 1))) for m in every)
    rows = ((m + 1, 1, float(paid[m]), at, "venue", at, at) for m, at in ends if at <= slot(size.days))
    put(connection, "resolutions", columns, rows)


def _fill_runs(connection: Connection, size: Portfolios) -> None:
    texts = ("overrides_json", "passed_over_json", "notes_json", "code_version", "digest", "recipe_json")
    said = 'game = "portfolio_weights"\nvenue = "sandbox"\nevery = "1d"\n'
    said += '[[bots]]\nstrategy = "one_shot"\nmodel = "sandbox:sharp"\n'
    rest = ("{}", "[]", "[]", "0", "0")
    recipe = parse_recipe(RecipeText(said, "year", "year")).as_json()
    put(
        connection,
        "runs",
        ("id", "key", "recipe", "slot_at", "as_of", "venue", "venue_name", "game", "seed", "created_at", *texts),
        (
            (day + 1, f"year@{day}", "year", at, at, "sandbox", "sandbox", "portfolio_weights", 0, at, *rest, recipe)
            for day in range(size.days)
            for at in (slot(day),)
        ),
    )
    columns = ("id", "run_id", "name", "strategy", "arguments_json", "source_sha256")
    rows = (
        (day * size.bots + bot + 1, day + 1, name, strategy, "{}", "")
        for day in range(size.days)
        for bot, name, strategy in _bots(size)
    )
    put(connection, "bots", columns, rows)
    columns = ("id", "venue", "kind", "subject_id")
    put(connection, "subjects", columns, [(1, "sandbox", "portfolio", "weights")])


def _bots(size: Portfolios) -> Iterator[tuple[int, str, str]]:
    yield from ((bot, f"bot_{bot}", "random_weights" if bot < 2 else "s") for bot in range(size.bots - 1))
    yield size.bots - 1, "all_cash", "all_cash"


def _decide(
    connection: Connection, decision: int, bot: int, day: int, size: Portfolios, asked: dict[int, float]
) -> None:
    bot_id = day * size.bots + bot + 1
    columns = ("id", "run_id", "bot_id", "subject_row", "status", "failures")
    put(connection, "tasks", columns, [(decision, day + 1, bot_id, 1, "recorded", 0)])
    columns = ("id", "task_id", "run_id", "bot_id", "subject_row", "status", "decided_at", "message", "rationale")
    more = ("notes_json", "scale", "cost_usd", "cost_known_usd", "seconds")
    row = (decision, decision, day + 1, bot_id, 1, "recorded", slot(day), "", "because of the news " * 10)
    put(connection, "decisions", (*columns, *more), [(*row, "[]", 1.0, 0.001, 0.001, 0.1)])
    status = "pending" if day == size.days - 1 else "filled"
    columns = ("decision_id", "number", "instrument_row", "side", "unit", "amount", "status", "ended_at")
    ended_at = None if status == "pending" else slot(day + 1)
    weights = enumerate(sorted(asked.items()), 1)
    rows = ((decision, n, each, "buy", "weight", weight, status, ended_at) for n, (each, weight) in weights)
    put(connection, "orders", columns, rows)


def _put_account(connection: Connection, bot: int, kept: Kept) -> None:
    name = connection.exec_driver_sql("SELECT name FROM bots WHERE id = ?", (bot + 1,)).scalar_one()
    columns = ("id", "recipe", "game", "mode", "bot", "subject_row", "task_id")
    task = connection.exec_driver_sql("SELECT max(id) FROM tasks").scalar_one()
    put(connection, "accounts", columns, [(bot + 1, "year", "portfolio_weights", "replay", name, 1, task)])
    columns = ("account_id", "number", "kind", "at", "instrument_row", "shares", "cash_usd")
    put(connection, "journal", (*columns, "decision_id", "market_row", "revision"), kept.journal)
    columns = ("account_id", "at", "revision", "journal_number", "cash_usd", "value_usd")
    put(connection, "valuations", columns, kept.valuations)
    columns = ("account_id", "at", "revision", "instrument_row", "price", "priced_at", "state")
    put(connection, "marks", columns, kept.marks)
    put(connection, "turns", ("account_id", "slot_at", "run_id", "at", "journal_number"), kept.turns)
