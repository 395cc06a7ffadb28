"""One decision: claimed, made, checked, booked and stored, or recorded as what went wrong."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, Protocol, cast

from sqlalchemy import Connection

from predibot.agents.answer.result import LoopEnded
from predibot.config import Settings
from predibot.contracts import Context, Game, References, Venue, no_reference
from predibot.domain.account import ACCOUNT_SUBJECTS
from predibot.domain.decision import (
    ABSTENTION_KINDS,
    ITEM_SUBJECTS,
    Abstention,
    Decision,
    Forecast,
    Label,
    MarketDecision,
    Order,
    ReasonKind,
    Status,
    Subject,
)
from predibot.domain.draw import seeded
from predibot.domain.event import Event, prices_of
from predibot.domain.price import PricePoint
from predibot.domain.secret_values import SecretValues
from predibot.domain.trace import GivenUpStep, ModelStep, Step, cost_of_steps
from predibot.environment import secrets_present
from predibot.errors import (
    AnswerError,
    BudgetSpent,
    ClaimLost,
    LedgerError,
    LedgerUnusable,
    MarketClosed,
    ModelError,
    NoAnswer,
    PluginError,
    UsageError,
    VenueError,
    words_of,
)
from predibot.games.fills import FillModel, fill_model
from predibot.jobs.deciding.accounts.market_board import MarketBoard
from predibot.jobs.deciding.accounts.news_board import NewsBoard
from predibot.jobs.deciding.accounts.turn import AccountTurn, take_turn
from predibot.jobs.deciding.activity import Watch, of_step, unwatched
from predibot.jobs.deciding.opened_models import OpenedModels
from predibot.jobs.deciding.quotes import QuoteBoard, quotes_of
from predibot.jobs.deciding.sources import lasting, sources_of
from predibot.jobs.logs.about import About, logged_about
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.labels import decisions_on
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import claim_with_account, open_account
from predibot.ledger.write.claims import Claim, Claimant, Taken, claim, has_ended_since, held_claim, new_token
from predibot.ledger.write.decisions import (
    Finished,
    store_decision,
)
from predibot.ledger.write.events import Catalogue
from predibot.ledger.write.runs import StoredRun
from predibot.ledger.write.turns import KnownMarket
from predibot.plugins.strategies import StrategySpec, load_strategy
from predibot.plugins.venues import known_venue
from predibot.recipe.recipe import BotSpec

_log = logging.getLogger(__name__)

_ROUNDING_USD = 1e-9

StepListener = Callable[[int, Step], None]


@dataclass(frozen=True, slots=True)
class DecideJob:
    """One piece of work as plain data, fit for another process or machine."""

    run_id: int
    bot_id: int
    bot: str
    strategy: StrategySpec
    subject: Subject
    seed_parts: tuple[str | int, ...]
    """What the bot's random draws follow from; the order of deciding is no part of it."""
    members: tuple[str, ...] = ()
    """The bots whose decisions on the subject it waits for."""


class ContextSetup(Protocol):
    """Gives a bot's context the models, tools, budget and trace that its strategy declares."""

    def set_up(self, context: Context, bot: BotSpec, events: Sequence[Event], listener: StepListener) -> Context:
        """Return the context with all of it; the listener is told of each step of the trace."""
        ...

    def write_off(self) -> None:
        """Let nothing more be spent, and book what is under way."""
        ...


