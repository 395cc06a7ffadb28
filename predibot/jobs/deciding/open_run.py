"""The run of a slot: chosen and frozen once, resumed by all later calls."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from predibot.config import Settings
from predibot.contracts import OpenVenue, Paces, ProgressListener
from predibot.domain.clock import EPOCH, floor_to, format_instant, short_instant
from predibot.domain.event import Event
from predibot.errors import RunConflict, UsageError
from predibot.jobs.deciding.select_events import Choice, choose
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.open_venue import Clock, open_venue
from predibot.ledger.write.claims import Retry
from predibot.ledger.write.runs import StoredRun, freeze_run, frozen_events, runs_of_slot
from predibot.recipe.parse import load_recipe
from predibot.recipe.recipe import Recipe
from predibot.selection import Selection
from predibot.version import __version__

_DAY, _WEEK = timedelta(days=1), timedelta(weeks=1)
_DIGEST_CHARACTERS = 16
"""A data set's digest in the key of a run; two data sets never share so many characters by chance."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a user wants `decide` to do."""

    recipe: Recipe
    """With the overrides of the command line."""
    digest: str
    """The recipe's digest without them."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    event_id: str | None = None
    new_run: bool = False
    beside: str = "add --new-run"
    """How the user asks for another run in the slot, for messages."""
    retry: frozenset[Retry] = frozenset()
    """Which decisions to try again at once: failed ones, or those that abstained for lack of budget or members."""
    slot_at: datetime | None = None
    """The instant of a schedule; None is the start of the current `every`."""
    deadline_at: datetime | None = None
    """Later decisions are in no score."""
    start_cohort: bool = False
    """Whether to start the week's cohort in any hour of the week."""
    strict: bool = False
    """Whether nothing begins where a single bot cannot play."""

    @classmethod
    def read(
        cls,
        recipe: str | None,
        overrides: Mapping[str, Any] = MappingProxyType({}),
        bots: Sequence[str] = (),
        models: Sequence[str] = (),
    ) -> "RunRequest":
        """Return a request for the recipe of a path or name, or the daily one.

        Args:
            overrides: Rules to replace; those that are None stay.
            bots: Only these of its bots, or of all strategies; empty for its own.
            models: A bot is added for each.
        """
        found = load_recipe(recipe, Path())
        given = {name: value for name, value in overrides.items() if value is not None}
        return cls(found.with_overrides(**given, bots=tuple(bots) or None, models=models), found.digest, given)

    def open_venue(
        self,
        settings: Settings,
        clock: Clock,
        *,
        venue: str | None = None,
        as_of: datetime | None = None,
        paces: Paces | None = None,
    ) -> OpenVenue:
        """Open a venue to decide at, by default the recipe's; errors are those of `predibot.jobs.open_venue`."""
        spec, only = venue or self.recipe.venue, self.recipe.selection.only
        return open_venue(spec, settings, as_of=as_of, purpose="decide", clock=clock, paces=paces, only=only)


