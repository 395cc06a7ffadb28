"""The statement of an account, for a screen and for JSON: what it holds, why, and what its rationales refer to."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from rich.console import Console

from predibot.jobs.accounts.statement import BotRationales, Conversation
from predibot.ledger.read.accounts.statement import AccountStatement, Allocation, JournalLine
from predibot.plugins.venues import venue_or_defaults
from predibot.reports import figures
from predibot.reports.accounts import cohort_statement
from predibot.reports.table import Column, Document, Table, document, table_of
from predibot.reports.terminal.terminal import plain, print_grids, print_line, print_lines, within
from predibot.scoring.accounts.cohorts import Brier, implied_confidence_brier
from predibot.scoring.accounts.rationale import FACTORS

_SHOWN = 10
"""Rows of a long table, the newest; --full and --json have all."""
_SETTLED = ("settlement", "reversal", "refund")
_QUESTION_CELLS = 34
_RATIONALE_CELLS = 240
_CURVE_CELLS = 40
_OF_ORDER = "asset question unit amount asked status shares cash_usd note"
_OF_POSITION = "asset question shares cost_usd price priced_at value_usd state"
_OF_SNAPSHOT = "at cash_usd exposure_usd value_usd resolved_bets brier_implied_confidence=brier.score"
ConversationOf = Callable[[Allocation], Conversation]


def print_account(
    console: Console, statement: AccountStatement, conversation_of: ConversationOf, *, full: bool
) -> None:
    """Print a statement, the newest ten rows of long tables, or with `full` all, with prompts and answers."""
    _print_head(console, statement)
    held, *others, journal = _grids(statement, full=full)
    print_grids(console, [held] if held.rows else [])
    if held.rows and statement.cohort is not None:
        print_lines(console, cohort_statement.provenance_lines(statement.cohort.held, full=full))
    print_grids(console, (grid for grid in others if grid.rows))
    _print_allocations(console, statement, conversation_of, full=full)
    print_grids(console, [journal])
    if not full:
        print_line(console, "--full shows every row, with the prompt and the answer of each allocation.", "dim")


def statement_grids(statement: AccountStatement) -> tuple[Table, ...]:
    """Return every table of a statement, whole: what is held, what waits, what settled, and the journal."""
    name = statement.name
    of_week = "" if statement.cohort is None else f", cohort {name.subject}"
    title = plain(f"{name.game} of {name.recipe}, {name.mode}{of_week}")
    return tuple(replace(grid, title=f"{title}: {grid.title}") for grid in _grids(statement, full=True))


def _grids(statement: AccountStatement, *, full: bool) -> tuple[Table, ...]:
    cohort = statement.cohort
    settled = [row for row in statement.journal if row.kind in _SETTLED]
    # Of an account of a cohort, its last valuation of each day.
    days = {each.at.date(): each for each in (_snapshots(statement) if cohort is not None else ())}
    return (
        _positions_grid(statement)
        if cohort is None
        else cohort_statement.positions_grid(cohort.held.lines, bots=False, full=full),
        _pending_grid(statement),
        _newest("What settled, and how", _SETTLEMENTS, settled, full=full),
        _newest("Snapshots, the last of each day", _SNAPSHOTS, list(days.values()), full=full),
        _newest("Journal", _JOURNAL, statement.journal, full=full),
    )


def _newest(title: str, columns: Sequence[Column], rows: Sequence[object], *, full: bool) -> Table:
    left = 0 if full else max(0, len(rows) - _SHOWN)
    return table_of(title, columns, rows[left:], [f"{figures.things(left, 'older row')}: --full"] if left else ())


def account_document(statement: AccountStatement, conversation_of: ConversationOf) -> Document:
    """Return everything as JSON has it; the oldest comes first."""
    name, account = statement.name, statement.account
    of_cohort: Document = {}
    if (found := statement.cohort) is not None:
        of_cohort = {
            "standing": found.standing,
            "archived_reason": found.cohort.archived_reason,
            "cohort_positions": [cohort_statement.position_document(line) for line in found.held.lines],
            **cohort_statement.prices_document(found.held),
        }
    return {
        **document(name, "bot recipe game mode subject"),
        "methodology": name.methodology or None,
        "venue": name.venue,
        "currency": venue_or_defaults(name.venue).currency,
        **document(statement, "valued_at value_usd"),
        **document(account, "cash_usd paid_in_usd realised_usd dividends_usd fees_usd"),
        "owing_usd": -account.cash_usd if account.owing else 0.0,
        "positions": [document(each, _OF_POSITION) for each in statement.positions],
        "allocations": [_allocation_document(each, conversation_of(each)) for each in statement.allocations],
        "journal": [document(row) for row in statement.journal],
        "valuations": [document(each, _OF_SNAPSHOT) for each in _snapshots(statement)],
        "factor_shares": dict(statement.factors.by_rules),
        "kappa": dict(statement.factors.kappa),
        **of_cohort,
    }


class AccountSnapshot(NamedTuple):
    """An account at a valuation; of an account of no cohort there are no resolved bets."""

    at: datetime
    cash_usd: float
    exposure_usd: float
    """The worth of its positions."""
    value_usd: float
    resolved_bets: int | None
    brier: Brier | None
    """The Brier score of the confidence that the sizes of these bets imply."""


def _snapshots(statement: AccountStatement) -> Iterator[AccountSnapshot]:
    """Yield an account at its valuations, oldest first, with the bets that its journal had resolved by then."""
    after = () if statement.cohort is None else statement.cohort.resolved
    for row in statement.valuations:
        worth = row.at, row.cash_usd, row.value_usd - row.cash_usd, row.value_usd
        if not after:
            yield AccountSnapshot(*worth, None, None)
            continue
        bets = after[min(row.journal_number, len(after)) - 1]
        yield AccountSnapshot(*worth, sum(bet.won is not None for bet in bets), implied_confidence_brier(bets))


def _print_head(console: Console, statement: AccountStatement) -> None:
    name, account, cohort = statement.name, statement.account, statement.cohort
    of_week = "" if cohort is None else f", cohort {name.subject}"
    text = f"{name.bot}: {name.game} {name.methodology}".rstrip() + f" of {name.recipe}, {name.mode}{of_week}"
    print_line(console, plain(text), "bold")
    if cohort is not None and cohort.standing != "playing":
        print_line(console, cohort.standing)
    if cohort is not None and cohort.cohort.archived_at is not None:
        print_line(console, f"ARCHIVED, in no score: {plain(cohort.cohort.archived_reason or '', _RATIONALE_CELLS)}")
    at = "" if statement.valued_at is None else f" at {figures.instant(statement.valued_at)}"
    is_known = statement.value_usd is not None and account.paid_in_usd
    since = figures.signed_percent((statement.value_usd or 0.0) / account.paid_in_usd - 1.0 if is_known else None)
    print_line(
        console, f"value {figures.usd(statement.value_usd)}{at}, {since} on {figures.usd(account.paid_in_usd)} paid in"
    )
    owing = f", OWING {figures.usd(-account.cash_usd)}: it may only sell" if account.owing else ""
    print_line(
        console,
        f"cash {figures.usd(account.cash_usd)} · realised {_signed_usd(account.realised_usd)} · "
        f"fees {figures.usd(account.fees_usd)}{owing}",
    )
    if len(statement.valuations) > 1:
        first = statement.valuations[0].value_usd
        curve = figures.sparkline([each.value_usd - first for each in statement.valuations], _CURVE_CELLS)
        print_line(console, f"{curve}  beside the cash at the start")


def _positions_grid(statement: AccountStatement) -> Table:
    is_stocks = all(each.asset == each.question for each in statement.positions)
    side = f"market and side; a share of it pays {figures.money_sign()}1 if the side wins"
    columns = (replace(_ASSET, meaning="the stock" if is_stocks else side), *_POSITIONS)
    return table_of("Positions", columns, statement.positions)


def _pending_grid(statement: AccountStatement) -> Table:
    rows = [(order, each.slot_at) for each in statement.allocations for order in each.pending]
    is_stocks = all(plain(order.asset) == plain(order.question, _QUESTION_CELLS) for order, _ in rows)
    when = "the first close after the decision" if is_stocks else "the next prices, before bots are asked again"
    asked_for = f"the share of the account; traded at {when}, so that none trades at the price it saw; 0% sells all"
    columns = (
        replace(_ASSET, of="0.asset"),
        replace(_QUESTION, of="0.question"),
        Column("asked for", "0", _amount).means(asked_for),
        Column("decided", "1", figures.instant, kind="key"),
    )
    return table_of("Pending orders", columns, rows)


def _print_allocations(
    console: Console, statement: AccountStatement, conversation_of: ConversationOf, *, full: bool
) -> None:
    rows = statement.allocations if full else statement.allocations[-_SHOWN:]
    if not rows:
        return
    console.print()
    title = "Allocations" if statement.cohort is None else "Decisions"
    print_line(console, f"{title}, {len(rows)} of {len(statement.allocations)}", "bold")
    for each in rows:
        print_line(console, f"{figures.instant(each.slot_at)}  {figures.usd(each.value_usd)}  {_weights(each)}")
        if each.rationale:
            print_line(console, f"   {plain(each.rationale, None if full else _RATIONALE_CELLS)}")
        about = ", ".join(sorted(each.factors)).replace("_", " ")
        notes = (*([f"refers to {about}"] if about else []), *(plain(note) for note in each.notes))
        if notes:
            print_line(console, f"   {'; '.join(notes)}", "dim")
        told = conversation_of(each) if full else Conversation("", "")
        for label, text in (("prompt", told.prompt), ("answer", told.answer), ("no prompt", told.missing)):
            for number, line in enumerate(text.splitlines()):
                print_line(console, f"     {plain(line)}" if number else f"   {label}: {plain(line)}", "dim")
    print_lines(console, _factor_lines(statement))


def _factor_lines(statement: AccountStatement) -> Iterator[str]:
    if found := statement.factors.by_rules:
        shares = [f"{name.replace('_', ' ')} {figures.percent(share)}" for name, share in found.items()]
        n = sum(bool(each.rationale) for each in statement.allocations)
        yield f"Rationales refer to (by rules, {n} of them): {', '.join(shares)}."
    if agreed := statement.factors.kappa:
        texts = [f"{name.replace('_', ' ')} {figures.ratio(kappa)}" for name, kappa in agreed.items()]
        yield f"Agreement of rules and model (Cohen's kappa): {', '.join(texts)}."


def _weights(allocation: Allocation) -> str:
    if allocation.status != "recorded":
        return plain(f"{allocation.status}, shares kept as they were: {allocation.message}", 120)
    if not allocation.orders:
        return "no orders: everything kept as it was"
    orders = [order for order in allocation.orders if order.unit == "weight"]
    if not orders:
        return ", ".join(
            f"{_verb(each)} {_amount(each)} {plain(each.asset)}{_outcome_note(each)}" for each in allocation.orders
        )
    texts = [f"{plain(order.asset)} {_amount(order)}{_outcome_note(order)}" for order in orders if order.amount]
    # Rounding errors such as 1e-16 are no cash.
    cash = round(1.0 - sum(order.amount for order in orders), 9)
    return ", ".join((*texts, f"CASH {figures.percent(max(0.0, cash))}"))


def _verb(order: Any) -> str:
    if order.unit == "usd":
        return "bet"
    return "sell" if order.shares < 0.0 else "buy" if order.shares > 0.0 else "order"


def _amount(order: Any) -> str:
    if order.unit == "weight":
        changed = order.asked is not None and order.asked != order.amount
        return figures.percent(order.amount) + (f" (said {order.asked:.4g})" if changed else "")
    return figures.usd(order.amount) if order.unit == "usd" else _shares(order.amount)


def _outcome_note(order: Any) -> str:
    return "" if order.status == "filled" and not order.note else f" [{plain(order.note or order.status)}]"


def _cause(row: JournalLine) -> str:
    if row.run is not None:
        return plain(row.run)
    return figures.MISSING if row.revision is None else f"resolution, revision {row.revision}"


def _shares(shares: float) -> str:
    return f"{shares:,.2f}" if abs(shares) >= 0.005 else f"{shares:.3g}"


def _signed_usd(amount: float) -> str:
    return f"{'-' if round(amount, 2) < 0.0 else '+'}{figures.usd(abs(amount))}"


_AT, _KIND = Column("at", "at", figures.instant, kind="key"), Column("what", "kind", kind="key")
_ASSET = Column("asset", "asset", kind="key")
_QUESTION = Column("question", "question", within(_QUESTION_CELLS), 1, kind="text")
_CASH = Column("cash", "cash_usd", _signed_usd)
_POSITIONS = (
    _QUESTION,
    Column("shares", "shares", _shares, 0),
    Column("cost", "cost_usd", figures.usd).means("what the shares were bought for"),
    Column("price", "price", figures.short_score),
    Column("value", "value_usd", figures.usd, 0),
    Column("state", "state", lambda state: state or figures.MISSING, 0, kind="key").means(
        "quoted: priced now; stale: no price, the last one is used; closed: trades no more; settled: paid"
    ),
)
_SETTLEMENTS = (
    _AT,
    _KIND,
    _ASSET,
    _QUESTION,
    Column("paid", "payout", figures.probability).means("what a share of the asset paid"),
    Column("shares", "shares", _shares).means("below zero: given for the payout"),
    _CASH,
)
_SNAPSHOTS = (
    _AT,
    Column("cash", "cash_usd", figures.usd),
    Column("exposure", "exposure_usd", figures.usd, 0).means("worth of positions"),
    Column("value", "value_usd", figures.usd, 0),
    Column("resolved", "resolved_bets", figures.count, 1).means("bets that had won or lost by then"),
    Column("by size", "brier.score", figures.score, 1).means("Brier score of the confidence that their sizes imply"),
)
_JOURNAL = (
    Column("#", "number", figures.count),
    _AT,
    _KIND,
    replace(_ASSET, write=lambda asset: plain(asset) or figures.MISSING),
    Column("shares", "", lambda row: _shares(row.shares) if row.asset else figures.MISSING),
    _CASH,
    Column("follows from", "", _cause, 1, kind="text"),
)


def _allocation_document(each: Allocation, conversation: Conversation) -> Document:
    return {
        **document(each, "run slot_at status message value_usd"),
        "orders": [document(order, _OF_ORDER) for order in each.orders],
        **document(each, "notes rationale"),
        "refers_to": sorted(each.factors),
        "judged_to_refer_to": None if each.judged is None else sorted(each.judged),
        "trace_sha256": each.trace_sha256,
        "prompt": conversation.prompt or None,
        "answer": conversation.answer or None,
    }


_SHORT = {"position": "position", "price_history": "price", "news": "news"}


def rationale_tables(found: Sequence[BotRationales]) -> tuple[Table, ...]:
    """Return a row for each bot with the shares by rules, and a table of a model's reading if there is one."""
    tables = [table_of("What rationales refer to, by rules", (*_BOT, _N, *_RULES), found, (_NOTE,))]
    if any(each.factors.judged for each in found):
        tables.append(table_of("As the model reads them", (*_BOT, *_MODEL), found))
    return tuple(tables)


