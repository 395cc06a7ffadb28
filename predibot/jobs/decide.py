"""Deciding: every bot of a run decides on every subject, each exactly once."""

import logging
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from predibot.contracts import OpenVenue, ProgressListener
from predibot.domain.account import Mode
from predibot.domain.clock import format_instant
from predibot.domain.decision import UNDER_RESEARCHED, Status, Subject, counted_status
from predibot.domain.event import Event
from predibot.domain.spelling import count_noun
from predibot.errors import LedgerError, UsageError
from predibot.jobs.deciding.cohorts import find_cohort_jobs, start_due_cohort
from predibot.jobs.deciding.open_run import RunRequest, open_run, why_no_session
from predibot.jobs.deciding.worker import DecideJob, JobKey, Resources, Worker, agent_setup, load_loops, make_worker
from predibot.jobs.logs.log_file import LogContext, log_context
from predibot.jobs.receipts import make_receipt
from predibot.jobs.track import track_resolutions
from predibot.jobs.workers.dispatch import Dispatch
from predibot.jobs.workers.executor import ExecutorSpec
from predibot.jobs.workers.heartbeat import heartbeat
from predibot.jobs.workers.pool import Pool, ThreadPool
from predibot.ledger.url import without_password
from predibot.ledger.write.claims import release_claims
from predibot.ledger.write.decisions import StoredDecision, read_decisions
from predibot.ledger.write.events import news_failures
from predibot.ledger.write.ledger_receipts import Receipt
from predibot.ledger.write.runs import BASE_URL, BotPlan, StoredRun, add_bots, count_late_by_run
from predibot.net.deadline import call_in_waits
from predibot.recipe.recipe import BotSpec

_log = logging.getLogger(__name__)

_GIVE_BACK_SECONDS = 5.0
"""It takes a tenth of a second, unless the ledger is locked or the machine overloaded."""


@dataclass(frozen=True, slots=True)
class Processes:
    """Other processes, here or on a cluster, that do the work."""

    executor: ExecutorSpec
    ledger: str
    """The URL under which each opens the ledger, with its password."""


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
        """Return its message, and its earlier status if it was made before."""
        if self.made_here:
            return self.stored.message
        return f"{self.stored.status} before" + (f": {self.stored.message}" if self.stored.message else "")


@dataclass(frozen=True, slots=True)
class DecideReport:
    """The result of one call of `decide`."""

    run: StoredRun
    """Has no row where no event of a live venue keeps the rules, so that nothing is stored."""
    events: tuple[Event, ...]
    decisions: tuple[DecisionReport, ...]
    notes: tuple[str, ...]
    seconds: float
    undecided: int = 0
    """Decisions without a row: another process took them over and is making them."""
    receipt: Receipt | None = None
    """The receipt of the whole run; None where nothing is decided yet, or another process still decides."""
    has_session: bool = True
    """Whether there was trading on the day of the run; True where that is not known."""

    @property
    def statuses(self) -> Mapping[Status, int]:
        """Return how many decisions have each status in the ledger now.

        A decision that the game made in place of an unusable answer is recorded, but counts as failed.
        """
        stored = [decision.stored for decision in self.decisions]
        return Counter(counted_status(each.status, each.reason_kind) for each in stored)


