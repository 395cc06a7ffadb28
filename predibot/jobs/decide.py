"""Deciding: every bot of a run on every event it plays, each exactly once."""

import logging
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Literal

from predibot.config import Settings
from predibot.contracts import OpenVenue, ProgressListener
from predibot.domain.clock import format_instant
from predibot.domain.decision import Status, Subject
from predibot.domain.event import Event
from predibot.errors import LedgerError, UsageError
from predibot.jobs.deciding.activity import Watch, unwatched
from predibot.jobs.deciding.cohorts import PlayedCohort, played_cohorts, started_cohort
from predibot.jobs.deciding.decide_one import DecideJob, Worker
from predibot.jobs.deciding.open_run import RunRequest, open_run, without_session
from predibot.jobs.deciding.worker_setup import Processes, agent_setup, load_loops, make_worker
from predibot.jobs.logs.about import About, logged_about
from predibot.jobs.receipts import make_receipt
from predibot.jobs.workers.dispatch import Dispatch
from predibot.jobs.workers.heartbeat import Heartbeat
from predibot.jobs.workers.thread_pool import Pool, ThreadPool
from predibot.ledger.store import Store
from predibot.ledger.url import without_password
from predibot.ledger.write.claims import release
from predibot.ledger.write.decisions import StoredDecision, stored_decisions
from predibot.ledger.write.news import news_failures
from predibot.ledger.write.receipts import Receipt
from predibot.ledger.write.runs import BotPlan, RunPlan, StoredRun, add_bots, late_in_runs
from predibot.net.deadline import in_time
from predibot.recipe.recipe import BotSpec

if TYPE_CHECKING:
    from predibot.jobs.deciding.agent_setup import AgentSetup

_log = logging.getLogger(__name__)

_Key = tuple[str, str]
"""A bot and a subject."""

_GIVE_BACK_SECONDS = 5.0
"""It takes a tenth of one, unless others hold the ledger, or the machine is at its limit."""


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

    run: StoredRun | RunPlan
    """A plan where nothing is stored, because no event of a live venue keeps the rules."""
    events: tuple[Event, ...]
    decisions: tuple[DecisionReport, ...]
    notes: tuple[str, ...]
    seconds: float
    undecided: int = 0
    """Decisions without a row: another process took them over from this one, and is at it."""
    receipt: Receipt | None = None
    """Of the whole run as it is now; None where nothing is decided yet, or another process is at it."""
    has_session: bool = True
    """Whether there was trading on the day of the run, as far as one knows."""

    @property
    def statuses(self) -> Mapping[Status, int]:
        """Return how many of the decisions asked for ended how, as the ledger has it now.

        One that a game put in the place of an answer that could not be taken is recorded, and counts as failed.
        """
        stored = [decision.stored for decision in self.decisions]
        return Counter("failed" if each.reason_kind == "answer" else each.status for each in stored)


