"""Portfolios over the simulated world, beside what follows from the world's own prices and payouts."""

import json
from collections.abc import Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from predibot.config import Settings
from predibot.contracts import Past
from predibot.domain.event import Event, Market
from predibot.domain.resolution import latest_known
from predibot.jobs.open_venue import open_past
from tests.acceptance.conftest import own_plugins, said_here
from tests.jobs.tiny import clock
from tests.soaks import SOAK

VENUE = "sandbox:events=20"
FIRST, SLOTS = datetime.fromisoformat("2026-01-10T00:00:00+00:00"), 19
RECIPE = """
venue = "{venue}"
every = "1d"
[game]
name = "portfolio_weights"
fill = "{fill}"
[selection]
events = 5
{bots}
"""
# Puts all on what gains most until tomorrow, which only a test can know.
ORACLE = """
import json
from dataclasses import dataclass
from predibot.domain.decision import Decision

@dataclass(frozen=True, slots=True)
class Oracle:
    gains: str
    games = ("portfolio_weights",)

    def decide(self, context):
        with open(self.gains, encoding="utf-8") as file:
            known = json.load(file)[context.now.isoformat()]
        view = context.view
        sided = [(gain, id, sign) for id, both in known.items() if id in view.prices_yes
                 for gain, sign in zip(both, (1.0, -1.0))]
        best = max(sided, default=(1.0, "", 0.0))
        return Decision(orders=view.orders(view.weights({best[1]: best[2]} if best[0] > 1.0 else {})))
"""


@dataclass(frozen=True, slots=True)
class Played:
    """A replay, and the world it was played in."""

    past: Past
    accounts: Mapping[str, Mapping[str, Any]]
    """By bot, as `evaluate --json` has them."""
    holdings: Mapping[str, list[dict[str, Any]]]
    """The journal of each bot, as it is exported."""


def instants() -> Iterator[datetime]:
    return (FIRST + timedelta(days=day) for day in range(SLOTS))


def listed(past: Past, at: datetime) -> dict[str, tuple[Event, Market]]:
    """Return the markets that the world lists at an instant, by id."""
    with past.open_at(at) as opened:
        return {market.id: (event, market) for event in opened.venue.events(at).events for market in event.markets}


def gains(past: Past) -> dict[str, dict[str, tuple[float, float]]]:
    """Return what a dollar on each side of each market comes to a day later, where it has a price then, by instant."""
    found = {at: listed(past, at) for at in (*instants(), FIRST + timedelta(days=SLOTS))}
    yes = {
        at: {
            name: market.quote.price.yes
            for name, (_, market) in markets.items()
            if not market.closed and market.quote is not None and market.quote.price is not None
        }
        for at, markets in found.items()
    }
    return {
        at.isoformat(): {
            name: (later / now, (1.0 - later) / (1.0 - now))
            for name, now in yes[at].items()
            if (later := yes[at + timedelta(days=1)].get(name)) is not None and 0.0 < now < 1.0
        }
        for at in instants()
    }


def played(folder: Path, fill: str, *bots: str, past: Past) -> Played:
    listed_bots = "\n".join(f"[[bots]]\n{bot}\n" for bot in bots)
    (folder / "mine.toml").write_text(RECIPE.format(venue=VENUE, fill=fill, bots=listed_bots))

    def said(*command: str) -> str:
        done = said_here(*command, "--ledger", "sqlite:///x.db")
        assert done.code == 0, done.out + done.err
        return done.out

    last = (FIRST + timedelta(days=SLOTS - 1)).isoformat()
    with chdir(folder), own_plugins("strategies", folder / "own"):
        said("replay", "mine.toml", "--from", FIRST.isoformat(), "--to", last, "--as-of", last)
        (board,) = json.loads(said("evaluate", "--no-track", "--as-of", last, "--json"))["accounts"]
        said("export", "tables", "--format", "jsonl")
    journal = [json.loads(line) for line in (folder / "tables/journal.jsonl").read_text("utf-8").splitlines()]
    accounts = {each["bot"]: each for each in board["leaderboard"]}
    return Played(past, accounts, {bot: [row for row in journal if row["bot"] == bot] for bot in accounts})