def decide(
    request: RunRequest, opened: OpenVenue, resources: Resources, processes: Processes | None = None
) -> DecideReport:
    """Make every missing decision of a run, and return them all.

    It can be repeated after any interruption, and called by several processes at once: each decision is made once.
    Failed ones are tried again after a pause, at most three times; `request.retry` asks for more.

    Args:
        processes: Other processes that do the work; None is threads of this one.

    Raises:
        UsageError: If no bot with a model can play, or one cannot and `request.strict` requires all.
        RunConflict: If the slot's run was made with another recipe, venue or overrides.
        VenueError: If the venue's list could not be read whole.
        LedgerError: If the ledger fails; what is recorded stays.
        KeyboardInterrupt: Passed on, after spending under way was booked and claims were given back.
    """
    began = time.monotonic()
    store, settings, clock = resources.store, resources.settings, resources.clock
    agents = agent_setup(request.recipe, opened, settings, clock, store)
    unplayable = {} if agents is None else agents.unplayable
    stored, events, notes = open_run(request, opened, resources, unplayable=unplayable)
    if not stored.id:
        has_session = not why_no_session(request, opened)
        return DecideReport(stored, (), (), notes, time.monotonic() - began, has_session=has_session)
    game, jobs = request.recipe.make_game(), list[DecideJob]()
    if game.cohorts is not None:
        bots = request.recipe.bots
        mode: Mode = "live" if opened.venue.live else "replay"
        start_due_cohort(stored, game, store, bots=bots, mode=mode, asked=request.start_cohort)
        jobs += find_cohort_jobs(stored, game, store, bots=bots, mode=mode, venue=opened.venue)
        # A cohort's bots play as they were frozen, whatever the recipe says now.
        bots = tuple({job.bot.name: job.bot for job in jobs}.values())
        request = replace(request, recipe=replace(request.recipe, bots=bots))
        agents = agent_setup(request.recipe, opened, settings, clock, store)
    recipe = request.recipe
    if not opened.venue.live and any(bot.needs.settled for bot in recipe.bots):
        # Nobody tracks between two instants of a past, and what had settled by then is what such a bot learns from.
        track_resolutions(store, opened)
    plans = [bot_plan(bot) for bot in recipe.bots]
    rows = store.run_write(lambda connection: add_bots(connection, stored, plans))
    worker = make_worker(stored, events, recipe, agents, opened, resources, began_at=clock(), retry=request.retry)
    if jobs:
        subjects = tuple(dict.fromkeys(job.subject for job in jobs))
        jobs = [replace(job, bot_id=rows[job.bot.name]) for job in jobs]
    else:
        subjects = tuple(worker.game.subjects(events))
        _require_events(worker, subjects)
        jobs = [DecideJob(bot, rows[bot.name], subject) for bot, subject in product(recipe.bots, subjects)]
    if worker.news is not None:
        # Before the processes start, each of which would search for the same news.
        worker.news.of([market for event in events for market in event.markets])
    names = [bot.name for bot in recipe.bots]
    with log_context(LogContext(stored.key)):
        _log.info("as of %s: %d decisions asked for", format_instant(stored.as_of), len(jobs))
        made = _make_decisions(_pool(worker, request, opened, processes), jobs, worker, resources.listener)
        rows_now = store.run_read(lambda connection: read_decisions(connection, stored.id))
        found = {(each.bot, Subject(each.subject_kind, each.subject_id)): each for each in rows_now}
        keys = [key for key in product(names, subjects) if key in found]
        reports = tuple(DecisionReport(found[key], made.get(key, False)) for key in keys)
        # Decisions that nobody made, and nobody will.
        missed = sum(key not in found and not made_here for key, made_here in made.items())
        undecided = len(jobs) - len(reports) - missed
        # The process that makes the last decision makes the receipt.
        receipt, doubts = (None, ()) if undecided else make_receipt(store, stored.id, clock)
        counts = Counter(each.status for each in reports)
        receipt_text = "no receipt" if receipt is None else f"receipt {receipt.number} {receipt.root}"
        _log.info("%s; %s", ", ".join(f"{n} {status}" for status, n in counts.items()), receipt_text)
    notes = (*notes, *_remarks(reports), *_shortcomings(worker, undecided, missed), *doubts)
    return DecideReport(stored, events, reports, notes, time.monotonic() - began, undecided, receipt)


def _make_decisions(
    pool: Pool, jobs: Sequence[DecideJob], worker: Worker, listener: ProgressListener
) -> Mapping[JobKey, bool]:
    with heartbeat(worker.claimant.lease, worker.renew):
        try:
            made = Dispatch(pool, worker, jobs, listener).run()
            if worker.agents is not None:
                worker.agents.write_off()
        except BaseException:
            _give_back(worker, pool.owners())
            raise
    return made


def _require_events(worker: Worker, subjects: Sequence[Subject]) -> None:
    """Refuse unknown events of a plug-in's game before any bot is asked about one."""
    for subject in subjects:
        if subject.kind == "event" and subject.id not in worker.events:
            raise UsageError(
                f"game {worker.game.name!r} asks about event {subject.id[:60]!r}, which is none of the run. Take "
                "another game"
            )


