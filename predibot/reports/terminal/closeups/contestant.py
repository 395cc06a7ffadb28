"""One bot before its scores: what it is, what its decisions cost, and the latest ones; for a screen and for JSON."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from json import dumps
from shlex import quote

from rich.console import Console

from predibot.agents.prompts.fields import choice_of
from predibot.domain.decision import STATUSES
from predibot.jobs.histories.run import BotDecisions
from predibot.ledger.read.rows_for_python import LedgerDecision
from predibot.plugins.strategies import StrategyInfo
from predibot.recipe.recipe import BotSpec, Recipe, bot_as_data
from predibot.reports import figures
from predibot.reports.table import Column, Document, document, table_of
from predibot.reports.terminal.terminal import plain, print_grids, print_line, within

_SHOWN = 5
_TITLE_CELLS = 50
_KEY_CELLS = 20
_LATEST = (
    Column("run", "run", kind="key"),
    Column("about", "", lambda each: within(_TITLE_CELLS)(each.title or each.subject_id), 0, kind="text"),
    Column("status", "status", kind="key"),
    Column("cost", "cost_usd", figures.cost_usd, 1),
)


@dataclass(frozen=True, slots=True)
class KnownBot:
    """A bot, as recipe and ledger know it."""

    name: str
    bot: BotSpec | None
    """As the recipe has it; None where only the ledger knows it."""
    recipe: Recipe
    decided: BotDecisions | None
    """What became of its decisions; None without a ledger."""
    latest: Sequence[LedgerDecision]
    """Its decisions, the newest first."""
    strategy: StrategyInfo | None


def print_contestant(console: Console, who: KnownBot, hidden: Callable[[str], str]) -> None:
    """Print a bot; `hidden` masks keys, which an address or an argument of the recipe may hold."""
    facts = _facts(who.bot, who.recipe) if who.bot is not None else _facts_of_ledger(who.latest[0])
    print_line(console, plain(who.name), style="bold")
    for key, text in (*facts, *_results(who.decided)):
        print_line(console, f"{key:<{_KEY_CELLS}}{plain(hidden(text))}")
    name, source = quote(who.name), who.recipe.source
    if who.latest:
        print_grids(console, [table_of("Its latest decisions", _LATEST, who.latest[:_SHOWN])])
        print_line(console, f"`predibot report --bot {name}` shows its scores, `predibot trace` how agents decided.")
    else:
        only = "" if source.startswith("the packaged") else f" {quote(source)}"
        print_line(console, f"`predibot decide{only} --bots {name} --dry-run` says what it would cost to play it.")


def contestant_document(who: KnownBot) -> Document:
    """Return all of it as JSON has it, with what its strategy takes; what the recipe says is null without a bot."""
    bot, decided, recipe = who.bot, who.decided, who.recipe
    limits = {level: asdict(each) for level, each in recipe.limits.items()}
    of_recipe = {"recipe": recipe.source, "game": recipe.game, "limits": limits}
    shown = "run subject_id title status message cost_usd"
    return {
        "bot": who.name,
        **(dict.fromkeys((*of_recipe, "spec")) if bot is None else {**of_recipe, "spec": bot_as_data(bot)}),
        "decided": None if decided is None else document(decided, "statuses cost_known_usd cost_unknown"),
        "latest": [document(each, shown) for each in who.latest[:_SHOWN]],
        "strategies": [] if who.strategy is None else [asdict(who.strategy)],
    }


def _facts(bot: BotSpec, recipe: Recipe) -> Iterator[tuple[str, str]]:
    yield "recipe", recipe.source
    yield "plays", f"{recipe.game} on {recipe.venue}"
    yield "strategy", bot.strategy.name
    if arguments := ", ".join(f"{key} = {dumps(value)}" for key, value in bot.strategy.arguments.items()):
        yield "arguments", arguments
    if models := ", ".join(dict.fromkeys(need.name for need in bot.needs.models)):
        yield "model", f"{models}, at {bot.terms.base_url}" if bot.terms.base_url else models
        if stated := ", ".join(f"{key} = {value}" for key, value in bot.terms.settings.explicit.items()):
            yield "settings", stated
        own = (
            choice_of(bot.prompt_sha256) or f"its own, {bot.prompt_sha256[:12]}"
            if bot.prompt
            else "that of its strategy; `predibot prompts` lists them"
        )
        yield "prompt", own
        for level, limits in recipe.limits.items():
            stated = ", ".join(
                f"${value:g}" if key == "usd" else f"{value:,} {key}"
                for key, value in asdict(limits).items()
                if value is not None
            )
            yield f"limits a {level}", stated
        if not recipe.limits:
            yield "limits", "none"
    if bot.members:
        yield "members", ", ".join(bot.members)


def _facts_of_ledger(last: LedgerDecision) -> Iterator[tuple[str, str]]:
    yield "recipe", f"{last.recipe}; name its file by --recipe to see all that it says of this bot"
    yield "strategy", last.strategy
    if last.model is not None:
        yield "model", last.model


def _results(decided: BotDecisions | None) -> Iterator[tuple[str, str]]:
    if decided is None or not decided.statuses:
        yield "decisions", "none so far" if decided is not None else "none so far, as there is no ledger yet"
        return
    counts = (f"{decided.statuses[status]:,} {status}" for status in STATUSES if status in decided.statuses)
    yield "decisions", ", ".join(counts)
    unknown = f", and what {figures.things(decided.cost_unknown, 'decision')} cost is unknown"
    yield "cost so far", figures.cost_usd(decided.cost_known_usd) + unknown * bool(decided.cost_unknown)
