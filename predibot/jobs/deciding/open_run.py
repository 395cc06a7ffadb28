"""The run of a slot: chosen and frozen once, resumed by everybody who comes later."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from predibot.contracts import OpenVenue, ProgressListener
from predibot.domain.clock import EPOCH, floor_to, format_instant
from predibot.domain.event import Event
from predibot.errors import RunConflict, UsageError
from predibot.jobs.deciding.select_events import Choice, choose
from predibot.jobs.deciding.worker import Resources
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Retry
from predibot.ledger.write.runs import StoredRun, freeze_run, frozen_events, runs_of_slot
from predibot.recipe.parse import load_recipe
from predibot.recipe.recipe import Recipe
from predibot.selection import Selection
from predibot.version import __version__

_DAY, _WEEK = timedelta(days=1), timedelta(weeks=1)
_DIGEST_CHARACTERS = 16
"""Of a data set's digest in the key of a run: nobody makes two by chance that begin alike."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a user asked `decide` for."""

    recipe: Recipe
    """With the overrides of the command line."""
    digest: str
    """Of the recipe without them."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    event_id: str | None = None
    new_run: bool = False
    beside: str = "add --new-run"
    """How the command that asks makes another run beside one that is there, for messages."""
    retry: frozenset[Retry] = frozenset()
    """What is tried again without waiting: decisions that failed, or abstained for want of budget or members."""
    slot_at: datetime | None = None
    """The instant that a schedule named; left out, the start of the stretch of `every` it is now."""
    deadline_at: datetime | None = None
    """Decisions made later are in no score."""
    start_cohort: bool = False
    """Whether the cohort of the week is started, in whichever hour of it the run is."""
    strict: bool = False
    """Whether nothing is begun where a single bot cannot play."""

    @classmethod
    def read(
        cls, recipe: str | None, overrides: Mapping[str, Any] = MappingProxyType({}), bots: Sequence[str] = ()
    ) -> "RunRequest":
        """Return what is asked for with the recipe of a path or name, or the daily one.

        Args:
            recipe: The path or name; left out, the daily one.
            overrides: What stands instead of its rules; None of what stays.
            bots: Only these of its bots, or of all strategies; empty for its own.

        Raises:
            RecipeError: If there is no such recipe, or it has a mistake.
            UsageError: If an override is out of its range, or a bot is unknown.
        """
        found = load_recipe(recipe, Path())
        given = {name: value for name, value in overrides.items() if value is not None}
        return cls(found.with_overrides(**given, bots=tuple(bots) or None), found.digest, given)


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run, which is in the ledger unless it has no row, with the events it plays."""

    stored: StoredRun
    events: tuple[Event, ...]
    notes: tuple[str, ...]


def open_run(
    request: RunRequest,
    opened: OpenVenue,
    resources: Resources,
    *,
    unplayable: Mapping[str, str] = MappingProxyType({}),
) -> OpenRun:
    """Return the run of the request's slot: the one in the ledger, or one chosen now.

    None is begun where no bot with a model can play.

    Where no event of a live venue keeps the rules, what would have been stored is returned, and is not: a venue in
    trouble can look like that, and a run without events would stand for the whole slot. Neither is a daily run on a
    day without trading.

    Args:
        unplayable: By the names of bots why they cannot play.

    Raises:
        UsageError: If too many bots cannot play.
        RunConflict: If the slot's run was made with another recipe, venue or overrides.
        VenueError: If the venue's list could not be read whole.
    """
    if unplayable and request.strict:
        raise UsageError(f"{_reasons(unplayable)}. Without --strict the others play")
    store = resources.store
    slot_at, key = _slot(request, opened)
    held = store.run_read(lambda connection: runs_of_slot(connection, request.recipe.name, slot_at))
    is_of_weeks = request.slot_at is None and not request.recipe.every % _WEEK
    if is_of_weeks and not held and not opened.venue.digest:
        # Slots of whole weeks began on Thursdays once; a run of such a slot is gone on with.
        before = opened.now - (opened.now - EPOCH) % request.recipe.every
        old = store.run_read(lambda connection: runs_of_slot(connection, request.recipe.name, before))
        if old:
            slot_at, held, key = before, old, run_key(request.recipe.name, before)
    if opened.venue.digest:
        # Of another data set whose last text is of the same instant there is another run.
        held = tuple(run for run in held if run.key.partition("+")[0] == key)
    fitting = sorted(
        (run for run in held if _fits(run, request, opened)), key=lambda run: (run.digest == request.digest, run.id)
    )
    if fitting and not request.new_run:
        return _resumed(store, fitting[-1], request, opened)
    # Where the slot's own key is free, because its run was voided, it is taken again.
    first = next((run for run in held if run.key == key), None)
    if first is not None and not request.new_run:
        raise RunConflict(_conflict(first, request, opened))
    if unplayable and all(bot.name in unplayable for bot in request.recipe.bots if bot.needs.models):
        raise UsageError(
            f"no bot with a model can play, so nothing is begun: {_reasons(unplayable)}. Mend that, or name others "
            "with --bots"
        )
    keys, taken = (numbered(key, number) for number in count(1)), {run.key for run in held}
    plan, events = _plan(request, opened, slot_at, resources, key=next(key for key in keys if key not in taken))
    if why := without_session(request, opened):
        return OpenRun(plan, (), (*plan.notes, why))
    if opened.venue.live and not events:
        return OpenRun(plan, (), (*plan.notes, _nothing_to_play(plan)))
    stored = store.run_write(lambda connection: freeze_run(connection, plan, events))
    # Another process may have frozen the same slot meanwhile; then its choice stands.
    if not _fits(stored, request, opened):
        raise RunConflict(_conflict(stored, request, opened))
    return OpenRun(stored, _events(store, stored), stored.notes)