def decide(
    request: RunRequest,
    *,
    store: Store,
    opened: OpenVenue,
    settings: Settings,
    clock: Callable[[], datetime],
    listener: ProgressListener,
    watch: Watch = unwatched,
    processes: Processes | None = None,
) -> DecideReport:
    """Make every decision of a run that is not made yet, and return them all.

    It may be called again after anything, and by several processes at once: each
    decision is made once. Those that failed are tried again after a pause, at most
    three times; `request.retry` asks for more.

    Args:
        request: What is asked for.
        store: The ledger.
        opened: The venue, and the instant it is looked at.
        settings: How many at once, how long.
        clock: The instant it is.
        listener: Told of each decision.
        watch: Told of each step of each bot.
        processes: Who does the work besides; left out, threads of this process.

    Raises:
        UsageError: If no bot with a model can play, or one cannot and `request.strict` says that all must.
        RunConflict: If the slot's run was made with another recipe, venue or overrides.
        VenueError: If the venue's list could not be read whole.
        LedgerError: If the ledger fails; what is recorded stays.
        KeyboardInterrupt: Passed on, after what is under way was booked and the claims were given back.
    """
    began = time.monotonic()
    bots = request.recipe.bots
    agents = agent_setup(request.recipe, opened=opened, settings=settings, clock=clock, store=store)
    unplayable = {} if agents is None else agents.look_at_models(bots)
    run = open_run(request, store=store, opened=opened, clock=clock, listener=listener, unplayable=unplayable)
    if isinstance(run, RunPlan):
        has_session = not without_session(request, opened)
        return DecideReport(run, (), (), run.notes, time.monotonic() - began, has_session=has_session)
    game, live = request.recipe.make_game(), opened.venue.live
    cohorts: tuple[PlayedCohort, ...] = ()
    if game.cohorts is not None:
        started_cohort(run.stored, game, store, bots=bots, live=live, asked=request.start_cohort)
        cohorts = played_cohorts(run.stored, game, store, bots=bots, live=live, venue=opened.venue)
        # A line-up plays as it was frozen, whatever the recipe says by now.
        bots = tuple({bot.name: bot for cohort in cohorts for bot in cohort.bots}.values())
        request = replace(request, recipe=replace(request.recipe, bots=bots))
        agents = agent_setup(request.recipe, opened=opened, settings=settings, clock=clock, store=store)
        if agents is not None:
            agents.look_at_models(bots)
    plans = [bot_plan(bot) for bot in bots]
    bot_rows = store.run_write(lambda connection: add_bots(connection, run.stored, plans))
    worker = make_worker(
        run.stored,
        run.events,
        request.recipe,
        agents,
        opened=opened,
        settings=settings,
        store=store,
        clock=clock,
        began_at=clock(),
        retry=request.retry,
        watch=watch,
    )
    subjects = tuple(each.subject for each in cohorts) if cohorts else worker.game.subjects(run.events)
    _require_events(worker, subjects)
    if worker.news is not None:
        # Before processes share the work, of which each would look for them.
        worker.news.of([market for event in run.events for market in event.markets])
    playing = [(bot, each.subject) for each in cohorts for bot in each.bots] or list(product(bots, subjects))
    jobs = tuple(decide_job(run.stored, bot, bot_rows, subject) for bot, subject in playing)
    pool = _pool(worker, request, run.stored.key, opened, processes)
    with logged_about(About(run.stored.key)):
        _log.info("as of %s: %d decisions asked for", format_instant(run.stored.as_of), len(jobs))
        made = _made(pool, jobs, worker, agents, listener, watch)
        stored = store.run_read(lambda connection: stored_decisions(connection, run.stored.id))
        reports = _reports(stored, made, bots, subjects)
        reported = {(each.stored.bot, each.stored.subject_id) for each in reports}
        # What nobody made, here or elsewhere, and what nobody will.
        missed = [key for key, made_here in made.items() if key not in reported and not made_here]
        undecided = len(jobs) - len(reports) - len(missed)
        # Who makes the last decision makes the receipt.
        receipt, doubts = (None, ()) if undecided else make_receipt(store, run.stored.id, clock)
        came_to = Counter(each.status for each in reports)
        said_of_receipt = "no receipt" if receipt is None else f"receipt {receipt.number} {receipt.root}"
        _log.info("%s; %s", ", ".join(f"{n} {status}" for status, n in came_to.items()), said_of_receipt)
    taken_over = f"{undecided} decisions are under way in another process; run the same command again"
    too_late = f"decisions that missed their turn, as their accounts went on with a later slot: {len(missed)}"
    late = None
    if run.stored.deadline_at is not None:
        late = store.run_read(lambda connection: late_in_runs(connection, [run.stored.id])).get(run.stored.id)
    unscored = f"decisions made after the deadline of the run, which are in no score: {late}"
    said = (*([taken_over] if undecided else []), *([too_late] if missed else []), *([unscored] if late else []))
    no_news = store.run_read(lambda connection: news_failures(connection, run.stored.id))
    if no_news:
        said = (*said, f"news unavailable for {len(no_news)} markets: {'; '.join(dict.fromkeys(no_news))[:300]}")
    notes = (*run.notes, *_remarks(reports), *said, *doubts)
    return DecideReport(run.stored, run.events, reports, notes, time.monotonic() - began, undecided, receipt)


def _made(
    pool: Pool,
    jobs: tuple[DecideJob, ...],
    worker: Worker,
    agents: "AgentSetup | None",
    listener: ProgressListener,
    watch: Watch,
) -> Mapping[_Key, bool]:
    """Return for each (bot, subject) whether this call made its decision."""
    with Heartbeat(worker.store, worker.claimant.owner, worker.claimant.lease, worker.clock):
        try:
            made = Dispatch(pool, jobs, listener, watch).run()
            if agents is not None:
                agents.write_off()
        except BaseException:
            _give_back(worker, pool.owners(), agents)
            raise
    return made


