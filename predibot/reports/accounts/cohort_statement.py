"""A cohort's statement on a screen and as a document: members, positions, markets in common, and what is due."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from sqlalchemy import Row

from predibot.domain.clock import format_instant
from predibot.games.cohorts import DECIDES_AFTER, Member
from predibot.games.positions import POSITION_STATES, PositionState
from predibot.ledger.read.cohorts.accounts import CohortAsOf, KeptCohort, MemberAccount
from predibot.ledger.read.cohorts.statement import (
    CohortStatement,
    HeldPositions,
    PositionLine,
)
from predibot.plugins.venues import known_venue
from predibot.reports import figures
from predibot.reports.document import Document, document, json_value, number
from predibot.reports.terminal.grid import Column, Grid, print_grid
from predibot.reports.terminal.terminal import print_line
from predibot.reports.terminal.text import plain

_SHOWN = 20
"""Rows of a long table; --full and --json have all."""
_QUESTION_CELLS = 30
_MESSAGE_CELLS = 90
_OF_DECISION = "run decided_at status message orders"
_OF_ACCOUNT = ("cash_usd", "stake_usd", "value_usd", "profit_usd", "valued_at", "standing")
_CAN: Mapping[str, str] = {"playing": "bet"}


def print_cohort(console: Console, found: CohortStatement, *, full: bool) -> None:
    """Print a statement: open positions and the first rows of long tables, or with `full` all."""
    _print_head(console, found)
    console.print()
    print_grid(console, _members(found))
    for line in _on_members(found):
        print_line(console, line)
    every = found.held.lines
    lines = every if full else [line for line in every if line.position.is_open]
    ended = len(every) - len(lines)
    for grid in (positions_grid(lines, bots=True, full=full), _shared(found, full=full)):
        if grid.rows:
            console.print()
            print_grid(console, grid)
    if ended:
        print_line(console, f"{figures.things(ended, 'position')} that ended: --full", "dim")
    for line in provenance_lines(found.held, full=full):
        print_line(console, line)


def cohort_statement_grids(found: CohortStatement) -> tuple[Grid, ...]:
    """Return every table of a statement, whole: members, positions, and what several members hold."""
    return _members(found), positions_grid(found.held.lines, bots=True, full=True), _shared(found, full=True)


def cohort_document(found: CohortStatement) -> Document:
    """Return everything as JSON has it."""
    return {
        **_named(found.cohort),
        **document(found, "as_of week"),
        **_state(found.cohort),
        "markets": found.markets,
        "unresolved_markets": found.unresolved,
        "members": [_member_document(found, each) for each in found.cohort.members],
        "positions": [position_document(line) for line in found.held.lines],
        "markets_in_common": [
            {
                **document(each, "market_id question"),
                "holders": [{"bot": bot, "side": side, "shares": shares} for bot, side, shares in each.holders],
            }
            for each in found.shared
        ],
        "due": list(found.due),
        **prices_document(found.held),
    }


def summary_document(found: CohortAsOf) -> Document:
    """Return a row of the list as JSON has it."""
    return {
        **_named(found),
        **_state(found),
        **document(found, "open_positions values_usd mean_profit_usd"),
    }


def list_grid(found: Sequence[CohortAsOf]) -> Grid:
    """Return the list of cohorts, each in its venue's currency."""
    columns = (
        *(Column("cohort", "key"), Column("recipe", "name"), Column("rules", "key"), Column("mode", "key")),
        *(Column("members"), Column("open"), Column("mean P/L"), Column("state", "key")),
    )
    return Grid("Cohorts", columns, tuple(map(_listed, found)), dropped_first=("mode", "open"))


def positions_grid(lines: Sequence[PositionLine], *, bots: bool, full: bool = False) -> Grid:
    """Return a table of positions, with whose they are where they are of several bots.

    Args:
        lines: What is shown.
        bots: Whether a column names the bot.
        full: Whether a long table is shown whole.
    """
    columns = (
        *((Column("bot", "name"),) if bots else ()),
        *(Column("id", "key"), Column("market", "key"), Column("side", "key"), Column("question", "text")),
        *(Column("state", "key"), Column("shares"), Column("avg"), Column("price"), Column("value")),
        *(Column("P/L"), Column("priced", "key"), Column("source", "key")),
    )
    shown = lines if full else lines[:_SHOWN]
    left = len(lines) - len(shown)
    more = (f"{figures.things(left, 'more position')}: --full",) if left else ()
    return Grid(
        "Positions",
        columns,
        tuple(_position(line, bots=bots) for line in shown),
        below=more,
        dropped_first=("question", "source", "priced", "avg", "id"),
        kept=("market", "side", "state"),
        legend=(
            ("state", "PENDING is closed and not settled; CANCELLED paid anything but 0 or 1; EXITED was sold"),
            ("avg", "what a share cost on average"),
            ("P/L", "of what is held against its cost, with what was realised before"),
            ("source", "what the price is; ~ where the market had none and its last one is used"),
        ),
    )