class Claims:
    """Whether claims are still made here: where they are all given back, none comes after."""

    def __init__(self) -> None:
        """Begin with claims being made."""
        self._lock = threading.Lock()
        self._has_ended = False

    @contextmanager
    def one(self) -> Iterator[None]:
        """Make a claim in the block.

        Raises:
            RuntimeError: If claims are given back already.
        """
        with self._lock:
            if self._has_ended:
                raise RuntimeError("the program ends, and makes no decision any more")
            yield

    def end(self) -> None:
        """Wait for a claim that is being made, and have none made after it."""
        with self._lock:
            self._has_ended = True


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker has: made once for each process."""

    store: Store
    venue: Venue
    game: Game
    run: StoredRun
    run_at: datetime
    events: Mapping[str, Event]
    catalogue: Catalogue
    claimant: Claimant
    clock: Callable[[], datetime]
    board: QuoteBoard
    markets: MarketBoard
    settings: Settings = field(default_factory=Settings)
    """How many decisions at once, how long."""
    bots: Mapping[str, BotSpec] = field(default_factory=dict)
    agents: ContextSetup | None = None
    """None where all bots decide with the view alone."""
    loopback: str | None = None
    """The address of a sandbox's pages."""
    watch: Watch = unwatched
    secrets: SecretValues = field(default_factory=lambda: SecretValues(secrets_present()))
    """What no row may hold: a strategy may read the environment, and quote it where it fails."""
    under_way: dict[tuple[int, Subject], Context] = field(default_factory=dict)
    """The contexts of the decisions that are under way here, by bot and subject."""
    claims: Claims = field(default_factory=Claims)
    news: NewsBoard | None = None
    """None where the game shows no news, or no bot reads any."""
    references: Callable[[], References] | None = None
    """What baselines may know of the items of the run, made once; None in a game without any."""
    universes: Mapping[Subject, Sequence[KnownMarket]] = field(default_factory=dict)
    """The markets of each cohort, which another run may have chosen."""

    @property
    def fills(self) -> FillModel:
        """Return what sets the prices of what is traded, as the game says it."""
        return fill_model(self.game.fills, fee_bps=self.game.fee_bps, spread_bps=self.game.spread_bps)

    def view(self, subject: Subject, events: Sequence[Event], turn: AccountTurn | None) -> Any:
        """Return what a bot is shown, with its account where it has one."""
        payloads = known_venue(self.venue.name).payloads
        # What in it states a result, only its venue knows.
        shown = [
            replace(event, payload="" if payloads is None else payloads.without_results(event.payload))
            for event in events
        ]
        if turn is None:
            return self.game.view(subject, shown, venue=self.venue.name)
        return self.game.view(subject, shown, venue=self.venue.name, account=turn.account, past=turn.past)

    def events_of(self, subject: Subject) -> tuple[Event, ...]:
        """Return what a decision is about: its event or item, its cohort's markets as they are now, or all of the run.

        Raises:
            VenueUnavailable: If the venue does not answer.
        """
        if subject in self.universes:
            return self.markets.unlisted(self.universes[subject], self.instant())
        is_one = subject.kind == "event" or subject.kind in ITEM_SUBJECTS
        return (self.events[subject.id],) if is_one else tuple(self.events.values())

    def instant(self) -> datetime:
        """Return what the bot's clock shows: now where the venue is live, else the run's instant."""
        return self.clock() if self.venue.live else self.run_at


@dataclass(frozen=True, slots=True)
class WorkResult:
    """What a worker reports: how the decision ended, or why it was not made here."""

    job: DecideJob
    status: Status | Literal["claimed", "missed"]
    """A decision's status, `claimed` while somebody else is at it, or `missed` where a later slot had the account."""
    made_here: bool


def work(job: DecideJob, worker: Worker) -> WorkResult:
    """Do one piece of work if it is free, and store how it ended.

    Raises:
        LedgerError: If the result could not be stored.
        BaseException: Whatever a strategy raised that is no error of ours, after it
            was recorded.
    """
    with logged_about(About(worker.run.key, job.bot, job.subject.id)):
        return _work(job, worker)


def _work(job: DecideJob, worker: Worker) -> WorkResult:
    held, account_id = _claimed(job, worker)
    if isinstance(held, Taken):
        return WorkResult(job, cast(Status | Literal["claimed", "missed"], held.status), made_here=False)
    began = time.monotonic()
    context: Context | None = None
    turn: AccountTurn | None = None
    try:
        if account_id is not None:
            turn = take_turn(
                account_id,
                held,
                worker.events_of(job.subject),
                run=worker.run,
                store=worker.store,
                venue=worker.venue,
                board=worker.markets,
                fills=worker.fills,
                now=worker.instant(),
                news=worker.news,
            )
        context = worker.under_way[job.bot_id, job.subject] = _context(job, worker, turn)
        done = _decided(job, worker, began, context, turn)
        return _store(job, worker, held, _with_trace(done, worker, context), turn)
    except ClaimLost:
        return WorkResult(job, "claimed", made_here=False)
    except LedgerError:
        raise
    except (PluginError, UsageError, VenueError) as error:
        # Before anything was asked: of what the account holds, or of what is to be shown.
        return _store(job, worker, held, _with_trace(_failed(worker, str(error), began), worker, context))
    except BaseException as error:
        # Of whatever class, a cancellation of the strategy's own too: a claim that nobody finishes is paid for again.
        failed = _failed(worker, words_of(error), began)
        _store(job, worker, held, _with_trace(failed, worker, context), turn)
        raise
    finally:
        # Where it was given up and is made anew meanwhile, the other's stays.
        if worker.under_way.get((job.bot_id, job.subject)) is context:
            worker.under_way.pop((job.bot_id, job.subject), None)


