"""The statement of a cohort, for a screen and for JSON: members, positions, and markets in common."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from sqlalchemy import Row

from predibot.domain.decision import BY_SYSTEM, counted_status
from predibot.games.cohorts import DECIDES_AFTER, Member
from predibot.games.positions import POSITION_STATES, PositionState
from predibot.ledger.read.accounts.cohort_statement import CohortHoldings, CohortStatement, PositionLine
from predibot.ledger.read.accounts.cohorts import MemberAccount, StoredCohort
from predibot.plugins.venues import venue_or_defaults
from predibot.reports import figures
from predibot.reports.table import Column, Document, Table, document, json_value, number, table_of, under
from predibot.reports.terminal.terminal import plain, print_grids, print_line, print_lines, within

_SHOWN = 20
"""Rows of a long table; --full and --json have all."""
_QUESTION_CELLS = 30
_MESSAGE_CELLS = 90
_STATE = "decides complete_at=ended_at"
_OF_DECISION = "run decided_at status reason_kind message orders"
_OF_ACCOUNT = ("cash_usd", "stake_usd", "value_usd", "profit_usd", "valued_at", "standing")
_STANDING_WORDS: Mapping[str, str] = {"playing": "bet"}


def print_cohort(console: Console, found: CohortStatement, *, full: bool) -> None:
    """Print a statement: open positions and the first rows of long tables, or with `full` all."""
    _print_head(console, found)
    print_grids(console, [_members_grid(found)])
    print_lines(console, _failure_lines(found))
    every = found.held.lines
    lines = every if full else [line for line in every if line.position.is_open]
    ended = len(every) - len(lines)
    grids = positions_grid(lines, bots=True, full=full), _shared_grid(found, full=full)
    print_grids(console, (grid for grid in grids if grid.rows))
    if ended:
        print_line(console, f"{figures.things(ended, 'position')} that ended: --full", "dim")
    print_lines(console, provenance_lines(found.held, full=full))


def cohort_statement_grids(found: CohortStatement) -> tuple[Table, ...]:
    """Return every table of a statement, whole: members, positions, and what several members hold."""
    return _members_grid(found), positions_grid(found.held.lines, bots=True, full=True), _shared_grid(found, full=True)


def cohort_document(found: CohortStatement) -> Document:
    """Return everything as JSON has it."""
    return {
        **_cohort_header(found.cohort),
        **document(found, "as_of week"),
        **document(found.cohort, _STATE),
        **document(found, "markets unresolved_markets=unresolved"),
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


def summary_document(found: StoredCohort) -> Document:
    """Return a row of the list as JSON has it."""
    return {**_cohort_header(found), **document(found, f"{_STATE} open_positions values_usd mean_profit_usd")}


def list_grid(found: Sequence[StoredCohort]) -> Table:
    """Return the list of cohorts, each in its venue's currency."""
    return table_of("Cohorts", _COHORTS, found)


def positions_grid(lines: Sequence[PositionLine], *, bots: bool, full: bool = False) -> Table:
    """Return a table of positions; `bots` adds the column of their bots, `full` shows every row."""
    return _first_rows("Positions", _POSITIONS if bots else _POSITIONS[1:], lines, "more position", full=full)


def _first_rows(title: str, columns: Sequence[Column], rows: Sequence[object], noun: str, *, full: bool) -> Table:
    left = 0 if full else max(0, len(rows) - _SHOWN)
    more = f"{figures.things(left, noun)}: --full" if left else ""
    return table_of(title, columns, rows if full else rows[:_SHOWN], [more])


def position_document(line: PositionLine) -> Document:
    """Return a position as JSON has it."""
    position = "state opened_at ended_at shares cost_usd average_price bought_usd realised_usd"
    names = (
        f"bot position_id=position.id market_id side question {under('position', position)} price priced_at "
        "price_source=source stale=is_stale value_usd"
    )
    return {**document(line, names), "joined": line.position.joined or None}


def prices_document(held: CohortHoldings) -> Document:
    """Return where prices come from, and which disagree, as JSON has it."""
    conflicts = [
        {
            **document(each, "outcome=low.outcome at=low.at difference"),
            "low": document(each.low, "source price"),
            "high": document(each.high, "source price"),
        }
        for each in held.conflicts
    ]
    return {"price_sources": dict(held.bought_at), "price_conflicts": conflicts}


