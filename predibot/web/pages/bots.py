"""The page of a bot: its scores, best and worst decisions, costs, and setup."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from typing import Any

from sqlalchemy import Connection, Row

from predibot.domain.trace import ModelStep
from predibot.errors import PredibotError, UsageError
from predibot.jobs.histories.bot import BotHistory
from predibot.jobs.read_traces import usage_of_traces
from predibot.jobs.worst_decisions import instant_of
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.details.bots import bot_setup, count_setups, newest_traces
from predibot.ledger.read.event_lists import list_decisions, total_gain_usd
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import count_decisions, sort_decisions
from predibot.ledger.write.runs import PROMPT_SHA256
from predibot.reports import figures
from predibot.reports.pictures.series import Calibrations, bot_pictures
from predibot.reports.study import studies
from predibot.reports.table import Table
from predibot.reports.terminal.closeups.rows import bot_grids, circumstances, head_lines, question_of
from predibot.reports.terminal.trace import usage_grid
from predibot.scoring.evaluation.evaluation import Question
from predibot.scoring.evaluation.horizon_series import EDGE
from predibot.scoring.records.part import Part
from predibot.web.cache import LedgerCache
from predibot.web.chart import Chart, ChartPoint, Line, Scale, chart_of
from predibot.web.drawing import Bars, bars_of, curves_of, reliability_of
from predibot.web.pages.events import price_chart
from predibot.web.pages.leaderboard import lines_of, mean_point
from predibot.web.pages.page import PAGE, WebPage, alike

_TRACES = 100
"""Costs by step are summed over this many of the newest decisions, as each trace is a file to read."""
_DAYS = 100
_LATEST = 15
_POSITIONS = 20


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a bot's model was told for its newest decision with a trace."""

    messages: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    missing: str = ""
    """Why there is none: no model was asked, or the trace cannot be read."""


_OWN_PROMPT = Prompt((), (), (), "It is asked with a prompt of its own, which is shown on pages made --with-traces.")


def bot_page(cache: LedgerCache, name: str, venue: str = "", items: bool = True) -> WebPage:
    """Return the page of a bot.

    Args:
        venue: Of its scores; empty for that of the newest run.
        items: Whether single labels of a study's items are listed.

    Raises:
        UsageError: If no such bot has decided.
    """
    asked = RowFilter(bots=(name,))
    counts = cache.read(count_decisions, asked)
    if not counts:
        raise UsageError(f"no bot {name[:60]!r} has decided")
    part = Part(venue=venue)
    ranked = cache.evaluation(Question(wanted=("evidence", "curves")), part)
    history = cache.bot(name, part)
    silent = [
        each
        for status in counts
        if status != "recorded"
        for each in cache.read(sort_decisions, RowFilter(bots=(name,), status=status, items=items), limit=PAGE)
    ]
    # The sum of edges is told as a mean, on the scale of all other edges.
    pictures = [picture for file, picture in bot_pictures(history) if file != "edge"]
    drawn = [each for picture in pictures for each in curves_of(picture, cache.colour)]
    positions = history.positions
    latest = cache.read(list_decisions, replace(asked, items=items), limit=_LATEST)
    (newest,) = cache.read(list_decisions, asked, limit=1)
    listed = {row.decision.run for row in (newest, *latest)}
    played = {run.venue_name for run in cache.runs() if run.run in listed}
    steps, prompt, setup = cache.compute("set up", name, lambda: _costs_and_setup(cache, name))
    return WebPage(
        "bot",
        {
            "name": name,
            "head": [each.partition(": ")[2] if row == 0 else each for row, each in enumerate(head_lines(history))],
            "lines": [
                each for ranking in ranked.rankings.values() for each in lines_of(ranking) if each.row.bot == name
            ],
            "counts": history.statuses or counts,
            "reasons": alike(
                sorted(silent, key=lambda each: each.slot_at, reverse=True)[:PAGE],
                lambda each: (each.status, each.message),
            ),
            "positions": positions[:_POSITIONS],
            "open": {
                "bets": sum(each.bets for each in positions),
                "markets": len(positions),
                "staked_usd": sum(each.staked_usd for each in positions),
                "gain_usd": total_gain_usd(positions),
            },
            "newest": newest.decision,
            "studies": [(f"/{each.data_set}", each.heading) for each in studies().values() if each.data_set in played],
            "latest": latest,
            "curves": [each for each in drawn if not isinstance(each, Bars)],
            "bars": [*_by_day(history), *_by_slot(history), *(each for each in drawn if isinstance(each, Bars))],
            "diagrams": [
                reliability_of(name, panel.of, panel.name)
                for picture in pictures
                if isinstance(picture, Calibrations)
                for panel in picture.panels
            ],
            "jumps": list(_jumps(cache, history)),
            "chart": _edge_chart(cache, history),
            "grids": list(bot_grids(history)),
            "ends": [
                (title, none, [(each, question_of(each), circumstances(each)) for each in found])
                for title, none, found in (
                    ("Best decisions", "No bet gained money.", history.best),
                    ("Worst decisions", "No bet lost money.", history.worst),
                )
                if history.scored
            ],
            "steps": steps,
            "traces": _TRACES,
            "setup": setup,
            "prompt": prompt,
        },
    )


