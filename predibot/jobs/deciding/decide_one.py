"""One decision: claimed, made, checked, booked and stored, or recorded as a failure."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal, cast

from sqlalchemy import Connection

from predibot.agents.answer.result import LoopEnd
from predibot.agents.prompts.fields import RATIONALE_FIRST
from predibot.agents.prompts.render import fields_of
from predibot.contracts import Context, no_reference
from predibot.domain.account import ACCOUNT_SUBJECTS
from predibot.domain.clock import format_instant
from predibot.domain.decision import (
    ABSTENTION_KINDS,
    Abstention,
    Decision,
    Forecast,
    Label,
    MarketDecision,
    Order,
    ReasonKind,
    Status,
    seeded_random,
)
from predibot.domain.event import Event, EventView, prices_of
from predibot.domain.price import PricePoint
from predibot.domain.secret_values import SecretValues
from predibot.domain.trace import GivenUpStep, ModelStep, Step, cost_of_steps
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
    PredibotError,
    UsageError,
    VenueError,
    describe_error,
)
from predibot.games.normalisation import normalise_exclusive
from predibot.jobs.deciding.accounts.turn import AccountTurn, take_turn
from predibot.jobs.deciding.activity import activity_of_step, replace_loopback, sources_of
from predibot.jobs.deciding.opened_models import DeclaredModels
from predibot.jobs.deciding.venue_board import quotes_of
from predibot.jobs.deciding.worker import (
    DecideJob,
    Worker,
    members_decided_at,
    read_members,
    sample_steps,
    too_few_samples,
)
from predibot.jobs.logs.log_file import LogContext, log_context
from predibot.ledger.files.traces import Trace, Traces
from predibot.ledger.write.accounts import claim_with_account, open_account
from predibot.ledger.write.claims import Claim, claim, find_claim, new_token
from predibot.ledger.write.decisions import DecisionResult, store_decision
from predibot.plugins.strategies import load_strategy
from predibot.plugins.venues import venue_or_defaults

_log = logging.getLogger(__name__)

_ROUNDING_USD = 1e-9


@dataclass(frozen=True, slots=True)
class WorkResult:
    """The outcome of a job: how the decision ended, or why it was not made here."""

    status: Status | Literal["claimed", "missed"]
    """A decision's status, `claimed` while another process makes it, or `missed` if a later slot had the account."""
    made_here: bool
    error: PredibotError | None = None
    """Why another process could not store its result."""


def take(job: DecideJob, worker: Worker) -> Callable[[], WorkResult] | WorkResult:
    """Claim one piece of work, and return a function that does it and stores how it ended; a result if it is not free.

    `LedgerError` is raised if it cannot be claimed. The function raises it if the result could not be stored, and any
    foreign error of a strategy, after it was recorded.
    """
    about = LogContext(worker.run.key, job.bot.name, job.subject.id)
    with log_context(about):
        claim_or_taken, account_id = _claim_job(job, worker)
    if isinstance(claim_or_taken, str):
        return WorkResult(cast(Status | Literal["claimed", "missed"], claim_or_taken), made_here=False)

    def work() -> WorkResult:
        with log_context(about):
            try:
                return _work_on_claim(job, worker, claim_or_taken, account_id)
            except ClaimLost:
                return WorkResult("claimed", made_here=False)

    return work


def _work_on_claim(job: DecideJob, worker: Worker, claim: Claim, account_id: int | None) -> WorkResult:
    began = time.monotonic()
    context: Context | None = None
    turn: AccountTurn | None = None

    def store(done: DecisionResult) -> WorkResult:
        return _store(job, worker, claim, _with_trace(done, worker, context, began), turn)

    try:
        if account_id is not None:
            turn = take_turn(account_id, claim, job, worker)
        context = worker.under_way[job.key] = _make_context(job, worker, turn)
        return store(_decide_or_fail(job, worker, context, turn))
    except (ClaimLost, LedgerError):
        raise
    except (PluginError, UsageError, VenueError) as error:
        # While the account or the view was prepared, before any model was asked: no decision of the account's.
        turn = None
        return store(_failure_result(worker, str(error)))
    except BaseException as error:
        # Any class, also a cancellation of the strategy's own: an unfinished claim would be decided and paid again.
        store(_failure_result(worker, describe_error(error)))
        raise
    finally:
        # A new attempt, begun after this one was given up, keeps its own context.
        if worker.under_way.get(job.key) is context:
            worker.under_way.pop(job.key, None)


