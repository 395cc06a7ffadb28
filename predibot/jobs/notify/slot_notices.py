"""Notices of what a schedule service did, made from rows of the ledger, so that a restart sends none twice."""

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from functools import partial

from predibot.config import NotifySettings
from predibot.domain.budget import LimitLevel, Limits
from predibot.domain.decision import outcome_of
from predibot.domain.replicates import sampled_bot
from predibot.errors import describe_error
from predibot.jobs.deciding.select_events import doubts_in
from predibot.jobs.evaluate import evaluate_stored
from predibot.jobs.notify.notice import (
    Notice,
    notice_of_abstentions,
    notice_of_budget,
    notice_of_day,
    notice_of_drift,
    notice_of_missed,
    notice_of_recipe,
    notice_of_remarks,
    notice_of_slot,
    safe_name,
)
from predibot.jobs.notify.teller import Teller
from predibot.ledger.schema.tables import SlotRow
from predibot.ledger.store import Store
from predibot.ledger.write.decisions import read_decisions
from predibot.ledger.write.runs import StoredRun, find_run
from predibot.ledger.write.slots import read_schedules, read_slots
from predibot.ledger.write.spending import LedgerAccount
from predibot.plugins.venues import venue_or_defaults
from predibot.recipe.recipe import Recipe
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.records.part import Part

_log = logging.getLogger(__name__)
_DAY = timedelta(days=1)
MAX_UNTOLD = 1_000
"""Most slots that ended while the ledger could not be read; only the last ones are reported."""

Highlights = tuple[Sequence[str], Sequence[str]]
"""Verdicts on the bots, in sentences, and the first lines of the leaderboard."""