def position_document(line: PositionLine) -> Document:
    """Return a position as JSON has it."""
    each = line.position
    return {
        "bot": line.bot,
        "position_id": each.id,
        **document(line, "market_id side question"),
        **document(each, "state opened_at ended_at shares cost_usd average_price bought_usd realised_usd"),
        **document(line, "price priced_at"),
        "price_source": line.source,
        "stale": line.is_stale,
        "value_usd": number(line.value_usd),
        "joined": each.joined or None,
    }


def prices_document(held: HeldPositions) -> Document:
    """Return where prices come from, and which disagree, as JSON has it."""
    conflicts = [
        {
            **document(each.low, "outcome at"),
            "difference": each.difference,
            "low": document(each.low, "source price"),
            "high": document(each.high, "source price"),
        }
        for each in held.conflicts
    ]
    return {"price_sources": dict(held.bought_at), "price_conflicts": conflicts}


def provenance_lines(held: HeldPositions, *, full: bool) -> Iterator[str]:
    """Yield where prices come from, and where two of one outcome and instant lie more than .05 apart."""
    if held.bought_at:
        yield f"Booked at: {', '.join(f'{source} {n}' for source, n in held.bought_at.items())}."
    if held.conflicts:
        yield f"Prices that disagree by more than .05 at one instant: {len(held.conflicts)}"
    for each in held.conflicts if full else held.conflicts[-3:]:
        low, high = each.low, each.high
        yield (
            f"  {plain(low.outcome, 40)} at {format_instant(low.at)}: {low.source} {figures.short_score(low.price)}, "
            f"{high.source} {figures.short_score(high.price)}"
        )


def _named(cohort: KeptCohort) -> Document:
    return {
        "cohort": cohort.name,
        **document(cohort, "recipe game mode venue"),
        "currency": known_venue(cohort.venue).currency,
        **document(cohort, "methodology started_at archived_at archived_reason"),
        "line_up": [asdict(member) for member in cohort.members],
    }


def _state(cohort: CohortAsOf) -> Document:
    return {"decides": cohort.decides, "complete_at": json_value(cohort.ended_at)}


def _print_head(console: Console, found: CohortStatement) -> None:
    cohort = found.cohort
    of = f"{cohort.game} {cohort.methodology} of {cohort.recipe}, {cohort.mode}"
    print_line(console, plain(f"Cohort {cohort.name}: {of}, as of {format_instant(found.as_of)}"), "bold")
    state = "decides" if cohort.decides else "only tracked"
    if found.as_of < (first := cohort.start + DECIDES_AFTER):
        state = f"decides from {format_instant(first)}"
    if cohort.ended_at is not None:
        state = f"complete since {format_instant(cohort.ended_at)}"
    unresolved = f"{found.unresolved} of {figures.things(found.markets, 'market')} unresolved"
    print_line(console, f"week {found.week}, {state}; {unresolved}")
    if cohort.archived_at is not None:
        said = plain(cohort.archived_reason or "", _MESSAGE_CELLS)
        print_line(console, f"ARCHIVED {format_instant(cohort.archived_at)}, in no score: {said}")
    if found.due:
        print_line(console, f"Due this week: {', '.join(map(plain, found.due))}.")


def _members(found: CohortStatement) -> Grid:
    least = found.cohort.rules.least_cash_usd
    columns = (
        *(Column("bot", "name"), Column("name", "text"), Column("value"), Column("P/L"), Column("cash")),
        *(Column("open"), Column("won"), Column("lost"), Column("sold"), Column("void"), Column("failed")),
        *(Column("cost"), Column("can", "key")),
    )
    return Grid(
        "Members",
        columns,
        tuple(_member(found, each) for each in found.cohort.members),
        dropped_first=("name", "cost", "void", "sold"),
        kept=("bot", "value", "P/L", "can"),
        legend=(
            ("value", "cash and positions at their last prices"),
            ("open", "positions held, PENDING ones included"),
            ("failed", "decisions refused or failed"),
            (
                "can",
                f"cannot bet: less than {figures.money_sign()}{least:g} of cash; bankrupt: neither cash nor positions",
            ),
        ),
    )


