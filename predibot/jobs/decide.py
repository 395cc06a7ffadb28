"""Deciding: every bot of a run on every event it plays, each exactly once."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from predibot.config import Settings, api_keys
from predibot.contracts import Progress, ProgressListener
from predibot.domain.decision import Status, Subject
from predibot.domain.event import Event
from predibot.errors import LedgerError
from predibot.games import make_game
from predibot.jobs.executor import DaemonThreadExecutor
from predibot.jobs.heartbeat import Heartbeat
from predibot.jobs.quotes import QuoteBoard
from predibot.jobs.run import OpenRun, RunRequest, open_run
from predibot.jobs.venues import OpenVenue
from predibot.jobs.work import Bench, DecideJob, WorkResult, give_up, seed_parts, work
from predibot.ledger.catalogue import catalogue
from predibot.ledger.claims import Claimant, release
from predibot.ledger.decisions import StoredDecision, stored_decisions
from predibot.ledger.owner import is_gone, new_owner
from predibot.ledger.runs import BotPlan, StoredRun, add_bots
from predibot.ledger.store import Store
from predibot.recipe import BotSpec, Recipe

if TYPE_CHECKING:
    from predibot.jobs.equipment import Equipment

_log = logging.getLogger(__name__)

_Key = tuple[str, str]
"""A bot and a subject."""

_GIVE_BACK_SECONDS = 0.5
_TICK_SECONDS = 0.2
"""How often deadlines are looked at, and claims of others asked for again."""


@dataclass(frozen=True, slots=True)
class DecisionReport:
    """A decision of a run, and whether this call made it."""

    stored: StoredDecision
    made_here: bool

    @property
    def status(self) -> Status | Literal["skipped"]:
        """Return its status, or `skipped` where it was made before or by another process."""
        return self.stored.status if self.made_here else "skipped"

    @property
    def message(self) -> str:
        """Return what is to be said of it."""
        if self.made_here:
            return self.stored.message
        return f"{self.stored.status} before" + (f": {self.stored.message}" if self.stored.message else "")


@dataclass(frozen=True, slots=True)
class DecideReport:
    """What one call of `decide` came to."""

    run: StoredRun
    events: tuple[Event, ...]
    decisions: tuple[DecisionReport, ...]
    notes: tuple[str, ...]
    seconds: float


def decide(
    request: RunRequest,
    *,
    store: Store,
    opened: OpenVenue,
    settings: Settings,
    clock: Callable[[], datetime],
    listener: ProgressListener,
) -> DecideReport:
    """Make every decision of a run that is not made yet, and return them all.

    It may be called again after anything, and by several processes at once: each
    decision is made once. Those that failed are tried again, at most three times.

    Raises:
        RunConflict: If the slot's run was made with another recipe, venue or overrides.
        VenueError: If the venue's list could not be read whole.
        LedgerError: If the ledger fails; what is recorded stays.
        KeyboardInterrupt: Passed on, after the claims were given back.
    """
    began = time.monotonic()
    bots = request.recipe.bots
    equipment = equipped(request.recipe, opened=opened, settings=settings, clock=clock, store=store)
    run = open_run(request, store=store, opened=opened, clock=clock, listener=listener)
    bench, jobs = _prepare(run, request, equipment, store=store, opened=opened, settings=settings, clock=clock)
    lease = bench.claimant.lease
    with Heartbeat(store, bench.claimant.owner, lease, clock):
        shift = _Shift(bench, jobs, settings, listener)
        try:
            made = shift.run()
        except KeyboardInterrupt:
            _give_back(bench)
            raise
    with store.read() as connection:
        stored = stored_decisions(connection, run.stored.id)
    reports = _reports(stored, made, bots, run.events)
    return DecideReport(run.stored, run.events, reports, run.notes, time.monotonic() - began)


def _prepare(
    run: OpenRun,
    request: RunRequest,
    equipment: "Equipment | None",
    *,
    store: Store,
    opened: OpenVenue,
    settings: Settings,
    clock: Callable[[], datetime],
) -> tuple[Bench, tuple[DecideJob, ...]]:
    bots = request.recipe.bots
    plans = [_plan(bot) for bot in bots]
    if equipment is not None:
        equipment.run_key = run.stored.key
    with store.write() as connection:
        bot_rows = add_bots(connection, run.stored, plans)
    with store.read() as connection:
        known = catalogue(connection, run.stored.id)
    bench = Bench(
        store=store,
        venue=opened.venue,
        game=make_game(request.recipe.game, overstake=request.recipe.overstake),
        run_at=run.stored.as_of,
        events={event.id: event for event in run.events},
        catalogue=known,
        claimant=Claimant(new_owner(), timedelta(seconds=settings.lease_seconds), clock(), is_gone),
        clock=clock,
        board=QuoteBoard(opened.venue, clock),
        bots={bot.name: bot for bot in bots},
        equipment=equipment,
        loopback=opened.loopback.search_url if opened.loopback else None,
    )
    return bench, tuple(_job(run.stored, bot, bot_rows, event) for bot in bots for event in run.events)


def _job(run: StoredRun, bot: BotSpec, bot_rows: Mapping[str, int], event: Event) -> DecideJob:
    subject = Subject("event", event.id)
    return DecideJob(
        run_id=run.id,
        bot_id=bot_rows[bot.name],
        bot=bot.name,
        strategy=bot.strategy,
        subject=subject,
        seed_parts=seed_parts(run.seed, run.recipe, run.slot_at, bot.name, subject),
        members=bot.members,
    )


def _plan(bot: BotSpec) -> BotPlan:
    strategy = bot.strategy
    return BotPlan(
        bot.name,
        strategy.name,
        strategy.arguments,
        strategy.source_sha256,
        model=bot.model,
        knowledge_cutoff=bot.terms.knowledge_cutoff,
    )


def equipped(
    recipe: Recipe, *, opened: OpenVenue, settings: Settings, clock: Callable[[], datetime], store: Store | None
) -> "Equipment | None":
    """Return what the recipe's bots talk to models with, after a check of each; None where none does.

    Raises:
        UsageError: If a bot could not keep to its budget, or would see the future.
    """
    if not any(bot.model for bot in recipe.bots):
        return None
    # Clients and tools cost half a second, which only runs with models pay.
    from predibot.jobs.equipment import Equipment, in_memory, in_the_ledger

    equipment = Equipment(
        recipe=recipe,
        opened=opened,
        keys=api_keys(),
        run_key="",
        deadline_seconds=settings.decision_deadline_seconds,
        clock=clock,
        make_account=in_memory if store is None else in_the_ledger(store),
    )
    equipment.check(recipe.bots)
    return equipment


@dataclass
class _Shift:
    """One call's way through its work: what is under way, what waits for others, what is done."""

    bench: Bench
    jobs: tuple[DecideJob, ...]
    settings: Settings
    listener: ProgressListener
    made: dict[_Key, bool] = field(default_factory=dict)

    def run(self) -> Mapping[_Key, bool]:
        """Return for each (bot, subject) whether this call made its decision."""
        executor = DaemonThreadExecutor(self.settings.workers)
        began: dict[_Key, float] = {}
        try:
            # What pools the decisions of others comes after them.
            for phase in (False, True):
                self._run_phase(executor, [job for job in self.jobs if bool(job.members) is phase], began)
        finally:
            executor.shutdown(wait=False, cancel_futures=True)
        return self.made

    def _run_phase(self, executor: DaemonThreadExecutor, jobs: Sequence[DecideJob], began: dict[_Key, float]) -> None:
        pending = {executor.submit(self._timed, job, began): job for job in jobs}
        while pending:
            done, _ = wait(pending, timeout=_TICK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                job = pending.pop(future)
                if not self._settled(job, future):
                    began.pop(_key(job), None)
                    pending[executor.submit(self._again, job, began)] = job
            self._give_up_late(executor, pending, began)

    def _timed(self, job: DecideJob, began: dict[_Key, float]) -> WorkResult:
        began[_key(job)] = time.monotonic()
        return work(job, self.bench)

    def _again(self, job: DecideJob, began: dict[_Key, float]) -> WorkResult:
        # Somebody else is at it: ask again until it is done or its owner is gone.
        time.sleep(_TICK_SECONDS)
        return self._timed(job, began)

    def _settled(self, job: DecideJob, future: "Future[WorkResult]") -> bool:
        """Take note of how a future ended, and return whether its decision is made."""
        error = future.exception()
        if isinstance(error, LedgerError):
            raise error
        if error is not None:
            _log.error("%s crashed on %s", job.bot, job.subject.id, exc_info=error)
        elif future.result().status == "claimed":
            self.listener(Progress("decide", len(self.made), len(self.jobs), "waiting for another process"))
            return False
        self._note(job, made_here=error is not None or future.result().made_here)
        return True

    def _give_up_late(
        self,
        executor: DaemonThreadExecutor,
        pending: "dict[Future[WorkResult], DecideJob]",
        began: Mapping[_Key, float],
    ) -> None:
        """Record as failed what has been under way for too long, and leave its thread behind."""
        limit = self.settings.decision_deadline_seconds
        for future, job in list(pending.items()):
            seconds = time.monotonic() - began.get(_key(job), time.monotonic())
            if seconds <= limit or future.done():
                continue
            give_up(job, self.bench, f"gave no answer within {limit:g} s", seconds)
            executor.abandon_one()
            del pending[future]
            self._note(job, made_here=True)

    def _note(self, job: DecideJob, *, made_here: bool) -> None:
        self.made[_key(job)] = made_here
        self.listener(Progress("decide", len(self.made), len(self.jobs), f"{job.bot} on {job.subject.id}"))


def _give_back(bench: Bench) -> None:
    """Give back all claims, unless that takes too long: those of a process that ended are free as well."""

    def release_all() -> None:
        with bench.store.write() as connection:
            release(connection, bench.claimant.owner, now=bench.clock())

    future = DaemonThreadExecutor(1).submit(release_all)
    with suppress(LedgerError, TimeoutError):
        future.result(timeout=_GIVE_BACK_SECONDS)


def _key(job: DecideJob) -> _Key:
    return job.bot, job.subject.id


def _reports(
    stored: Sequence[StoredDecision],
    made: Mapping[_Key, bool],
    bots: Sequence[BotSpec],
    events: Sequence[Event],
) -> tuple[DecisionReport, ...]:
    """Return the decisions of this call's bots, by bot and event in the order of the run."""
    found = {(decision.bot, decision.subject_id): decision for decision in stored}
    pairs = [(bot.name, event.id) for bot in bots for event in events]
    return tuple(DecisionReport(found[pair], made.get(pair, False)) for pair in pairs if pair in found)
