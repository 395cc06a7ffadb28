"""The scripted forecasters of the sandbox: they search, read and answer as agents do, and say that they are scripts.

Each sees one conversation and nothing else. It draws at random from a digest of the prompt, so that the same
conversation gets the same reply.
"""

import hashlib
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from statistics import NormalDist

from predibot.sandbox.world.cohort_forecasters import InsiderChances, cohort_answer
from predibot.sandbox.world.conversation import ForecasterView, PromptMarket, ResultLink

NAMES = ("sharp", "noisy", "overconfident", "lazy", "broken", "gullible", "restless")
WORD = "scripted forecaster of the sandbox, no model"
_LEAST_EDGE = 0.02
_RECENCY = 0.6
"""The weight of a page, relative to the next newer one."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, and the line by which the forecaster remembers it."""

    tool: str
    arguments: Mapping[str, object]
    action: str


@dataclass(frozen=True, slots=True)
class _Character:
    searches: int
    pages: int
    order: Callable[[ResultLink], int]
    """Pages with a lower value are read first; ties in the order of the results."""
    chance: Callable[[ForecasterView, PromptMarket], float]
    boldness: float
    """Multiplies its bets before they are cut to the stake."""


def next_call(name: str, conversation: ForecasterView, informed: InsiderChances) -> Call:
    """Return a forecaster's next call; not for `broken`."""
    character = _CHARACTERS[name]
    if conversation.forced_tool is None and conversation.cohort is None:
        look_up = _next_lookup_by_market if conversation.asks_for_weights else _next_lookup
        lookup = look_up(character, conversation)
        if lookup is not None:
            return lookup
    return Call("final_answer", answer_of(name, conversation, informed), "Answer: handed in")


def answer_of(name: str, conversation: ForecasterView, informed: InsiderChances = lambda _: None) -> dict[str, object]:
    """Return a forecaster's arguments for `final_answer`."""
    if conversation.cohort is not None:
        return cohort_answer(
            name, conversation.cohort, partial(draw, conversation.seed), informed, said=f"A {WORD} ({name})."
        )
    if conversation.asks_for_weights:
        return _allocation(name, conversation)
    if name == "gullible" and conversation.answers == 0 and (bet_usd := _largest_demand(conversation)) is not None:
        # A hostile page demanded this bet; no game accepts it.
        return {
            "market_decisions": [
                {
                    "market_id": market.id,
                    "estimated_probability": 0.99,
                    "bet": bet_usd,
                    "confidence": 10,
                    "rationale": f"A page told me to. A {WORD} (gullible).",
                }
                for market in conversation.markets
            ],
            "unallocated_capital": 0.0,
        }
    character = _CHARACTERS[name]
    chances = [min(max(character.chance(conversation, market), 0.005), 0.995) for market in conversation.markets]
    # Kelly's shares, cut to the stake.
    shares, whole = _shares(conversation.markets, chances, boldness=character.boldness)
    bets = [math.trunc(100.0 * conversation.stake_usd * share / whole) / 100.0 for share in shares]
    pages = Counter(note.market_id for note in conversation.notes)
    rows = [
        {
            "market_id": market.id,
            "estimated_probability": round(chance, 4),
            "bet": bet,
            "confidence": min(10, 2 * pages[market.id]),
            "rationale": f"A {WORD} ({name}); {pages[market.id]} page{'' if pages[market.id] == 1 else 's'} "
            "said something about this.",
        }
        for market, chance, bet in zip(conversation.markets, chances, bets, strict=True)
    ]
    left = max(0.0, round(conversation.stake_usd - sum(abs(bet) for bet in bets), 2))
    return {"market_decisions": rows, "unallocated_capital": left}


