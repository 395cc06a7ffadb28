"""What bots of a ledger are to each other: the same one, equal but for the prompt, or made of others."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

from sqlalchemy import Connection, Row, select

from predibot.domain.replicates import split_replicate
from predibot.ledger.read.row_filter import by_recipe_and_bots, runs_in
from predibot.ledger.write.decisions import bots
from predibot.ledger.write.runs import PROMPT_SHA256, runs, whole_arguments
from predibot.scoring.records.part import Part

_COSTS_AND_WAITS = ("usd_per_call", "seconds_between")
"""Keys of [search] that change no answer."""


@dataclass(frozen=True, slots=True)
class PromptPair:
    """Two bots that had different prompts and were otherwise the same in some runs."""

    first: str
    second: str
    first_prompt: str
    """The SHA-256 of its text; empty for the packaged prompt of the strategy."""
    second_prompt: str
    runs: Sequence[int]
    """Rows of these runs; in others the bots may differ in more, or have other prompts."""

    def swap(self) -> Self:
        """Return the pair the other way round."""
        return type(self)(self.second, self.first, self.second_prompt, self.first_prompt, self.runs)


def specification(bot: Row[Any], recipe: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what makes a bot the same one in two runs, but for the bots that it waits for; `recipe` is its run's.

    These are its strategy, arguments, prompt, code and model; and of one with a model the server that the recipe names
    for it, what a decision may spend, and how the recipe searches. What only costs or waits is left out.
    """
    arguments = whole_arguments(bot.arguments_json, bot.name, recipe)
    found = (bot.strategy, json.dumps(arguments, sort_keys=True), bot.source_sha256, bot.model)
    if bot.model is None:
        return found
    tables = {name: recipe.get(name) or {} for name in ("limits", "search")}
    search = {name: value for name, value in tables["search"].items() if name not in _COSTS_AND_WAITS}
    return (*found, json.dumps([tables["limits"].get("decision"), search], sort_keys=True))


def pairs_by_prompt(connection: Connection, venue_name: str, part: Part) -> tuple[PromptPair, ...]:
    """Return each two bots of the same runs that differ in their prompt alone, by name; replicates are one bot."""
    statement = (
        select(*bots.c["run_id", "name", "strategy", "model", "source_sha256", "arguments_json"])
        .join(runs, runs.c.id == bots.c.run_id)
        .where(runs.c.venue_name == venue_name, runs.c.voided_at.is_(None))
        .where(*runs_in(connection, part), *by_recipe_and_bots(part))
        .order_by(runs.c.slot_at, bots.c.id)
    )
    alike: dict[tuple[object, ...], dict[str, str]] = defaultdict(dict)
    for run, name, strategy, model, source, text in connection.execute(statement):
        arguments = json.loads(text)
        prompt = str(arguments.pop(PROMPT_SHA256, ""))
        alike[run, strategy, model, source, json.dumps(arguments, sort_keys=True)][split_replicate(name)[0]] = prompt
    shared: dict[tuple[str, str, str, str], list[int]] = defaultdict(list)
    for (run, *_), prompts in alike.items():
        for (first, one), (second, other) in combinations(sorted(prompts.items()), 2):
            if one != other:
                shared[first, second, one, other].append(int(str(run)))
    return tuple(PromptPair(*pair, runs=tuple(which)) for pair, which in sorted(shared.items()))


def names_of_pools(connection: Connection, names: Collection[str]) -> frozenset[str]:
    """Return which of these bots pool samples or wrap other bots in any run."""
    pooling = select(bots.c.name).where(bots.c.members_json.is_not(None), bots.c.members_json != "[]").distinct()
    return frozenset(names) & {split_replicate(name)[0] for name in connection.execute(pooling).scalars()}
