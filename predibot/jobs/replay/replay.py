"""Replaying: decisions at one instant of the past after the other, and how good they were."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from predibot.config import Settings
from predibot.contracts import Past, SessionPast
from predibot.domain.clock import format_instant, format_length
from predibot.domain.decision import Status
from predibot.domain.schedule import Timetable
from predibot.errors import UsageError
from predibot.jobs.decide import DecideReport, Processes, decide
from predibot.jobs.deciding.accounts.turn import track_accounts
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.evaluate import evaluate
from predibot.jobs.open_venue import open_past
from predibot.jobs.receipts import receipt_of_ledger
from predibot.jobs.track import track
from predibot.ledger.store import Store
from predibot.ledger.write.ledger_receipts import Receipt
from predibot.ledger.write.runs import read_runs
from predibot.recipe.recipe import Recipe
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.scoring.records.part import Part

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ReplayInstant:
    """The result of one instant of a replay."""

    at: datetime
    run_key: str
    as_of: datetime
    """The run's instant; an earlier call may have decided the slot at another one."""
    events: int
    statuses: Mapping[Status, int]
    """Decisions by their status in the ledger now."""
    made_here: int
    notes: tuple[str, ...]
    undecided: int = 0
    """Decisions under way in another process."""
    receipt: Receipt | None = None
    """None where nothing is decided, or another process still decides."""


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """A checked plan; nothing is stored before all of it is checked."""

    request: RunRequest
    past: Past
    instants: Timetable
    evaluated_at: datetime


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The result of a whole replay."""

    plan: ReplayPlan
    played: tuple[ReplayInstant, ...]
    evaluation: Evaluation
    other_runs: int
    """Runs of the recipe in the ledger besides those of the replay."""


def plan_replay(
    request: RunRequest,
    *,
    venue: str | None = None,
    first: datetime | None = None,
    last: datetime | None = None,
    every: timedelta | None = None,
    as_of: datetime | None = None,
    settings: Settings,
    clock: Callable[[], datetime],
) -> ReplayPlan:
    """Return the plan of a replay.

    Args:
        first: None is the first instant of the past.
        last: No instant is later; None is the last of the past.
        as_of: The instant of the evaluation; None is the end of what the past knows.
    """
    past = open_past(venue or request.recipe.venue, settings, clock)
    instants = timetable(request.recipe, past, first=first, last=last, every=every)
    # A replay cannot make a second run of a slot; another ledger can.
    request = replace(request, beside="name another ledger")
    return ReplayPlan(request, past, instants, evaluation_instant(instants, past, as_of))


def timetable(
    recipe: Recipe, past: Past, *, first: datetime | None, last: datetime | None, every: timedelta | None
) -> Timetable:
    """Return the instants of a replay, by default all of the past, one in each slot."""
    every = every or recipe.every
    if every < recipe.every:
        slot = format_length(recipe.every)
        raise UsageError(
            f"the recipe plays once in each {slot}, so every {format_length(every)} would decide nothing new. "
            f'Write --every {slot} or longer, or every = "{format_length(every)}" in the recipe'
        )
    try:
        instants = Timetable(first or past.first_at, last or past.last_at, every)
    except ValueError as error:
        raise UsageError(f"no instants to replay: {error}") from None
    if isinstance(past, SessionPast) and every == _DAY:
        # Daily decisions follow the closes. Weekly ones may fall on a Saturday, and are filled at Monday's close.
        instants = replace(instants, skipped=frozenset(at for at in instants if not past.is_session(at)))
    past.check(instants.first)
    past.check(instants.last)
    return instants


def evaluation_instant(instants: Timetable, past: Past, as_of: datetime | None) -> datetime:
    """Return the instant of a replay's evaluation, by default the end of what the past knows.

    It does not depend on the current time, so the same past gives the same numbers. UsageError is raised if it lies
    before a decision, or outside of what the past knows.
    """
    if as_of is None:
        return max(past.known_until(), instants.last)
    if as_of < instants.last:
        raise UsageError(
            f"at {format_instant(as_of)} not all decisions are made; the last is of {format_instant(instants.last)}. "
            "Name a later --as-of, or an earlier --to"
        )
    past.check(as_of)
    return as_of


def play(
    turns: Iterable[tuple[datetime, RunRequest]], past: Past, resources: Resources, processes: Processes | None = None
) -> Iterator[tuple[datetime, DecideReport]]:
    """Decide at each instant of a past, as one would have then; stored decisions stay the same.

    Raises:
        RunConflict: If a slot was decided with another recipe, venue or overrides.
        VenueError: If the past cannot be read.
    """
    before: datetime | None = None
    for now, request in turns:
        if before is not None and request.recipe.make_game().cohorts is not None:
            # Accounts of cohorts are also valued daily between their decisions.
            while (before := before + _DAY) < now:
                with past.open_at(before) as opened:
                    store, clock = resources.store, resources.clock
                    track_accounts(store=store, opened=opened, clock=clock, replayed=request.recipe.name)
        before = now
        with past.open_at(now) as opened:
            report = decide(request, opened, resources, processes)
        yield now, report


def replay(
    plan: ReplayPlan, resources: Resources, told: Callable[[ReplayInstant], None], processes: Processes | None = None
) -> tuple[ReplayInstant, ...]:
    """Decide at every instant of a plan; `told` is called after each."""
    played = []
    for at, report in play(((at, plan.request) for at in plan.instants), plan.past, resources, processes):
        played.append(
            ReplayInstant(
                at=at,
                run_key=report.run.key,
                as_of=report.run.as_of,
                events=len(report.events),
                statuses=report.statuses,
                made_here=sum(decision.made_here for decision in report.decisions),
                notes=report.notes,
                undecided=report.undecided,
                receipt=report.receipt,
            )
        )
        told(played[-1])
    return tuple(played)


def look_back(
    past: Past, as_of: datetime, resources: Resources, *, recipe: str | None = None, question: Question | None = None
) -> Evaluation:
    """Track the past up to an instant, and return how good a recipe's bots, or all, were, with tracking's remarks."""
    store, settings = resources.store, resources.settings
    with past.open_at(as_of) as opened:
        tracked = track(store=store, opened=opened, settings=settings, listener=resources.listener, own_runs=True)
    receipt_of_ledger(store, resources.clock())
    evaluation = evaluate(
        store=store, venue_name=past.venue_name, as_of=as_of, part=Part(recipe=recipe), question=question
    )
    return replace(evaluation, remarks=tracked.notes)


def other_runs(store: Store, recipe: str, past: Past, played: Collection[ReplayInstant]) -> int:
    """Return how many runs of the recipe the ledger holds besides a replay's; they are evaluated with them."""
    own = {each.run_key for each in played}
    with store.read() as connection:
        runs = read_runs(connection)
    return sum(
        run.recipe == recipe and run.venue_name == past.venue_name and run.voided_at is None and run.key not in own
        for run in runs
    )
