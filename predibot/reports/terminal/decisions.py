"""Decisions, selected events and runs on a terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from predibot.domain.decision import ABSTENTION_KINDS, STATUSES, outcome_of
from predibot.reports import figures
from predibot.reports.table import Column, table_of
from predibot.reports.terminal.terminal import (
    plain,
    print_grid,
    print_line,
    print_lines,
    print_notes,
    print_numbered,
    within,
)
from predibot.rows import grouped

if TYPE_CHECKING:
    # These modules load the database.
    from predibot.ledger.read.rows_for_python import LedgerRun
    from predibot.reports.views.decide import ChosenView, DecideView, DecisionView, SelectionView


SHOWN_PASSED_OVER = 10
_TITLE_CELLS = 80
_REMARK_CELLS = 30
_MESSAGE_CELLS = 200
_SHOWN_MESSAGES = 5
_TEXT_COLUMNS = (Column("task", "0", kind="key"), Column("texts", "1", figures.count))


def print_decisions(console: Console, view: "DecideView") -> None:
    """Print the outcomes of decisions, one line for each bot, and the notes."""
    bots = grouped((decision.bot, decision) for decision in view.decisions)
    for bot, decisions in bots.items():
        print_line(console, f"{plain(bot)}: {', '.join(_outcomes(decisions)) or 'nothing to decide'}")
    if not bots:
        print_line(console, "nothing decided")
    print_lines(console, _retry_lines(view.decisions))
    if view.cost_usd is None:
        print_line(console, f"cost: {figures.cost_usd(view.cost_known_usd)} known, the rest unknown")
    elif view.cost_usd > 0.0:
        print_line(console, f"cost: {figures.cost_usd(view.cost_usd)}")
    if view.receipt is not None:
        print_line(console, f"receipt {view.receipt.number}: {view.receipt.root}")
    print_notes(console, view.notes)
    if any(each.status == "recorded" and each.subject_kind == "event" for each in view.decisions):
        print_line(console, "next: `predibot evaluate` looks up prices and outcomes, and scores the bots")


def print_selection(console: Console, view: "SelectionView", *, most: int | None = SHOWN_PASSED_OVER) -> None:
    """Print the events that are played, those passed over with rule and reason, and the notes.

    All that were passed over are counted by rule, and texts of a data set by task; `most` of them are shown.
    """
    print_line(console, f"as of {figures.instant(view.as_of)}, {plain(view.venue)}")
    console.print()
    texts = texts_of(view.selected)
    if texts and most is not None:
        tasks = Counter(each.item for each in texts).items()
        print_grid(console, table_of(f"Selected: {figures.things(len(texts), 'text')}", _TEXT_COLUMNS, tasks))
        print_line(console, "--all lists them")
    elif view.selected:
        with figures.in_currency(view.currency):
            by_day = any(event.rank_by.endswith("volume_24h") for event in view.selected)
            markets = sum(event.markets for event in view.selected)
            volume = ("24-hour volume", "volume_24h_usd") if by_day else ("1-week volume", "volume_1wk_usd")
            title = f"Selected: {figures.things(len(view.selected), 'event')}, {figures.things(markets, 'market')}"
            columns = (*_CHOSEN, Column(*volume, figures.volume_usd))
            print_grid(console, table_of(title, columns, view.selected))
    else:
        print_line(console, "no event selected")
    if view.passed_over:
        console.print()
        if most != 0:
            title = f"Passed over: {figures.things(len(view.passed_over), 'event')}"
            print_grid(console, table_of(title, _PASSED_OVER, view.passed_over[:most]))
        if most is not None and len(view.passed_over) > most:
            rules = Counter(plain(event.rule) for event in view.passed_over)
            counts = ", ".join(f"{rule} {count:,}" for rule, count in rules.most_common())
            print_line(console, f"passed over, all {len(view.passed_over):,} by rule: {counts}; --all lists them")
    print_notes(console, view.notes)


def texts_of(selected: "Sequence[ChosenView]") -> "tuple[ChosenView, ...]":
    """Return those that are texts of a data set, which bots label."""
    return tuple(each for each in selected if each.item)


def print_runs(console: Console, rows: "Sequence[LedgerRun]") -> None:
    """Print one row for each run, in their order."""
    if not rows:
        print_line(console, "no runs recorded")
        return
    # Without remarks there is no such column.
    remarks = Column("remarks", "", lambda row: ", ".join(_run_remarks(row)), 0, only_with=_run_remarks, kind="key")
    print_numbered(console, table_of(f"Runs: {len(rows)}", (*_RUNS, remarks), rows), "predibot runs")


def print_latest_events(console: Console, latest: Sequence[Any]) -> None:
    """Print a row for each event, with the number by which it is shown."""
    if not latest:
        print_line(console, "no event was decided on yet")
        return
    print_numbered(console, table_of("The latest events", _EVENTS, latest), "predibot report --event")


def _run_remarks(row: "LedgerRun") -> list[str]:
    texts = [f"{figures.count(n)} {each}" for each in _NOT_RECORDED if (n := getattr(row, each))]
    if row.late:
        texts.append(f"{figures.count(row.late)} too late to count")
    if row.void_reason is not None:
        texts.append(f"void: {plain(row.void_reason, _REMARK_CELLS)}")
    return texts


_NOT_RECORDED = ("refused", "failed", "abstained")
_RUNS = (
    Column("#", "number", str),
    Column("run", "run", kind="key"),
    Column("as of", "as_of", figures.instant, 1, kind="key"),
    Column("venue", "venue", drop=2, kind="key"),
    Column("bots", "bots", figures.count, 4),
    Column("events", "events", figures.count, 3),
    Column("recorded", "recorded", figures.count),
)
_EVENTS = (
    Column("#", "number", str),
    Column("event", "event_id", kind="key"),
    Column("title", "title", within(_TITLE_CELLS), kind="text"),
    Column("decisions", "decisions", figures.count),
    Column("last", "last_decided_at", figures.instant, 1, kind="key"),
)
_NAMED = (Column("event", "event_id", kind="key"), Column("title", "title", within(_TITLE_CELLS), kind="text"))
_CHOSEN = (*_NAMED, Column("markets", "markets", figures.count))
_PASSED_OVER = (
    *_NAMED,
    Column("rule", "rule", kind="text"),
    Column("reason", "reason", within(_MESSAGE_CELLS), kind="text"),
)


def _outcomes(decisions: "Sequence[DecisionView]") -> Iterator[str]:
    """Yield what became of one bot's decisions: `3 forecasts and 2 bets recorded on 1 event`, `1 answer refused`."""
    of: dict[str, list[DecisionView]] = {status: [] for status in (*STATUSES, "skipped")}
    for decision in decisions:
        of[decision.status].append(decision)
    others = [decision for decision in of["recorded"] if decision.subject_kind != "event"]
    if others:
        kinds = ", ".join(sorted({plain(decision.subject_kind) for decision in others}))
        yield f"{figures.things(len(others), 'decision')} recorded ({kinds})"
    if recorded := [decision for decision in of["recorded"] if decision.subject_kind == "event"]:
        bets = [bet for decision in recorded for bet in decision.bets]
        said = figures.things(sum(bet.probability is not None for bet in bets), "forecast")
        made = figures.things(sum(bet.bet_usd != 0.0 for bet in bets), "bet")
        yield f"{said} and {made} recorded on {figures.things(len(recorded), 'event')}"
    if refused := of["refused"]:
        yield f"{figures.things(len(refused), 'answer')} refused ({_messages(refused)})"
    if failed := of["failed"]:
        yield f"{figures.things(len(failed), 'decision')} failed ({_messages(failed)})"
    if abstained := of["abstained"]:
        yield f"{len(abstained):,} abstained ({_messages(abstained)})"
    if held := sum(_lacks_answer(decision) for decision in of["recorded"]):
        yield f"{figures.things(held, 'decision')} of the system, as no answer could be taken"
    if skipped := of["skipped"]:
        before = Counter(outcome_of(decision.stored_status, decision.reason_kind) for decision in skipped)
        said = ", ".join(f"{n:,} {outcome}" for outcome, n in before.items())
        again = "; the same command with --retry failed tries again" if before[outcome_of("failed", "answer")] else ""
        yield f"{len(skipped):,} before: {said}{again}"


