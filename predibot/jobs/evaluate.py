"""Evaluating: scores of what the ledger holds as of an instant; an evaluation can be cached as text."""

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from functools import partial
from math import fsum
from typing import Any

import numpy as np
from sqlalchemy import Row

from predibot.domain.clock import format_instant
from predibot.domain.decision import WITHOUT_SEARCH, WITHOUT_TOOLS
from predibot.domain.replicates import joined_bots, split_replicate
from predibot.jobs.open_venue import Clock, locate
from predibot.ledger.cache import cache_of
from predibot.ledger.read.accounts.cohort_scoring import cohort_records
from predibot.ledger.read.accounts.scoring import account_records
from predibot.ledger.read.event_facts import of_category
from predibot.ledger.read.row_filter import recipe_and_bot_conditions, run_conditions
from predibot.ledger.read.scoring_arrays import track_record
from predibot.ledger.store import Store
from predibot.ledger.write.runs import (
    count_by_game,
    count_decisions_with_note,
    decisions,
    is_imported,
    is_late,
    live_venues,
    runs,
    subjects,
)
from predibot.plugins.venues import venue_or_defaults
from predibot.rows import grouped
from predibot.scoring.accounts.board import AccountBoard, account_board, rank_agreements
from predibot.scoring.accounts.cohorts import CohortBoard, account_consistency, cohort_consistency, with_scores
from predibot.scoring.accounts.record import AccountsRecord
from predibot.scoring.evaluation.effort import Effort
from predibot.scoring.evaluation.evaluation import Evaluation, Question, evaluation_of
from predibot.scoring.records.coherence import CoherenceScore
from predibot.scoring.records.part import EVERYTHING, Part
from predibot.scoring.records.track_record import TrackRecord

_log = logging.getLogger(__name__)

_LABELLED = "stakebench"
"""The game whose answers are labels, which have tables of their own."""
_TRACES = 50
"""Tokens are summed over this many of a bot's newest decisions, as each trace is a file to read."""


def evaluate(
    *, store: Store, venue_name: str, as_of: datetime, part: Part = EVERYTHING, question: Question | None = None
) -> Evaluation:
    """Return how good the bots were by what is stored; nothing is fetched.

    Accounts are evaluated only with their whole history, so not for a part with dates or a category.

    Raises:
        UsageError: If no event has the category of the part.
    """
    question = question or Question()
    with store.read() as connection:
        cache = cache_of(connection)
        cache_key = (
            venue_name,
            format_instant(as_of),
            to_plain_data(part),
            to_plain_data(question),
            live_venues(connection),
        )
        if cache is not None and (known := _read_cached(cache.text(cache_key))) is not None:
            return known
        with store.blame_all_rows():
            join = None
            if question.clusters == "related":
                # Imported here: it loads much, and few evaluations need it.
                from predibot.jobs.relatedness.beliefs import cluster_ledger_events

                join = cluster_ledger_events(connection, venue_name, as_of)
            record = track_record(connection, venue_name, as_of, part, join=join)
            kept = account_records(connection, venue_name, as_of, part)
            cohorts = cohort_records(connection, venue_name, as_of, part, archived=question.archived)
        chosen = [*run_conditions(connection, part), *of_category(connection, venue_name, as_of, part)]
        own = [*chosen, *recipe_and_bot_conditions(part)]
        imported = sum(count_by_game(connection, venue_name, as_of, is_imported(), *chosen).values())
        on_event = subjects.c.event_row.is_not(None)
        late = sum(count_by_game(connection, venue_name, as_of, on_event, is_late(), *own).values())
        is_of_venue = (runs.c.venue_name == venue_name, decisions.c.decided_at <= as_of)
        bare, blind = (
            count_decisions_with_note(connection, note, *is_of_venue, *own) for note in (WITHOUT_TOOLS, WITHOUT_SEARCH)
        )
        unscored = count_by_game(connection, venue_name, as_of, ~on_event, *own)
    cut = sorted({each.game for each in kept}) if part.cuts_accounts else []
    kept = () if cut else kept
    try:
        with store.blame_rows():
            found = evaluation_of(record, as_of, question)
            if "effort" in question.wanted:
                found = found.with_effort(_efforts(store, venue_name, as_of, part))
            if "coherence" in question.wanted:
                found = replace(found, coherence=_coherence(store, venue_name, record, question))
            found = replace(found, currency=venue_or_defaults(venue_name).currency)
            found = _with_accounts(found, kept, cohorts, question)
    except ValueError as error:
        # For example numbers so far apart that their sum overflows.
        raise store.contradiction(error) from error
    played = {*cut, *(each.game for each in kept)} | {each.game for each in cohorts}
    unscored = {game: n for game, n in unscored.items() if game not in played}
    notes = _notes(imported, late, cut, unscored)
    found = replace(found, without_tools=bare, without_search=blind, late=late, notes=(*found.notes, *notes))
    if cache is not None:
        cache.keep_text(cache_key, evaluation_to_text(found))
    return found


