"""Locating a part of a ledger: its venues, its recipe, and the instant to look back from."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from predibot.domain.replicates import expand_bots
from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError
from predibot.jobs.open_venue import Clock, look_back_at
from predibot.ledger.store import Store
from predibot.ledger.write.runs import bots_by_recipe, read_runs
from predibot.plugins.venues import check_venue_spec, instruments_of
from predibot.scoring.records.part import Part


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