def _lacks_answer(decision: "DecisionView") -> bool:
    return decision.reason_kind == "answer"


def _retry_lines(decisions: "Sequence[DecisionView]") -> Iterator[str]:
    """Yield when failed decisions, and abstentions for a passing reason, are tried again."""
    failed = [decision for decision in decisions if decision.stored_status == "failed"]
    retry = "the same command with --retry failed"
    # Those of earlier calls are in the line of their bot.
    if unread := sum(_lacks_answer(decision) and decision.status == "failed" for decision in failed):
        yield f"{figures.things(unread, 'decision')} failed by unreadable answers; {retry} tries again"
    failed = [decision for decision in failed if not _lacks_answer(decision)]
    for_good = sum(decision.failed_for_good for decision in failed)
    due = Counter(decision.next_try_at for decision in failed if not decision.failed_for_good)
    if for_good:
        yield f"{figures.things(for_good, 'decision')} failed for good; {retry} tries once more"
    if at_once := due.pop(None, 0):
        yield f"the next call tries {figures.things(at_once, 'failed decision')} again"
    if due:
        first = figures.instant(min(filter(None, due)))
        waiting = figures.things(due.total(), "failed decision")
        yield f"the next try of {waiting} is due at {first}; {retry} tries now"
    lacking = Counter(decision.reason_kind for decision in decisions if decision.stored_status == "abstained")
    for kind in ABSTENTION_KINDS:
        if lacking[kind] and kind != "bot":
            abstained = figures.things(lacking[kind], "decision")
            yield f"{abstained} abstained for want of {kind}; --retry abstained asks again"


def _messages(decisions: "Sequence[DecisionView]") -> str:
    seen = Counter(plain(decision.message, _MESSAGE_CELLS) or "no reason given" for decision in decisions)
    texts = [text if n == 1 or len(seen) == 1 else f"{text}, {n} times" for text, n in seen.most_common()]
    more = len(texts) - _SHOWN_MESSAGES
    if more > 1:
        texts[_SHOWN_MESSAGES:] = [f"and {figures.things(more, 'other reason')}"]
    return "; ".join(texts)
