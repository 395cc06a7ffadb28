"""Importing recorded days, such as PrediBench's: their decisions become runs of the ledger, each stored once.

A model that was asked several times on a day has several files, `<model>_run_<N>`, which are replicates of one bot.
Replicate N of a day is a run of its own, so that a bot decides once on an event in each. Intervals join them, because
clusters are events.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import partial
from itertools import groupby

from sqlalchemy import Connection, func, select

from predibot.contracts import Progress, ProgressListener
from predibot.domain.category import CryptoWords
from predibot.domain.clock import format_instant
from predibot.domain.decision import Decision, MarketDecision, Subject
from predibot.domain.event import Event, EventView, prices_of
from predibot.domain.price import Quote
from predibot.errors import AnswerError, RunConflict, UsageError
from predibot.games.dollar_per_event import DollarPerEvent
from predibot.games.fills import FillModel
from predibot.jobs.deciding.open_run import run_key
from predibot.jobs.imports.predibench_files import Answer, Day, DayEvent, Replicate
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Claim, Claimant, claim
from predibot.ledger.write.decisions import DecisionResult, bots, decisions, store_decision
from predibot.ledger.write.events import Catalogue, catalogue, market_refs
from predibot.ledger.write.runs import IMPORTED, BotPlan, StoredRun, add_bots, freeze_run
from predibot.plugins.venues import venue_recorded_by
from predibot.recipe.recipe import Recipe
from predibot.selection import SelectionRules
from predibot.version import __version__

_GAME = DollarPerEvent(overstake="scale")
_LONGEST_AFTER_DATE = timedelta(days=2)
"""Later answers were made in hindsight, at other prices than the stored ones."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The origin of imported files."""

    name: str
    """The name of its runs' recipe."""
    run_note: str = "imported from files of PrediBench: instants, prices and answers are what they say"

    @property
    def venue(self) -> str:
        """Return the venue of its events, from which later prices and resolutions come."""
        return venue_recorded_by(self.name)

    @property
    def digest(self) -> str:
        """Return the digest of its runs, in place of a recipe's."""
        return f"{IMPORTED}{self.name}"


PREDIBENCH = Recording("predibench")


