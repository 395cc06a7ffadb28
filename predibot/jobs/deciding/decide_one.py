"""One decision: claimed, made, checked, booked and stored, or recorded as what went wrong."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, cast

from sqlalchemy import Connection

from predibot.contracts import Context, Game, Venue
from predibot.domain.clock import format_instant
from predibot.domain.decision import REASON_KINDS, Abstention, Decision, MarketDecision, Status, Subject
from predibot.domain.draw import seeded
from predibot.domain.event import Event
from predibot.domain.price import PricePoint
from predibot.domain.secret_values import SecretValues
from predibot.environment import secrets_present
from predibot.errors import (
    AnswerError,
    BudgetSpent,
    ClaimLost,
    LedgerError,
    LedgerUnusable,
    MarketClosed,
    ModelError,
    PluginError,
    UsageError,
    VenueError,
    words_of,
)
from predibot.jobs.deciding.activity import Watch, of_step, unwatched
from predibot.jobs.deciding.opened_models import OpenedModels
from predibot.jobs.deciding.quotes import QuoteBoard, quotes_of
from predibot.jobs.deciding.sources import lasting, sources_of
from predibot.ledger.files.traces import Traces, cost_of_steps
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Claim, Claimant, Taken, claim, held_claim, new_token
from predibot.ledger.write.decisions import Finished, StoredDecision, store_decision, stored_decisions
from predibot.ledger.write.events import Catalogue
from predibot.plugins import StrategySpec, load_strategy
from predibot.recipe.recipe import BotSpec
from predibot.venues.polymarket.parse import stored_without_results

if TYPE_CHECKING:
    # Its tools and clients cost half a second, which only runs that need them pay.
    from predibot.jobs.deciding.agent_setup import Fitting

_log = logging.getLogger(__name__)

_ROUNDING_USD = 1e-9


@dataclass(frozen=True, slots=True)
class DecideJob:
    """One piece of work as plain data, fit for another process or machine."""

    run_id: int
    bot_id: int
    bot: str
    strategy: StrategySpec
    subject: Subject
    seed_parts: tuple[str | int, ...]
    """What the bot's random draws follow from."""
    members: tuple[str, ...] = ()
    """The bots whose decisions on the subject it waits for."""


class Fitter(Protocol):
    """Whoever equips a bot for one decision."""

    def fit(self, bot: BotSpec, event: Event, now: datetime) -> "Fitting":
        """Return what the bot decides on the event with."""
        ...


@dataclass(frozen=True, slots=True)
class Bench:
    """What a worker works with: made once for each process."""

    store: Store
    venue: Venue
    game: Game
    run_at: datetime
    events: Mapping[str, Event]
    catalogue: Catalogue
    claimant: Claimant
    clock: Callable[[], datetime]
    board: QuoteBoard
    bots: Mapping[str, BotSpec] = field(default_factory=dict)
    equipment: "Fitter | None" = None
    """None where no bot needs any."""
    loopback: str | None = None
    """The address of a sandbox's pages."""
    watch: Watch = unwatched
    secrets: SecretValues = field(default_factory=lambda: SecretValues(secrets_present()))
    """What no row may hold: a strategy may read the environment, and quote it where it fails."""
    fittings: dict[tuple[int, Subject], "Fitting"] = field(default_factory=dict)
    """What the decisions that are under way here are made with, by bot and subject."""

    def instant(self) -> datetime:
        """Return what the bot's clock shows: now where the venue is live, else the run's instant."""
        return self.clock() if self.venue.live else self.run_at


@dataclass(frozen=True, slots=True)
class WorkResult:
    """What a worker reports: how the decision ended, or why it was not made here."""

    job: DecideJob
    status: Status | Literal["claimed"]
    """A decision's status, or `claimed` while somebody else is at it."""
    made_here: bool


def seed_parts(seed: int, recipe: str, slot_at: datetime, bot: str, subject: Subject) -> tuple[str | int, ...]:
    """Return what a bot's draws on a subject follow from; the order of deciding is no part of it."""
    return (seed, recipe, format_instant(slot_at), bot, subject.id)


def work(job: DecideJob, bench: Bench) -> WorkResult:
    """Do one piece of work if it is free, and store how it ended.

    Raises:
        LedgerError: If the result could not be stored.
        BaseException: Whatever a strategy raised that is no error of ours, after it
            was recorded.
    """
    held = _claimed(job, bench)
    if isinstance(held, Taken):
        return WorkResult(job, cast(Status | Literal["claimed"], held.status), made_here=False)
    began = time.monotonic()
    fitting: Fitting | None = None
    try:
        fitting = _fitting(job, bench)
        if fitting is not None:
            bench.fittings[job.bot_id, job.subject] = fitting
        return _store(job, bench, held, _with_trace(_decided(job, bench, began, fitting), bench, fitting))
    except LedgerError:
        raise
    except BaseException as error:
        # Of whatever class, a cancellation of the strategy's own too: a claim that nobody finishes is paid for again.
        failed = _failed(job, bench, words_of(error), began)
        _store(job, bench, held, _with_trace(failed, bench, fitting))
        raise
    finally:
        # Where it was given up and is made anew meanwhile, the other's stays.
        if bench.fittings.get((job.bot_id, job.subject)) is fitting:
            bench.fittings.pop((job.bot_id, job.subject), None)