def credited(result: WorkResult, worker: Worker) -> WorkResult:
    """Return how a job ended of which a worker may have been lost: made by this call, if its decision came during it.

    The lost one may have stored the decision that another then finds.

    Raises:
        LedgerError: If the ledger cannot be read.
    """
    if result.made_here or result.status in ("claimed", "missed"):
        return result
    job, since = result.job, worker.claimant.began_at
    is_ours = worker.store.run_read(
        lambda connection: has_ended_since(connection, job.run_id, job.bot_id, job.subject, since)
    )
    return replace(result, made_here=is_ours)


def give_up(job: DecideJob, worker: Worker, message: str, seconds: float) -> bool:
    """Record a decision as failed whose worker does not answer, and let it spend no more.

    A late answer finds its claim gone. Of a call that is under way, or of a worker
    that is gone itself, the cost is unknown.

    Returns:
        Whether it was still claimed. If not, it has ended otherwise, or was not begun.
    """
    with logged_about(About(worker.run.key, job.bot, job.subject.id)):
        return _give_up(job, worker, message, seconds)


def _give_up(job: DecideJob, worker: Worker, message: str, seconds: float) -> bool:
    context = worker.under_way.get((job.bot_id, job.subject))
    if context is not None and context.meter is not None:
        context.meter.close()
    if context is not None and context.trace is not None:
        # What it hung in is in no other step, so it cannot be rerun.
        context.trace.write(GivenUpStep(seconds))
    held = worker.store.run_read(
        lambda connection: held_claim(connection, job.run_id, job.bot_id, job.subject, worker.claimant.owner)
    )
    if held is not None:
        failed = Finished("failed", worker.instant(), message=message, seconds=seconds)
        _store(job, worker, held, _so_far(job, worker, failed, context))
    return held is not None


def _so_far(job: DecideJob, worker: Worker, failed: Finished, context: Context | None) -> Finished:
    """Return how a decision ended that was given up, with what is known of it."""
    meter = None if context is None else context.meter
    if meter is None:
        return replace(failed, cost_usd=None) if job.strategy.needs.setup else _with_trace(failed, worker, None)
    # In this order: what ends meanwhile is booked first and written down after.
    is_in_flight, spent_usd = meter.is_in_flight, meter.spent().usd
    failed = _with_trace(failed, worker, context)
    is_unknown = is_in_flight or spent_usd > failed.cost_known_usd + _ROUNDING_USD
    return replace(failed, cost_usd=None) if is_unknown else failed


def _claimed(job: DecideJob, worker: Worker) -> tuple[Claim | Taken, int | None]:
    """Return the claim, and the account it is on, where the subject has one."""
    about, who = (job.bot_id, job.subject), worker.claimant
    now, token = worker.clock(), new_token()

    def of_account(connection: Connection) -> tuple[Claim | Taken, int]:
        account_id = open_account(
            connection,
            worker.run,
            job.bot,
            job.subject,
            mode="live" if worker.venue.live else "replay",
            deposit_usd=worker.game.stake_usd,
            at=worker.run.as_of,
            methodology=worker.game.methodology,
        )
        held = claim_with_account(connection, account_id, worker.run, *about, who, now=now, token=token)
        return held, account_id

    def of_event(connection: Connection) -> tuple[Claim | Taken, None]:
        return claim(connection, job.run_id, *about, who, now=now, token=token), None

    with worker.claims.one():
        return worker.store.run_write(of_account if job.subject.kind in ACCOUNT_SUBJECTS else of_event)


def _with_trace(finished: Finished, worker: Worker, context: Context | None) -> Finished:
    """Return how a decision ended with its trace kept, its sources, its models and its cost."""
    if context is None or context.trace is None:
        return replace(finished, models=())
    steps = context.trace.steps
    cost_usd, cost_known_usd = cost_of_steps(steps)
    return replace(
        finished,
        message=lasting(finished.message, worker.loopback),
        cost_usd=cost_usd,
        cost_known_usd=cost_known_usd,
        trace_sha256=Traces(worker.store).keep(context.trace) if steps else None,
        sources=sources_of(steps, loopback=worker.loopback),
        models=context.model.names if isinstance(context.model, OpenedModels) else None,
        notes=_refusals(steps),
    )