def give_up(job: DecideJob, worker: Worker, message: str, seconds: float) -> bool:
    """Fail a decision whose worker does not answer, and stop its spending; return whether it was still claimed.

    A late answer finds its claim gone. The cost is unknown if a call is under way or the worker itself is gone.
    """
    context = worker.under_way.get(job.key)
    if context is not None and context.meter is not None:
        context.meter.close()
    if context is not None and context.trace is not None:
        # The trace must say so: the call in which it hung left no step, so it cannot be rerun.
        context.trace.write(GivenUpStep(seconds))
    own_claim = worker.store.run_read(
        lambda connection: find_claim(connection, worker.run.id, job.bot_id, job.subject, worker.claimant.owner)
    )
    if own_claim is not None:
        with log_context(LogContext(worker.run.key, job.bot.name, job.subject.id)):
            failed = replace(_failure_result(worker, message), seconds=seconds)
            _store(job, worker, own_claim, _abandoned_result(job, worker, failed, context))
    return own_claim is not None


def _abandoned_result(
    job: DecideJob, worker: Worker, failed: DecisionResult, context: Context | None
) -> DecisionResult:
    meter = None if context is None else context.meter
    if meter is None:
        return replace(failed, cost_usd=None) if job.bot.needs.setup else _with_trace(failed, worker, None)
    # In this order: a call that ends meanwhile is booked before it is traced.
    is_in_flight, spent_usd = meter.is_in_flight, meter.spent().usd
    failed = _with_trace(failed, worker, context)
    is_unknown = is_in_flight or spent_usd > failed.cost_known_usd + _ROUNDING_USD
    return replace(failed, cost_usd=None) if is_unknown else failed


def _claim_job(job: DecideJob, worker: Worker) -> tuple[Claim | str, int | None]:
    about, who = (job.bot_id, job.subject), worker.claimant
    now, token = worker.clock(), new_token()

    def of_account(connection: Connection) -> tuple[Claim | str, int]:
        account_id = open_account(
            connection,
            worker.run,
            job.bot.name,
            job.subject,
            mode="live" if worker.venue.live else "replay",
            deposit_usd=worker.game.stake_usd,
            at=worker.run.as_of,
            methodology=worker.game_of(job).methodology_key,
        )
        taken = claim_with_account(connection, account_id, worker.run, *about, who, now=now, token=token)
        return taken, account_id

    def of_event(connection: Connection) -> tuple[Claim | str, None]:
        return claim(connection, worker.run.id, *about, who, now=now, token=token), None

    with worker.claiming:
        if worker.has_ended.is_set():
            raise RuntimeError("the program ends, and makes no decision any more")
        return worker.store.run_write(of_account if job.subject.kind in ACCOUNT_SUBJECTS else of_event)


def _with_trace(
    finished: DecisionResult, worker: Worker, context: Context | None, began: float | None = None
) -> DecisionResult:
    if began is not None:
        finished = replace(finished, seconds=time.monotonic() - began)
    if context is None or context.trace is None:
        return replace(finished, models=())
    steps = context.trace.steps
    cost_usd, cost_known_usd = cost_of_steps(steps)
    return replace(
        finished,
        message=replace_loopback(finished.message, worker.loopback),
        cost_usd=cost_usd,
        cost_known_usd=cost_known_usd,
        trace_sha256=Traces(worker.store).keep(context.trace) if steps else None,
        sources=sources_of(steps, loopback=worker.loopback),
        models=context.model.names if isinstance(context.model, DeclaredModels) else None,
        notes=_refused_settings(steps),
    )


def _refused_settings(steps: Iterable[Step]) -> tuple[str, ...]:
    answers = (step for step in steps if isinstance(step, ModelStep))
    refused = dict.fromkeys((step.asked.model_name, name) for step in answers for name in step.reply.refused_settings)
    return tuple(f"{model} does not take {name}, and answered without it" for model, name in refused)


