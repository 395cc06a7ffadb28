"""Decisions, selected events and runs on a terminal, and what a dry run shows of costs, requests and keys."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from predibot.domain.decision import ABSTENTION_KINDS, STATUSES, Status, outcome_of
from predibot.jobs.deciding.cost_estimate import NO_MODEL, RunCost
from predibot.jobs.histories.run import RunHistory
from predibot.recipe.recipe import Recipe
from predibot.reports import figures
from predibot.reports.table import Column, Document, Table, document, table_of
from predibot.reports.terminal.terminal import (
    plain,
    print_grid,
    print_line,
    print_lines,
    print_notes,
    print_numbered,
    within,
)
from predibot.reports.views.decide import run_document
from predibot.rows import grouped

if TYPE_CHECKING:
    from predibot.agents.models.open_model import Destination
    from predibot.jobs.deciding.agent_setup import AgentSetup
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


UNKNOWN = "unknown"


def print_cost(console: Console, cost: RunCost) -> None:
    """Print the most that each bot with a model and all together can cost; nothing if no bot has one."""
    if not (bots := [bot for bot in cost.bots if bot.basis != NO_MODEL]):
        return
    rows = [(plain(bot.bot), figures.count(bot.decisions), _usd(bot.usd), bot.basis) for bot in bots]
    rows.append(("all", figures.count(sum(bot.decisions for bot in bots)), _usd(cost.usd), cost.basis))
    columns = (Column("bot", kind="key"), Column("decisions"), Column("at most"), Column("by", kind="text"))
    print_grid(console, Table("Worst case", columns, tuple(rows)))
    for bot in cost.bots:
        if bot.advice:
            console.print(f"{plain(bot.bot)}: {plain(bot.advice)}", markup=False, highlight=False)


def most_text(cost: RunCost) -> str:
    """Return the most that all bots together can cost."""
    if cost.usd is not None:
        return f"for at most {figures.cost_usd(cost.usd)}"
    return f"at a cost that is unknown, at most {figures.cost_usd(cost.known_usd)} of it known"


def cost_document(cost: RunCost) -> Document:
    """Return the costs as JSON has them; unknown is null."""
    return document(cost, "usd known_usd basis bots")


def _usd(usd: float | None) -> str:
    return UNKNOWN if usd is None else figures.cost_usd(usd)


class CohortPrompt(NamedTuple):
    """Length of the prompt of a weekly cohort that starts now, without the instructions."""

    markets: int
    tokens: int
    """An estimate, rather too high."""
    most_tokens: int
    """The most for any cohort, with 60 positions."""
    deciding: int | None
    """Most cohorts that decide in a week; None for all with an open market."""


def print_cohort(console: Console, prompt: CohortPrompt) -> None:
    """Print how long the prompt of a cohort is, and how often it is asked."""
    which = "all cohorts with an open market" if prompt.deciding is None else f"the latest {prompt.deciding} cohorts"
    console.print(
        f"prompt: {figures.count(prompt.markets)} markets in about {figures.count(prompt.tokens)} tokens, at most "
        f"{figures.count(prompt.most_tokens)} with positions. Decisions and cost are of one cohort; {which} decide "
        "in a week"
    )


class PlannedRequest(NamedTuple):
    """A model or search provider that a run asks."""

    by: str | None
    """A bot's name; None for the searches of all bots."""
    name: str
    at: "Destination"


def planned_requests(recipe: Recipe, agents: "AgentSetup | None") -> tuple[PlannedRequest, ...]:
    """Return which models and search providers the bots of a recipe ask, without asking them.

    Raises:
        UsageError: If a key that the recipe names is not set, or may not go to that host; or if a model's provider is
            unknown.
    """
    if agents is None:
        return ()
    models = [
        PlannedRequest(bot.name, name, at) for bot in recipe.bots for name, at in agents.model_destinations(bot).items()
    ]
    return (*models, *(PlannedRequest(None, name, at) for name, at in agents.search_destinations().items()))


def print_requests(console: Console, asked: Sequence[PlannedRequest]) -> None:
    """Print which hosts are asked; nothing if none is."""
    if asked:
        print_grid(console, table_of("Who is asked", _ASKED, asked))


def request_documents(asked: Sequence[PlannedRequest]) -> list[Document]:
    """Return them as JSON has them; a key that is not sent is null."""
    names = "name host=at.host key=at.key_name key_is_set=at.key_is_set"
    return [
        {"bot": each.by, "kind": "search" if each.by is None else "model", **document(each, names)} for each in asked
    ]


def _key(at: "Destination") -> str:
    if at.key_name is None:
        return figures.MISSING
    return at.key_name if at.key_is_set else f"{at.key_name}, not set"


_ASKED = (
    Column("bot", "", lambda asked: plain(asked.by or "all, to search"), kind="key"),
    Column("asks", "name", kind="key"),
    Column("at", "at.host", kind="key"),
    Column("with key", "at", _key, kind="text"),
)


_RUN_SHOWN = 20


def _count_of(status: Status, counts: Mapping[Status, int]) -> str:
    return figures.count(counts.get(status, 0))


_RUN_TITLE_CELLS = 60
_RUN_BOTS = (
    Column("bot", "bot", kind="name"),
    *(Column(status, "statuses", partial(_count_of, status), place) for place, status in enumerate(STATUSES)),
    Column("cost", "", lambda bot: figures.cost_usd(bot.cost_known_usd) + "+?" * bool(bot.cost_unknown), 0),
)
_RUN_EVENTS = (
    Column("#", "number", str),
    Column("event", "event_id", kind="key"),
    Column("title", "title", within(_RUN_TITLE_CELLS), kind="text"),
)


def print_run(console: Console, history: RunHistory) -> None:
    """Print a run, its bots, and its first twenty events."""
    run = history.run
    void = "" if run.void_reason is None else f", void: {run.void_reason}"
    print_line(console, plain(f"Run {run.number}: {run.run}{void}"), style="bold")
    print_line(console, plain(f"{run.game} on {run.venue}, as of {figures.instant(run.as_of)}"))
    print_grid(console, table_of("", _RUN_BOTS, history.bots))
    if history.events:
        console.print()
        below = [f"{len(history.events):,} in all; --json lists them."] if len(history.events) > _RUN_SHOWN else []
        print_grid(console, table_of("Events", _RUN_EVENTS, history.events[:_RUN_SHOWN], below))
    print_notes(console, run.notes)
    number = next((each.number for each in history.events if each.number is not None), None)
    event = "" if number is None else f"`predibot report --event {number}` shows the first event, "
    print_line(console, f"{event}`predibot trace` the latest decisions of agents.")


def run_history_document(history: RunHistory) -> Document:
    """Return all of it as JSON has it, texts whole."""
    bots = [document(each, "bot statuses cost_known_usd cost_unknown") for each in history.bots]
    events = [document(each, "number event_id title") for each in history.events]
    return {"run": run_document(history.run), "bots": bots, "events_decided": events}