def _by_day(history: BotHistory) -> Sequence[Bars]:
    known = [each for each in history.days if each.bets][-_DAYS:]
    if not known:
        return ()
    values = [
        (
            datetime.combine(each.day, time(), UTC),
            each.gain_usd,
            f"{figures.gain_usd(each.gain_usd)}, {figures.things(each.bets, 'bet')}",
        )
        for each in known
    ]
    cut = f" The newest {_DAYS} dates." if len(history.days) > _DAYS else ""
    note = (
        "What the bets of each date came to, bought and valued at the mid, by the payout or the last price;"
        f" the gain is at the quote, after spread and fees, and may have the other sign.{cut}"
    )
    return (bars_of(values, "Profit at the mid, by day", note, figures.gain_usd),)


def _edge_chart(cache: LedgerCache, history: BotHistory) -> Chart | None:
    """Return the mean edge up to each slot, a line for each kind of knowledge with its own ranking."""
    name = history.bot
    lines = [
        Line(
            name if each.knowledge == "clean" else f"{name}, cutoff unknown",
            [mean_point(point) for point in each.running.get(EDGE, ())],
            cache.colour(name),
        )
        for each in history.scored
    ]
    title = "Edge over the price, up to each day"
    return chart_of(lines, title, "Thousandths of Brier", Scale(figures.thousandths))


def _jumps(cache: LedgerCache, history: BotHistory) -> Iterator[tuple[str, Chart]]:
    for each in history.markets:
        dots = {
            instant_of(one.decided_at).date(): ChartPoint(one.decided_at, one.probability)
            for one in each.decisions
            if one.probability is not None
        }
        prices = [(instant_of(at), price) for at, price in each.prices]
        question = each.market.question or each.market.title
        drawn = price_chart(cache, prices, {history.bot: list(dots.values())}, question)
        if drawn is not None:
            yield each.market.event_id, drawn


def _by_slot(history: BotHistory) -> Iterator[Bars]:
    for account in history.accounts:
        values = [
            (datetime.fromtimestamp(start, UTC), gain, figures.signed_percent(gain))
            for start, _, gain in account.moves[-_DAYS:]
        ]
        if values:
            title = f"Return by time: {account.board.game} of {account.board.recipe}, {account.board.mode}"
            yield bars_of(values, title, "What the account gained from each run to the next.", figures.signed_percent)


def _costs_and_setup(cache: LedgerCache, name: str) -> tuple[Table | None, Prompt, list[tuple[str, str]]]:
    """Return the costs by step of the newest decisions, the prompt, and the setup of a bot."""

    def read(connection: Connection) -> tuple[tuple[str, ...], Row[Any] | None, int]:
        return newest_traces(connection, name, _TRACES), bot_setup(connection, name), count_setups(connection, name)

    digests, setup, setups = cache.store.run_read(read)
    report = usage_of_traces(cache.store, [(name, digest) for digest in digests])
    grid = usage_grid(report).without("bot") if report.rows else None
    if setup is None:
        return grid, _prompt(cache, digests), []
    is_hidden = not cache.traces and f'"{PROMPT_SHA256}"' in setup.arguments_json
    return grid, _OWN_PROMPT if is_hidden else _prompt(cache, digests), _setup_rows(setup, setups)


def _prompt(cache: LedgerCache, digests: Sequence[str]) -> Prompt:
    if not digests:
        return Prompt((), (), (), "No model was asked in any decision that has a trace.")
    try:
        steps = Traces(cache.store).read(digests[0]).steps
    except PredibotError as error:
        return Prompt((), (), (), str(error))
    every = [step.asked for step in steps if isinstance(step, ModelStep)]
    # A bot may probe a model with a word or two before it sends the instructions.
    told_all = (each for each in every if any(message.role == "system" for message in each.new_messages))
    asked = next(told_all, every[0] if every else None)
    if asked is None:
        return Prompt((), (), (), "No model answered in its newest decision that has a trace.")
    messages = tuple((each.role, each.text) for each in asked.new_messages if each.text)
    return Prompt(messages, asked.tools, tuple((key, str(value)) for key, value in asked.settings.items()))


def _setup_rows(setup: Row[Any], setups: int) -> list[tuple[str, str]]:
    rows = [
        ("strategy", setup.strategy),
        ("arguments", _indent_json(setup.arguments_json)),
        ("model", setup.model or figures.MISSING),
        ("knowledge cutoff", setup.knowledge_cutoff or "not known"),
        ("members", figures.MISSING if setup.members_json is None else _indent_json(setup.members_json)),
        ("SHA-256 of its code", setup.source_sha256),
        ("version of predibot", setup.code_version),
        ("run", f"{setup.run}, the newest of recipe {setup.recipe}"),
        ("recipe", _indent_json(setup.recipe_json)),
    ]
    if setups > 1:
        rows.insert(0, ("set up", f"in {setups} different ways so far; this is the newest"))
    return rows


def _indent_json(text: str) -> str:
    """Return JSON over several lines, with digests in place of prompts, which may be long."""
    try:
        return json.dumps(json.loads(text, object_hook=_digest_prompt), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        # No JSON: it is shown as it is.
        return text


def _digest_prompt(data: dict[str, Any]) -> dict[str, Any]:
    if "strategy" not in data or not isinstance(prompt := data.get("prompt"), str):
        return data
    return {**data, "prompt": f"SHA-256 {hashlib.sha256(prompt.encode(errors='replace')).hexdigest()}"}