def provenance_lines(held: CohortHoldings, *, full: bool) -> Iterator[str]:
    """Yield where prices come from, and where two of one outcome and instant lie more than .05 apart."""
    if held.bought_at:
        yield f"Booked at: {', '.join(f'{source} {n}' for source, n in held.bought_at.items())}."
    if held.conflicts:
        yield f"Prices that disagree by more than .05 at one instant: {len(held.conflicts)}"
    for each in held.conflicts if full else held.conflicts[-3:]:
        low, high = each.low, each.high
        yield (
            f"  {plain(low.outcome, 40)} at {figures.instant(low.at)}: {low.source} {figures.short_score(low.price)}, "
            f"{high.source} {figures.short_score(high.price)}"
        )


def _cohort_header(cohort: StoredCohort) -> Document:
    return {
        **document(cohort, "cohort=name recipe game mode venue"),
        "currency": venue_or_defaults(cohort.venue).currency,
        **document(cohort, "methodology started_at archived_at archived_reason"),
        "line_up": [asdict(member) for member in cohort.members],
    }


def _print_head(console: Console, found: CohortStatement) -> None:
    cohort = found.cohort
    of = f"{cohort.game} {cohort.methodology} of {cohort.recipe}, {cohort.mode}"
    print_line(console, plain(f"Cohort {cohort.name}: {of}, as of {figures.instant(found.as_of)}"), "bold")
    state = "decides" if cohort.decides else "only tracked"
    if found.as_of < (first := cohort.start + DECIDES_AFTER):
        state = f"decides from {figures.instant(first)}"
    if cohort.ended_at is not None:
        state = f"complete since {figures.instant(cohort.ended_at)}"
    unresolved = f"{found.unresolved} of {figures.things(found.markets, 'market')} unresolved"
    print_line(console, f"week {found.week}, {state}; {unresolved}")
    if cohort.archived_at is not None:
        text = plain(cohort.archived_reason or "", _MESSAGE_CELLS)
        print_line(console, f"ARCHIVED {figures.instant(cohort.archived_at)}, in no score: {text}")
    if found.due:
        print_line(console, f"Due this week: {', '.join(map(plain, found.due))}.")


def _members_grid(found: CohortStatement) -> Table:
    least = found.cohort.rules.least_cash_usd
    can = f"cannot bet: less than {figures.money_sign()}{least:g} of cash; bankrupt: neither cash nor positions"
    accounts, decided = found.cohort.accounts, found.decided
    rows = [
        {"member": member, "own": accounts.get(member.bot_id), "decided": decided.get(member.bot_id, ())}
        for member in found.cohort.members
    ]
    return table_of("Members", (*_MEMBERS, Column("can", "", _standing_word, 0, kind="key").means(can)), rows)


def _standing_word(row: Mapping[str, Any]) -> str:
    own: MemberAccount | None = row["own"]
    if own is None:
        return "no account"
    return "OWING" if own.account.owing else _STANDING_WORDS.get(own.standing, own.standing)


def _display_name(member: Member) -> str:
    return figures.MISSING if member.display_name == member.bot_id else plain(member.display_name)


def _in_state(*states: PositionState) -> Callable[[MemberAccount], str]:
    """Return a writer of the number of a member's positions in these states."""
    return lambda own: figures.count(sum(own.states.get(state, 0) for state in states))


def _failed_share(decided: Sequence[Row[Any]]) -> str:
    failed = sum(counted_status(each.status, each.reason_kind) in ("refused", "failed") for each in decided)
    return f"{failed} of {len(decided)}"


def _member_document(found: CohortStatement, member: Member) -> Document:
    own, decided = found.cohort.accounts.get(member.bot_id), found.decided.get(member.bot_id, ())
    return {
        **asdict(member),
        **{name: json_value(getattr(own, name, None)) for name in _OF_ACCOUNT},
        "owing": own is not None and own.account.owing,
        "positions": {state: 0 if own is None else own.states.get(state, 0) for state in POSITION_STATES},
        "decisions": dict(Counter(counted_status(each.status, each.reason_kind) for each in decided)),
        "last_decision": document(decided[-1], _OF_DECISION) if decided else None,
        "cost_usd": number(_cost_usd(decided)),
    }


def _cost_usd(decided: Sequence[Row[Any]]) -> float | None:
    costs = [each.cost_usd for each in decided]
    return None if None in costs else sum(costs)


