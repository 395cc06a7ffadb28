"""The main job once more in plain Python, from an archive's JSON alone: what predibot's numbers are held against.

Nothing of predibot is imported. `selection.md` and `scoring.md` are read anew
here, with dictionaries and loops.
"""

import json
import math
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DAY = 86_400.0
CRYPTO = """
bitcoin btc ethereum eth solana xrp ripple dogecoin doge crypto cryptocurrency cryptocurrencies blockchain
stablecoin stablecoins usdt usdc tether memecoin memecoins altcoin altcoins nft nfts defi airdrop airdrops
fdv tge token tokens megaeth hyperliquid binance coinbase microstrategy"""
SPENDING = "spending spend cut cuts budget musk elon department"
Json = Any


def seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC).timestamp()


def snapshot(folder: Path, as_of: float) -> tuple[float, Json]:
    """Return when the latest snapshot at or before an instant was taken, and its events."""
    taken = {
        datetime.strptime(each.name, "%Y-%m-%dT%H%M%SZ").replace(tzinfo=UTC).timestamp(): each
        for each in (folder / "snapshots").iterdir()
    }
    at = max(instant for instant in taken if instant <= as_of)
    return at, json.loads((taken[at] / "events.json").read_text())


def listed(value: Json) -> list[Json]:
    found = json.loads(value) if isinstance(value, str) and value else value
    return list(found or [])


def number(value: Json) -> float | None:
    return None if value in (None, "") else float(value)


def series(folder: Path, market: Json) -> list[tuple[float, float]]:
    tokens = listed(market.get("clobTokenIds"))
    path = folder / "prices" / f"{tokens[0]}.json" if tokens else folder
    if not path.is_file():
        return []
    return sorted((point["t"], float(point["p"])) for point in json.loads(path.read_text())["history"])


def last_price(points: list[tuple[float, float]], after: float, until: float) -> float | None:
    seen = [price for at, price in points if after < at <= until]
    return seen[-1] if seen else None


def price_yes(folder: Path, market: Json, taken_at: float, as_of: float) -> float | None:
    """Return p0: mid, displayed or last of a fresh snapshot, else a price of the last 24 hours."""
    if as_of - taken_at > DAY:
        return last_price(series(folder, market), as_of - DAY - 1e-6, as_of)
    bid, ask = number(market.get("bestBid")), number(market.get("bestAsk"))
    if bid is not None and ask is not None and bid > 0 and ask < 1 and 0 <= ask - bid <= 0.10 + 1e-9:
        return (bid + ask) / 2
    shown = listed(market.get("outcomePrices"))
    return number(shown[0]) if shown else number(market.get("lastTradePrice"))


def settlement(folder: Path, market: Json, until: float) -> tuple[float, float] | None:
    """Return when and with what payout of YES a market settled, as known at an instant."""
    found = json.loads((folder / "resolutions.json").read_text()).get(market.get("conditionId"))
    return (found["resolved_at"], found["payouts"][0]) if found and found["resolved_at"] <= until else None


def is_crypto(event: Json) -> bool:
    words = re.findall(r"[a-z0-9]+", f"{event['title']} {event.get('slug', '')}".lower())
    hits = set(CRYPTO.split()) & set(words)
    return bool(hits - {"doge"}) or ("doge" in hits and not set(SPENDING.split()) & set(words))


def ends(event: Json) -> float | None:
    own = event.get("endDate")
    if own:
        return seconds(own)
    ends = [seconds(market["endDate"]) for market in event["markets"] if market.get("endDate")]
    return max(ends) if ends else None


def selected(
    folder: Path, as_of: float, *, min_volume_24h: float, min_hours_left: float = -math.inf
) -> list[tuple[str, dict[str, float], Json]]:
    """Return the chosen events in order: id, YES price by market id in the order played, and the markets by id."""
    taken_at, events = snapshot(folder, as_of)
    chosen = []
    for event in events:
        prices = {}
        for market in event["markets"]:
            price = price_yes(folder, market, taken_at, as_of)
            is_open = not market.get("closed") and settlement(folder, market, as_of) is None
            if is_open and len(listed(market["outcomes"])) == 2 and price is not None and 0 < price < 1:
                prices[str(market["id"])] = price
        end, volume = ends(event), number(event.get("volume24hr"))
        passes = prices and not event.get("closed") and not event.get("archived") and not is_crypto(event)
        in_time = end is not None and min_hours_left * 3600 <= end - as_of <= 60 * DAY
        if passes and in_time and (volume is None or volume >= min_volume_24h):
            chosen.append((str(event["id"]), prices, {str(market["id"]): market for market in event["markets"]}, event))
    chosen.sort(key=lambda each: (least_last(each[3]), each[0]))
    played = []
    for event_id, prices, markets, _ in chosen[:10]:
        # Equal prices are told apart by this order too: the most traded market comes first.
        kept = sorted(prices, key=lambda m: (least_last(markets[m]), m))[:20]
        played.append((event_id, {m: prices[m] for m in kept}, markets))
    return played


