"""What the forecasts of a ledger or a file would have scored beside the price, and which prompt did better."""

from dataclasses import replace

import numpy as np

from predibot.jobs.caller import Caller
from predibot.jobs.open_venue import locate
from predibot.jobs.score_files.forecasts import ForecastFile, Layout, read_forecasts
from predibot.jobs.score_files.score import FileRefused
from predibot.jobs.score_files.table import InputTable
from predibot.ledger.read.details.bots import PromptPair, names_of_pools, pairs_by_prompt
from predibot.ledger.read.scoring_arrays import read_settlements, track_record
from predibot.ledger.store import Store
from predibot.ledger.write.events import market_rows
from predibot.scoring.evaluation.pairs import Pair, adjust_pairs, edge_pairs
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.price_lookup import as_of_prices
from predibot.scoring.records.part import Part
from predibot.scoring.records.track_record import DAY_SECONDS, settled_forecasts
from predibot.scoring.skill import PLACEBO_DAYS, Skill, skill_of


def skill_in_ledger(store: Store, part: Part, caller: Caller, uncertainty: Uncertainty) -> Skill:
    """Return what the settled forecasts of a part would have scored; baselines are left out, no venue is asked."""
    there = locate(store, part, caller.clock)
    with store.read() as connection, store.blame_all_rows():
        record = track_record(connection, there.venue_name, there.as_of, there.part)
        rows = np.sort(list(market_rows(connection, there.venue_name).values()))
        pools = names_of_pools(connection, record.bots)
        *_, known_at = read_settlements(connection, there.venue_name, rows, there.as_of)
    forecasts = settled_forecasts(record)
    baselines = [record.bots.index(name) for name in record.baselines]
    forecasts = forecasts.only(~np.isin(forecasts.forecaster, baselines))
    market, made_at = np.asarray(forecasts.market), np.asarray(forecasts.made_at)
    observed = (record.observation_market, record.observation_at, record.observation_price_yes)
    earlier = as_of_prices(*observed, market, made_at - PLACEBO_DAYS * DAY_SECONDS)
    known = known_at[market]
    return skill_of(forecasts, settled_at=known, earlier_prices=earlier, pools=pools, uncertainty=uncertainty)


def skill_in_file(table: InputTable, layout: Layout | None, uncertainty: Uncertainty) -> tuple[Skill, ForecastFile]:
    """Return what the forecasts of a file would have scored, and the file with its bad rows.

    A file does not say when a question settled: its outcome counts as known on every later date. Raises `FileRefused`
    if no row is a settled forecast with a price.
    """
    found = read_forecasts(table, layout)
    forecasts = found.to_arrays()
    if np.isnan(forecasts.market_probability).all():
        raise FileRefused(f"{found.file.label} has no settled forecast with a market_probability", found.file)
    rows = found.settled
    if all(each.at is not None for each in rows):
        made = np.array([each.at.timestamp() for each in rows if each.at is not None])
        forecasts = replace(forecasts, made_at=made)
    earlier = np.array([each.earlier_price for each in rows])
    return skill_of(forecasts, earlier_prices=earlier, uncertainty=uncertainty), found


def compare_prompts(
    store: Store, part: Part, caller: Caller, uncertainty: Uncertainty
) -> tuple[tuple[PromptPair, Pair], ...]:
    """Return each two bots that differ in their prompt alone, and their edges in the runs in which both were otherwise
    the same.
    """
    there = locate(store, part, caller.clock)
    with store.read() as connection, store.blame_all_rows():
        prompts = pairs_by_prompt(connection, there.venue_name, there.part)
        record = track_record(connection, there.venue_name, there.as_of, there.part)
    found: list[tuple[PromptPair, Pair]] = []
    for each in prompts:
        both = [record.bots.index(name) for name in (each.first, each.second) if name in record.bots]
        own = np.isin(record.decision_bot, both) & np.isin(np.asarray(record.decision_run), each.runs)
        pairs = edge_pairs(record.with_bots_of(own), uncertainty)
        found += [(each if pair.first == each.first else each.swap(), pair) for pair in pairs]
    return tuple(zip((each for each, _ in found), adjust_pairs([pair for _, pair in found]), strict=True))