def _reasons(unplayable: Mapping[str, str]) -> str:
    return "; ".join(f"{bot}: {why}" for bot, why in unplayable.items())


def without_session(request: RunRequest, opened: OpenVenue) -> str:
    """Return a sentence where a daily run is of a date without trading, as far as is known; empty where it is not.

    Before the hour at which closes become known nobody can tell.
    """
    venue, at = opened.venue, request.slot_at or opened.now
    if not venue.has_sessions or request.recipe.every != _DAY:
        return ""
    midnight = floor_to(at, _DAY)
    # Of twenty years the last ones say enough, as long as there are any.
    closes = venue.closes(start=midnight - _WEEK, until=opened.now) or venue.closes(start=EPOCH, until=opened.now)
    last = max(closes, default=None)
    if last is None or last > midnight or at - midnight < last - floor_to(last, _DAY):
        return ""
    return (
        f"{at:%Y-%m-%d} is no trading day, or its files are late: the last close is of {last:%Y-%m-%d}. A daily recipe "
        "decides on trading days only, so nothing is decided"
    )


def choose_for(request: RunRequest, opened: OpenVenue, listener: ProgressListener) -> Choice:
    """Return what a new run of the request would play: events by its rules, or items drawn from a data set.

    Raises:
        UsageError: If the game and the venue do not go together, or nothing that was named is there.
        VenueError: If the venue could not be read whole.
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
    return numbered(f"{recipe}@{format_instant(slot_at)}", number)


def numbered(key: str, number: int) -> str:
    """Return the key of the first run of a slot, or of a later one beside it."""
    return key if number == 1 else f"{key}+{number}"


def _slot(request: RunRequest, opened: OpenVenue) -> tuple[datetime, str]:
    """Return the slot of the request, and the key of its first run: over a data set, the digest in its place."""
    recipe = request.recipe
    if opened.venue.digest:
        return opened.now, f"{recipe.name}@{opened.venue.digest[:_DIGEST_CHARACTERS]}"
    slot_at = request.slot_at or floor_to(opened.now, recipe.every)
    return slot_at, run_key(recipe.name, slot_at)


def _resumed(store: Store, run: StoredRun, request: RunRequest, opened: OpenVenue) -> OpenRun:
    events = _events(store, run)
    notes = list(run.notes)
    if run.as_of != opened.now and not opened.venue.live:
        notes.append(
            f"run {run.key} was frozen as of {format_instant(run.as_of)} and is resumed as of then; "
            f"{request.beside} to make another"
        )
    if run.digest != request.digest:
        notes.append(f"run {run.key} goes on with other limits: {'; '.join(_differences(run, request))}")
    if not events:
        notes.append(
            f"run {run.key} plays no event; if that was the venue's fault, "
            f"`predibot runs void {run.key} --reason WHY` frees its slot"
        )
    return OpenRun(run, events, tuple(notes))


def _nothing_to_play(plan: StoredRun) -> str:
    rules = Counter(each["rule"] for each in plan.passed_over)
    counts = ", ".join(f"{rule} {count:,}" for rule, count in rules.most_common())
    return f"no event keeps the rules ({counts}); nothing is stored, and the next call chooses anew"


def _events(store: Store, run: StoredRun) -> tuple[Event, ...]:
    return store.run_read(lambda connection: frozen_events(connection, run.id))


def _plan(
    request: RunRequest, opened: OpenVenue, slot_at: datetime, resources: Resources, *, key: str
) -> tuple[StoredRun, tuple[Event, ...]]:
    """Return the run that would be stored, and what it plays."""
    recipe = request.recipe
    choice = choose_for(request, opened, resources.listener)
    if opened.may_recover:
        choice.check_readable(live=opened.venue.live)
    notes = list(choice.notes)
    if opened.venue.live and request.event_id is None and choice.listed < recipe.selection.events:
        notes.append(
            f"the venue lists {choice.listed} events in all, fewer than a run plays; if its list was cut, "
            f"`predibot runs void {key} --reason WHY` frees the slot"
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
    overrides = dict(request.overrides)
    if request.event_id is not None:
        overrides["event"] = request.event_id
    return overrides


def _fits(run: StoredRun, request: RunRequest, opened: OpenVenue) -> bool:
    if (run.venue, dict(run.overrides)) != (opened.spec, _overrides(request)):
        return False
    if run.digest == request.digest or not request.retry:
        return run.digest == request.digest
    # Who lacked budget is asked again with more of it, where only what may be spent differs.
    return all(each.startswith("limits.") for each in _differences(run, request))


def _differences(run: StoredRun, request: RunRequest) -> tuple[str, ...]:
    return request.recipe.differences(Recipe.from_json(run.recipe_json))


def _conflict(run: StoredRun, request: RunRequest, opened: OpenVenue) -> str:
    """Return a sentence that names what the request would do otherwise than the stored run did."""
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