@pytest.fixture(scope="module")
def past() -> Past:
    return open_past(VENUE, Settings(), clock)


@pytest.fixture(scope="module")
def later(past: Past, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Return a replay whose orders are filled a slot later."""
    folder = tmp_path_factory.mktemp("later")
    names = ("buy_and_hold", "equal_weights")
    return played(folder, "next", *(f'strategy = "{name}"' for name in names), past=past)


def test_buying_and_holding_is_worth_what_the_worlds_prices_and_payouts_say(later: Played) -> None:
    first, second, *_ = instants()
    bought = [row for row in later.holdings["buy_and_hold"] if row["kind"] == "fill"]
    assert {row["at"][:10] for row in bought} == {second.isoformat()[:10]}
    began, then = listed(later.past, first), listed(later.past, second)
    markets = {market.ref.instrument("polymarket", side).id: (name, side)
               for name, (_, market) in began.items() for side in ("YES", "NO")}  # fmt: skip
    shares: dict[tuple[str, Any], float] = {}
    cost_usd = 0.0
    for row in bought:
        name, side = markets[row["instrument_id"]]
        entry = began[name][1].quote
        price = then[name][1].quote
        assert entry is not None and entry.price is not None and price is not None and price.price is not None
        assert side == ("YES" if entry.price.yes >= 0.5 else "NO")
        fees, paid_usd = began[name][1].fees, price.price.of(side)
        fee_usd = 0.0 if fees is None else fees.rate * (paid_usd * (1.0 - paid_usd)) ** fees.exponent
        shares[name, side] = 500.0 / len(bought) / paid_usd
        cost_usd += shares[name, side] * (paid_usd + fee_usd)
    # One factor for all, so that with the fees they take the cash there is.
    shares = {key: held * 500.0 / cost_usd for key, held in shares.items()}
    worth_usd, marked = [500.0, 500.0], {key: 0.0 for key in shares}
    for at in list(instants())[1:]:
        now = listed(later.past, at)
        with later.past.open_at(at) as opened:
            paid = opened.venue.resolutions([began[name][1].ref for name, _ in shares], as_of=at).found
        for name, side in shares:
            settled = latest_known(paid.get(name, ()), at)
            market = now[name][1] if name in now else None
            if settled is not None and settled.payout_yes is not None:
                marked[name, side] = settled.payout_yes if side == "YES" else 1.0 - settled.payout_yes
            elif market is not None and not market.closed and market.quote is not None and market.quote.price:
                marked[name, side] = market.quote.price.of(side)
        if at > second:
            worth_usd.append(sum(held * marked[key] for key, held in shares.items()))
    assert len(shares) == 5
    assert later.accounts["buy_and_hold"]["values_usd"] == pytest.approx(worth_usd, rel=1e-9)


def test_shares_that_never_change_lose_nothing_by_any_delay(later: Played) -> None:
    delays = later.accounts["buy_and_hold"]["delays"]
    assert [each["difference"] for each in delays] == [0.0] * 5
    assert any(each["difference"] != 0.0 for each in later.accounts["equal_weights"]["delays"])


@SOAK
def test_who_knows_tomorrow_is_hurt_by_every_delay(past: Past, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "oracle.py").write_text(ORACLE)
    (tmp_path / "gains.json").write_text(json.dumps(gains(past)))
    oracle = f'strategy = "oracle"\ngains = "{tmp_path / "gains.json"}"'
    found = played(tmp_path, "same", oracle, past=past)
    knows = found.accounts["oracle"]
    assert knows["cumulative_return"] > 1.0
    assert len(knows["delays"]) == 5 and all(each["difference"] < 0.0 for each in knows["delays"])
