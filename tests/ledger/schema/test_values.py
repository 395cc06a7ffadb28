"""What columns hold: events as a run freezes them, those of earlier versions too."""

import json

from predibot.domain.event import Event, Market, MarketRef, OrderTerms
from predibot.ledger.schema.values import event_from_json, event_to_json

_TERMS = OrderTerms(True, 0.001, 5.0)
_EVENT = Event("1", "Who?", (Market(MarketRef("2"), "Somebody else?", ("Yes", "No"), orders=_TERMS, is_other=True),))


def test_an_event_is_read_as_it_was_frozen() -> None:
    assert event_from_json(event_to_json(_EVENT), payload="") == _EVENT


def test_an_event_of_an_earlier_version_states_nothing_of_orders() -> None:
    frozen = json.loads(event_to_json(_EVENT))
    (market,) = frozen["markets"]
    del market["orders"], market["is_other"]
    market["takes_orders"] = True
    (read,) = event_from_json(json.dumps(frozen), payload="").markets
    assert (read.orders, read.is_other) == (OrderTerms(), False)
