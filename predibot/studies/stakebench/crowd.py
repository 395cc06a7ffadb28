"""A simulated crowd: markets, prices, comments and trades from a seed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["trade", "split", "merge", "convert", "redeem", "limit", "cancelled", "redemption"]

BEGINS = 1_767_225_600
"""2026-01-01T00:00Z in Unix seconds."""
DAY = 86_400
LASTS_DAYS = 60
PLACED_BEFORE = 3_600
"""Seconds from a limit order to its first fill."""
_TRADES_AFTER = 0.6
"""The chance that a user who trades acts within two days of a comment: about half of all holders change nothing."""
LONG_THREAD = 760
"""Comments of a thread that is longer than the venue serves."""

_TOPICS = (
    "Will Bitcoin close above ${n}k in March?",
    "Will the Senate pass bill {n} by March?",
    "Will Russia and Ukraine sign a ceasefire by March {n}?",
    "Will the Fed cut rates by {n} basis points?",
    "Will OpenAI release model {n} by March?",
    "Will team {n} win the NBA finals?",
)
_WORDS = (
    "I am {mood} on this, the odds of {n} percent are {more} than they should be",
    "not sure what the market sees in it, but {n} is {more} than I would pay for that",
    "the last news was {mood} for it and there are {n} days left, which is {more} than enough",
)


@dataclass(frozen=True, slots=True)
class CrowdTrade:
    """A change of a user's shares in a market."""

    at: int
    kind: Kind
    yes: int
    """Change of YES shares, negative for shares given up; `no` is that of NO."""
    no: int
    paid: int
    """Paid less received, in the venue's currency; 0 for all but trades and limit fills."""
    order: int = 0
    """The limit order that a fill belongs to, counted from 1."""


@dataclass(frozen=True, slots=True)
class CrowdComment:
    """A comment."""

    id: str
    user: str
    at: int
    text: str
    parent: str = ""


@dataclass(frozen=True, slots=True)
class CrowdMarket:
    """A market with its whole history."""

    number: int
    question: str
    series: int | None
    """The one whose thread it shares; None for a thread of its own."""
    closes: int
    pays_yes: bool
    prices: tuple[tuple[int, int], ...]
    """(second, thousandths of YES), in order."""
    trades: dict[str, tuple[CrowdTrade, ...]]
    comments: tuple[CrowdComment, ...]

    @property
    def thread(self) -> str:
        """Return the id of its thread."""
        return f"s{self.series}" if self.series is not None else f"e{self.number}"

    def price_at(self, second: int) -> int:
        """Return the price of YES at a second, in thousandths."""
        return next((price for at, price in reversed(self.prices) if at <= second), self.prices[0][1])


