"""Account statements, with prompt, answer and factors of each allocation, and the factors that each bot names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, zip_longest
from shlex import quote
from typing import Any

from sqlalchemy import Row

from predibot.domain.spelling import did_you_mean
from predibot.domain.trace import ModelStep
from predibot.errors import UsageError
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.accounts.cohort_statement import positions_of_accounts
from predibot.ledger.read.accounts.statement import (
    AccountStatement,
    Allocation,
    find_accounts,
    list_rationales,
    names_of_accounts,
    statement_of,
)
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import count_decisions
from predibot.ledger.schema.values import LAST_INSTANT
from predibot.ledger.store import Store
from predibot.scoring.accounts.rationale import Factor, FactorShares, factor_shares, factors_named
from predibot.scoring.standing import BASELINES

Judge = Callable[[str], frozenset[Factor] | None]
"""Returns the factors in a rationale; None without a reading."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The prompt of a decision and the model's last answer."""

    prompt: str
    answer: str
    missing: str = ""
    """Why there is neither: no model was asked, or its trace cannot be read."""


def account_statements(
    store: Store,
    bot: str,
    *,
    recipe: str | None,
    cohort: str | None = None,
    as_of: datetime | None = None,
    judge: Judge | None = None,
) -> tuple[AccountStatement, ...]:
    """Return the statements of a bot's accounts, one for each recipe, game and mode, and for each weekly cohort.

    `cohort` is the Sunday of one, None for all; `judge` reads rationales beside the rules.

    Raises:
        UsageError: If no bot of this name has an account.
    """
    with store.read() as connection:
        named = find_accounts(connection, bot, recipe, cohort)
        if not named:
            known = names_of_accounts(connection)
            of = "" if recipe is None else f" in recipe {recipe!r}"
            of += "" if cohort is None else f" in a cohort {cohort!r}"
            hint = did_you_mean(bot, known) if known else "Only games such as portfolio_weights have accounts"
            if bot not in known and count_decisions(connection, RowFilter(bots=(bot,))):
                hint = f"It played without one: `predibot report --bot {quote(bot)}` shows its open positions"
            raise UsageError(f"no bot {bot!r} has an account{of}. {hint}")
        with store.blame_rows():
            found = [statement_of(connection, name, as_of or LAST_INSTANT) for name in named]
            positions = positions_of_accounts(connection, [name.row for name in named], as_of or LAST_INSTANT)
    judged = judge or (lambda _: None)
    return tuple(
        replace(
            each,
            cohort=positions.get(each.name.row),
            allocations=tuple(
                replace(one, judged=judged(one.rationale) if one.rationale else None) for one in each.allocations
            ),
        )
        for each in found
    )


def read_conversation(store: Store, allocation: Allocation) -> Conversation:
    """Return the first prompt and the last answer of an allocation's decision."""
    if allocation.trace_sha256 is None:
        return Conversation("", "", "no model was asked")
    try:
        steps = Traces(store).read(allocation.trace_sha256).steps
    except UsageError as error:
        return Conversation("", "", str(error))
    model_steps = [step for step in steps if isinstance(step, ModelStep)]
    if not model_steps:
        return Conversation("", "", "no model answered")
    prompt = "\n\n".join(message.text for message in model_steps[0].asked.new_messages if message.text)
    answer = model_steps[-1].reply.message
    return Conversation(
        prompt, "\n".join(text for text in (answer.text, *(call.arguments_json for call in answer.tool_calls)) if text)
    )


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
