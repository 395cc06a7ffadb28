"""Weekly cohorts through whole commands: which decide, who plays in them, and what one that fails holds up."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from predibot import strategies
from predibot.config import Settings
from predibot.contracts import OpenVenue
from predibot.domain.event import Event
from predibot.domain.price import Quote
from predibot.jobs.decide import DecideReport, decide
from predibot.jobs.deciding.accounts.turn import track_accounts
from predibot.jobs.deciding.venue_board import VenueBoard
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.verify import verify
from predibot.ledger.read.accounts.cohort_statement import cohort_statements
from predibot.ledger.read.accounts.cohorts import cohorts_as_of
from predibot.ledger.store import Store
from predibot.venues.archive.layout import snapshot_name
from predibot.venues.polymarket.parse import parse_event
from tests.jobs.deciding.accounts.walks import rows
from tests.jobs.program import Program, document_of
from tests.jobs.test_live import Live
from tests.jobs.tiny import decide_on, nobody, paid, recipe_of, request_of
from tests.ledger.statements import found
from tests.soaks import ONE_DATABASE
from tests.venues.payloads import NOW, condition_of, event_payload, market_payload

RECIPE = """
venue = "sandbox:events=6,named=1"
every = "7d"
[game]
name = "weekly_cohort"
[[bots]]
strategy = "random_trade"
"""
HOLDS = '''"""Holds."""
from dataclasses import dataclass
from predibot.domain.decision import Decision

@dataclass(frozen=True, slots=True)
class Holds:
    """Hold."""
    games = ("weekly_cohort",)

    def decide(self, context):
        """Return a decision without an order."""
        return Decision()
'''
LATE = '''"""Bets on the market that closes first, and thinks until it has closed, but only once."""
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from predibot.domain.decision import Decision, Order

@dataclass(frozen=True, slots=True)
class Late:
    """Think too long, once."""
    clock: str
    games = ("weekly_cohort",)

    def decide(self, context):
        """Return a bet of $100."""
        open_ones = [each for each in context.view.markets if each.outcomes[0].price and each.market.closes_at]
        first = min(open_ones, key=lambda each: each.market.closes_at)
        if not Path(self.clock).exists():
            Path(self.clock).write_text((context.now + timedelta(days=6)).isoformat())
        return Decision(orders=(Order(first.outcomes[0].instrument, 100.0),))
'''
SUNDAY = datetime.fromisoformat("2026-01-11T00:05:00+00:00")


def played(program: Program, recipe: str, week: int, *more: str, code: int = 0) -> Any:
    """Play a week of a recipe in a process of its own, and return its document."""
    (program.folder / "mine.toml").write_text(recipe)
    at = (SUNDAY + timedelta(weeks=week)).isoformat()
    process = program.start(
        "replay", "mine.toml", "--from", at, "--to", at, "--ledger", program.ledger, "--json", *more
    )
    return document_of(process, code=code)


def decided(program: Program, week: int) -> dict[tuple[str, str], tuple[str, str]]:
    """Return status and message of each decision of a week, by cohort and bot."""
    slot = (SUNDAY + timedelta(weeks=week)).strftime("%Y-%m-%d")
    statement = f"""SELECT s.subject_id, b.name, d.status, d.message FROM decisions d JOIN bots b ON b.id = d.bot_id
        JOIN subjects s ON s.id = d.subject_row JOIN runs r ON r.id = d.run_id WHERE r.key LIKE '%@{slot}T%'"""
    return {(cohort, bot): (status, said) for cohort, bot, status, said in found(program.ledger, statement)}


BOTH_BOTS = f'{RECIPE}[[bots]]\nstrategy = "holds"\n'


@pytest.fixture
def holding(program: Program) -> Program:
    """Return the program, which has played a week of both bots."""
    program.strategy("holds", HOLDS)
    played(program, BOTH_BOTS, 0)
    return program


def test_a_member_whose_strategy_is_gone_fails_by_itself_and_comes_back_with_it(holding: Program) -> None:
    (holding.folder / "probes" / "holds.py").unlink()
    document = played(holding, RECIPE, 1, code=3)
    assert document["replay"]["totals"]["failed"] == 1
    found = decided(holding, 1)
    status, said = found.pop(("2026-01-11", "holds"))
    assert status == "failed" and "no strategy 'holds'" in said
    assert found == {(week, "random_trade"): ("recorded", "") for week in ("2026-01-11", "2026-01-18")}
    holding.strategy("holds", HOLDS)
    played(holding, RECIPE, 1)
    assert decided(holding, 1)["2026-01-11", "holds"] == ("recorded", "")


def test_a_member_that_starts_programs_plays_where_a_bot_of_the_recipe_does(holding: Program) -> None:
    holding.strategy("holds", HOLDS.replace("    games", "    starts_program = True\n    games"))
    error = played(holding, RECIPE, 1, code=2)["error"]
    assert error["kind"] == "NotTrusted" and 'strategy = "holds"' in error["message"]
    (holding.folder / "mine.toml").write_text(BOTH_BOTS)
    assert json.loads(holding.start("trust", "--json").communicate()[0])["trusted"]
    played(holding, BOTH_BOTS, 1)


def cohorts_of(store: Store, folder: Path, as_of: datetime, **options: str | int) -> set[str]:
    """Return which cohorts decide in a run of an archive that starts one."""
    recipe = recipe_of("all_cash", every="7d", game="weekly_cohort", venue=f"archive:{folder}")
    changed = replace(recipe, options=options)
    report = decide_on(store, folder, request_of(changed, start_cohort=True), as_of=as_of)
    assert {each.status for each in report.decisions} == {"recorded"}
    return {each.stored.subject_id for each in report.decisions}


def write_two_weeks(folder: Path) -> None:
    """Write an archive of a market that is settled in its first week, and of one that is listed from the next on."""
    for days, number in ((0, 1), (7, 4)):
        place = folder / "snapshots" / snapshot_name(NOW + timedelta(days=days))
        place.mkdir(parents=True)
        (place / "events.json").write_text(json.dumps([event_payload(number, market_payload(number))]))
    (folder / "prices").mkdir()
    (folder / "resolutions.json").write_text(json.dumps({condition_of(1): paid(3, 1.0)}))


BOTH, SECOND = {"2026-02-08", "2026-02-15"}, {"2026-02-15"}


@ONE_DATABASE
@pytest.mark.parametrize(
    ("options", "second", "markets"),
    [
        ({"methodology": "v1", "weeks": 0}, SECOND, 1),
        ({"methodology": "v1"}, BOTH, 2),
        ({"methodology": "v1", "weeks": 1}, SECOND, 1),
        ({"methodology": "v2"}, BOTH, 1),
        ({"methodology": "v2", "universe": "fresh"}, BOTH, 2),
    ],
)
def test_which_cohorts_decide_and_on_which_markets_is_a_matter_of_methodology(
    store: Store, tmp_path: Path, options: dict[str, str | int], second: set[str], markets: int
) -> None:
    # Nobody held anything, so the ledger knows nothing of what the first market paid.
    write_two_weeks(tmp_path / "two")
    assert cohorts_of(store, tmp_path / "two", NOW, **options) == {"2026-02-08"}
    assert cohorts_of(store, tmp_path / "two", NOW + timedelta(days=7), **options) == second
    with store.read() as connection:
        (first,) = cohort_statements(connection, "2026-02-08", NOW + timedelta(days=7))
    assert first.markets == markets


@ONE_DATABASE
def test_cohorts_go_on_by_the_methodology_they_started_with(store: Store, tmp_path: Path) -> None:
    write_two_weeks(tmp_path / "two")
    assert cohorts_of(store, tmp_path / "two", NOW, methodology="v2") == {"2026-02-08"}
    assert cohorts_of(store, tmp_path / "two", NOW + timedelta(days=7), methodology="v1") == BOTH
    with store.read() as connection:
        found = {each.name: each for each in cohorts_as_of(connection, NOW + timedelta(days=7))}
    assert {name: each.methodology for name, each in found.items()} == {"2026-02-08": "v2", "2026-02-15": "v1 weeks=12"}
    assert all(each.decides for each in found.values())
    assert verify(store).broken == ()


def test_a_run_of_a_weeks_first_minutes_plays_that_week(store: Store, archive: Path) -> None:
    assert cohorts_of(store, archive, datetime.fromisoformat("2026-02-15T00:00:00+00:00")) == SECOND


class Offering:
    """A live venue that quotes a market only when it is asked for the second time."""

    name, live = "polymarket", True

    def __init__(self) -> None:
        self.asked: list[str] = []

    def quotes(self, event: Event) -> Mapping[str, Quote]:
        self.asked.append(event.id)
        known = {market.id: Quote(NOW, bid=0.4, ask=0.42) for market in event.markets}
        return known if self.asked.count(event.id) > 1 else {}


def test_what_is_ordered_is_asked_for_again_once_and_what_is_not_is_left_alone() -> None:
    venue = Offering()
    board = VenueBoard(venue, lambda: NOW)  # type: ignore[arg-type]
    listed = [parse_event(event_payload(number, market_payload(number)), quoted_at=NOW)[0] for number in (1, 2, 3)]
    events = [event for event in listed if event is not None]
    ordered, held = ([events[number].markets[0].instruments("polymarket")[0]] for number in (0, 1))
    first, second, third = board.requote_events(events, ordered, held, NOW)
    # What is held is worth its last price where there is none now.
    assert venue.asked == ["1", "1", "2"]
    assert [len(each.markets[0].quotes) for each in (first, second)] == [1, 0]
    assert third is events[2]


@pytest.fixture
def live() -> Iterator[Live]:
    """Return a live venue as the first week of a cohort begins."""
    made = Live(SUNDAY)
    with made.start():
        yield made


def decide_live(live: Live, store: Store, *bots: str) -> DecideReport:
    request = request_of(recipe_of(*bots, every="7d", game="weekly_cohort"))
    with OpenVenue("live", live.venue, live.now, ExitStack()) as opened:
        return decide(request, opened, Resources(store, Settings(workers=1), lambda: live.now, nobody))


def test_a_live_cohort_is_decided_once_a_week_and_valued_every_ten_minutes(store: Store, live: Live) -> None:
    bots = ("random_trade", 'name = "another"\nstrategy = "random_trade"')
    first = decide_live(live, store, *bots)
    assert [each.status for each in first.decisions] == ["recorded"] * 2
    assert [each.status for each in decide_live(live, store, *bots).decisions] == ["skipped"] * 2
    for minutes in (5, 9, 15):
        live.now = SUNDAY + timedelta(minutes=minutes)
        with OpenVenue("live", live.venue, live.now, ExitStack()) as opened:
            assert track_accounts(store=store, opened=opened, clock=lambda: live.now) == ()
    valued = {(row["bot"], row["at"]) for row in rows(store, "valuations")}
    # One before the orders, and one of each ten minutes in which it was looked at.
    assert {at for _, at in valued} == {f"2026-01-11T00:{minute}Z" for minute in ("00", "10", "20")}
    live.now = SUNDAY + timedelta(weeks=1)
    second = decide_live(live, store, *bots)
    assert [each.stored.subject_id for each in second.decisions] == ["2026-01-18", "2026-01-11"] * 2
    assert {each.status for each in second.decisions} == {"recorded"}
    assert verify(store).broken == ()


@ONE_DATABASE
def test_bets_of_which_none_can_be_filled_are_a_failure_that_the_next_call_tries_again(
    store: Store, live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands = tmp_path / "hands"
    tmp_path.joinpath("late.py").write_text(LATE, encoding="utf-8")
    monkeypatch.setattr(strategies, "__path__", [str(tmp_path), *strategies.__path__])
    bot = f'strategy = "late"\nclock = "{hands}"'
    recipe = recipe_of(bot, every="7d", game="weekly_cohort")

    def clock() -> datetime:
        live.now = max(live.now, datetime.fromisoformat(hands.read_text())) if hands.exists() else live.now
        return live.now

    def decide_now() -> tuple[str, str]:
        with OpenVenue("live", live.venue, live.now, ExitStack()) as opened:
            report = decide(request_of(recipe), opened, Resources(store, Settings(workers=1), clock, nobody))
        (decision,) = report.decisions
        return decision.stored.status, decision.stored.message

    status, said = decide_now()
    assert status == "failed" and "nothing of it could be filled" in said
    assert [row["kind"] for row in rows(store, "journal")] == ["deposit"]
    live.now += timedelta(hours=1)
    assert decide_now() == ("recorded", "")
    assert [row["kind"] for row in rows(store, "journal")] == ["deposit", "fill"]
    assert len(rows(store, "decisions")) == 1
