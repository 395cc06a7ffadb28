"""Account statements: one bot's account with the answer and the prompt of each allocation, and what it refers to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from predibot.domain.spelling import did_you_mean
from predibot.domain.trace import ModelStep
from predibot.errors import UsageError
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.account_statement import (
    Allocation,
    Statement,
    accounts_named,
    names_of_accounts,
    statement_of,
)
from predibot.ledger.read.cohorts.statement import AccountPositions, positions_of_accounts
from predibot.ledger.schema.values import LAST_INSTANT
from predibot.ledger.store import Store
from predibot.scoring.accounts.rationale import FACTORS, Factor, factors_named, shares_of_factors
from predibot.scoring.metrics.agreement import cohen_kappa


class Judge(Protocol):
    """Reads which factors a rationale refers to."""

    def __call__(self, rationale: str) -> frozenset[Factor] | None:
        """Return some of `FACTORS`, None where there is no reading."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a model was told for a decision, and what it said in the end."""

    prompt: str
    answer: str
    missing: str = ""
    """Why there is neither: no model was asked, or its trace cannot be read."""


@dataclass(frozen=True, slots=True)
class Annotated:
    """An allocation, and which factors its rationale refers to."""

    allocation: Allocation
    factors: frozenset[Factor]
    judged: frozenset[Factor] | None
    """As a model reads it; None where none was asked."""


@dataclass(frozen=True, slots=True)
class AccountStatement:
    """A statement with what its rationales refer to."""

    statement: Statement
    allocations: tuple[Annotated, ...]
    """Oldest first."""
    factor_shares: Mapping[Factor, float]
    """The share of rationales that refer to each; empty without any rationale."""
    cohort: AccountPositions | None
    """Its positions with their states, where it is of a cohort."""
    kappa: Mapping[Factor, float | None]
    """Cohen's, of rules and model; empty where no model was asked, None where both always said the same."""


def account_statements(
    store: Store,
    bot: str,
    *,
    recipe: str | None,
    cohort: str | None = None,
    as_of: datetime | None = None,
    judge: Judge | None = None,
) -> tuple[AccountStatement, ...]:
    """Return the statements of a bot's accounts, one a recipe, game and mode, and of weekly cohorts one a cohort.

    Args:
        store: The ledger.
        bot: Whose accounts.
        recipe: Only of the recipe with this name; None for all.
        cohort: Only of the cohort of this Sunday; None for all.
        as_of: Nothing later is seen; None for all that is stored.
        judge: A model that reads rationales beside the rules; None for the rules alone.

    Raises:
        UsageError: If no bot of this name has an account.
        LedgerUnusable: If the ledger holds what predibot does not write.
    """
    with store.read() as connection:
        named = accounts_named(connection, bot, recipe, cohort)
        if not named:
            known = names_of_accounts(connection)
            of = "" if recipe is None else f" in recipe {recipe!r}"
            of += "" if cohort is None else f" in a cohort {cohort!r}"
            hint = did_you_mean(bot, known) if known else "Play a game that has accounts, such as portfolio_weights"
            raise UsageError(f"no bot {bot!r} has an account{of}. {hint}")
        with store.rows_blamed():
            found = [statement_of(connection, name, as_of or LAST_INSTANT) for name in named]
            held = positions_of_accounts(connection, [name.row for name in named], as_of or LAST_INSTANT)
    return tuple(_annotated(each, held.get(each.name.row), judge) for each in found)


def told(store: Store, allocation: Allocation) -> Told:
    """Return what a model was told and said for an allocation; of several calls, the last that answered."""
    if allocation.trace_sha256 is None:
        return Told("", "", "no model was asked")
    try:
        steps = Traces(store).read(allocation.trace_sha256).steps
    except UsageError as error:
        return Told("", "", str(error))
    asked = [step for step in steps if isinstance(step, ModelStep)]
    if not asked:
        return Told("", "", "no model answered")
    prompt = "\n\n".join(message.text for message in asked[0].asked.new_messages if message.text)
    said = asked[-1].reply.message
    return Told(
        prompt, "\n".join(text for text in (said.text, *(call.arguments_json for call in said.tool_calls)) if text)
    )


def _annotated(statement: Statement, cohort: AccountPositions | None, judge: Judge | None) -> AccountStatement:
    rows = tuple(
        Annotated(each, factors_named(each.rationale), judge(each.rationale) if judge and each.rationale else None)
        for each in statement.allocations
    )
    said = [row.factors for row in rows if row.allocation.rationale]
    judged = [row for row in rows if row.judged is not None]
    return AccountStatement(
        statement=statement,
        allocations=rows,
        factor_shares=shares_of_factors(said) if said else {},
        cohort=cohort,
        kappa=_agreement(judged) if judged else {},
    )


def _agreement(rows: Sequence[Annotated]) -> Mapping[Factor, float | None]:
    return {
        factor: cohen_kappa([factor in row.factors for row in rows], [factor in (row.judged or ()) for row in rows])
        for factor in FACTORS
    }
