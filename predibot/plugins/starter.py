"""Files to start a plug-in from: one that works as it is, and its test."""

import keyword
import sys
from collections.abc import Mapping
from typing import Literal

from predibot.errors import UsageError
from predibot.plugins import strategies, tools
from predibot.plugins.registry import class_name_of

PluginKind = Literal["strategy", "tool"]

_STRATEGY = '''"""What NAME does, in a sentence of yours."""

from dataclasses import dataclass

from predibot.contracts import Context
from predibot.domain.decision import Decision, Forecast


@dataclass(frozen=True, slots=True)
class CLASS:
    """Pull each price towards one half, and bet on the difference."""

    pull: float = 0.1
    """How far, as a share of the distance; a recipe sets it by `pull = 0.2`."""

    games = ("dollar_per_event",)

    def decide(self, context: Context) -> Decision:
        """Return a forecast and a bet for each market that has a price; a dollar is bet in all."""
        quotes = {market.id: market.quote for market in context.event.markets}
        prices = {id: quote.price.yes for id, quote in quotes.items() if quote is not None and quote.price is not None}
        forecasts, bets = [], {}
        for id, price in prices.items():
            forecast = price + self.pull * (0.5 - price)
            forecasts.append(Forecast(id, forecast))
            # The game refuses a side that costs less than a tenth of a cent.
            if 0.001 <= price <= 0.999:
                bets[id] = (1 if forecast > price else -1) * context.game.stake_usd / len(prices)
        return Decision(tuple(forecasts), context.orders(bets))
'''
_STRATEGY_TEST = '''"""NAME in a made-up world, whose events it has to answer."""

from pathlib import Path

import pytest

import predibot


def test_it_answers_events_of_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREDIBOT_STRATEGIES", str(Path(__file__).parent))
    recipe = tmp_path / "try.toml"
    recipe.write_text('[[bots]]\\nstrategy = "NAME"\\n', encoding="utf-8")
    report = predibot.decide(recipe, ledger=tmp_path / "try.db", venue="sandbox:events=20", events=3)
    assert [decision.status for decision in report.decisions] == ["recorded"] * 3
'''
_TOOL = '''"""What NAME tells, in a sentence of yours."""

from datetime import UTC, datetime

NOTES = {datetime(2025, 12, 1, tzinfo=UTC): "The winter was mild: it rained on 19 days of November."}


def NAME(topic: str, as_of: datetime) -> str:
    """Return what our notes say of a topic.

    Args:
        topic: A word, such as rain.
    """
    # The instant of the decision: what is shown of later days would be cheating in a replay.
    known = [f"{day:%Y-%m-%d}: {text}" for day, text in NOTES.items() if day <= as_of and topic.lower() in text.lower()]
    return "\\n".join(known) or f"Nothing is known of {topic}."
'''
_TOOL_TEST = '''"""NAME: what it tells, and that it tells nothing later than its instant."""

from datetime import UTC, datetime

from NAME import NAME


def test_it_tells_what_is_known_and_nothing_later() -> None:
    assert NAME("rain", datetime(2026, 1, 5, tzinfo=UTC)).startswith("2025-12-01: ")
    assert NAME("rain", datetime(2025, 1, 5, tzinfo=UTC)) == "Nothing is known of rain."
'''


def starter_files(kind: PluginKind, name: str) -> Mapping[str, str]:
    """Return the texts of a plug-in and of its test, by file name; raise `UsageError` for a taken or bad name."""
    known = {*strategies.strategy_names()} if kind == "strategy" else {each.name for each in tools.tool_infos()}
    if not name.isidentifier() or name != name.lower() or name[0] == "_" or name.startswith("test_"):
        raise UsageError(f"{name[:60]!r} is no name of a {kind}; write small letters, digits and _, such as my_{kind}")
    if keyword.iskeyword(name) or name in sys.stdlib_module_names or name == "predibot":
        raise UsageError(f"{name!r} is a word or a module of Python; take another name, such as my_{name}")
    if name == "conftest":
        raise UsageError(f"{name!r} is a file that pytest runs by itself; take another name, such as my_{name}")
    if name in known:
        raise UsageError(f"there is a {kind} {name!r} already; take another name")
    plugin, test = (_STRATEGY, _STRATEGY_TEST) if kind == "strategy" else (_TOOL, _TOOL_TEST)
    texts = {f"{name}.py": plugin, f"test_{name}.py": test}
    return {file: text.replace("NAME", name).replace("CLASS", class_name_of(name)) for file, text in texts.items()}