def _refusals(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return a note for each setting that a model answered without, because its provider does not take it."""
    answers = (step for step in steps if isinstance(step, ModelStep))
    refused = dict.fromkeys((step.asked.model_name, name) for step in answers for name in step.reply.refused_settings)
    return tuple(f"{model} does not take {name}, and answered without it" for model, name in refused)


def _decided(job: DecideJob, worker: Worker, began: float, context: Context, turn: AccountTurn | None) -> Finished:
    """Return how a decision ended, where it ended in a way we know."""
    try:
        return _decide(job, worker, began, context, turn)
    except AnswerError as error:
        return _failed(worker, str(error), began, status="refused")
    except NoAnswer as error:
        return _unanswered(worker, str(error), began)
    except (BudgetSpent, LoopEnded) as error:
        # The latter in a rerun, for a reason that is in no step.
        kind: ReasonKind = error.kind if isinstance(error, LoopEnded) else "budget"
        if kind == "answer":
            return _unanswered(worker, str(error), began)
        return _abstained(worker, worker.events_of(job.subject), Abstention(str(error), kind), began)
    except (PluginError, MarketClosed, ModelError, UsageError, VenueError) as error:
        return _failed(worker, str(error), began)


def _context(job: DecideJob, worker: Worker, turn: AccountTurn | None) -> Context:
    """Return what a bot decides with, the view as the run froze it."""
    events = worker.events_of(job.subject) if turn is None else turn.events
    account = None if turn is None else turn.account
    context = Context(
        now=worker.instant(),
        view=worker.view(job.subject, events, turn),
        game=worker.game,
        rng=seeded(*job.seed_parts),
        account=account,
        model=OpenedModels(job.strategy),
        history=_undeclared_history(job.strategy.name),
        reference=_reference(job, worker),
    )
    if worker.agents is None or not job.strategy.needs.setup:
        return context

    def told(number: int, step: Step) -> None:
        worker.watch(of_step(job.bot, job.subject.id, number, step))

    return worker.agents.set_up(context, worker.bots[job.bot], events, told)


def _undeclared_history(strategy: str) -> Callable[[str], tuple[PricePoint, ...]]:
    """Return what refuses daily prices to a strategy that did not say it needs them: none would look like no past."""

    def refuse(_market_id: str) -> tuple[PricePoint, ...]:
        raise PluginError(
            f"strategy {strategy!r} asks for daily prices, which it does not declare. Set needs = Needs(history=True)"
        )

    return refuse


def _reference(job: DecideJob, worker: Worker) -> Callable[[], Any]:
    """Return what a baseline asks for what it may know, where it declared that it does."""
    known = worker.references
    if known is None or not job.strategy.needs.reference:
        return no_reference
    return lambda: known().of(job.subject.id)


def _members(job: DecideJob, worker: Worker) -> Mapping[str, Decision | None]:
    """Return what the bots that this one pools decided on the subject."""
    if not job.members:
        return {}
    said = worker.store.run_read(lambda connection: decisions_on(connection, job.run_id, job.subject))
    return {name: said.get(name) for name in job.members}


def _decide(job: DecideJob, worker: Worker, began: float, context: Context, turn: AccountTurn | None) -> Finished:
    # An event whose market closed meanwhile is decided no more; an account goes on with the others.
    def quoted(events: Sequence[Event]) -> tuple[Event, ...]:
        if turn is None:
            return tuple(map(worker.board.quoted, events))
        return worker.markets.quoted(events, worker.instant())

    shown = quoted(worker.events_of(job.subject) if turn is None else turn.events)
    view = worker.view(job.subject, shown, turn)
    context = replace(context, now=worker.instant(), view=view, members=_members(job, worker))
    answer = load_strategy(job.strategy).decide(context)
    _check_answer(answer, job.strategy.name)
    if isinstance(answer, Abstention):
        return _abstained(worker, shown, answer, began)
    if turn is None:
        booked = quoted(shown)
    else:
        ordered = [order.instrument for order in answer.orders]
        booked = worker.markets.requoted(shown, ordered, turn.account.positions, worker.instant())
    prices = {named: price for event in booked for named, price in prices_of(event, worker.venue.name).items()}
    booking = worker.game.book(answer, view, context.account, prices, worker.fills)
    if turn is not None:
        turn.require(booking.journal, worker.game.name)
    elif booking.journal:
        raise PluginError(
            f"game {worker.game.name!r} books into an account, and a {job.subject.kind} has none; subjects with one "
            f"are of kind {' or '.join(ACCOUNT_SUBJECTS)}"
        )
    return Finished(
        "recorded",
        worker.instant(),
        shown,
        decision=answer,
        booking=booking,
        shown=quotes_of(shown),
        booked=quotes_of(booked),
        prices=prices,
        seconds=time.monotonic() - began,
        reason_kind="answer" if answer.by_system else None,
    )


def _check_answer(answer: object, strategy: str) -> None:
    """Refuse what is no answer at all; what an answer says is for the game to judge."""
    if isinstance(answer, Abstention):
        if answer.kind not in ABSTENTION_KINDS:
            kinds = ", ".join(ABSTENTION_KINDS)
            raise PluginError(f"strategy {strategy!r} abstained with a reason of no kind; it is one of {kinds}")
        words: tuple[object, ...] = (answer.reason,)
    elif isinstance(answer, Decision):
        parts = (answer.forecasts, answer.orders, answer.labels, answer.notes)
        if not all(isinstance(part, tuple) for part in parts):
            raise PluginError(
                f"strategy {strategy!r} returned a Decision whose forecasts, orders, labels or notes are no tuple; "
                "make them one"
            )
        wanted: tuple[tuple[type | tuple[type, ...], str], ...] = (
            ((Forecast, MarketDecision), "a MarketDecision or a Forecast"),
            (Order, "an Order"),
            (Label, "a Label"),
        )
        for part, (kind, name) in zip(parts[:-1], wanted, strict=True):
            if not all(isinstance(said, kind) for said in part):
                raise PluginError(f"strategy {strategy!r} decided on something else than {name}; return only those")
        words = (answer.rationale, *answer.notes, *(said.rationale for said in answer.forecasts))
    else:
        raise PluginError(f"strategy {strategy!r} returned {type(answer).__name__}; return a Decision or an Abstention")
    if not all(isinstance(word, str) for word in words):
        raise PluginError(f"strategy {strategy!r} gave a reason or a note that is no text; write it as a string")


def _abstained(worker: Worker, events: tuple[Event, ...], answer: Abstention, began: float) -> Finished:
    seconds = time.monotonic() - began
    return Finished(
        "abstained",
        worker.instant(),
        events,
        answer.reason,
        shown=quotes_of(events),
        seconds=seconds,
        reason_kind=answer.kind,
    )


def _failed(worker: Worker, message: str, began: float, *, status: Status = "failed") -> Finished:
    return Finished(status, worker.instant(), message=message, seconds=time.monotonic() - began)


def _unanswered(worker: Worker, message: str, began: float) -> Finished:
    return replace(_failed(worker, message, began), reason_kind="answer")


def _without_secrets(finished: Finished, secrets: SecretValues) -> Finished:
    """Return how a decision ended without a key in any text that somebody wrote."""
    hidden = secrets.hidden
    decision = finished.decision
    if decision is not None:
        decision = replace(
            decision,
            forecasts=tuple(replace(said, rationale=hidden(said.rationale)) for said in decision.forecasts),
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


def _store(
    job: DecideJob, worker: Worker, held: Claim, finished: Finished, turn: AccountTurn | None = None
) -> WorkResult:
    now = worker.clock()
    if turn is not None:
        finished = replace(finished, account_id=turn.id)
    finished = _without_secrets(finished, worker.secrets)
    finished = replace(finished, could_cost=bool(job.strategy.needs.models or job.strategy.needs.tools))

    def store(connection: Connection) -> None:
        store_decision(
            connection,
            held,
            finished,
            run_id=job.run_id,
            bot_id=job.bot_id,
            catalogue=worker.catalogue,
            now=now,
        )

    try:
        worker.store.run_write(store, durable=finished.was_paid)
    except ClaimLost:
        _log.info("%s on %s came too late: its claim was taken over", job.bot, job.subject.id)
        return WorkResult(job, "claimed", made_here=False)
    except LedgerUnusable as error:
        paid = " and was paid for" if finished.was_paid else ""
        about = f"{job.subject.kind} {job.subject.id}"
        raise LedgerUnusable(
            f"what {job.bot} said of {about}{paid} is lost; the next call asks again: {error}"
        ) from error
    said = f"{finished.status}: {finished.message}" if finished.message else finished.status
    _log.info("%s on %s %s: %s", job.bot, job.subject.kind, job.subject.id, said)
    return WorkResult(job, finished.status, made_here=True)