def give_up(job: DecideJob, bench: Bench, message: str, seconds: float) -> None:
    """Record a decision as failed whose worker does not answer, and let it spend no more.

    A late answer finds its claim gone. Of a call that is under way, or of a worker
    that is gone itself, the cost is unknown.
    """
    fitting = bench.fittings.get((job.bot_id, job.subject))
    if fitting is not None:
        fitting.meter.close()
    held = bench.store.run_read(
        lambda connection: held_claim(connection, job.run_id, job.bot_id, job.subject, bench.claimant.owner)
    )
    if held is not None:
        event = bench.events[job.subject.id]
        failed = Finished("failed", bench.instant(), event, message, seconds=seconds)
        _store(job, bench, held, _so_far(job, bench, failed, fitting))


def _so_far(job: DecideJob, bench: Bench, failed: Finished, fitting: "Fitting | None") -> Finished:
    """Return how a decision ended that was given up, with what is known of it."""
    if fitting is None:
        return replace(failed, cost_usd=None) if job.strategy.needs.equipment else _with_trace(failed, bench, None)
    # In this order: what ends meanwhile is booked first and written down after.
    is_in_flight, spent_usd = fitting.meter.is_in_flight, fitting.meter.spent().usd
    failed = _with_trace(failed, bench, fitting)
    is_unknown = is_in_flight or spent_usd > failed.cost_known_usd + _ROUNDING_USD
    return replace(failed, cost_usd=None) if is_unknown else failed


def _claimed(job: DecideJob, bench: Bench) -> Claim | Taken:
    token, now = new_token(), bench.clock()
    return bench.store.run_write(
        lambda connection: claim(connection, job.run_id, job.bot_id, job.subject, bench.claimant, now=now, token=token)
    )


def _fitting(job: DecideJob, bench: Bench) -> "Fitting | None":
    """Return what a bot decides with that needs more than the event; None for the others."""
    if bench.equipment is None or not job.strategy.needs.equipment:
        return None
    fitting = bench.equipment.fit(bench.bots[job.bot], bench.events[job.subject.id], bench.instant())
    fitting.trace.listener = lambda step: bench.watch(of_step(job.bot, job.subject.id, step))
    return fitting


def _with_trace(finished: Finished, bench: Bench, fitting: "Fitting | None") -> Finished:
    """Return how a decision ended with its trace kept, its sources, its models and its cost."""
    if fitting is None:
        return replace(finished, models=())
    steps = fitting.trace.steps
    cost_usd, cost_known_usd = cost_of_steps(steps)
    return replace(
        finished,
        message=lasting(finished.message, bench.loopback),
        cost_usd=cost_usd,
        cost_known_usd=cost_known_usd,
        trace_sha256=Traces(bench.store).keep(fitting.trace) if steps else None,
        sources=sources_of(steps, loopback=bench.loopback),
        models=fitting.opened_models,
    )


def _decided(job: DecideJob, bench: Bench, began: float, fitting: "Fitting | None") -> Finished:
    """Return how a decision ended, where it ended in a way we know."""
    try:
        return _decide(job, bench, began, fitting)
    except AnswerError as error:
        event = bench.events[job.subject.id]
        seconds = time.monotonic() - began
        return Finished("refused", bench.instant(), event, str(error), seconds=seconds)
    except BudgetSpent as error:
        event = bench.events[job.subject.id]
        seconds = time.monotonic() - began
        return Finished(
            "abstained",
            bench.instant(),
            event,
            str(error),
            shown=quotes_of(event),
            seconds=seconds,
            reason_kind="budget",
        )
    except (PluginError, MarketClosed, ModelError, UsageError, VenueError) as error:
        return _failed(job, bench, str(error), began)


def _context(job: DecideJob, bench: Bench, shown: Event, fitting: "Fitting | None") -> Context:
    context = Context(
        now=bench.instant(),
        subject=replace(shown, payload=stored_without_results(shown.payload)),
        game=bench.game,
        rng=seeded(*job.seed_parts),
        venue=bench.venue.name,
        members=_members(job, bench),
    )
    if fitting is None:
        return replace(context, model=OpenedModels(job.strategy), history=_undeclared_history(job.strategy.name))
    return replace(context, **{each.name: getattr(fitting, each.name) for each in fields(fitting)})


def _undeclared_history(strategy: str) -> Callable[[str], tuple[PricePoint, ...]]:
    """Return what refuses daily prices to a strategy that did not say it needs them: none would look like no past."""

    def refuse(_market_id: str) -> tuple[PricePoint, ...]:
        raise PluginError(
            f"strategy {strategy!r} asks for daily prices, which it does not declare. Set needs = Needs(history=True)"
        )

    return refuse