def _failure_lines(found: CohortStatement) -> Iterator[str]:
    for member in found.cohort.members:
        for last in found.decided.get(member.bot_id, ())[-1:]:
            if (status := counted_status(last.status, last.reason_kind)) != "recorded":
                text = plain(last.message or BY_SYSTEM, _MESSAGE_CELLS)
                yield f"{plain(member.bot_id)} {status} at {figures.instant(last.decided_at)}: {text}"


def _profit(line: PositionLine) -> str:
    each = line.position
    if line.value_usd is None:
        return figures.MISSING if each.is_open else figures.whole_gain_usd(each.realised_usd)
    return figures.whole_gain_usd(each.realised_usd + (line.value_usd - each.cost_usd))


_QUESTION = Column("question", "question", within(_QUESTION_CELLS), 1, kind="text")
_MEMBERS = (
    Column("bot", "member.bot_id", drop=0, kind="name"),
    Column("name", "member", _display_name, 1, kind="text"),
    Column("value", "own.value_usd", figures.usd, 0).means("cash and positions at their last prices"),
    Column("P/L", "own.profit_usd", figures.whole_gain_usd, 0),
    Column("cash", "own.cash_usd", figures.usd),
    Column("open", "own", _in_state("open", "PENDING")).means("positions held, PENDING ones included"),
    Column("won", "own", _in_state("WON")),
    Column("lost", "own", _in_state("LOST")),
    Column("sold", "own", _in_state("EXITED"), 4),
    Column("void", "own", _in_state("CANCELLED"), 3),
    Column("failed", "decided", _failed_share).means("decisions refused or failed, HOLDs of the system among them"),
    Column("cost", "decided", lambda decided: figures.short_cost_usd(_cost_usd(decided)), 2),
)
_POSITIONS = (
    Column("bot", "bot", kind="name"),
    Column("id", "position.id", drop=5, kind="key"),
    Column("market", "market_id", drop=0, kind="key"),
    Column("side", "side", within(20), 0, kind="key"),
    _QUESTION,
    Column("state", "position.state", drop=0, kind="key").means(
        "PENDING is closed and not settled; CANCELLED paid anything but 0 or 1; EXITED was sold"
    ),
    Column("shares", "position.shares", lambda shares: f"{shares:,.2f}" if shares else figures.MISSING),
    Column("avg", "position.average_price", figures.short_score, 4).means("what a share cost on average"),
    Column("price", "price", figures.short_score),
    Column("value", "value_usd", figures.usd),
    Column("P/L", "", _profit).means("of what is held against its cost, with what was realised before"),
    Column("priced", "priced_at", figures.instant, 3, kind="key"),
    Column("source", "", lambda line: (line.source or figures.MISSING) + "~" * line.is_stale, 2, kind="key").means(
        "what the price is; ~ where the market had none and its last one is used"
    ),
)


def _shared_grid(found: CohortStatement, *, full: bool) -> Table:
    return _first_rows("Markets in common", _SHARED, found.shared, "more market", full=full)


def _holders(holders: Sequence[tuple[str, str, float]]) -> str:
    return "; ".join(f"{plain(bot)} {plain(side, 20)} {shares:,.0f}" for bot, side, shares in holders)


def _mean_profit(cohort: StoredCohort) -> str:
    if cohort.mean_profit_usd is None:
        return figures.MISSING
    with figures.in_currency(venue_or_defaults(cohort.venue).currency):
        return figures.whole_gain_usd(cohort.mean_profit_usd)


def _state_of(cohort: StoredCohort) -> str:
    if cohort.archived_at is not None:
        return "archived"
    return "decides" if cohort.decides else "tracked" if cohort.ended_at is None else "complete"


_SHARED = (
    Column("market", "market_id", kind="key"),
    _QUESTION,
    Column("who holds what", "holders", _holders, 0, kind="text"),
)
_COHORTS = (
    Column("cohort", "name", kind="key"),
    Column("recipe", "recipe", kind="name"),
    Column("rules", "methodology", kind="key"),
    Column("mode", "mode", drop=1, kind="key"),
    Column("members", "members", lambda members: figures.count(len(members))),
    Column("open", "open_positions", figures.count, 2),
    Column("mean P/L", "", _mean_profit),
    Column("state", "", _state_of, kind="key"),
)