def open_run(
    request: RunRequest,
    opened: OpenVenue,
    resources: Resources,
    *,
    unplayable: Mapping[str, str] = MappingProxyType({}),
) -> tuple[StoredRun, tuple[Event, ...], tuple[str, ...]]:
    """Return the run of the request's slot, the stored one or one chosen now, with its events, and notes for the user.

    A run without a row is not in the ledger. None begins where no bot with a model can play. The run is not stored
    where no event of a live venue keeps the rules: a venue in trouble can look like that, and an empty run would take
    the whole slot. A daily run on a day without trading is not stored either.

    Args:
        unplayable: Why bots cannot play, by name.

    Raises:
        UsageError: If too many bots cannot play.
        RunConflict: If the slot's run was made with another recipe, venue or overrides.
    """
    if unplayable and request.strict:
        raise UsageError(f"{_reasons(unplayable)}. Without --strict the others play")
    store = resources.store
    slot_at, key = _slot(request, opened)
    earlier = store.run_read(lambda connection: runs_of_slot(connection, request.recipe.name, slot_at))
    is_of_weeks = request.slot_at is None and not request.recipe.every % _WEEK
    if is_of_weeks and not earlier and not opened.venue.digest:
        # Slots of whole weeks once began on Thursdays; such a run is resumed.
        before = opened.now - (opened.now - EPOCH) % request.recipe.every
        old = store.run_read(lambda connection: runs_of_slot(connection, request.recipe.name, before))
        if old:
            slot_at, earlier, key = before, old, run_key(request.recipe.name, before)
    if opened.venue.digest:
        # Another data set with a last text of the same instant has its own run.
        earlier = tuple(run for run in earlier if run.key.partition("+")[0] == key)
    fitting = sorted(
        (run for run in earlier if _fits(run, request, opened)), key=lambda run: (run.digest == request.digest, run.id)
    )
    if fitting and not request.new_run:
        run, played = fitting[-1], store.run_read(partial(frozen_events, run_id=fitting[-1].id))
        return run, played, (*run.notes, *_notes_on_resuming(run, request, opened, played))
    # A voided run leaves the slot's own key free, which is then used again.
    first = next((run for run in earlier if run.key == key), None)
    if first is not None and not request.new_run:
        raise RunConflict(_conflict(first, request, opened))
    if unplayable and all(bot.name in unplayable for bot in request.recipe.bots if bot.needs.models):
        raise UsageError(
            f"no bot with a model can play, so nothing is begun: {_reasons(unplayable)}. Mend that, or name others "
            "with --bots"
        )
    keys, taken = (numbered_key(key, number) for number in count(1)), {run.key for run in earlier}
    plan, events = _plan(request, opened, slot_at, resources, key=next(key for key in keys if key not in taken))
    if why := why_no_session(request, opened):
        return plan, (), (*plan.notes, why)
    if opened.venue.live and not events:
        return plan, (), (*plan.notes, _nothing_to_play(plan))
    stored = store.run_write(lambda connection: freeze_run(connection, plan, events))
    # Another process may have frozen the same slot meanwhile; then its choice stands.
    if not _fits(stored, request, opened):
        raise RunConflict(_conflict(stored, request, opened))
    return stored, store.run_read(partial(frozen_events, run_id=stored.id)), stored.notes


def _reasons(unplayable: Mapping[str, str]) -> str:
    return "; ".join(f"{bot}: {why}" for bot, why in unplayable.items())


def why_no_session(request: RunRequest, opened: OpenVenue) -> str:
    """Return why a daily run's date has no trading; empty if it has, or before the hour at which closes are known."""
    venue, at = opened.venue, request.slot_at or opened.now
    if not venue.has_sessions or request.recipe.every != _DAY:
        return ""
    midnight = floor_to(at, _DAY)
    # The last week is enough if it has closes; all years are read only without.
    closes = venue.closes(start=midnight - _WEEK, until=opened.now) or venue.closes(start=EPOCH, until=opened.now)
    last = max(closes, default=None)
    if last is None or last > midnight or at - midnight < last - floor_to(last, _DAY):
        return ""
    return (
        f"{at:%Y-%m-%d} is no trading day, or its files are late: the last close is of {last:%Y-%m-%d}. A daily recipe "
        "decides on trading days only, so nothing is decided"
    )


def choose_for(request: RunRequest, opened: OpenVenue, listener: ProgressListener) -> Choice:
    """Return what a new run would play: events by its rules, or items drawn from a data set.

    Raises:
        UsageError: If game and venue do not go together, or a named event is not there.
    """
    recipe, venue = request.recipe, opened.venue
    game = recipe.make_game()
    if not game.has_items:
        if venue.digest:
            raise UsageError(
                f"venue {opened.spec} is a data set of texts, and game {game.name!r} is played on markets. Name "
                "another venue, or a recipe of text tasks such as stakebench or beliefbench"
            )
        return choose(venue, recipe.selection, opened.now, only_event_id=request.event_id, listener=listener)
    if not venue.digest:
        raise UsageError(
            f"game {game.name!r} asks about the texts of a data set, and venue {opened.spec} has none. Name one with "
            "--venue, such as comments:FOLDER or pairs:FOLDER; `predibot collect` makes them"
        )
    items, notes = game.drawn(venue.rows, recipe.seed)
    if request.event_id is not None:
        items = tuple(item for item in items if item.id == request.event_id)
    if not items:
        wanted = f"item {request.event_id!r}" if request.event_id else "enough texts for any task and split"
        raise UsageError(f"{opened.spec} has not {wanted}. {'; '.join(notes[:3])}")
    return Choice(Selection(items, notes=notes), len(items), (), complete=True)


def run_key(recipe: str, slot_at: datetime, number: int = 1) -> str:
    """Return the key of a run: recipe and slot, with a number behind it for `--new-run`."""
    return numbered_key(f"{recipe}@{format_instant(slot_at)}", number)


