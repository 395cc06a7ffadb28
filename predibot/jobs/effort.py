"""The effort of bots: searches, pages, tokens, dollars and seconds of a decision, from the ledger and its traces."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from math import fsum
from typing import Any

from sqlalchemy import Row

from predibot.domain.replicates import joined_bots, split_replicate
from predibot.jobs.read_traces import ALL, usage_of_traces
from predibot.ledger.read.details.bots import list_decision_efforts
from predibot.ledger.store import Store
from predibot.scoring.evaluation.effort import Effort
from predibot.scoring.records.part import Part

_TRACES = 50
"""Tokens are summed over so many of a bot's newest decisions, as each trace is a file to read."""


def efforts(store: Store, venue_name: str, as_of: datetime, part: Part) -> tuple[Effort, ...]:
    """Return the mean effort of the decisions on events of each bot with a model, replicates as one."""
    with store.read() as connection, store.blame_rows():
        rows = list_decision_efforts(connection, venue_name, as_of, part)
    joined = joined_bots({row.bot for row in rows})
    by_bot: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        bot, _ = split_replicate(row.bot)
        by_bot[bot if bot in joined else row.bot].append(row)
    return tuple(_effort(store, bot, own) for bot, own in by_bot.items())


def _effort(store: Store, bot: str, rows: Sequence[Row[Any]]) -> Effort:
    n, costs = len(rows), [row.cost_usd for row in rows]
    digests = [row.trace_sha256 for row in rows if row.trace_sha256 is not None][:_TRACES]
    usage = usage_of_traces(store, [(bot, digest) for digest in digests])
    total = next((each for each in usage.rows if each.kind == ALL), None)
    is_known = total is not None and not total.calls_without_usage
    return Effort(
        bot,
        n,
        searches=sum(row.searches for row in rows) / n,
        pages=sum(row.pages for row in rows) / n,
        seconds=fsum(row.seconds for row in rows) / n,
        cost_usd=None if None in costs else fsum(costs) / n,
        tokens=(total.input_tokens + total.output_tokens) / usage.traces if is_known and total else None,
        traces=usage.traces,
    )