def _notes(imported: int, late: int, cut: Sequence[str], unscored: Mapping[str, int]) -> list[str]:
    """Return what is left out of scores, from numbers of decisions; `cut` and `unscored` are of games."""
    notes = list[str]()
    if imported:
        made = "1 decision of the ledger was" if imported == 1 else f"{imported:,} decisions of the ledger were"
        notes.append(f"{made} imported: when they were made, and at which prices, is what their files say")
    if late:
        made = "1 decision was" if late == 1 else f"{late:,} decisions were"
        notes.append(
            f"{made} made after the deadline of the schedule: in no score above, nor what they cost. "
            "`predibot export --table decisions` lists them as late"
        )
    if cut:
        notes.append(
            f"the accounts of {' and '.join(cut)} are not shown: a part of their history is no account. Leave dates "
            "and category out to see them"
        )
    if unscored:
        made = " and ".join(f"{n:,} of game {game}" for game, n in unscored.items())
        lists = "`predibot export --table decisions` lists them"
        hints = [f"{lists}, `predibot verify --rows` recomputes their accounts"] if {*unscored} - {_LABELLED} else []
        hints += [f"`predibot tables {_LABELLED}` scores labels"] if _LABELLED in unscored else []
        notes.append(f"decisions on no event are in no score above, nor what they cost: {made}. {'; '.join(hints)}")
    return notes


def _efforts(store: Store, venue_name: str, as_of: datetime, part: Part) -> tuple[Effort, ...]:
    """Return the mean effort of the decisions on events of each bot with a model, replicates as one."""
    from predibot.ledger.read.details.bots import list_decision_efforts

    with store.read() as connection, store.blame_rows():
        rows = list_decision_efforts(connection, venue_name, as_of, part)
    joined = joined_bots({row.bot for row in rows})
    whole = {row.bot: split_replicate(row.bot)[0] for row in rows}
    by_bot = grouped((whole[row.bot] if whole[row.bot] in joined else row.bot, row) for row in rows)
    return tuple(_effort(store, bot, own) for bot, own in by_bot.items())


def _effort(store: Store, bot: str, rows: Sequence[Row[Any]]) -> Effort:
    # Imported here: it reads traces, of which most reports show nothing.
    from predibot.jobs.read_traces import ALL, usage_of_traces

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


def _coherence(store: Store, venue_name: str, record: TrackRecord, question: Question) -> tuple[CoherenceScore, ...]:
    """Return how far each bot breaks the rules of probability over all of them; a bot that no rule binds is absent."""
    # Imported here: most evaluations read no question.
    from predibot.ledger.read.details.decisions import list_markets
    from predibot.related.coherence.coherence import Groups, coherence_of

    questions = [each.question for each in store.run_read(lambda connection: list_markets(connection, venue_name))]
    known = dict[bytes, Groups]()
    found = ((bot, coherence_of(record, questions, bot, question.uncertainty, known).rules) for bot in record.bots)
    scores = [replace(rules[0], name=bot) for bot, rules in found if rules]
    return tuple(sorted(scores, key=lambda each: (each.bot, each.name)))


