"""Ledgers of weekly cohorts, filled in bulk: a year of them, with bets, settlements and a valuation a day."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
from sqlalchemy import Connection

from predibot.games.cohorts import Member
from predibot.ledger.schema.column_types import to_microseconds
from predibot.ledger.store import Store
from predibot.recipe.parse import parse_recipe
from predibot.recipe.text import RecipeText
from tests.benchmarks.ledgers import put
from tests.ledger.cohorts_by_hand import SUNDAY, WEEK

DAY = 86_400 * 1_000_000
DECIDING = 5
BETS = 5
"""Of each decision, $100 each."""
LIFE = 8
"""Weeks until all bets of a decision are paid."""


@dataclass(frozen=True)
class Cohorts:
    """How many bots play how many weekly cohorts, and state how many probabilities a decision."""

    cohorts: int
    bots: int
    markets: int = 500
    forecasts: int = 50


def fill_cohorts(store: Store, size: Cohorts, rng: np.random.Generator) -> None:
    """Store cohorts whose bots bet on drawn outcomes in five weeks each, and what that came to."""
    with store.write() as connection:
        _fill_markets(connection, size)
        _fill_runs(connection, size)
        columns = ("id", "recipe", "game", "mode", "venue", "name", "methodology", "run_id", "started_at", "line_up")
        line_up = json.dumps([asdict(Member(f"bot_{bot}", f"Bot {bot}")) for bot in range(size.bots)])
        named = ("weekly", "weekly_cohort", "replay", "sandbox")
        weeks = range(size.cohorts)
        rows = ((w + 1, *named, _name(w), "v2", w + 1, _at(w), line_up) for w in weeks)
        put(connection, "cohorts", columns, rows)
        put(
            connection,
            "subjects",
            ("id", "venue", "kind", "subject_id"),
            ((w + 1, "sandbox", "cohort", _name(w)) for w in weeks),
        )
        played = [_account(size, week, bot, rng) for week in weeks for bot in range(size.bots)]
        for table, names in _COLUMNS.items():
            put(connection, table, names, (row for one in played for row in one[table]))


def _name(week: int) -> str:
    return f"{SUNDAY + week * WEEK:%Y-%m-%d}"


def _at(week: float) -> int:
    return to_microseconds(SUNDAY) + int(week * 7 * DAY) + 300 * 1_000_000


_COLUMNS = {
    "tasks": ("id", "run_id", "bot_id", "subject_row", "status", "failures"),
    "decisions": (
        *("id", "task_id", "run_id", "bot_id", "subject_row", "status", "decided_at", "message", "rationale"),
        *("notes_json", "scale", "cost_usd", "cost_known_usd", "seconds"),
    ),
    "forecasts": ("decision_id", "market_row", "probability", "rationale", "question_sha256"),
    "accounts": ("id", "recipe", "game", "mode", "methodology", "bot", "subject_row", "task_id"),
    "journal": (
        *("account_id", "number", "kind", "at", "instrument_row", "shares", "cash_usd"),
        *("decision_id", "market_row", "revision"),
    ),
    "valuations": ("account_id", "at", "revision", "journal_number", "cash_usd", "value_usd"),
    "turns": ("account_id", "slot_at", "run_id", "at", "journal_number"),
}


def _account(size: Cohorts, week: int, bot: int, rng: np.random.Generator) -> dict[str, list[tuple[object, ...]]]:
    account = week * size.bots + bot + 1
    found: dict[str, list[tuple[object, ...]]] = {table: [] for table in _COLUMNS}
    journal = found["journal"]
    journal.append((account, 1, "deposit", _at(week), None, 0.0, 10_000.0, None, None, None))
    last = 0
    for number, played in enumerate(range(week, min(week + DECIDING, size.cohorts))):
        decision = last = (account - 1) * DECIDING + number + 1
        bot_id, at = played * size.bots + bot + 1, _at(played)
        found["tasks"].append((decision, played + 1, bot_id, week + 1, "recorded", 0))
        said = (decision, decision, played + 1, bot_id, week + 1, "recorded", at, "", "why ", "[]", 1.0, 0.01, 0.01)
        found["decisions"].append((*said, 0.1))
        chosen = rng.choice(size.markets, size.forecasts, replace=False)
        found["forecasts"] += [
            (decision, int(m) + 1, float(p), "", "") for m, p in zip(chosen, rng.random(len(chosen)), strict=True)
        ]
        for market in chosen[:BETS].tolist():
            side = int(rng.integers(2))
            instrument = 2 * market + side + 1
            row = (account, len(journal) + 1, "fill", at, instrument, 200.0, -100.0, decision, None, None)
            journal.append(row)
        found["turns"].append((account, at, played + 1, at, len(journal)))
    held: dict[int, float] = {}
    for row in journal[1:]:
        held[row[4]] = held.get(row[4], 0.0) + 200.0  # type: ignore[index, call-overload]
    for instrument, shares in held.items():
        market, side = divmod(instrument - 1, 2)
        paid = shares * abs(market % 2 - side)
        end = (account, len(journal) + 1, "settlement", _at(week + LIFE), instrument, -shares, paid)
        journal.append((*end, None, market + 1, 1))
    cash = sum(row[6] for row in journal)  # type: ignore[misc]
    found["valuations"] = [
        (account, _at(week) + day * DAY, 1, len(journal) if day >= 7 * LIFE else 1, cash, cash)
        for day in range(7 * LIFE + 1)
    ]
    task = last or None
    found["accounts"].append((account, "weekly", "weekly_cohort", "replay", "v2", f"bot_{bot}", week + 1, task))
    return found


def _fill_markets(connection: Connection, size: Cohorts) -> None:
    every = range(size.markets)
    put(connection, "events", ("id", "venue", "event_id", "title"), ((m + 1, "sandbox", f"e{m}", "?") for m in every))
    columns = ("id", "venue", "market_id", "event_row", "token_ids_json", "question")
    put(connection, "markets", columns, ((m + 1, "sandbox", f"m{m}", m + 1, "[]", "?") for m in every))
    columns = ("id", "venue", "kind", "instrument_id", "market_row", "side", "currency", "lowest_price")
    sides = [(m, index, side) for m in every for index, side in enumerate(("YES", "NO"))]
    rows = ((2 * m + i + 1, "sandbox", "binary_outcome", f"m{m}:{s}", m + 1, s, "USD", 0.0) for m, i, s in sides)
    put(connection, "instruments", columns, rows)
    columns = ("market_row", "revision", "payout_yes", "settled_at", "settled_source", "effective_at", "seen_at")
    rows = ((m + 1, 1, float(m % 2), _at(1), "venue", _at(1), _at(1)) for m in every)
    put(connection, "resolutions", columns, rows)


def _fill_runs(connection: Connection, size: Cohorts) -> None:
    texts = ("overrides_json", "passed_over_json", "notes_json", "code_version", "digest", "recipe_json")
    said = 'game = "weekly_cohort"\nvenue = "sandbox"\nevery = "1w"\n[[bots]]\nstrategy = "all_cash"\n'
    rest = ("{}", "[]", "[]", "0", "0", parse_recipe(RecipeText(said, "weekly", "weekly")).as_json())
    columns = ("id", "key", "recipe", "slot_at", "as_of", "venue", "venue_name", "game", "seed", "created_at")
    put(connection, "runs", (*columns, *texts), _runs(size, rest))
    columns = ("id", "run_id", "name", "strategy", "arguments_json", "source_sha256")
    rows = (
        (week * size.bots + bot + 1, week + 1, f"bot_{bot}", "all_cash" if bot == 0 else "s", "{}", "")
        for week in range(size.cohorts)
        for bot in range(size.bots)
    )
    put(connection, "bots", columns, rows)


def _runs(size: Cohorts, rest: tuple[str, ...]) -> Iterator[tuple[object, ...]]:
    for week in range(size.cohorts):
        at = _at(week)
        yield (week + 1, f"weekly@{week}", "weekly", at, at, "sandbox", "sandbox", "weekly_cohort", 0, at, *rest)
