"""The status of a ledger on a terminal: its schedules as a table, and what somebody has to look at."""

from collections.abc import Iterator

from rich.console import Console

from predibot.domain.budget import format_limit_usd
from predibot.domain.spelling import count_noun
from predibot.jobs.status import COUNTED, STALE, LedgerStatus, ScheduleStatus
from predibot.reports import figures
from predibot.reports.table import Column, table_of
from predibot.reports.terminal.terminal import plain, print_grid, print_line


def print_status(console: Console, status: LedgerStatus) -> None:
    """Print the status of a ledger: a row for each recipe, and what needs attention last."""
    if status.schedules:
        title, below = f"Schedules: {len(status.schedules)}", f"missed and cost: of the last {COUNTED.days} days."
        print_grid(console, table_of(title, _COLUMNS, status.schedules, [below]))
    else:
        print_line(console, "no schedules; `predibot schedule RECIPE` runs one")
    for line in status_lines(status):
        print_line(console, plain(line))
    if not status.problems:
        print_line(console, plain(headline(status)), style="bold")
    for problem in status.problems:
        print_line(console, plain(f"Look at this: {problem}"), style="bold")


def headline(status: LedgerStatus) -> str:
    """Return in a sentence whether somebody has to look at something."""
    if status.problems:
        return f"{figures.things(len(status.problems), 'thing')} to look at."
    due = [(each.next_at, each.recipe) for each in status.schedules if each.next_at and not each.stored.paused_at]
    if status.is_service_alive or not due:
        return "All is well: nothing needs attention."
    at, recipe = min(due)
    return f"No service runs: the run of {recipe} at {figures.instant(at)} begins only if `predibot schedule` runs."


def _state(each: ScheduleStatus) -> str:
    if each.stored.paused_at is not None:
        return "paused"
    return figures.MISSING if each.slots.last is None else each.slots.last.status


_COLUMNS = (
    Column("recipe", "recipe", kind="key"),
    Column("last run", "slots.last.slot_at", figures.instant, kind="key"),
    Column("status", "", _state, 0, kind="key"),
    Column("late", "slots.last.late", lambda late: figures.duration(max(late.total_seconds(), 0.0)), 1),
    Column("next run", "next_at", figures.instant, 0, kind="key"),
    Column("missed", "slots.counts", lambda counts: figures.count(counts.get("missed", 0))),
    Column("cost", "cost", lambda cost: figures.short_cost_usd(cost.known_usd) + "+?" * bool(cost.unknown), 2),
)


def status_lines(status: LedgerStatus) -> Iterator[str]:
    """Yield a sentence on each part of a ledger that has something to tell, without its problems."""
    service = status.service
    if service is not None and status.is_service_alive:
        yield f"Service: runs since {figures.instant(service.started_at)}."
    elif service is None:
        yield "Service: none runs at the moment."
    markets = status.markets
    if markets.markets:
        until = figures.MISSING if markets.tracked_until is None else figures.instant(markets.tracked_until)
        hours = STALE.total_seconds() / 3600
        yield (
            f"Open markets: {markets.markets:,}, tracked until {until}; {markets.stale:,} without a price of the last "
            f"{hours:.0f} h, {markets.unreadable:,} without any."
        )
    if status.retries.open:
        at = status.retries.next_try_at
        yield f"Failed decisions to be tried again: {status.retries.open:,}" + (
            f", from {figures.instant(at)}." if at else "."
        )
    recently = f"of the last {COUNTED.days} days"
    for bot, count in status.without_tools.items():
        yield f"Without tools: {bot}, {count_noun(count, 'decision')} {recently}; its model calls none."
    for bot, count in status.without_search.items():
        yield f"Without search: {bot}, {count_noun(count, 'decision')} {recently}; all its searches failed."
    for owner, held in sorted(status.left_behind.items()):
        yield (
            f"Left behind by {owner}, which is gone: {held.claims:,} unfinished decisions and "
            f"{figures.cost_usd(held.set_aside_usd)} set aside; who goes on with those runs takes them over."
        )
    limits = [(each.recipe, each.day_limits.usd) for each in status.schedules if each.day_limits is not None]
    of = ", ".join(f"{format_limit_usd(usd)} for {recipe}" for recipe, usd in limits if usd is not None)
    yield f"Spent today: {figures.cost_usd(status.spent.usd)}" + (f" of {of}." if of else ".")