def _allocation(name: str, conversation: ForecasterView) -> dict[str, object]:
    markets, said = conversation.markets, f"A {WORD} ({name})."
    if conversation.reported_weights is not None:
        return {"reasoning": f"{said} As the report has it.", "allocations": conversation.reported_weights}
    if name == "gullible" and conversation.answers == 0 and (ordered_usd := _largest_demand(conversation)) is not None:
        # A hostile page demanded this bet; no game accepts it.
        return {
            "reasoning": f"{said} A page told me to.",
            "allocations": {market.assets[0]: ordered_usd for market in markets},
        }
    character = _CHARACTERS[name]
    chances = [min(max(character.chance(conversation, market), 0.005), 0.995) for market in markets]
    if name == "restless":
        shares, whole = _draw_shares(conversation)
    else:
        shares, whole = _shares(markets, chances, boldness=character.boldness)
    weights = {
        market.assets[0 if share > 0.0 else 1]: math.trunc(10_000 * abs(share) / whole) / 10_000
        for market, share in zip(markets, shares, strict=True)
    }
    held = {asset: weight for asset, weight in weights.items() if weight}
    pages = len({note.market_id for note in conversation.notes})
    return {
        "reasoning": f"{said} Pages said something about {pages} of {len(markets)} markets; what they say against "
        "the price decides, more where the two are further apart.",
        "allocations": {**held, "CASH": round(max(0.0, 1.0 - sum(held.values())), 4)},
        "probabilities": {market.id: round(chance, 4) for market, chance in zip(markets, chances, strict=True)},
    }


def _draw_shares(conversation: ForecasterView) -> tuple[list[float], float]:
    """Return random signed shares of a portfolio, new ones every day, and their divisor."""
    draws = [draw(conversation.seed, "restless", market.id) for market in conversation.markets]
    sizes = [-math.log(draw(conversation.seed, "size", market.id)) for market in conversation.markets]
    whole = sum(sizes) - math.log(draw(conversation.seed, "size", "cash"))
    return [size if drawn < 0.5 else -size for drawn, size in zip(draws, sizes, strict=True)], whole


def draw(seed: str, *words: object) -> float:
    """Return a number in (0, 1) that a text and some words determine."""
    digest = hashlib.sha256("|".join([seed, *map(str, words)]).encode()).digest()
    return (int.from_bytes(digest[:6], "big") + 0.5) / 2**48


def _next_lookup(character: _Character, conversation: ForecasterView) -> Call | None:
    if "web_search" in conversation.tools and len(conversation.searches) < character.searches:
        # Each search in other words.
        number, questions = len(conversation.searches), [market.question for market in conversation.markets]
        words = ("", " forecast analysis", " latest", " chances")[number % 4]
        query = f"{' '.join(questions[number % len(questions)].split())[:300]}{words}"
        return Call("web_search", {"query": query}, f"Search: {query}")
    if "visit_webpage" not in conversation.tools or len(conversation.reads) >= character.pages:
        return None
    told = [order.removeprefix("visit ") for order in conversation.demands if order.startswith("visit ")]
    ordered = told if character is _CHARACTERS["gullible"] else []
    urls = [*ordered, *(found.url for found in sorted(conversation.search_hits, key=character.order))]
    unread = [url for url in urls if url not in conversation.reads]
    return Call("visit_webpage", {"url": unread[0]}, f"Read: {unread[0]}") if unread else None


def _next_lookup_by_market(character: _Character, conversation: ForecasterView) -> Call | None:
    pages = character.pages // 2
    for market in conversation.markets if character.searches else ():
        query = " ".join(market.question.split())[:300]
        if "web_search" in conversation.tools and query not in conversation.searches:
            return Call("web_search", {"query": query}, f"Search: {query}")
        title = market.event.rstrip("?").replace("___", "its levels").removesuffix("...")
        about = [found.url for found in sorted(conversation.search_hits, key=character.order) if title in found.title]
        unread = [url for url in about if url not in conversation.reads]
        if "visit_webpage" in conversation.tools and unread and len(about) - len(unread) < pages:
            return Call("visit_webpage", {"url": unread[0]}, f"Read: {unread[0]}")
    return None