def _with_accounts(
    found: Evaluation, kept: Sequence[AccountsRecord], cohorts: Sequence[CohortBoard], question: Question
) -> Evaluation:
    """Return an evaluation with its accounts and cohorts, and how far the rankings agree; baselines are not ranked."""
    boards = tuple(
        account_board(each, question.convention, question.uncertainty, currency=found.currency) for each in kept
    )
    of_cohorts = tuple(map(with_scores, cohorts))
    if "consistency" in question.wanted:
        again = partial(account_consistency, uncertainty=question.uncertainty)
        boards = tuple(replace(board, consistency=again(each)) for board, each in zip(boards, kept, strict=True))
        of_cohorts = tuple(
            replace(
                board,
                consistency=cohort_consistency(
                    [(each.bot, each.first_bets) for each in board.scores], question.uncertainty
                ),
            )
            for board in of_cohorts
        )
    orders = dict[str, list[str]]()
    ranked: tuple[AccountBoard | CohortBoard, ...] = (*boards, *of_cohorts)
    for each in ranked:
        last = each.methodology if isinstance(each, CohortBoard) else each.subject
        # A model without a known cutoff may have two rows.
        known = dict.fromkeys(score.bot for score in each.scores if not score.baseline)
        orders[" ".join((each.game, each.recipe, each.mode, last))] = [*known]
    # Without evidence the leaderboard has no order.
    if orders and found.evidence:
        orders["the leaderboard of events"] = [card.bot for card in found.leaderboard if not card.baseline]
    return replace(found, accounts=boards, cohorts=of_cohorts, agreements=rank_agreements(orders))


def _read_cached(text: str | None) -> Evaluation | None:
    try:
        return None if text is None else evaluation_from_text(text)
    except (ValueError, TypeError, RecursionError, OverflowError, MemoryError) as error:
        _log.warning("what was kept of an evaluation cannot be read (%s); it is made again", error)
        return None


def evaluate_stored(store: Store, part: Part, question: Question | None = None, *, clock: Clock) -> Evaluation:
    """Return how good the bots were, without asking any venue."""
    there = locate(store, part, clock)
    return evaluate(store=store, venue_name=there.venue_name, as_of=there.as_of, part=there.part, question=question)


_KIND = "kind"
_OURS = "predibot.scoring."
_ARRAYS = tuple(np.dtype(each).str for each in (np.float64, np.int64, np.int8, np.bool_))


def evaluation_to_text(evaluation: Evaluation) -> str:
    """Return an evaluation as JSON; numbers keep every digit, and NaN stays NaN."""
    return json.dumps(to_plain_data(evaluation))


def evaluation_from_text(text: str) -> Evaluation:
    """Return the evaluation in a text, of classes of scoring that check themselves.

    Raises `ValueError` for any other.
    """
    try:
        found = _from_plain(json.loads(text))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"this is no evaluation: {error}") from error
    if not isinstance(found, Evaluation):
        raise ValueError(f"this is a {type(found).__name__}, not an evaluation")
    return found


def to_plain_data(value: object) -> Any:
    """Return an object of scoring as JSON data; what JSON lacks is written with its kind."""
    if is_dataclass(value):
        data = {each.name: to_plain_data(getattr(value, each.name)) for each in fields(value)}
        return {_KIND: f"{type(value).__module__}:{type(value).__qualname__}", **data}
    if isinstance(value, Mapping):
        return {_KIND: "mapping", "items": [[to_plain_data(key), to_plain_data(each)] for key, each in value.items()]}
    if isinstance(value, tuple | list):
        return [to_plain_data(each) for each in value]
    if isinstance(value, np.ndarray):
        return {_KIND: "array", "type": value.dtype.str, "values": value.tolist()}
    if isinstance(value, datetime):
        return {_KIND: "instant", "at": value.isoformat()}
    return value.item() if isinstance(value, np.generic) else value


def _from_plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_from_plain(each) for each in value)
    if not isinstance(value, dict):
        return value
    data = {name: each for name, each in value.items() if name != _KIND}
    match value[_KIND]:
        case "mapping":
            return {_from_plain(key): _from_plain(each) for key, each in data["items"]}
        case "array":
            if data["type"] not in _ARRAYS:
                raise ValueError(f"{str(data['type'])[:40]!r} is no type of numbers that evaluations have")
            return np.array(data["values"], dtype=data["type"])
        case "instant":
            return datetime.fromisoformat(data["at"])
        case kind:
            return _scoring_class(kind)(**{name: _from_plain(each) for name, each in data.items()})


def _scoring_class(kind: str) -> Any:
    module, _, name = kind.partition(":")
    found = getattr(sys.modules.get(module), name, None) if module.startswith(_OURS) else None
    if not (isinstance(found, type) and is_dataclass(found)):
        raise ValueError(f"{kind} is no kind of object that evaluations are made of")
    return found