def _require_events(worker: Worker, subjects: Sequence[Subject]) -> None:
    """Refuse events that the run does not play before any bot is asked about one."""
    for subject in subjects:
        if subject.kind == "event" and subject.id not in worker.events:
            raise UsageError(
                f"game {worker.game.name!r} asks about event {subject.id[:60]!r}, which is none of the run. Take "
                "another game"
            )


def _pool(worker: Worker, request: RunRequest, run_key: str, opened: OpenVenue, processes: Processes | None) -> Pool:
    if processes is None:
        load_loops(request.recipe)
        return ThreadPool(worker)
    # What starts processes costs a moment, which only they pay.
    from predibot.jobs.workers.process_worker import open_worker

    executor = processes.executor
    is_cluster = executor.kind == "dask"
    # A password travels through no scheduler.
    address, password = without_password(processes.ledger) if is_cluster else (processes.ledger, "")
    set_up = partial(
        open_worker,
        recipe=request.recipe,
        run_key=run_key,
        venue=opened.spec,
        as_of=None if opened.venue.live else opened.now,
        ledger=address,
        settings=worker.settings,
        clock=worker.clock,
        began_at=worker.claimant.began_at,
        retry=request.retry,
    )
    if not is_cluster:
        from predibot.jobs.workers.process_pool import ProcessPool

        return ProcessPool(set_up, worker, executor.count)
    try:
        from predibot.jobs.workers.dask_pool import DaskPool
        from predibot.jobs.workers.dask_worker import Ordered
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
            raise
        raise UsageError(
            "--executor dask:... needs what is not installed: pip install 'predibot[distributed]'"
        ) from None
    is_file, is_local = address.startswith("sqlite"), not executor.scheduler
    ordered = Ordered(worker.claimant.owner, set_up, request.recipe.bots, is_file=is_file, is_local=is_local)
    return DaskPool(ordered, worker, executor, {"PGPASSWORD": password} if password else {})


def decide_job(run: StoredRun, bot: BotSpec, bot_rows: Mapping[str, int], subject: Subject) -> DecideJob:
    """Return the work of a bot on a subject, as plain data."""
    return DecideJob(
        run_id=run.id,
        bot_id=bot_rows[bot.name],
        bot=bot.name,
        strategy=bot.strategy,
        subject=subject,
        seed_parts=(run.seed, run.recipe, format_instant(run.slot_at), bot.name, subject.id),
        members=bot.members,
    )


def bot_plan(bot: BotSpec) -> BotPlan:
    """Return a bot of a recipe as the ledger keeps it."""
    strategy = bot.strategy
    return BotPlan(
        bot.name,
        strategy.name,
        # How its models answer belongs to what a bot is, as its arguments do.
        {**strategy.arguments, **bot.terms.settings.stated},
        strategy.source_sha256,
        model=bot.model,
        knowledge_cutoff=bot.terms.knowledge_cutoff,
        members=bot.members,
    )


def _give_back(worker: Worker, owners: Sequence[str], agents: "AgentSetup | None") -> None:
    """Book what is under way and give back all claims, unless that takes too long.

    Booked first: a claim of a process that ended is free as well, and what it had under way is free too then.
    """

    def give_back() -> None:
        worker.claims.end()
        if agents is not None:
            agents.write_off()
        with worker.store.write() as connection:
            for owner in owners:
                release(connection, owner, now=worker.clock())

    with _undisturbed(), suppress(LedgerError, TimeoutError):
        in_time(give_back, _GIVE_BACK_SECONDS)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Pass over further signals to end: what is done here ends soon by itself, and left half done it costs money."""
    if threading.current_thread() is not threading.main_thread():
        # No signal interrupts another thread, nor may one say what becomes of it.
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _remarks(reports: Sequence[DecisionReport]) -> list[str]:
    """Return what the bots remarked on the decisions of this call."""
    return [
        f"{report.stored.bot} on {report.stored.subject_id}: {note}"
        for report in reports
        if report.made_here
        for note in report.stored.notes
        if not note.startswith("source: ")
    ]


def _reports(
    stored: Sequence[StoredDecision],
    made: Mapping[_Key, bool],
    bots: Sequence[BotSpec],
    subjects: Sequence[Subject],
) -> tuple[DecisionReport, ...]:
    """Return the decisions of this call's bots, by bot and subject in the order of the run."""
    found = {(decision.bot, decision.subject_id): decision for decision in stored}
    pairs = [(bot.name, subject.id) for bot in bots for subject in subjects]
    return tuple(DecisionReport(found[pair], made.get(pair, False)) for pair in pairs if pair in found)
