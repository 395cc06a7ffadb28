"""Opening a venue by its spec, and finding those that a part of a ledger was played on."""

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from predibot.contracts import OpenVenue, Paces, Past, Purpose, VenueRequest
from predibot.domain.clock import short_instant
from predibot.domain.replicates import expand_bots
from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError
from predibot.ledger.schema.values import FIRST_INSTANT, LAST_INSTANT
from predibot.ledger.store import Store
from predibot.ledger.write.runs import bots_by_recipe, read_runs
from predibot.plugins.registry import own_code
from predibot.plugins.venues import check_venue_spec, instruments_of, parse_venue_spec, venue_or_defaults
from predibot.scoring.records.part import Part

if TYPE_CHECKING:
    # Not imported at run time: commands that only look back start faster.
    from predibot.config import Settings

Clock = Callable[[], datetime]


def open_venue(
    spec: str,
    settings: "Settings",
    *,
    as_of: datetime | None,
    purpose: Purpose,
    clock: Clock,
    paces: Paces | None = None,
    only: tuple[str, ...] = (),
) -> OpenVenue:
    """Open a venue as of an instant; `only` are the ids of the only events that a recipe plays.

    Without an instant a live venue is looked at now. An archive decides at its last snapshot and looks back from now;
    the sandbox decides at the opening of its world and looks back from its end. UsageError is raised if there is no
    such venue, it cannot answer for the instant, or no ledger could hold what is done then.
    """
    if as_of is not None:
        check_instant(as_of)
    request_spec = check_venue_spec(spec)
    argument = request_spec.partition(":")[2]
    request = VenueRequest(request_spec, argument, settings, clock, as_of, purpose, paces, only)
    with own_code(f"venue {request_spec} cannot be opened"):
        return parse_venue_spec(spec)[0].open(request)


def check_instant(instant: datetime) -> None:
    """Raise `UsageError` for an instant that no row of a ledger may have."""
    if not FIRST_INSTANT <= instant < LAST_INSTANT:
        years = f"{FIRST_INSTANT.year} to {LAST_INSTANT.year - 1}"
        raise UsageError(f"a ledger holds the years {years}, and {short_instant(instant)} is outside; name another")


def open_past(spec: str, settings: "Settings", clock: Clock) -> Past:
    """Open the past of a venue; raise `UsageError` if there is none, or it is live and cannot answer for its past."""
    found = parse_venue_spec(spec)[0]
    past = found.past
    if past is None and not found.live:
        raise UsageError(f"venue {spec} does not say what it can be replayed from; use `decide --as-of` instead")
    if past is None:
        raise UsageError(f"{spec} is live: nobody can ask it what it said in the past. {found.replayed_from}")
    with own_code(f"venue {spec} cannot be opened"):
        request_spec = check_venue_spec(spec)
        return past(VenueRequest(request_spec, request_spec.partition(":")[2], settings, clock))


def look_back_at(spec: str, as_of: datetime | None, clock: Clock) -> datetime:
    """Return the instant to look back from: the given one, the end of the venue's world, or now."""
    return as_of or venue_or_defaults(spec).ends_at or clock()


@dataclass(frozen=True, slots=True)
class PartLocation:
    """A part of a ledger with its venues and instant."""

    part: Part
    """With the recipe's name as its runs have it."""
    specs: tuple[str, ...]
    """The venues to track, as runs store them; the instant belongs to the last."""
    venue_name: str
    """The venue of all their instruments."""
    as_of: datetime


def locate(store: Store, part: Part, clock: Clock) -> PartLocation:
    """Return a part's venues and the instant from which it is looked back on.

    Raises:
        UsageError: If there is no such venue, recipe or bot in the ledger, or no run, or the runs are of several worlds
            and the part names none.
    """
    places = locate_each(store, part, clock)
    if len(places) > 1:
        names = " and ".join(sorted(each.venue_name for each in places))
        raise UsageError(
            f"the ledger {store.address} has runs of {names}, which must not be mixed. Say which is meant: "
            f"{' or '.join(f'--venue {shlex.quote(each.specs[-1])}' for each in places)}"
        )
    return places[0]


def locate_each(store: Store, part: Part, clock: Clock) -> tuple[PartLocation, ...]:
    """Return a part's venues, by their instruments, the latest run's last; raise `UsageError` as `locate` does."""
    if part.recipe is not None or part.bots:
        with store.read() as connection:
            part = replace(part, recipe=find_recipe_name(part.recipe, part.bots, bots_by_recipe(connection)))
    if part.venue is None:
        places = _venues_of_runs(store, part.recipe)
    else:
        spec = check_venue_spec(part.venue)
        places = {instruments_of(spec): (spec,)}
    return tuple(
        PartLocation(part, specs, name, look_back_at(specs[-1], part.as_of, clock)) for name, specs in places.items()
    )


def find_recipe_name(recipe: str | None, bots: Sequence[str], played: Mapping[str, Collection[str]]) -> str | None:
    """Return a recipe's name as its runs have it, from this name or a file's; None for all runs.

    Its runs must have these bots; `played` has the bots of each recipe in the ledger.
    """
    name = recipe
    if recipe is not None and recipe not in played:
        # Imported here: most commands about a ledger read no recipe.
        from predibot.recipe.parse import load_recipe

        name = load_recipe(recipe, Path()).name
    if name is not None and name not in played and played:
        raise UsageError(f"the ledger has no run of recipe {name!r}. It has runs of {', '.join(sorted(played))}")
    playing = {bot for of_recipe, bots_of in played.items() if name in (None, of_recipe) for bot in bots_of}
    for bot in bots:
        if playing.isdisjoint(expand_bots([bot], playing)):
            raise UsageError(f"no bot {bot!r} in these runs. {did_you_mean(bot, playing)}")
    return name


def _venues_of_runs(store: Store, recipe: str | None) -> dict[str, tuple[str, ...]]:
    """Return the venues of the runs that count, grouped by their instruments; both are in the order of the last run."""
    with store.read() as connection:
        live = [run for run in read_runs(connection) if run.voided_at is None]
    if not live:
        raise UsageError(f"the ledger {store.address} has no run that counts. Run `predibot decide` first")
    played = {run.venue_name for run in live if recipe in (None, run.recipe)}
    found: dict[str, dict[str, None]] = {}
    for run in reversed(live):
        if not played or run.venue_name in played:
            found.setdefault(run.venue_name, {}).setdefault(run.venue)
    return {name: tuple(specs)[::-1] for name, specs in reversed(found.items())}