def rationale_documents(found: Sequence[BotRationales]) -> list[Document]:
    """Return the same as JSON has it."""
    return [
        {
            **document(each, "recipe game mode venue bot rationales=factors.n judged=factors.judged"),
            "factor_shares": dict(each.factors.by_rules),
            "judged_shares": dict(each.factors.by_judge),
            "kappa": dict(each.factors.kappa),
        }
        for each in found
    ]


def _columns(of: str, meaning: str, *, before: str = "") -> tuple[Column, ...]:
    write = figures.ratio if before else figures.percent
    return tuple(
        Column(f"{before}{_SHORT[factor]}", f"factors.{of}.{factor}", write, meaning="" if number else meaning, drop=0)
        for number, factor in enumerate(FACTORS)
    )


_NOTE = "Several may be in one rationale, or none; what is named only to deny it does not count."
_BOT = (
    Column("bot", "bot", plain, kind="name"),
    Column("game", "game", plain, drop=3, kind="key"),
    Column("recipe", "recipe", plain, drop=2, kind="name"),
    Column("venue", "venue", plain, drop=1, kind="key"),
)
_N = Column("n", "factors.n", figures.count).means("rationales")
_RULES = _columns("by_rules", "the share of rationales that refer to what is held; likewise past prices and news")
_MODEL = (
    Column("read", "factors.judged", figures.count).means("rationales that the model read"),
    *_columns("by_judge", "the share of these that refer to what is held; likewise past prices and news"),
    *_columns("kappa", "Cohen's kappa of rules and model; a dash where both always say the same", before="κ "),
)
