"""An archive of twelve events in four groups, whose prices jump on the same days, and one bot that bets on all."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from predibot.ledger.store import Store
from predibot.venues.archive.layout import snapshot_name
from tests.jobs.tiny import at, decide_on, paid, recipe_of, request_of, track_on
from tests.related.made import groups_of, logits_in_groups
from tests.venues.payloads import NOW, condition_of, event_payload, history_of, market_payload

DAY = timedelta(days=1)
EVENTS, GROUPS, DAYS = 12, 4, 110
AS_OF = NOW + 100 * DAY
LATER = NOW + DAYS * DAY
GROUP = groups_of(EVENTS, GROUPS)
TOPICS = ("election", "rates", "storm", "final")


def write_related(folder: Path, *, bend: float = 0.0) -> Path:
    """Write the archive: a day's price for each market, and what some paid at the end.

    Args:
        folder: Where.
        bend: By how much the logits of all that happens after `AS_OF` are moved; then other markets are settled too.
    """
    logits = logits_in_groups(np.random.default_rng(4), GROUP, days=DAYS)
    logits[:, 101:] += bend * np.arange(EVENTS)[:, np.newaxis]
    prices = np.round(1.0 / (1.0 + np.exp(-logits)), 4)
    for taken_at, day in ((NOW, 0), (AS_OF, 100), (LATER, DAYS - 1)):
        listed = [_event(number, float(prices[number - 1, day])) for number in range(1, EVENTS + 1)]
        _write(folder / "snapshots" / snapshot_name(taken_at) / "events.json", json.dumps(listed))
    for number in range(1, EVENTS + 1):
        points = [(at(NOW + day * DAY), float(prices[number - 1, day])) for day in range(DAYS)]
        _write(folder / "prices" / f"{10 * number}.json", history_of(*points))
    settled = {1: 1.0, 2: 0.0, 3: 1.0, 4: 1.0, 5: 1.0, 6: 1.0, 7: 0.0, 8: 0.0, 9: 0.0, 10: 1.0, 11: 1.0, 12: 0.0}
    rows = {condition_of(number): paid(99.5, yes) for number, yes in settled.items()}
    if bend:
        rows |= {
            condition_of(number): [paid(99.5, settled[number]), paid(99.5, 0.5, effective_days=105)]
            for number in (1, 2)
        }
    _write(folder / "resolutions.json", json.dumps(rows))
    return folder


def play(store: Store, folder: Path, *, until: datetime = AS_OF) -> None:
    """Have three bots bet on all events, and track them."""
    selection: dict[str, object] = {"ends_within_days": "any", "exclude": [], "min_volume_24h_usd": 0, "events": EVENTS}
    bots = ("market_price", "random_bet", 'strategy = "random_bet"\nname = "other"')
    recipe = recipe_of(*bots, **{f"selection.{name}": value for name, value in selection.items()})
    decide_on(store, folder, request_of(recipe))
    track_on(store, folder, as_of=until)


def related() -> None:
    """Write the archive, and have bots bet on it in `ledger.db`."""
    with Store.open("sqlite:///ledger.db") as store:
        play(store, write_related(Path("archive").absolute()))


def bent_until_then() -> None:
    """Do the same where all that happens later is bent."""
    _bent(AS_OF)


def bent_until_later() -> None:
    """Do the same, and track what happens later too."""
    _bent(LATER)


def _bent(until: datetime) -> None:
    with Store.open("sqlite:///ledger.db") as store:
        play(store, write_related(Path("archive").absolute(), bend=0.7), until=until)


def _event(number: int, price: float) -> dict[str, object]:
    topic = TOPICS[GROUP[number - 1]]
    market = market_payload(
        number,
        question=f"Will the {topic} be called off in town {number}?",
        bestBid=None,
        bestAsk=None,
        outcomePrices=json.dumps([f"{price:.4f}", f"{1 - price:.4f}"]),
        endDate="2027-03-01T00:00:00Z",
        volumeNum=1000.0 * number,
    )
    tags = [{"id": str(GROUP[number - 1]), "label": topic.title(), "slug": topic}]
    return event_payload(number, market, title=f"The {topic}, town {number}", tags=tags, endDate="2027-03-02T00:00:00Z")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