def _decide_or_fail(job: DecideJob, worker: Worker, context: Context, turn: AccountTurn | None) -> DecisionResult:
    try:
        return _decide(job, worker, context, turn)
    except AnswerError as error:
        return _failure_result(worker, str(error), status="refused")
    except NoAnswer as error:
        return _failure_result(worker, str(error), reason_kind="answer")
    except (PluginError, MarketClosed, ModelError, UsageError, VenueError) as error:
        return _failure_result(worker, str(error))


def _make_context(job: DecideJob, worker: Worker, turn: AccountTurn | None) -> Context:
    """Return the context of a decision without the view, whose prices are read last."""
    events, run = worker.events_of(job) if turn is None else turn.events, worker.run
    now, needs = worker.instant(), job.bot.needs
    context = Context(
        now=now,
        view=None,
        game=worker.game_of(job),
        rng=seeded_random(run.seed, run.recipe, format_instant(run.slot_at), job.bot.name, job.subject.id),
        account=None if turn is None else turn.account,
        model=DeclaredModels(job.bot.strategy),
        history=partial(_history, worker, events, now) if needs.setup else _undeclared_history(job.bot.strategy.name),
        reference=_reference(job, worker),
        prompt=job.bot.prompt,
        rationale_first=RATIONALE_FIRST in fields_of(job.bot.prompt),
    )
    if job.bot.pools_samples:
        return replace(context, trace=Trace())
    if worker.agents is None or not needs.setup:
        return context

    def on_step(number: int, step: Step) -> None:
        worker.watch(activity_of_step(job.bot.name, job.subject.id, number, step))

    return worker.agents.set_up(context, job.bot, on_step)


def _view(job: DecideJob, worker: Worker, events: Sequence[Event], turn: AccountTurn | None) -> Any:
    payloads = venue_or_defaults(worker.venue.name).payloads
    # Only the venue knows what in its payload states a result.
    shown = [
        replace(event, payload="" if payloads is None else payloads.without_results(event.payload)) for event in events
    ]
    game = worker.game_of(job)
    if turn is None:
        return game.view(job.subject, shown, venue=worker.venue.name)
    return game.view(job.subject, shown, venue=worker.venue.name, account=turn.account, past=turn.past)


def _history(worker: Worker, events: Sequence[Event], now: datetime, market_id: str) -> tuple[PricePoint, ...]:
    market = next((found for event in events if (found := event.market(market_id)) is not None), None)
    return () if market is None else worker.board.daily_prices(market, now)


def _undeclared_history(strategy: str) -> Callable[[str], tuple[PricePoint, ...]]:
    """Return a function that refuses daily prices, because no prices would look like no past."""

    def refuse(_market_id: str) -> tuple[PricePoint, ...]:
        raise PluginError(
            f"strategy {strategy!r} asks for daily prices, which it does not declare. Set needs = Needs(history=True)"
        )

    return refuse


def _reference(job: DecideJob, worker: Worker) -> Callable[[], Any]:
    known = worker.references
    if known is None or not job.bot.needs.reference:
        return no_reference
    return lambda: known().of(job.subject.id)


