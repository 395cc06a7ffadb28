"""A ledger as wide as a season: twenty bots that play all three games in the simulated world for many days."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from predibot.ledger.store import Store
from predibot.web.app import create_app
from tests.acceptance.conftest import said_here
from tests.jobs.program import wait_until
from tests.web.conftest import NOW

BOTS, EVENTS, DAYS, TENTH_DAYS = 20, 10, 60, 6
RULES_OF_AXE = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
SCRIPTS = ("sharp", "noisy", "overconfident", "lazy", "broken", "gullible")
RULES = {
    "dollar_per_event": ("market_price", "random_bet", "favourite", "underdog", "always_half"),
    "portfolio_weights": ("all_cash", "equal_weights", "buy_and_hold", "market_favourite", "random_weights"),
    "weekly_cohort": ("all_cash", "random_trade"),
}
_FIRST = ("/", "/decisions?bot=script_sharp&sort=slot")
"""Of the decisions that are looked at some are by one that reads pages."""
LIMITS = "[limits.decision]\nusd = 0.5\ntokens = 5_000_000\nsearches = 40\n"


def season(folder: Path, days: int, agents: int = len(SCRIPTS)) -> str:
    """Return the address of a ledger of twenty bots a game.

    Args:
        folder: Where recipes and ledger are kept.
        days: How many there are from 6 January 2026 on; a cohort a week besides, two at least.
        agents: How many of them are scripts that search and read.
    """
    address = f"sqlite:///{folder}/season.db"
    for game in RULES:
        recipe = folder / f"season_{game}.toml"
        recipe.write_text(_recipe(game, agents), encoding="utf-8")
        first, every, until = "2026-01-06T12:00Z", "1d", f"{_day(6, days - 1)}T12:00Z"
        if game == "weekly_cohort":
            first, every, until = "2026-01-11T00:05Z", "7d", f"{_day(11, 7 * max(1, days // 7 - 1))}T00:05Z"
        span = ("--from", first, "--to", until, "--every", every, "--as-of", NOW.isoformat())
        said = said_here("replay", str(recipe), *span, "--ledger", address)
        # Those of the script that breaks fail.
        assert said.code in (0, 3), said.err
    return address


def _day(january: int, more: int) -> str:
    return (date(2026, 1, january) + timedelta(days=more)).isoformat()


def _recipe(game: str, agents: int) -> str:
    return "\n".join(
        [
            f'game = "{game}"',
            'venue = "sandbox:named=1"' if game == "weekly_cohort" else 'venue = "sandbox"',
            'every = "7d"' if game == "weekly_cohort" else 'every = "1d"',
            "" if game == "weekly_cohort" else f"[selection]\nevents = {EVENTS}\n",
            LIMITS,
            *_bots(game, agents),
        ]
    )


def _bots(game: str, agents: int) -> Iterator[str]:
    for script in SCRIPTS[:agents]:
        # A cohort shows no news.
        strategy = "one_shot" if game == "weekly_cohort" else "tool_agent"
        yield f'[[bots]]\nname = "script_{script}"\nstrategy = "{strategy}"\nmodel = "sandbox/{script}"\n'
    rules = RULES[game]
    for number in range(BOTS - agents):
        strategy, again = rules[number % len(rules)], number // len(rules) + 1
        name = strategy if again == 1 else f"{strategy}_{again}"
        yield f'[[bots]]\nname = "{name}"\nstrategy = "{strategy}"\n'


@contextmanager
def served(ledger: str) -> Iterator[str]:
    """Serve a ledger, and give the address."""
    with Store.open_to_read(ledger) as store:
        app = create_app(store, lambda: NOW)
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", access_log=False, lifespan="off"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        wait_until(lambda: server.started)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        server.should_exit = True
        thread.join()


def walked(browser: Browser, address: str, width: int, scheme: str, shots: Path, *, most: int) -> int:
    """Read pages as links lead to them, so many of each kind, and return how many; any that cannot be read ends it.

    Args:
        browser: Reads them.
        address: Where they are.
        width: Of the window in pixels.
        scheme: What the reader likes: light or dark.
        shots: Gets a picture of each page.
        most: Pages of a kind.
    """
    said, broken, kinds, seen, ahead = list[str](), list[str](), Counter[str](), set[str](), [*_FIRST]
    with browser.new_context(
        bypass_csp=True,
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
    ) as context:
        page = context.new_page()
        page.on("console", lambda message: said.append(f"{page.url}: {message.text}"))
        page.on("request", lambda request: said.append(request.url) if not request.url.startswith(address) else None)
        while ahead:
            path = ahead.pop(0).partition("#")[0]
            kind = urlsplit(path).path
            if not path or path in seen or kinds[kind] >= most or kind.endswith((".csv", ".jsonl")):
                continue
            seen.add(path)
            kinds[kind] += 1
            answer = page.goto(address + path)
            assert answer is not None and answer.status == 200, path
            name = kind.strip("/").replace("/", "-") or "leaderboard"
            page.screenshot(path=shots / f"{name}-{kinds[kind]}.png", full_page=True)
            if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"):
                broken.append(f"{path} is wider than the window")
            found = Axe().run(page, options=RULES_OF_AXE)
            if found.violations_count:
                broken.append(f"{path}: {found.generate_report()}")
            ahead += page.locator("a[href^='/']").evaluate_all("all => all.map(each => each.getAttribute('href'))")
    assert not said, said
    assert not broken, "\n".join(broken)
    missing = {"/", "/bot", "/decision", "/event", "/account", "/cohort", "/source", "/compare"} - set(kinds)
    assert not missing, missing
    return len(seen)
