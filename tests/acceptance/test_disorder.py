"""A venue as Polymarket was in late 2026: lists in disorder, volumes missing, No before Yes, an old list gone."""

import re
from pathlib import Path

import httpx
import pytest

from predibot.sandbox.server.fault import Fault
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.sandbox.world.world import World
from tests.acceptance.conftest import Predibot
from tests.soaks import few
from tests.venues.payloads import Clock, venue_of

PAGES = "sandbox:events=130"
"""Two pages of open events."""
CROWDED = "sandbox:events=60"
"""Fewer than the 500 markets that a cohort may have."""
LATER = "2026-01-19T12:00Z"
"""A fortnight after: each further day of prices is of all markets, and nothing is stranger in it."""
DAILY = 'venue = "{venue}"\n[[bots]]\nstrategy = "market_price"\n'
COHORT = 'venue = "{venue}"\nevery = "7d"\n[game]\nname = "weekly_cohort"\n[[bots]]\nstrategy = "random_trade"\n'


def test_a_day_in_disorder_plays_and_settles_the_same_with_a_note_on_each_oddity(predibot: Predibot) -> None:
    boards, chosen = [], []
    for name, venue in (("orderly", PAGES), ("odd", f"{PAGES},fault=disorder")):
        ledger = ("--ledger", f"sqlite:///{name}.db")
        Path(f"{name}.toml").write_text(DAILY.format(venue=venue))
        decided = predibot("decide", f"{name}.toml", "--events", "10", "--json", *ledger)
        assert decided.code == 0, decided.err
        chosen.append(sorted({each["event_id"] for each in decided.document["decisions"]}))
        evaluated = predibot("evaluate", "--as-of", LATER, "--venue", venue, "--json", *ledger)
        assert evaluated.code == 0, evaluated.err
        boards.append({each["bot"]: each for each in evaluated.document["bots"]})
    notes = "\n".join(decided.document["notes"])
    assert chosen[0] == chosen[1]
    for bot, orderly in boards[0].items():
        odd = boards[1][bot]
        assert (odd["forecasts"], odd["n_brier"]) == (orderly["forecasts"], orderly["n_brier"])
        assert odd["brier"] == pytest.approx(orderly["brier"], abs=0.002)
    assert "events listed stand below one with less volume; they are ranked here" in notes
    assert "events state no volume of a week, which is the sum of their markets'" in notes


def test_a_cohort_in_disorder_decides_and_is_tracked(predibot: Predibot) -> None:
    venue = f"{CROWDED},fault=disorder"
    Path("cohort.toml").write_text(COHORT.format(venue=venue))
    decided = predibot("decide", "cohort.toml", "--json")
    assert decided.code == 0, decided.err
    notes = "\n".join(decided.document["notes"])
    assert "6 events state no volume of a week, which is the sum of their markets'" in notes
    tracked = predibot("track", "--as-of", LATER, "--venue", venue, "--json")
    assert tracked.code == 0, tracked.err
    assert (tracked.document["markets"], tracked.document["notes"]) == (141, [])
    assert tracked.document["new_resolutions"] > 20


@pytest.mark.parametrize("events", few([300, 6_500], 300))
def test_a_disordered_list_at_a_second_a_page_is_read_within_its_time(events: int) -> None:
    clock, world = Clock(), World.from_seed(7, events=events)
    sandbox = SandboxServer(world, now=SANDBOX_OPENS_AT, options=SandboxOptions(fault=Fault("disorder")))

    def page(request: httpx.Request) -> httpx.Response:
        clock.seconds += 1.0
        said, _ = sandbox.reply(f"/gamma{request.url.raw_path.decode()}", body=None)
        return httpx.Response(said.status, content=said.body)

    venue, asked = venue_of(page, now=SANDBOX_OPENS_AT, clock=clock)
    listed = venue.events(SANDBOX_OPENS_AT)
    assert listed.complete and len(listed.events) + len(listed.skipped) > 0.92 * events
    assert len(asked.requests) == clock.seconds >= events / 100
    (note,) = (note.partition(" of ")[2] for note in listed.notes)
    assert re.fullmatch(r"the \d+ events listed stand below one with less volume; they are ranked here", note)
    cohort = venue.events_by_market(
        SANDBOX_OPENS_AT, enough=lambda events: sum(len(each.markets) for each in events) >= 500
    )
    assert sum(len(each.markets) for each in cohort.events) >= 500 and not cohort.complete
    assert len(asked.requests) == clock.seconds < events / 50 + 10
