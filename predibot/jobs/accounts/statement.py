"""Account statements: a bot's accounts, with the prompt, the answer and the factors of each allocation."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from shlex import quote

from predibot.domain.spelling import did_you_mean
from predibot.domain.trace import ModelStep
from predibot.errors import UsageError
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.accounts.cohort_statement import positions_of_accounts
from predibot.ledger.read.accounts.statement import (
    AccountStatement,
    Allocation,
    find_accounts,
    names_of_accounts,
    statement_of,
)
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import count_decisions
from predibot.ledger.schema.values import LAST_INSTANT
from predibot.ledger.store import Store
from predibot.scoring.accounts.rationale import Factor

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