def least_last(traded: Json) -> float:
    volume = number(traded.get("volume1wk"))
    return math.inf if volume is None else -volume


def bets(bot: str, prices: dict[str, float]) -> dict[str, float]:
    """Return signed dollars by market: positive on YES."""
    sides = [(m, side, p if side > 0 else 1 - p) for m, p in prices.items() for side in (1, -1)]
    if bot == "favourite":
        market, side, _ = max(sides, key=lambda each: each[2])
        return {market: float(side)}
    if bot == "underdog":
        market, side, _ = min((each for each in sides if each[2] >= 0.01), key=lambda each: each[2])
        return {market: float(side)}
    favoured = {m: 1 if p >= 0.5 else -1 for m, p in prices.items()}
    if bot == "market_price":
        return {m: side / len(prices) for m, side in favoured.items()}
    # A side below a tenth of a cent may not be bet on; always_half leaves it out.
    cheap = {m for m, p in prices.items() if (1 - p if p >= 0.5 else p) < 0.001}
    allowed = {m: -side for m, side in favoured.items() if m not in cheap}
    return {m: side / len(allowed) for m, side in allowed.items()}


def mean_return(folder: Path, bot: str, as_of: float, now: float, horizon: float | str, played: Json) -> Json:
    """Return a bot's mean return and over how many decisions, after so many days, `now` or `settled`."""
    returns = []
    for _, prices, markets in played:
        at = now if isinstance(horizon, str) else as_of + horizon * DAY
        gains = []
        for market_id, bet in bets(bot, prices).items():
            exit_yes = _price_at(folder, markets[market_id], as_of, at, settled_only=horizon == "settled")
            entry = prices[market_id] if bet > 0 else 1 - prices[market_id]
            paid = None if exit_yes is None else (exit_yes if bet > 0 else 1 - exit_yes)
            gains.append(None if paid is None else abs(bet) * (paid / entry - 1))
        priced = [gain for gain in gains if gain is not None]
        if at <= now and len(priced) == len(gains):
            returns.append(math.fsum(priced))
    return (math.fsum(returns) / len(returns) if returns else None), len(returns)


def _price_at(folder: Path, market: Json, as_of: float, at: float, *, settled_only: bool) -> float | None:
    ended = settlement(folder, market, at)
    if ended is not None or settled_only:
        return ended[1] if ended else None
    # Three days old is still a price, a moment more is not.
    return last_price(series(folder, market), max(as_of, at - 3 * DAY - 1e-6), at)


def edge(folder: Path, bot: str, as_of: float, now: float, played: Json) -> Json:
    """Return a bot's mean edge over the price, and over how many events that have a market with a price or a payout."""
    each = []
    for _, prices, markets in played:
        gained = []
        for market_id, price in prices.items():
            worth = _price_at(folder, markets[market_id], as_of, now, settled_only=False)
            if worth is not None:
                said = 0.5 if bot == "always_half" else price
                gained.append((price - worth) ** 2 - (said - worth) ** 2)
        if gained:
            each.append(math.fsum(gained) / len(gained))
    return (math.fsum(each) / len(each) if each else None), len(each)


def probability_scores(folder: Path, bot: str, now: float, played: Json) -> Json:
    """Return how many forecasts settled, Brier, log score, and skill against the price."""
    pairs = []
    for _, prices, markets in played:
        for market_id, price in prices.items():
            ended = settlement(folder, markets[market_id], now)
            if ended is not None and ended[1] in (0.0, 1.0):
                pairs.append((0.5 if bot == "always_half" else price, price, ended[1]))
    if not pairs:
        return 0, None, None, None
    brier = math.fsum((p - y) ** 2 for p, _, y in pairs) / len(pairs)
    market = math.fsum((q - y) ** 2 for _, q, y in pairs) / len(pairs)
    clipped = [(min(0.99, max(0.01, p)), y) for p, _, y in pairs]
    log = -math.fsum(math.log(p if y == 1.0 else 1 - p) for p, y in clipped) / len(pairs)
    return len(pairs), brier, log, (1 - brier / market if market else None)