@dataclass
class SlotNotices:
    """Sends notices of slots, recipes, limits and days; its own errors are logged and fail no slot."""

    teller: Teller
    store: Store
    settings: NotifySettings
    clock: Callable[[], datetime]
    shown: Callable[[Evaluation, int], Highlights]
    """Summarises an evaluation in at most so many lines."""
    _ended: deque[SlotRow] = field(default_factory=lambda: deque(maxlen=MAX_UNTOLD))
    _last_error: str = ""
    _evaluated_at: dict[str, datetime | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Mark as known what an earlier process told."""
        with self._log_errors():
            for schedule in self.store.run_read(read_schedules):
                self._evaluated_at[schedule.recipe] = schedule.evaluated_at
                rows = self.store.run_read(partial(read_slots, recipe=schedule.recipe))
                self.teller.mark_as_told(notice_of_recipe(schedule.recipe, is_good=not schedule.problem))
                if played := [row for row in rows if _was_played(row)]:
                    self.teller.mark_as_told(*self._notices_of(played[-1]))

    def on_slot(self, row: SlotRow) -> None:
        """Ping the watchdog after a slot that was played; its notices are sent at the next look."""
        self._ended.append(row)
        if _was_played(row):
            with self._log_errors():
                self.teller.report_slot_end(is_good=row.status == "done")

    def look(self) -> None:
        """Send notices of the slots that ended since the last look, and those that could not be sent before."""
        with self._log_errors():
            # If the ledger cannot be read now, a later look tells of these slots.
            notices = tuple(self._notices())
            self._ended.clear()
            self._last_error = ""
            self.teller.tell(*notices)

    def _notices(self) -> Iterator[Notice]:
        schedules = {each.recipe: each for each in self.store.run_read(read_schedules)}
        missed: dict[str, list[datetime]] = {}
        for row in self._ended:
            schedule = schedules.get(row.recipe)
            paused_at = None if schedule is None else schedule.paused_at
            if row.status == "missed" and (paused_at is None or row.slot_at <= paused_at):
                missed.setdefault(row.recipe, []).append(row.slot_at)
            elif _was_played(row):
                yield from self._notices_of(row)
        for name, slots in missed.items():
            yield notice_of_missed(name, slots)
        for schedule in schedules.values():
            yield notice_of_recipe(schedule.recipe, is_good=not schedule.problem)
            if schedule.evaluated_at != self._evaluated_at.get(schedule.recipe):
                yield self._summary(schedule.recipe)
                self._evaluated_at[schedule.recipe] = schedule.evaluated_at

    def _notices_of(self, row: SlotRow) -> Iterator[Notice]:
        run, is_good = self._run_of(row), row.status == "done"
        decisions = () if run is None else self.store.run_read(partial(read_decisions, run_id=run.id))
        yield notice_of_slot(
            row.recipe,
            row.slot_at,
            is_good=is_good,
            reason=row.reason,
            outcomes=Counter(outcome_of(each.status, each.reason_kind) for each in decisions),
            next_try_at=row.next_try_at,
        )
        if is_good:
            yield notice_of_remarks(row.recipe, row.slot_at, row.reason)
        if run is not None:
            if venue_or_defaults(Recipe.from_json(run.recipe_json).venue).live:
                # The answers of a sandbox or an archive do not change; notes of the run name what they lack.
                yield notice_of_drift(row.recipe, doubts_in(run.notes))
            yield notice_of_abstentions(row.recipe, sum(each.reason_kind == "budget" for each in decisions))
            yield from self._budgets(run)

    def _run_of(self, row: SlotRow) -> StoredRun | None:
        return None if row.run_key is None else self.store.run_read(partial(find_run, key=row.run_key))

    def _budgets(self, run: StoredRun) -> Iterator[Notice]:
        """Yield a notice of each limit of a run that is nearly reached."""
        recipe = Recipe.from_json(run.recipe_json)
        for level, key, words in _accounts(run.key, recipe, self.clock()):
            limits = recipe.limits.get(level, Limits())
            if limits == Limits():
                continue
            spent = LedgerAccount(self.store, key, level, limits).spent()
            for each in fields(limits):
                limit, amount = getattr(limits, each.name), getattr(spent, each.name)
                if limit is not None and amount >= self.settings.budget_share * limit > 0:
                    yield notice_of_budget(recipe.name, words, each.name, spent=amount, limit=limit)

    def _summary(self, recipe: str) -> Notice:
        now = self.clock()
        since = now - _DAY
        rows = self.store.run_read(partial(read_slots, recipe=recipe, since=since))
        decisions = [
            each
            for run in filter(None, map(self._run_of, rows))
            for each in self.store.run_read(partial(read_decisions, run_id=run.id))
        ]
        shown: Highlights = ((), ())
        if self.settings.leaderboard_lines:
            with self._log_errors():
                evaluation = evaluate_stored(self.store, Part(recipe=recipe), clock=self.clock)
                shown = self.shown(evaluation, self.settings.leaderboard_lines)
        return notice_of_day(
            recipe,
            now.replace(second=0, microsecond=0),
            *shown,
            slots=Counter(row.status for row in rows),
            outcomes=Counter(outcome_of(each.status, each.reason_kind) for each in decisions),
            cost_usd=sum(each.cost_known_usd for each in decisions),
            is_cost_known=all(each.cost_usd is not None for each in decisions),
            troubles=sorted(self.teller.troubles),
        )

    @contextmanager
    def _log_errors(self) -> Iterator[None]:
        """Log errors, each once until another comes: a notice must not fail the run that it tells of."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, the run goes on
            message = describe_error(error)
            if message != self._last_error:
                _log.warning("could not tell what became of runs: %s", message)
            self._last_error = message


def _was_played(row: SlotRow) -> bool:
    """Return whether a slot was played and not merely stopped; a stopped one goes on at once."""
    is_stopped = row.next_try_at is not None and row.ended_at is not None and row.next_try_at <= row.ended_at
    return row.status in ("done", "partly", "failed") and not is_stopped


def _accounts(run: str, recipe: Recipe, now: datetime) -> Iterator[tuple[LimitLevel, str, str]]:
    """Yield what a run's limits apply to: level, key of the account, and its name in a notice."""
    yield "day", f"day/{now:%Y-%m-%d}", f"the day {now:%Y-%m-%d}"
    yield "run", f"run/{run}", f"the run {safe_name(run)}"
    for bot in dict.fromkeys(sampled_bot(bot.name) for bot in recipe.bots):
        yield "bot", f"bot/{run}/{bot}", f"bot {safe_name(bot)} in the run {safe_name(run)}"