def _member_document(found: CohortStatement, member: Member) -> Document:
    own, decided = found.cohort.accounts.get(member.bot_id), found.decided.get(member.bot_id, ())
    return {
        **asdict(member),
        **{name: json_value(getattr(own, name, None)) for name in _OF_ACCOUNT},
        "owing": own is not None and own.account.owing,
        "positions": _states(own),
        "decisions": dict(Counter(each.status for each in decided)),
        "last_decision": document(decided[-1], _OF_DECISION) if decided else None,
        "cost_usd": number(_cost_usd(decided)),
    }


def _states(own: MemberAccount | None) -> dict[PositionState, int]:
    """Return how many positions are in each state, none of a member without an account."""
    return {state: 0 if own is None else own.states.get(state, 0) for state in POSITION_STATES}


def _cost_usd(decided: Sequence[Row[Any]]) -> float | None:
    """Return what decisions cost together; None where a part is unknown."""
    costs = [each.cost_usd for each in decided]
    return None if None in costs else sum(costs)


def _member(found: CohortStatement, member: Member) -> tuple[str, ...]:
    own, decided = found.cohort.accounts.get(member.bot_id), found.decided.get(member.bot_id, ())
    states, statuses = _states(own), Counter(each.status for each in decided)
    counts = (states["open"] + states["PENDING"], *(states[name] for name in ("WON", "LOST", "EXITED", "CANCELLED")))
    can = "no account" if own is None else "OWING" if own.account.owing else _CAN.get(own.standing, own.standing)
    profit_usd = None if own is None else own.profit_usd
    return (
        plain(member.bot_id),
        figures.MISSING if member.display_name == member.bot_id else plain(member.display_name),
        figures.usd(None if own is None else own.value_usd),
        figures.MISSING if profit_usd is None else figures.whole_gain_usd(profit_usd),
        figures.usd(None if own is None else own.cash_usd),
        *(figures.count(None if own is None else count) for count in counts),
        f"{statuses['refused'] + statuses['failed']} of {len(decided)}",
        figures.short_cost_usd(_cost_usd(decided)),
        can,
    )


def _on_members(found: CohortStatement) -> Iterator[str]:
    """Yield why the last decision of a member came to nothing."""
    for member in found.cohort.members:
        decided = found.decided.get(member.bot_id)
        if decided and (last := decided[-1]).status != "recorded":
            said = plain(last.message, _MESSAGE_CELLS)
            yield f"{plain(member.bot_id)} {last.status} at {format_instant(last.decided_at)}: {said}"


def _position(line: PositionLine, *, bots: bool) -> tuple[str, ...]:
    each = line.position
    unrealised = None if line.value_usd is None else line.value_usd - each.cost_usd
    made = each.realised_usd + (unrealised or 0.0) if unrealised is not None or not each.is_open else None
    return (
        *((plain(line.bot),) if bots else ()),
        each.id,
        plain(line.market_id),
        plain(line.side, 20),
        plain(line.question, _QUESTION_CELLS),
        each.state,
        f"{each.shares:,.2f}" if each.shares else figures.MISSING,
        figures.short_score(each.average_price),
        figures.short_score(line.price),
        figures.usd(line.value_usd),
        figures.MISSING if made is None else figures.whole_gain_usd(made),
        figures.MISSING if line.priced_at is None else format_instant(line.priced_at),
        (line.source or figures.MISSING) + ("~" if line.is_stale else ""),
    )


def _shared(found: CohortStatement, *, full: bool) -> Grid:
    shared = found.shared if full else found.shared[:_SHOWN]
    rows = tuple(
        (
            plain(each.market_id),
            plain(each.question, _QUESTION_CELLS),
            "; ".join(f"{plain(bot)} {plain(side, 20)} {shares:,.0f}" for bot, side, shares in each.holders),
        )
        for each in shared
    )
    left = len(found.shared) - len(shared)
    columns = (Column("market", "key"), Column("question", "text"), Column("who holds what", "text"))
    below = (f"{figures.things(left, 'more market')}: --full",) if left else ()
    return Grid("Markets in common", columns, rows, below, ("question",), ("who holds what",))


def _listed(cohort: CohortAsOf) -> tuple[str, ...]:
    state = "decides" if cohort.decides else "tracked" if cohort.ended_at is None else "complete"
    profit = figures.MISSING
    if cohort.mean_profit_usd is not None:
        with figures.in_currency(known_venue(cohort.venue).currency):
            profit = figures.whole_gain_usd(cohort.mean_profit_usd)
    return (
        cohort.name,
        plain(cohort.recipe),
        cohort.methodology,
        cohort.mode,
        figures.count(len(cohort.members)),
        figures.count(cohort.open_positions),
        profit,
        "archived" if cohort.archived_at is not None else state,
    )