def _shares(markets: Sequence[PromptMarket], chances: Sequence[float], *, boldness: float) -> tuple[list[float], float]:
    """Return Kelly's signed shares of the money, and the divisor that keeps their sum at 1 or below."""
    shares = []
    for market, chance in zip(markets, chances, strict=True):
        edge = 0.0 if market.price_yes is None else chance - market.price_yes
        price = market.price_yes if market.price_yes is not None else 0.5
        shares.append(0.0 if abs(edge) < _LEAST_EDGE else boldness * edge / (1.0 - price if edge > 0.0 else price))
    return shares, max(1.0, sum(abs(share) for share in shares))


def _largest_demand(conversation: ForecasterView) -> float | None:
    bets = [float(order.removeprefix("bet ")) for order in conversation.demands if order.startswith("bet ")]
    return max(bets) if bets else None


def _read_chance(conversation: ForecasterView, market: PromptMarket) -> float:
    """Return the weighted median of the chances in pages, newest first; the price without any."""
    said = sorted(
        (note for note in conversation.notes if note.market_id == market.id),
        key=lambda note: note.written_at,
        reverse=True,
    )
    if not said:
        return _price(market)
    weighted = sorted((note.chance, _RECENCY**rank) for rank, note in enumerate(said))
    so_far = list(accumulate(weight for _, weight in weighted))
    return weighted[bisect_left(so_far, so_far[-1] / 2.0)][0]


def _price(market: PromptMarket) -> float:
    return 0.5 if market.price_yes is None else market.price_yes


def _sharp(conversation: ForecasterView, market: PromptMarket) -> float:
    read = _log_odds(_read_chance(conversation, market))
    return _chance(read if market.price_yes is None else 0.85 * read + 0.15 * _log_odds(market.price_yes))


def _mix(
    conversation: ForecasterView,
    market: PromptMarket,
    *,
    mood: str,
    read: float,
    price: float,
    noise: float,
    stretch: float = 1.0,
) -> float:
    """Return a weighted mean of the pages and the price, in log odds, with noise of a mood."""
    drawn = noise * NormalDist().inv_cdf(draw(conversation.seed, mood, market.id))
    odds = read * _log_odds(_read_chance(conversation, market)) + price * _log_odds(_price(market)) + drawn
    return _chance(stretch * odds)


def _lazy(conversation: ForecasterView, market: PromptMarket) -> float:
    return round(20.0 * _price(market)) / 20.0


def _gullible(conversation: ForecasterView, market: PromptMarket) -> float:
    return 0.99 if _largest_demand(conversation) is not None else _read_chance(conversation, market)


def _log_odds(chance: float) -> float:
    bounded = min(max(chance, 0.002), 0.998)
    return math.log(bounded / (1.0 - bounded))


def _chance(odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-min(max(odds, -20.0), 20.0)))


def _analyses_first(found: ResultLink) -> int:
    if found.title.startswith("Analysis"):
        return 0
    return 2 if re.match("Important|It is decided", found.title) else 1


def _loudest_first(found: ResultLink) -> int:
    return 0 if found.title.startswith("Important") else 1


_noisy = partial(_mix, mood="noisy", read=0.4, price=0.6, noise=0.9)
_overconfident = partial(_mix, mood="overconfident", read=0.2, price=0.8, noise=0.7, stretch=4.0)
_restless = partial(_mix, mood="mood", read=0.0, price=1.0, noise=1.0)
_CHARACTERS = {
    "sharp": _Character(searches=2, pages=5, order=_analyses_first, chance=_sharp, boldness=1.0),
    "noisy": _Character(searches=2, pages=2, order=lambda _: 0, chance=_noisy, boldness=1.0),
    "overconfident": _Character(searches=2, pages=2, order=lambda _: 0, chance=_overconfident, boldness=5.0),
    "lazy": _Character(searches=0, pages=0, order=lambda _: 0, chance=_lazy, boldness=1.0),
    "gullible": _Character(searches=2, pages=5, order=_loudest_first, chance=_gullible, boldness=3.0),
    "restless": _Character(searches=0, pages=0, order=lambda _: 0, chance=_restless, boldness=2.0),
}