def crowd(seed: int, *, manifold: bool, markets: int = 16, comments: int = 2_000) -> tuple[CrowdMarket, ...]:
    """Return a crowd with about `comments` comments, counting each thread for every market that shows it.

    On Polymarket the markets 0 to 2 share a thread, and market 3 has more comments than the venue serves.
    """
    rng = random.Random(f"crowd|{seed}|{manifold}")
    users = [f"0x{rng.getrandbits(160):040x}" if not manifold else f"u{rng.getrandbits(64):016x}" for _ in range(70)]
    long = 0 if manifold or markets < 6 or comments < 1_500 else LONG_THREAD
    each = max(1, (comments - long) // (markets - bool(long)))
    shared: dict[int, tuple[CrowdComment, ...]] = {}
    made = []
    for number in range(markets):
        series = 0 if not manifold and number < 3 else None
        count = long if long and number == 3 else each
        if series is not None and series in shared:
            thread = shared[series]
        else:
            thread = _comments(rng, users, number, count)
            if series is not None:
                shared[series] = thread
        closes = BEGINS + LASTS_DAYS * DAY + rng.randrange(DAY)
        wrote = {user: [comment.at for comment in thread if comment.user == user] for user in users}
        deeds = {user: _deeds(rng, closes, wrote[user], manifold=manifold) for user in users}
        question = _TOPICS[number % len(_TOPICS)].format(n=50 + number)
        prices = _prices(rng, closes, deeds, manifold=manifold)
        made.append(CrowdMarket(number, question, series, closes, rng.random() < 0.5, prices, deeds, thread))
    return tuple(made)


def _comments(rng: random.Random, users: list[str], number: int, count: int) -> tuple[CrowdComment, ...]:
    seconds = sorted(rng.sample(range(BEGINS + 3 * DAY, BEGINS + (LASTS_DAYS - 1) * DAY), count))
    found: list[CrowdComment] = []
    for index, at in enumerate(seconds):
        words = rng.choice(_WORDS).format(
            mood=rng.choice(("bullish", "bearish")), n=rng.randrange(100), more=rng.choice(("more", "less"))
        )
        # Cleaning removes a tenth: too short, addresses only, or another language.
        if rng.random() < 0.1:
            words = rng.choice(
                ("to the moon", "https://example.org/a/page/of/its/own", "да это же совершенно ясно всем")
            )
        parent = rng.choice(found[-20:]) if found and rng.random() < 0.4 else None
        top = "" if parent is None else parent.parent or parent.id
        found.append(CrowdComment(f"{number}{index:05d}", rng.choice(users), at, words, top))
    return tuple(found)


def _deeds(rng: random.Random, closes: int, wrote: Sequence[int], *, manifold: bool) -> tuple[CrowdTrade, ...]:
    """Return a user's trades in a market: at any time, and often after comments."""
    if rng.random() < 0.3:
        return ()
    yes = no = order = 0
    found: list[CrowdTrade] = []
    # Trades come in bursts, so that some within a minute cancel out.
    moments = rng.sample(range(BEGINS, closes - DAY), rng.randrange(2, 9))
    soon = [at + rng.randrange(600, 2 * DAY) for at in wrote if rng.random() < _TRADES_AFTER]
    moments = sorted({*moments, *(at for at in soon if at < closes - DAY)})
    for moment in moments:
        for at in (moment, moment + rng.randrange(1, 50)) if rng.random() < 0.2 else (moment,):
            kinds: list[Kind] = ["trade"] * 5
            kinds += ["limit", "cancelled", "redemption"] if manifold else ["split", "merge", "convert"]
            kind = rng.choice(kinds)
            is_yes, size, price = rng.random() < 0.5, 10 * rng.randrange(1, 40), rng.randrange(20, 80)
            held = yes if is_yes else no
            if kind == "split":
                deed = CrowdTrade(at, kind, size, size, 0)
            elif kind in ("merge", "redemption"):
                pairs = min(yes, no)
                if not pairs:
                    continue
                deed = CrowdTrade(at, kind, -pairs, -pairs, 0)
            elif kind == "convert":
                if not is_yes and not no:
                    continue
                deed = CrowdTrade(at, kind, size, 0, 0) if is_yes else CrowdTrade(at, kind, 0, -min(no, size), 0)
            elif kind == "cancelled":
                deed = CrowdTrade(at, kind, size if is_yes else 0, 0 if is_yes else size, 0)
            elif kind == "limit":
                order += 1
                fills = [size // 2, size - size // 2]
                later = sorted(rng.sample(range(at + 1, at + 4 * DAY), 2))
                for when, part in zip(later, fills, strict=True):
                    if when < closes - DAY:
                        found.append(_trade(when, "limit", part, price, is_yes=is_yes, order=order))
                continue
            else:
                sells = held > 0 and rng.random() < 0.45
                moved = -min(held, size) if sells else size
                deed = _trade(at, "trade", moved, price, is_yes=is_yes)
            # Shares of a limit order are not sold again, as its fills come later.
            if kind not in ("cancelled", "redemption"):
                yes, no = yes + deed.yes, no + deed.no
            found.append(deed)
    if not manifold and rng.random() < 0.3:
        found.append(CrowdTrade(closes + 3_600, "redeem", -max(yes, 0), -max(no, 0), 0))
    return tuple(sorted(found, key=lambda deed: deed.at))


def _trade(at: int, kind: Kind, moved: int, price: int, *, is_yes: bool, order: int = 0) -> CrowdTrade:
    paid = moved * price // 100
    return CrowdTrade(at, kind, moved if is_yes else 0, 0 if is_yes else moved, paid, order)


def _prices(
    rng: random.Random, closes: int, deeds: dict[str, tuple[CrowdTrade, ...]], *, manifold: bool
) -> tuple[tuple[int, int], ...]:
    """Return a random walk of prices: a step at each bet on Manifold, else every twelve hours."""
    if manifold:
        placed: dict[tuple[str, int], int] = {}
        seconds = set()
        for user, done in deeds.items():
            for deed in done:
                if deed.kind == "trade":
                    seconds.add(deed.at)
                elif deed.kind == "limit":
                    # Its only price is that at its placing.
                    placed.setdefault((user, deed.order), deed.at - PLACED_BEFORE)
        seconds.update(placed.values())
    else:
        seconds = set(range(BEGINS, closes, DAY // 2))
    price, found = rng.randrange(300, 700), []
    for second in sorted(seconds):
        price = min(980, max(20, price + rng.randrange(-30, 31)))
        found.append((second, price))
    return tuple(found)