def numbered_key(key: str, number: int) -> str:
    """Return the key of the first run of a slot, or of a later one."""
    return key if number == 1 else f"{key}+{number}"


def _slot(request: RunRequest, opened: OpenVenue) -> tuple[datetime, str]:
    """Return the slot of the request and its first run's key; for a data set the key has its digest."""
    recipe = request.recipe
    if opened.venue.digest:
        return opened.now, f"{recipe.name}@{opened.venue.digest[:_DIGEST_CHARACTERS]}"
    slot_at = request.slot_at or floor_to(opened.now, recipe.every)
    return slot_at, run_key(recipe.name, slot_at)


def _notes_on_resuming(
    run: StoredRun, request: RunRequest, opened: OpenVenue, events: Sequence[Event]
) -> Iterator[str]:
    if run.as_of != opened.now and not opened.venue.live:
        yield (
            f"run {run.key} was frozen as of {short_instant(run.as_of)} and is resumed as of then; "
            f"{request.beside} to make another"
        )
    if run.digest != request.digest:
        yield f"run {run.key} goes on with other limits: {'; '.join(_differences(run, request))}"
    if not events:
        yield (
            f"run {run.key} plays no event; if that was the venue's fault, "
            f"`predibot runs void {run.key} --reason WHY` lets it be decided anew"
        )


def _nothing_to_play(plan: StoredRun) -> str:
    rules = Counter(each["rule"] for each in plan.passed_over)
    counts = ", ".join(f"{rule} {count:,}" for rule, count in rules.most_common())
    return f"no event keeps the rules ({counts}); nothing is stored, and the next call chooses anew"


def _plan(
    request: RunRequest, opened: OpenVenue, slot_at: datetime, resources: Resources, *, key: str
) -> tuple[StoredRun, tuple[Event, ...]]:
    recipe = request.recipe
    choice = choose_for(request, opened, resources.listener)
    if opened.may_recover:
        choice.check_readable(live=opened.venue.live)
    notes = list(choice.notes)
    fewest = min(recipe.selection.events, len(recipe.selection.only) or recipe.selection.events)
    if opened.venue.live and request.event_id is None and choice.listed < fewest:
        notes.append(
            f"the venue lists {choice.listed} events in all, fewer than a run plays; if its list was cut, "
            f"`predibot runs void {key} --reason WHY` lets it be decided anew"
        )
    plan = StoredRun(
        key=key,
        recipe=recipe.name,
        slot_at=slot_at,
        as_of=opened.now,
        venue=opened.spec,
        venue_name=opened.venue.name,
        game=recipe.game,
        seed=recipe.seed,
        digest=request.digest,
        recipe_json=recipe.as_json(),
        overrides=_overrides(request),
        code_version=__version__,
        created_at=resources.clock(),
        passed_over=tuple(
            {"event_id": each.event_id, "title": each.title, "rule": each.rule, "reason": each.reason}
            for each in choice.selection.passed_over
        ),
        notes=tuple(notes),
        deadline_at=request.deadline_at,
    )
    return plan, choice.selection.selected


def _overrides(request: RunRequest) -> dict[str, Any]:
    return {**request.overrides, **({} if request.event_id is None else {"event": request.event_id})}


def _fits(run: StoredRun, request: RunRequest, opened: OpenVenue) -> bool:
    if (run.venue, dict(run.overrides)) != (opened.spec, _overrides(request)):
        return False
    if run.digest == request.digest or not request.retry:
        return run.digest == request.digest
    # A retry may come with other limits, as decisions may have failed for lack of budget.
    return all(each.startswith("limits.") for each in _differences(run, request))


def _differences(run: StoredRun, request: RunRequest) -> tuple[str, ...]:
    return request.recipe.differences(Recipe.from_json(run.recipe_json))


def _conflict(run: StoredRun, request: RunRequest, opened: OpenVenue) -> str:
    found = list(_differences(run, request))
    if run.venue != opened.spec:
        found.append(f"--venue is {opened.spec}, was {run.venue}")
    event_id = run.overrides.get("event")
    if request.event_id != event_id:
        found.append(f"--event is {request.event_id or 'absent'}, was {event_id or 'absent'}")
    go_on = "Ask for the same again to go on with it"
    if found and all(each.startswith("limits.") for each in found):
        go_on += ", or add --retry failed,abstained to go on within these limits"
    return (
        f"run {run.key} was made otherwise: {'; '.join(found) or 'the same rules were given in another way'}. "
        f"{go_on}, or {request.beside} to make another beside it."
    )