def _members(job: DecideJob, bench: Bench) -> Mapping[str, Decision | None]:
    """Return what the bots that this one pools decided on the subject."""
    if not job.members:
        return {}
    stored = bench.store.run_read(lambda connection: stored_decisions(connection, job.run_id))
    said = {each.bot: _said(each) for each in stored if each.subject_id == job.subject.id}
    return {name: said.get(name) for name in job.members}


def _said(stored: StoredDecision) -> Decision | None:
    """Return what a bot said, as it is stored; None where it has no decision with forecasts."""
    whole = [bet for bet in stored.bets if bet.probability is not None]
    if stored.status != "recorded" or len(whole) < len(stored.bets):
        return None
    return Decision(
        tuple(MarketDecision(bet.market_id, bet.probability or 0.0, bet.bet_usd, bet.confidence) for bet in whole),
        unallocated_usd=stored.unallocated_usd,
    )


def _decide(job: DecideJob, bench: Bench, began: float, fitting: "Fitting | None") -> Finished:
    shown = bench.board.quoted(bench.events[job.subject.id])
    answer = load_strategy(job.strategy).decide(_context(job, bench, shown, fitting))
    _check_answer(answer, job.strategy.name)
    if isinstance(answer, Abstention):
        seconds = time.monotonic() - began
        quotes = quotes_of(shown)
        return Finished(
            "abstained",
            bench.instant(),
            shown,
            answer.reason,
            shown=quotes,
            seconds=seconds,
            reason_kind=answer.kind,
        )
    booked = bench.board.quoted(shown)
    booking = bench.game.book(answer, booked, quotes_of(booked), venue=bench.venue.name)
    return Finished(
        "recorded",
        bench.instant(),
        shown,
        decision=answer,
        booking=booking,
        shown=quotes_of(shown),
        booked=quotes_of(booked),
        seconds=time.monotonic() - began,
    )


def _check_answer(answer: object, strategy: str) -> None:
    """Refuse what is no answer at all; what an answer says is for the game to judge."""
    if isinstance(answer, Abstention):
        if answer.kind not in REASON_KINDS:
            kinds = ", ".join(REASON_KINDS)
            raise PluginError(f"strategy {strategy!r} abstained with a reason of no kind; it is one of {kinds}")
        words: tuple[object, ...] = (answer.reason,)
    elif isinstance(answer, Decision) and isinstance(answer.markets, tuple) and isinstance(answer.notes, tuple):
        if not all(isinstance(said, MarketDecision) for said in answer.markets):
            raise PluginError(
                f"strategy {strategy!r} decided on something else than a MarketDecision; return only those"
            )
        words = (answer.rationale, *answer.notes, *(said.rationale for said in answer.markets))
    elif isinstance(answer, Decision):
        raise PluginError(
            f"strategy {strategy!r} returned a Decision whose markets or notes are no tuple; make them one"
        )
    else:
        raise PluginError(f"strategy {strategy!r} returned {type(answer).__name__}; return a Decision or an Abstention")
    if not all(isinstance(word, str) for word in words):
        raise PluginError(f"strategy {strategy!r} gave a reason or a note that is no text; write it as a string")


def _failed(job: DecideJob, bench: Bench, message: str, began: float) -> Finished:
    event = bench.events[job.subject.id]
    return Finished("failed", bench.instant(), event, message, seconds=time.monotonic() - began)


def _without_secrets(finished: Finished, secrets: SecretValues) -> Finished:
    """Return how a decision ended without a key in any text that somebody wrote."""
    hidden = secrets.hidden
    decision = finished.decision
    if decision is not None:
        decision = replace(
            decision,
            markets=tuple(replace(said, rationale=hidden(said.rationale)) for said in decision.markets),
            rationale=hidden(decision.rationale),
            notes=tuple(map(hidden, decision.notes)),
        )
    sources = tuple(
        replace(
            source,
            text=hidden(source.text),
            final_url=None if source.final_url is None else hidden(source.final_url),
            title=hidden(source.title),
        )
        for source in finished.sources
    )
    return replace(finished, message=hidden(finished.message), decision=decision, sources=sources)


def _store(job: DecideJob, bench: Bench, held: Claim, finished: Finished) -> WorkResult:
    now = bench.clock()
    finished = _without_secrets(finished, bench.secrets)
    finished = replace(finished, could_cost=bool(job.strategy.needs.models or job.strategy.needs.tools))

    def store(connection: Connection) -> None:
        store_decision(
            connection,
            held,
            finished,
            run_id=job.run_id,
            bot_id=job.bot_id,
            subject=job.subject,
            catalogue=bench.catalogue,
            now=now,
        )

    try:
        bench.store.run_write(store, durable=finished.was_paid)
    except ClaimLost:
        _log.info("%s on %s came too late: its claim was taken over", job.bot, job.subject.id)
        return WorkResult(job, "claimed", made_here=False)
    except LedgerUnusable as error:
        paid = " and was paid for" if finished.was_paid else ""
        raise LedgerUnusable(
            f"what {job.bot} said of event {job.subject.id}{paid} is lost; the next call asks again: {error}"
        ) from error
    return WorkResult(job, finished.status, made_here=True)