def _decide(job: DecideJob, worker: Worker, context: Context, turn: AccountTurn | None) -> DecisionResult:
    # An event with a closed market is not decided; an account goes on with its other markets.
    if turn is None:
        # A bot that steps from the price begins at one that is asked for after the answers of its members.
        after = members_decided_at(job, worker) if job.bot.members and worker.venue.live else None
        shown, unanswered = worker.board.open_events(worker.events_of(job), after)
    else:
        shown, unanswered = worker.board.quote_events(turn.events, worker.instant()), ()
    view = _view(job, worker, shown, turn)
    now = worker.instant()
    context = replace(context, now=now, view=view, **read_members(job, worker, now))
    if job.bot.pools_samples and context.trace is not None:
        for step in sample_steps(context):
            context.trace.write(step)
    try:
        answer = load_strategy(job.bot.strategy).decide(context)
    except (BudgetSpent, LoopEnd) as error:
        # `LoopEnd` comes in a rerun, for an end that is in no step.
        kind: ReasonKind = error.kind if isinstance(error, LoopEnd) else "budget"
        if kind == "answer":
            return _failure_result(worker, str(error), reason_kind="answer")
        answer = Abstention(str(error), kind)
    answered_at = worker.instant() if job.bot.needs.models else None
    _check_answer(answer, job.bot.strategy.name)
    if isinstance(answer, Abstention):
        if job.bot.pools_samples and answer.kind == "members":
            return _failure_result(worker, too_few_samples(job.bot, context))
        return DecisionResult(
            "abstained", worker.instant(), shown, answer.reason, shown=quotes_of(shown), reason_kind=answer.kind
        )
    if job.bot.normalise and isinstance(view, EventView):
        answer = normalise_exclusive(answer, view.event)
    if turn is None:
        # What took a model's time is booked at quotes that are asked for after its answer.
        booked, late = worker.board.open_events(shown, answered_at)
        answer = replace(answer, notes=(*answer.notes, *dict.fromkeys((*unanswered, *late))))
    else:
        ordered = [order.instrument for order in answer.orders]
        booked = worker.board.requote_events(shown, ordered, turn.account.positions, worker.instant())
    game = worker.game_of(job)
    quoted = {named: price for event in booked for named, price in prices_of(event, worker.venue.name).items()}
    prices = {named: game.price_of(price) for named, price in quoted.items()}
    booking = game.book(answer, view, context.account, prices, worker.fills)
    if turn is not None:
        turn.require(booking.journal, game.name)
    elif booking.journal:
        raise PluginError(
            f"game {game.name!r} books into an account, and a {job.subject.kind} has none; subjects with one "
            f"are of kind {' or '.join(ACCOUNT_SUBJECTS)}"
        )
    return DecisionResult(
        "recorded",
        worker.instant(),
        shown,
        decision=answer,
        booking=booking,
        shown=quotes_of(shown),
        booked=quotes_of(booked),
        prices=prices,
        reason_kind="answer" if answer.by_system else None,
    )


def _check_answer(answer: object, strategy: str) -> None:
    """Refuse an answer of the wrong types; its content is for the game to judge."""
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
            if not all(isinstance(each, kind) for each in part):
                raise PluginError(f"strategy {strategy!r} decided on something else than {name}; return only those")
        words = (answer.rationale, *answer.notes, *(each.rationale for each in answer.forecasts))
    else:
        raise PluginError(f"strategy {strategy!r} returned {type(answer).__name__}; return a Decision or an Abstention")
    if not all(isinstance(word, str) for word in words):
        raise PluginError(f"strategy {strategy!r} gave a reason or a note that is no text; write it as a string")


def _failure_result(
    worker: Worker, message: str, *, status: Status = "failed", reason_kind: ReasonKind | None = None
) -> DecisionResult:
    return DecisionResult(status, worker.instant(), message=message, reason_kind=reason_kind)


def _without_secrets(finished: DecisionResult, secrets: SecretValues) -> DecisionResult:
    hidden = secrets.mask
    decision = finished.decision
    if decision is not None:
        decision = replace(
            decision,
            forecasts=tuple(replace(forecast, rationale=hidden(forecast.rationale)) for forecast in decision.forecasts),
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
    job: DecideJob, worker: Worker, claim: Claim, finished: DecisionResult, turn: AccountTurn | None = None
) -> WorkResult:
    now, bot, subject = worker.clock(), job.bot, job.subject
    finished = replace(
        _without_secrets(finished, worker.secrets),
        account_id=None if turn is None else turn.id,
        could_cost=bool(bot.needs.models or bot.needs.tools),
    )

    def store(connection: Connection) -> None:
        run_id, known = worker.run.id, worker.catalogue
        store_decision(connection, claim, finished, run_id=run_id, bot_id=job.bot_id, catalogue=known, now=now)

    try:
        worker.store.run_write(store, durable=finished.was_paid)
    except ClaimLost:
        _log.info("%s on %s came too late: its claim was taken over", bot.name, subject.id)
        return WorkResult("claimed", made_here=False)
    except LedgerUnusable as error:
        paid = " and was paid for" if finished.was_paid else ""
        about = f"{subject.kind} {subject.id}"
        raise LedgerUnusable(
            f"what {bot.name} said of {about}{paid} is lost; the next call asks again: {error}"
        ) from error
    outcome = f"{finished.status}: {finished.message}" if finished.message else finished.status
    _log.info("%s on %s %s: %s", bot.name, subject.kind, subject.id, outcome)
    return WorkResult(finished.status, made_here=True)