def _pool(worker: Worker, request: RunRequest, opened: OpenVenue, processes: Processes | None) -> Pool:
    if processes is None:
        load_loops(request.recipe)
        return ThreadPool(worker)
    # Imported here: it takes a moment, and threads do not need it.
    from predibot.jobs.workers.process_pool import WorkerSpec

    executor = processes.executor
    is_cluster = executor.kind == "dask"
    # A password never goes through a scheduler.
    address, password = without_password(processes.ledger) if is_cluster else (processes.ledger, "")
    as_of = None if opened.venue.live else opened.now
    spec = WorkerSpec(
        request.recipe, worker.run.key, opened.spec, as_of, address, worker.settings, worker.clock, worker.claimant
    )
    if not is_cluster:
        from predibot.jobs.workers.process_pool import ProcessPool

        return ProcessPool(spec, worker, executor.count)
    try:
        from predibot.jobs.workers.dask_pool import DaskPool
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
            raise
        raise UsageError(
            "--executor dask:... needs what is not installed: pip install 'predibot[distributed]'"
        ) from None
    return DaskPool(spec, worker, executor, {"PGPASSWORD": password} if password else {})


def bot_plan(bot: BotSpec) -> BotPlan:
    """Return a bot of a recipe as the ledger stores it."""
    strategy = bot.strategy
    return BotPlan(
        bot.name,
        strategy.name,
        # Where its models are, their settings and those of its probabilities make a bot another one, as arguments do.
        {
            **strategy.arguments,
            **({BASE_URL: bot.terms.base_url} if bot.terms.base_url else {}),
            **bot.terms.settings.explicit,
            **({"normalise": bot.normalise} if bot.normalise else {}),
        },
        strategy.source_sha256,
        model=bot.model,
        knowledge_cutoff=bot.terms.knowledge_cutoff,
        members=bot.members,
        prompt_sha256=bot.prompt_sha256,
    )


def _give_back(worker: Worker, owners: Sequence[str]) -> None:

    def give_back() -> None:
        with worker.claiming:
            worker.has_ended.set()
        if worker.agents is not None:
            worker.agents.write_off()
        with worker.store.write() as connection:
            for owner in owners:
                release_claims(connection, owner, now=worker.clock())

    with _signals_ignored(), suppress(LedgerError, TimeoutError):
        call_in_waits(give_back, _GIVE_BACK_SECONDS)


@contextmanager
def _signals_ignored() -> Iterator[None]:
    """Ignore further signals during the block: an interrupted cleanup would cost money."""
    if threading.current_thread() is not threading.main_thread():
        # Signals interrupt the main thread only, and only it may set handlers.
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _remarks(reports: Sequence[DecisionReport]) -> list[str]:
    """Return the notes of decisions made here; that too little was looked up is counted."""
    notes = [(each.stored, note) for each in reports if each.made_here for note in each.stored.notes]
    said = [
        f"{stored.bot} on {stored.subject_id}: {note}"
        for stored, note in notes
        if not note.startswith("source: ") and note != UNDER_RESEARCHED
    ]
    few = sum(note == UNDER_RESEARCHED for _, note in notes)
    rest = f"{count_noun(few, 'decision')} rest{'s' if few == 1 else ''} on fewer searches or pages than asked for"
    return [*said, *([rest] if few else [])]


def _shortcomings(worker: Worker, undecided: int, missed: int) -> Iterator[str]:
    run_id = worker.run.id
    if undecided:
        yield f"{undecided} decisions are under way in another process; run the same command again"
    if missed:
        yield f"decisions that missed their turn, as their accounts went on with a later run: {missed}"
    with worker.store.read() as connection:
        late = count_late_by_run(connection, [run_id]).get(run_id)
        no_news = news_failures(connection, run_id)
    if late:
        yield f"decisions made after the deadline of the run, which are in no score: {late}"
    if no_news:
        yield f"news unavailable for {len(no_news)} markets: {'; '.join(dict.fromkeys(no_news))[:300]}"
