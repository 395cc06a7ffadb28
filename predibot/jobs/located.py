"""Where in a ledger a part is that somebody asks about: at which venues, of which recipe, and from when."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError
from predibot.jobs.open_venue import Clock, look_back_at
from predibot.ledger.store import Store
from predibot.ledger.write.runs import StoredRun, recipes_played, stored_runs
from predibot.plugins.venues import checked, instruments_of
from predibot.scoring.records.part import Part


@dataclass(frozen=True, slots=True)
class Located:
    """A part of a ledger, and where and when that is."""

    part: Part
    """With the name that its recipe's runs have."""
    specs: tuple[str, ...]
    """The venues to be tracked, as runs keep them; the last is the one that is looked back on."""
    venue_name: str
    """Whose instruments they all have."""
    as_of: datetime


def located(store: Store, part: Part, clock: Clock) -> Located:
    """Return where the runs were made that somebody asks about, and from when they are looked back on.

    Raises:
        UsageError: If there is no such venue, recipe or bot in the ledger, or it has no run, or runs of several worlds
            and none was asked for.
    """
    specs, name = _venues(store, part.venue)
    if part.recipe is not None or part.bots:
        with store.read() as connection:
            part = replace(part, recipe=asked_about(part.recipe, part.bots, recipes_played(connection)))
    return Located(part, specs, name, look_back_at(specs[-1], part.as_of, clock))


def asked_about(recipe: str | None, bots: Sequence[str], played: Mapping[str, Collection[str]]) -> str | None:
    """Return the name of a recipe whose runs somebody asks about; None for all runs.

    Args:
        recipe: A name under which runs are stored, or a recipe's file or name.
        bots: Names of bots, of which some run must have each.
        played: By the recipes of the ledger's runs the bots of these.

    Raises:
        UsageError: If there is no such recipe, or no run of it, or no run with such a bot.
    """
    name = recipe
    if recipe is not None and recipe not in played:
        # Not before it is asked for: what the ledger has is asked about by more commands than read a recipe.
        from predibot.recipe.parse import load_recipe

        name = load_recipe(recipe, Path()).name
    if name is not None and name not in played and played:
        raise UsageError(f"the ledger has no run of recipe {name!r}. It has runs of {', '.join(sorted(played))}")
    playing = {bot for of_recipe, bots_of in played.items() if name in (None, of_recipe) for bot in bots_of}
    for bot in bots:
        if bot not in playing:
            raise UsageError(f"no bot {bot!r} in these runs. {did_you_mean(bot, playing)}")
    return name


def _venues(store: Store, spec: str | None) -> tuple[tuple[str, ...], str]:
    """Return the venue asked for, else each that runs of the ledger were made on, and whose instruments they have."""
    if spec is not None:
        spec = checked(spec)
        return (spec,), instruments_of(spec)
    live = _runs_of_one_world(store)
    # Of one venue the last comes last, whatever was played before.
    return tuple(dict.fromkeys(run.venue for run in reversed(live)))[::-1], live[-1].venue_name


def _runs_of_one_world(store: Store) -> list[StoredRun]:
    """Return the runs that count, of which there are some, and all of one world."""
    with store.read() as connection:
        live = [run for run in stored_runs(connection) if run.voided_at is None]
    names = {run.venue_name for run in live}
    if not live:
        raise UsageError(f"the ledger {store.address} has no run that counts. Run `predibot decide` first")
    if len(names) > 1:
        raise UsageError(
            f"the ledger {store.address} has runs of {' and '.join(sorted(names))}, which must not be mixed. "
            "Say which venue is meant"
        )
    return live
