"""Prompts of bots: which bots of a ledger differ in their prompt and in nothing else."""

import json
from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection, select

from predibot.domain.replicates import split_replicate
from predibot.ledger.read.row_filter import by_recipe_and_bots, runs_in
from predibot.ledger.write.decisions import bots
from predibot.ledger.write.runs import PROMPT_SHA256, runs
from predibot.scoring.records.part import Part


def bots_by_prompt(connection: Connection, venue_name: str, part: Part) -> Sequence[tuple[str, ...]]:
    """Return groups of bots that are the same in their last run but for the prompt, by name; single bots are in none.

    Replicates are one bot; of several bots with one prompt in a group all are in it.
    """
    statement = (
        select(bots.c.name, bots.c.strategy, bots.c.model, bots.c.source_sha256, bots.c.arguments_json)
        .join(runs, runs.c.id == bots.c.run_id)
        .where(runs.c.venue_name == venue_name, runs.c.voided_at.is_(None))
        .where(*runs_in(connection, part), *by_recipe_and_bots(part))
        .order_by(runs.c.slot_at, bots.c.id)
    )
    last: dict[str, tuple[tuple[str, ...], str]] = {}
    for name, strategy, model, source, text in connection.execute(statement):
        arguments = json.loads(text)
        prompt = str(arguments.pop(PROMPT_SHA256, ""))
        rest: tuple[str, ...] = (strategy, str(model), source, json.dumps(arguments, sort_keys=True))
        last[split_replicate(name)[0]] = rest, prompt
    groups: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for name, (rest, prompt) in last.items():
        groups[rest][name] = prompt
    return [tuple(named) for named in groups.values() if len(set(named.values())) > 1]
