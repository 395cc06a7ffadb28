"""What bots say they decide by: the factors in the rationales of all accounts, by rules and as a model reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, zip_longest
from typing import Any

from sqlalchemy import Row

from predibot.errors import UsageError
from predibot.jobs.accounts.statement import Judge
from predibot.ledger.read.accounts.statement import list_rationales
from predibot.ledger.schema.values import LAST_INSTANT
from predibot.ledger.store import Store
from predibot.scoring.accounts.rationale import Factor, FactorShares, factor_shares, factors_named
from predibot.scoring.standing import BASELINES

ALL_BOTS = "all bots"


@dataclass(frozen=True, slots=True)
class BotRationales:
    """What a bot's rationales refer to in one recipe, game and mode; `ALL_BOTS` sums over bots."""

    recipe: str
    game: str
    mode: str
    venue: str
    bot: str
    factors: FactorShares


def bot_rationales(
    store: Store,
    *,
    recipe: str | None = None,
    cohort: str | None = None,
    as_of: datetime | None = None,
    judge: Judge | None = None,
) -> tuple[BotRationales, ...]:
    """Return a row for each bot, and one for all bots after those of a recipe, game, mode and venue.

    Baselines are left out, unless there are only baselines: their rationales are sentences of the program.

    Args:
        cohort: Only of this weekly cohort; None for all.
        judge: A model that reads rationales beside the rules: the first of each bot, then the second of each, and so
            on, so that a limit in dollars stops all bots alike. It is asked once for equal texts.

    Raises:
        UsageError: If no account has a rationale.
    """
    with store.read() as connection, store.blame_rows():
        rows = list_rationales(connection, recipe, cohort, as_of or LAST_INSTANT)
    said = [row for row in rows if row.strategy not in BASELINES] or rows
    if not said:
        of = "" if recipe is None else f" of recipe {recipe!r}"
        raise UsageError(f"no account{of} has a rationale. Play a game that has accounts, such as portfolio_weights")
    judged = {} if judge is None else _judge_in_turns([[row.rationale for row in own] for own in _by_bot(said)], judge)
    found = list[BotRationales]()
    for (recipe_of, game, mode, venue), of_group in groupby(said, key=lambda row: tuple(row[:4])):
        of_bots = _by_bot([*of_group])
        named = [(own[0].bot, own) for own in of_bots]
        if len(named) > 1:
            named.append((ALL_BOTS, [row for own in of_bots for row in own]))
        for bot, own in named:
            read = [(factors_named(row.rationale), judged.get(row.rationale)) for row in own]
            found.append(BotRationales(recipe_of, game, mode, venue, bot, factor_shares(read)))
    return tuple(found)


def _by_bot(rows: Sequence[Row[Any]]) -> list[list[Row[Any]]]:
    return [[*own] for _, own in groupby(rows, key=lambda row: tuple(row[:5]))]


def _judge_in_turns(said: Sequence[Sequence[str]], judge: Judge) -> dict[str, frozenset[Factor] | None]:
    found = dict[str, frozenset[Factor] | None]()
    for turn in zip_longest(*said):
        for text in turn:
            if text is not None and text not in found:
                found[text] = judge(text)
    return found
