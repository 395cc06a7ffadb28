"""Look-ahead: no answer of the sandbox depends on anything after the instant at which it is asked."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from predibot.sandbox.server.hosts.clob import answer_clob
from predibot.sandbox.server.hosts.gamma import answer_gamma
from predibot.sandbox.server.hosts.snapshot import Snapshot
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT, minute_of
from predibot.sandbox.world.world import Stage, World
from tests.soaks import few

SEED = 7
EVENTS = 8
INSTANTS = [SANDBOX_OPENS_AT + timedelta(days=days, minutes=17 * days) for days in (-30, 0, 45)]


def answers(world: World, instant: datetime) -> Iterator[tuple[str, bytes]]:
    """Yield every list and single object of a venue as of an instant, and all books and histories."""
    snapshot = Snapshot(world, minute_of(instant))
    seconds = int(instant.timestamp())
    for kind in ("events", "markets"):
        for closed in ("true", "false"):
            query = {"closed": [closed], "order": ["volume1wk"], "ascending": ["false"]}
            for offset in range(0, 2_000, 100):
                page = answer_gamma(snapshot, f"/{kind}", {**query, "limit": ["100"], "offset": [str(offset)]})
                yield f"{kind} closed={closed} from {offset}", page.body
    for number in world.event_numbers(snapshot.minute):
        for index in range(len(snapshot.state(number).markets)):
            yield from clob_answers(snapshot, number, index, seconds)


def clob_answers(snapshot: Snapshot, number: int, index: int, seconds: int) -> Iterator[tuple[str, bytes]]:
    token = snapshot.world.names.token_id(number, index, 0)
    yield f"book {number}", answer_clob(snapshot, "/book", {"token_id": [token]}, body=None, now_seconds=seconds).body
    for fidelity, interval in (("60", "max"), ("720", "all")):
        query = {"market": [token], "fidelity": [fidelity], "interval": [interval]}
        reply = answer_clob(snapshot, "/prices-history", query, body=None, now_seconds=seconds)
        yield f"history {number} by {fidelity}", reply.body


@pytest.mark.parametrize("instant", few(INSTANTS, INSTANTS[1]))
def test_an_altered_future_changes_no_byte_of_any_answer(instant: datetime) -> None:
    plain = World.from_seed(SEED, events=EVENTS)
    altered = World.from_seed(SEED, events=EVENTS, altered_after=instant)
    for (name, one), (_, other) in zip(answers(plain, instant), answers(altered, instant), strict=True):
        assert one == other, name


def test_an_altered_future_does_change_what_comes_later() -> None:
    later = minute_of(SANDBOX_OPENS_AT + timedelta(days=60))
    plain = World.from_seed(SEED, events=60)
    altered = World.from_seed(SEED, events=60, altered_after=SANDBOX_OPENS_AT)
    running = plain.maybe_open_numbers(minute_of(SANDBOX_OPENS_AT))
    pairs = [(plain.event(number, later), altered.event(number, later)) for number in running]
    payouts = [
        (one.payout, other.payout)
        for event, twin in pairs
        for one, other in zip(event.markets, twin.markets, strict=True)
        if one.stage is Stage.SETTLED
    ]
    assert sum(one != other for one, other in payouts) > 8
    titles = [(event.plan.wording.title, twin.plan.wording.title) for event, twin in pairs]
    assert all(one == other for one, other in titles)