@dataclass(frozen=True, slots=True)
class OmittedDecisions:
    """Decisions that were not imported, and why."""

    event_id: str
    title: str
    reason: str
    decisions: int


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The content of a folder, and the part of it that is new in the ledger."""

    files: int
    trace_folders: int
    decisions: int
    forecasts: int
    bots: tuple[str, ...]
    events: int
    notes: tuple[str, ...]
    """Remarks on single decisions, and on files that changed since an earlier import."""
    left_out: tuple[OmittedDecisions, ...]
    runs: int
    """New in the ledger, as are the next two."""
    stored_decisions: int
    stored_forecasts: int
    known_decisions: int
    """How many were stored before."""


@dataclass(frozen=True, slots=True)
class _StorableDecision:
    replicate: Replicate
    answer: Answer
    finished: DecisionResult


def import_days(
    recording: Recording,
    days: Sequence[Day],
    *,
    store: Store,
    clock: Callable[[], datetime],
    listener: ProgressListener,
) -> ImportReport:
    """Store the decisions of some days.

    Each run is stored whole or not at all, so the next call completes an import that was killed.

    Raises:
        UsageError: If the ledger has the other outcome of a market as YES.
        RunConflict: If the ledger has a run of the same key from elsewhere.
    """
    left_out = Counter[tuple[str, str, str]]()
    notes: list[str] = []
    change_notes, stored, new_runs = list[str](), list[_StorableDecision](), 0
    ready = {day.label: list(_storable(recording, day, left_out, notes)) for day in days}
    total, done = sum(len(each) for each in ready.values()), 0
    for day in days:
        played = {each.answer.event_id for each in ready[day.label]}
        events = [each.event for name, each in day.events.items() if name in played]
        passed_over = tuple(_passed_over_events(day, played))
        for _, group in groupby(ready[day.label], key=lambda each: (each.replicate.target_on, each.replicate.number)):
            run = list(group)
            plan = _make_run(recording, run, passed_over, created_at=clock())
            is_new, new, changes = store.run_write(partial(_store_run, plan=plan, events=events, wanted=run))
            new_runs += is_new
            stored += new
            change_notes += changes
            done += len(run)
            listener(Progress("import", done, total, plan.key))
    replicates = [each for day in days for each in day.replicates]
    answers = [answer for each in replicates for answer in each.answers]
    decisions_stored = (each.finished.decision for each in stored)
    return ImportReport(
        files=len(replicates),
        trace_folders=sum(day.n_trace_folders for day in days),
        decisions=len(answers),
        forecasts=sum(len(answer.decision.forecasts) for answer in answers),
        bots=tuple(dict.fromkeys(each.bot for each in replicates)),
        events=len({answer.event_id for answer in answers}),
        notes=(*notes, *change_notes),
        left_out=tuple(OmittedDecisions(*which, n) for which, n in left_out.items()),
        runs=new_runs,
        stored_decisions=len(stored),
        stored_forecasts=sum(len(each.forecasts) for each in decisions_stored if each is not None),
        known_decisions=done - len(stored),
    )


def _storable(
    recording: Recording, day: Day, left_out: Counter[tuple[str, str, str]], notes: list[str]
) -> Iterator[_StorableDecision]:
    """Yield the decisions of a day that can be stored; note remarks, and the decisions left out."""
    for replicate in sorted(day.replicates, key=lambda each: (each.target_on, each.number)):
        for answer in replicate.answers:
            of = day.events[answer.event_id]
            finished = _book(recording.venue, replicate, answer, of)
            remarks = finished.decision.notes if finished.decision is not None else (f"refused: {finished.message}",)
            notes.extend(f"{answer.place}: {note}" for note in remarks)
            why = _reason_to_leave_out(replicate, answer, of.event)
            if why is None:
                yield _StorableDecision(replicate, answer, finished)
                continue
            left_out[answer.event_id, of.event.title, why] += 1


def _reason_to_leave_out(replicate: Replicate, answer: Answer, event: Event) -> str | None:
    if event.closes_at is not None and event.closes_at <= answer.decided_at:
        return f"had begun at {format_instant(event.closes_at)}, before the decision"
    # Somewhere the date begins up to fourteen hours before midnight UTC.
    if answer.decided_at > _slot_at(replicate) + _LONGEST_AFTER_DATE:
        return f"was decided on long after its date {replicate.target_on}, at other prices than are recorded"
    return None


def _book(venue: str, replicate: Replicate, answer: Answer, of: DayEvent) -> DecisionResult:
    """Return a decision's result: booked by the game's rules, or refused by them."""
    quotes = {
        market_id: quote
        for market_id, quote in of.quotes(answer.decided_at).items()
        if quote.price is not None and quote.price.usable
    }
    decision, event = _without_unpriced(answer.decision, quotes), of.event
    said = [said.market_id for said in decision.forecasts]
    # The game sees only the answered markets, or it would miss the others.
    answered = replace(event, markets=tuple(market for market in event.markets if market.id in said))
    result = partial(
        DecisionResult,
        decided_at=answer.decided_at,
        events=(event,),
        shown=quotes,
        cost_usd=None,
        seconds=(answer.decided_at - answer.started_at).total_seconds(),
        sources=answer.sources,
        models=(replicate.model,),
    )
    try:
        prices = prices_of(answered, venue, quotes)
        said_only = replace(decision, unallocated_usd=None)
        booking = _GAME.book(said_only, EventView(answered, venue), None, prices, FillModel("mid"))
    except AnswerError as error:
        return result("refused", message=str(error))
    booked = {market_id: quotes[market_id] for market_id in said}
    return result("recorded", decision=decision, booking=booking, booked=booked)


def _without_unpriced(decision: Decision, quotes: Mapping[str, Quote]) -> Decision:
    """Return a decision without forecasts that have neither price nor bet; with a bet the game refuses them."""
    unpriced = [
        forecast
        for forecast in decision.forecasts
        if forecast.market_id not in quotes and isinstance(forecast, MarketDecision) and forecast.bet_usd == 0.0
    ]
    if not unpriced:
        return decision
    names = ", ".join(forecast.market_id for forecast in unpriced)
    return replace(
        decision,
        forecasts=tuple(forecast for forecast in decision.forecasts if forecast not in unpriced),
        notes=(*decision.notes, f"no usable price before the decision, so what was said is left out: market {names}"),
    )


def _slot_at(replicate: Replicate) -> datetime:
    return datetime.combine(replicate.target_on, time(), UTC)


def _passed_over_events(day: Day, played: set[str]) -> Iterator[Mapping[str, str]]:
    for name, each in day.events.items():
        if name not in played:
            answered = any(answer.event_id == name for file in day.replicates for answer in file.answers)
            rule, reason = ("begun", "it had begun") if answered else ("unanswered", "no model answered on it")
            yield {"event_id": name, "title": each.event.title, "rule": rule, "reason": reason}


def _make_run(
    recording: Recording,
    run: Sequence[_StorableDecision],
    passed_over: tuple[Mapping[str, str], ...],
    *,
    created_at: datetime,
) -> StoredRun:
    first = run[0].replicate
    slot_at = _slot_at(first)
    recipe = Recipe(
        name=recording.name,
        game=_GAME.name,
        overstake=_GAME.overstake,
        venue=recording.venue,
        every=timedelta(days=1),
        seed=0,
        selection=SelectionRules(crypto=CryptoWords({})),
        bots=(),
    )
    return StoredRun(
        key=run_key(recording.name, slot_at, first.number + 1),
        recipe=recording.name,
        slot_at=slot_at,
        as_of=min(slot_at, *(each.answer.decided_at for each in run)),
        venue=recording.venue,
        venue_name=recording.venue,
        game=_GAME.name,
        seed=0,
        digest=recording.digest,
        recipe_json=recipe.as_json(),
        overrides={},
        code_version=__version__,
        created_at=created_at,
        passed_over=passed_over,
        notes=(recording.run_note,),
    )


def _store_run(
    connection: Connection, *, plan: StoredRun, events: Sequence[Event], wanted: Sequence[_StorableDecision]
) -> tuple[bool, list[_StorableDecision], list[str]]:
    """Return whether the run is new, its new decisions, and notes on files that changed since an earlier import."""
    run = freeze_run(connection, plan, events)
    if run.digest != plan.digest:
        raise RunConflict(f"the run {run.key} is there and was not imported. Import into another --ledger, or void it")
    is_new = not connection.execute(select(func.count()).where(decisions.c.run_id == run.id)).scalar_one()
    known = catalogue(connection, run.id)
    _check_sides(connection, plan.venue_name, events, known)
    replicates = {each.replicate.bot: each.replicate for each in wanted}
    rows = add_bots(
        connection,
        run,
        [BotPlan(each.bot, plan.recipe, each.arguments, each.sha256, model=each.model) for each in replicates.values()],
    )
    stored = [each for each in wanted if _store_if_new(connection, run, rows[each.replicate.bot], each, known)]
    return is_new, stored, [*_change_notes(connection, run, replicates)]


def _check_sides(connection: Connection, venue: str, events: Sequence[Event], known: Catalogue) -> None:
    """Refuse markets whose YES is another outcome in the ledger."""
    stored = market_refs(connection, venue)
    for market in (market for event in events for market in event.markets):
        token_ids = stored[known.market_rows[market.id]].token_ids if market.id in known.market_rows else ()
        if token_ids and market.ref.token_ids and token_ids != market.ref.token_ids:
            raise UsageError(
                f"market {market.id} has other tokens in this ledger, or their order is another, so that YES is "
                "another outcome. Import into another --ledger"
            )


def _store_if_new(
    connection: Connection, run: StoredRun, bot_row: int, each: _StorableDecision, known: Catalogue
) -> bool:
    subject, decided_at = Subject("event", each.answer.event_id), each.answer.decided_at
    if subject.id not in known.event_rows:
        raise RunConflict(
            f"the run {run.key} was imported without event {subject.id}. Void it, or import into another --ledger"
        )
    claimant = Claimant("import", timedelta(days=1), decided_at, lambda _: False)
    taken = claim(connection, run.id, bot_row, subject, claimant, now=each.answer.started_at)
    if not isinstance(taken, Claim):
        return False
    store_decision(connection, taken, each.finished, run_id=run.id, bot_id=bot_row, catalogue=known, now=decided_at)
    return True


def _change_notes(connection: Connection, run: StoredRun, replicates: Mapping[str, Replicate]) -> Iterator[str]:
    rows = connection.execute(select(bots.c.name, bots.c.source_sha256).where(bots.c.run_id == run.id))
    for name, sha256 in rows:
        if name in replicates and replicates[name].sha256 != sha256:
            yield (
                f"{replicates[name].label} was changed since it was imported; what is stored stands. "
                f"`predibot runs void {run.key} --reason WHY` lets it be imported anew"
            )
