"""A ledger as wide as a season: twenty bots that play all three games in the simulated world for many days."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from tests.acceptance.conftest import said_here

BOTS, EVENTS = 20, 10
SCRIPTS = ("sharp", "noisy", "overconfident", "lazy", "broken", "gullible")
RULES = {
    "dollar_per_event": ("market_price", "random_bet", "favourite", "underdog", "always_half"),
    "portfolio_weights": ("all_cash", "equal_weights", "buy_and_hold", "market_favourite", "random_weights"),
    "weekly_cohort": ("all_cash", "random_trade"),
}
LIMITS = "[limits.decision]\nusd = 0.5\ntokens = 5_000_000\nsearches = 40\n"


def season(folder: Path, days: int, last: str) -> str:
    """Return the address of a ledger of twenty bots a game.

    Args:
        folder: Where recipes and ledger are kept.
        days: How many there are from 6 January 2026 on; a cohort a week besides, two at least.
        last: What it is evaluated as of.
    """
    address = f"sqlite:///{folder}/season.db"
    for game in RULES:
        recipe = folder / f"season_{game}.toml"
        recipe.write_text(_recipe(game), encoding="utf-8")
        first, every, until = "2026-01-06T12:00Z", "1d", f"{_day(6, days - 1)}T12:00Z"
        if game == "weekly_cohort":
            first, every, until = "2026-01-11T00:05Z", "7d", f"{_day(11, 7 * max(1, days // 7 - 1))}T00:05Z"
        span = ("--from", first, "--to", until, "--every", every, "--as-of", last)
        said = said_here("replay", str(recipe), *span, "--ledger", address)
        # Those of the script that breaks fail.
        assert said.code in (0, 3), said.err
    return address


def _day(january: int, more: int) -> str:
    return (date(2026, 1, january) + timedelta(days=more)).isoformat()


def _recipe(game: str) -> str:
    return "\n".join(
        [
            f'game = "{game}"',
            'venue = "sandbox:named=1"' if game == "weekly_cohort" else 'venue = "sandbox"',
            'every = "7d"' if game == "weekly_cohort" else 'every = "1d"',
            "" if game == "weekly_cohort" else f"[selection]\nevents = {EVENTS}\n",
            LIMITS,
            *_bots(game),
        ]
    )


def _bots(game: str) -> Iterator[str]:
    for script in SCRIPTS:
        # A cohort shows no news.
        strategy = "one_shot" if game == "weekly_cohort" else "tool_agent"
        yield f'[[bots]]\nname = "script_{script}"\nstrategy = "{strategy}"\nmodel = "sandbox/{script}"\n'
    rules = RULES[game]
    for number in range(BOTS - len(SCRIPTS)):
        strategy, again = rules[number % len(rules)], number // len(rules) + 1
        name = strategy if again == 1 else f"{strategy}_{again}"
        yield f'[[bots]]\nname = "{name}"\nstrategy = "{strategy}"\n'
