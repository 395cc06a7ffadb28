"""The archive venue: recorded markets, strictly as of an instant."""

import json
import os
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from predibot.contracts import Venue
from predibot.domain.event import MarketRef
from predibot.domain.price import Instrument, Quote
from predibot.errors import UsageError, VenueChanged
from predibot.venues.archive.layout import snapshot_name
from predibot.venues.archive.reader import Archive
from tests.venues.payloads import (
    NOW,
    condition_of,
    event_payload,
    history_of,
    market_payload,
    named_payload,
    settled_payload,
)

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MakeArchive = Callable[..., Archive]


def at(instant: datetime) -> int:
    """Return an instant as archives write it."""
    return int(instant.timestamp())


def paid(instant: datetime, yes: float = 1.0, **changes: object) -> dict[str, object]:
    """Return a row of `resolutions.json`."""
    return {"resolved_at": at(instant), "payouts": [yes, 1.0 - yes]} | changes


@pytest.fixture
def make_archive(tmp_path: Path) -> MakeArchive:
    """Return what writes an archive with its own hands and opens it."""

    def make(
        snapshots: Mapping[datetime, object] | None = None,
        *,
        prices: Mapping[str, str] | None = None,
        resolutions: object = None,
    ) -> Archive:
        for instant, events in ({NOW: [event_payload(1)]} if snapshots is None else snapshots).items():
            place = tmp_path / "snapshots" / snapshot_name(instant)
            place.mkdir(parents=True)
            (place / "events.json").write_text(json.dumps(events))
        for name, text in (prices or {}).items():
            (tmp_path / "prices").mkdir(exist_ok=True)
            (tmp_path / "prices" / f"{name}.json").write_text(text)
        if resolutions is not None:
            (tmp_path / "resolutions.json").write_text(json.dumps(resolutions))
        return Archive(tmp_path)

    return make


def test_an_archive_that_holds_results_shows_none(make_archive: MakeArchive) -> None:
    payload = event_payload(1, eventMetadata={"finalPrice": 97_123.4})
    archive = make_archive({NOW: [payload]})
    for event in (archive.events(NOW).events[0], archive.event("1", NOW)):
        assert "title" in event.payload
        assert "97123" not in event.payload
        assert "eventMetadata" not in event.payload


def yes_of(number: int) -> Instrument:
    """Return the YES side of a numbered market."""
    return Instrument("polymarket", "binary_outcome", str(10 * number))


def ref_of(number: int) -> MarketRef:
    """Return a reference to a numbered market."""
    return MarketRef(str(number), condition_of(number), (str(10 * number), str(10 * number + 1)))


def test_it_is_a_venue_of_the_past(make_archive: MakeArchive) -> None:
    venue: Venue = make_archive()
    assert (venue.name, venue.live) == ("polymarket", False)


def test_the_latest_snapshot_at_or_before_the_instant_is_served(make_archive: MakeArchive) -> None:
    archive = make_archive({NOW - DAY: [event_payload(1)], NOW: [event_payload(2)], NOW + DAY: [event_payload(3)]})
    seen = [archive.events(as_of).events[0].id for as_of in (NOW - HOUR, NOW, NOW + HOUR)]
    assert seen == ["1", "2", "2"]
    assert archive.instants == (NOW - DAY, NOW, NOW + DAY)


def test_quotes_are_as_old_as_their_snapshot(make_archive: MakeArchive) -> None:
    market = make_archive().events(NOW + DAY).events[0].markets[0]
    assert market.quote == Quote(at=NOW, bid=0.4, ask=0.42, displayed=0.41, last=0.43)


AS_OF = NOW + DAY + HOUR
"""When quotes of a snapshot are too old."""


@pytest.mark.parametrize(
    ("token", "points", "quote"),
    [
        ("10", [(NOW, 0.1), (NOW + 2 * HOUR, 0.2), (AS_OF + timedelta(seconds=1), 0.3)], (NOW + 2 * HOUR, 0.2)),
        ("10", [(AS_OF - DAY, 0.2)], (AS_OF - DAY, 0.2)),
        ("10", [(AS_OF - DAY - timedelta(seconds=1), 0.2)], None),
        # NO alone has a history.
        ("11", [(NOW + DAY, 0.7)], None),
    ],
)
def test_quotes_older_than_a_day_come_from_a_day_of_the_price_history(
    make_archive: MakeArchive, token: str, points: list[tuple[datetime, float]], quote: tuple[datetime, float] | None
) -> None:
    archive = make_archive(prices={token: history_of(*((at(instant), price) for instant, price in points))})
    event = archive.events(AS_OF).events[0]
    assert event.markets[0].quote == (quote and Quote(at=quote[0], history=quote[1]))
    assert archive.quotes(event).keys() == ({"1"} if quote else set())


def test_what_was_closed_in_its_snapshot_or_settled_since_is_closed(make_archive: MakeArchive) -> None:
    listed = [event_payload(1), event_payload(2, settled_payload(2), closed=True)]
    archive = make_archive({NOW: listed}, resolutions={condition_of(1): paid(NOW + HOUR)})
    (event, over), (later, _) = (archive.events(as_of).events for as_of in (NOW, NOW + HOUR))
    assert [each.markets[0].closed for each in (event, later, over)] == [False, True, True]
    assert [each.closed for each in (event, over)] == [False, True]


def test_what_cannot_be_read_is_skipped_with_its_reason(make_archive: MakeArchive) -> None:
    hostile = market_payload(2, clobTokenIds='["../../x", "1"]')
    archive = make_archive({NOW: [event_payload(1, market_payload(1), hostile), 7, event_payload(1), {"id": "4"}]})
    page = archive.events(NOW)
    assert [event.id for event in page.events] == ["1"]
    assert [(skip.kind, skip.id) for skip in page.skipped] == [
        ("market", "2"), ("event", "?"), ("event", "1"), ("event", "4")
    ]  # fmt: skip


def test_one_event_is_found_as_it_was(make_archive: MakeArchive) -> None:
    listed = [event_payload(1), event_payload(2), event_payload(4, title="")]
    archive = make_archive({NOW: listed}, resolutions={condition_of(2): paid(NOW)})
    event = archive.event("2", NOW)
    assert (event.title, event.markets[0].closed) == ("Event 2", True)
    with pytest.raises(UsageError, match="no event '3' among its 3"):
        archive.event("3", NOW)
    with pytest.raises(VenueChanged, match="title"):
        archive.event("4", NOW)


def test_a_path_leaves_out_its_start_takes_its_end_and_of_two_prices_at_one_time_the_last(
    make_archive: MakeArchive,
) -> None:
    points = [(at(NOW + step * HOUR), step / 10) for step in range(6)]
    archive = make_archive(prices={"10": history_of(*reversed(points), points[3], (points[2][0], 0.9))})
    path = archive.price_path(yes_of(1), start=NOW + HOUR, until=NOW + 3 * HOUR)
    assert [(at(point.at), point.price) for point in path.points] == [(points[2][0], 0.9), points[3]]


def test_each_side_reads_its_own_file_and_none_is_made_up(make_archive: MakeArchive) -> None:
    archive = make_archive(prices={"11": history_of((at(NOW), 0.7))})
    sides = [ref_of(1).instrument("polymarket", side) for side in ("YES", "NO")]
    lengths = [len(archive.price_path(side, start=NOW - DAY, until=NOW).points) for side in sides]
    assert lengths == [0, 1]


@pytest.mark.parametrize("name", ["../resolutions", "1:YES", "", "..", "1/../2", "١"])
def test_no_name_leads_out_of_the_folder(make_archive: MakeArchive, tmp_path: Path, name: str) -> None:
    archive = make_archive(resolutions={"history": [{"t": at(NOW), "p": 0.5}]})
    path = archive.price_path(Instrument("polymarket", "binary_outcome", name), start=NOW - DAY, until=NOW)
    assert path.points == ()


@pytest.mark.parametrize("place", ["prices/10.json", "prices", "resolutions.json", f"snapshots/{snapshot_name(NOW)}"])
def test_a_link_out_of_the_folder_is_refused(
    make_archive: MakeArchive, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, place: str
) -> None:
    archive = make_archive(prices={"10": history_of((at(NOW), 0.5))}, resolutions={})
    outside = tmp_path_factory.mktemp("outside") / "moved"
    (tmp_path / place).rename(outside)
    (tmp_path / place).symlink_to(outside)
    with pytest.raises(VenueChanged, match="leads out of the archive"):
        archive.events(NOW + 2 * DAY)


def test_a_price_file_is_read_once_and_a_link_within_the_folder_followed(
    make_archive: MakeArchive, tmp_path: Path
) -> None:
    archive = make_archive(prices={"12": history_of((at(NOW), 0.5))})
    (tmp_path / "prices" / "10.json").symlink_to(tmp_path / "prices" / "12.json")
    before = archive.price_path(yes_of(1), start=NOW - DAY, until=NOW)
    (tmp_path / "prices" / "12.json").unlink()
    assert before.points and archive.price_path(yes_of(1), start=NOW - DAY, until=NOW) == before


def test_resolutions_are_seen_from_when_they_were_known(make_archive: MakeArchive) -> None:
    rows = {condition_of(1): paid(NOW), condition_of(2): paid(NOW, 0.0, effective_at=at(NOW + DAY))}
    archive = make_archive(resolutions=rows)
    refs = [ref_of(1), ref_of(2), ref_of(3), MarketRef("4")]
    seen = [set(archive.resolutions(refs, as_of=as_of).found) for as_of in (NOW - HOUR, NOW, NOW + DAY)]
    assert seen == [set(), {"1"}, {"1", "2"}]


@pytest.mark.parametrize(
    "outcomes", ['["No", "Yes"]', ["No", "Yes"], '[ "NO" , "yes" ]', [" no", "Yes "], ["Yes", "No"], ["Up", "Down"]]
)
@pytest.mark.parametrize("listed_at", [NOW - DAY, NOW])
def test_payouts_are_those_of_the_names_that_the_snapshots_list_in_their_order(
    make_archive: MakeArchive, outcomes: object, listed_at: datetime
) -> None:
    listed = [event_payload(1, market_payload(1, outcomes=outcomes), market_payload(2))]
    rows = {condition_of(1): [paid(NOW), paid(NOW + DAY, 0.25, effective_at=at(NOW + DAY))], condition_of(2): paid(NOW)}
    archive = make_archive({NOW - 2 * DAY: [event_payload(2)], listed_at: listed, NOW + DAY: []}, resolutions=rows)
    found = archive.resolutions([ref_of(1), ref_of(2)], as_of=NOW + DAY).found
    is_turned = "no" in str(outcomes).casefold().split("yes")[0]
    assert [each.payout_yes for each in found["1"]] == ([0.0, 0.75] if is_turned else [1.0, 0.25])
    assert [each.payout_yes for each in found["2"]] == [1.0]


def test_in_which_order_a_later_snapshot_lists_outcomes_is_not_seen(make_archive: MakeArchive) -> None:
    turned = [event_payload(1, market_payload(1, outcomes=["No", "Yes"]))]
    archive = make_archive({NOW: [event_payload(1)], NOW + DAY: turned}, resolutions={condition_of(1): paid(NOW)})
    assert [archive.no_first(at) for at in (NOW + DAY, NOW)] == [{condition_of(1)}, frozenset()]
    (seen,) = archive.resolutions([ref_of(1)], as_of=NOW).found["1"]
    assert seen.payout_yes == 1.0


def test_a_snapshot_that_cannot_be_read_hides_no_resolution(make_archive: MakeArchive, tmp_path: Path) -> None:
    archive = make_archive({NOW: [event_payload(1)], NOW + DAY: []}, resolutions={condition_of(1): paid(NOW)})
    (tmp_path / "snapshots" / snapshot_name(NOW + DAY) / "events.json").write_text('[["No",')
    assert set(archive.resolutions([ref_of(1)], as_of=NOW + DAY).found) == {"1"}


def test_a_revision_is_seen_from_its_own_instant(make_archive: MakeArchive) -> None:
    first, second = paid(NOW, 1.0, effective_at=at(NOW)), paid(NOW, 0.0, effective_at=at(NOW + DAY))
    archive = make_archive(resolutions={condition_of(1): [second, first]})
    for as_of, payouts in ((NOW, [1.0]), (NOW + DAY, [1.0, 0.0])):
        found = archive.resolutions([ref_of(1)], as_of=as_of).found["1"]
        assert [revision.payout_yes for revision in found] == payouts


@pytest.mark.parametrize("alone", [{"resolved_at": None, "effective_at": at(NOW)}, {"effective_at": None}, {}])
def test_the_instant_that_is_stated_stands_for_one_that_is_null(
    make_archive: MakeArchive, alone: dict[str, object]
) -> None:
    archive = make_archive(resolutions={condition_of(1): paid(NOW, **alone)})
    (found,) = archive.resolutions([ref_of(1)], as_of=NOW).found["1"]
    assert (found.settled_at, found.effective_at) == (NOW, NOW)


def test_a_folder_that_is_no_archive_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no archive folder"):
        Archive(tmp_path / "missing")
    with pytest.raises(UsageError, match="holds no snapshots"):
        Archive(tmp_path)


def test_unfinished_and_foreign_folders_are_no_snapshots(make_archive: MakeArchive, tmp_path: Path) -> None:
    for name in (".unfinished-1", "2026-99-99T000000Z", "notes", "2026-02-13T193000Z.tmp"):
        (tmp_path / "snapshots" / name).mkdir(parents=True)
    assert make_archive().instants == (NOW,)


def test_an_instant_before_the_first_snapshot_names_it(make_archive: MakeArchive) -> None:
    with pytest.raises(UsageError, match="its first is of 2026-02-13T19:30Z"):
        make_archive().events(NOW - HOUR)


@pytest.mark.parametrize("text", ['[{"id": ', "{}", "", "\x00", "[" * 100_000])
def test_a_broken_snapshot_is_named(make_archive: MakeArchive, tmp_path: Path, text: str) -> None:
    archive = make_archive()
    (tmp_path / "snapshots" / snapshot_name(NOW) / "events.json").write_text(text)
    with pytest.raises(VenueChanged, match=r"events\.json"):
        archive.events(NOW)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (lambda: b"[" + b"{}," * 3_000_000 + b"{}]", "holds more than 3,000,000 values"),
        (lambda: b"[" + b" " * 2**26 + b"]", "it has more than 67,108,864 bytes"),
        (lambda: b"[" + b"9" * 3_000_000 + b"]", "is not whole JSON: a number has thousands of digits; take it out"),
        (lambda: b"[" * 100_000, "is not whole JSON: it is nested too deeply"),
    ],
    ids=["objects", "blanks", "digits", "depth"],
)
def test_no_file_of_an_archive_fills_the_memory(
    make_archive: MakeArchive, tmp_path: Path, content: Callable[[], bytes], reason: str
) -> None:
    archive = make_archive()
    (tmp_path / "snapshots" / snapshot_name(NOW) / "events.json").write_bytes(content())
    with pytest.raises(VenueChanged, match=reason) as caught:
        archive.events(NOW)
    assert "set_int_max_str_digits" not in str(caught.value)


@pytest.mark.parametrize("name", ["events.json", "resolutions.json"])
def test_a_pipe_in_an_archive_is_not_waited_for(make_archive: MakeArchive, tmp_path: Path, name: str) -> None:
    archive = make_archive(resolutions={})
    path = next(tmp_path.rglob(name))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(
        VenueChanged, match=f"{name} cannot be read: it is no file, but a pipe or a device; take it out"
    ):
        archive.resolutions([ref_of(1)], as_of=NOW) if name[0] == "r" else archive.events(NOW)


@pytest.mark.parametrize("text", ["{", "[]", '{"history": [7]}', '{"history": [{"p": 1}]}', history_of((1, 2.0))])
def test_a_broken_price_file_is_a_changed_venue(make_archive: MakeArchive, text: str) -> None:
    with pytest.raises(VenueChanged, match="10"):
        make_archive(prices={"10": text}).price_path(yes_of(1), start=NOW - 30_000 * DAY, until=NOW)


def test_a_missing_snapshot_file_and_broken_resolutions_are_named(make_archive: MakeArchive, tmp_path: Path) -> None:
    archive = make_archive({NOW - DAY: [], NOW: []}, resolutions=[])
    (tmp_path / "snapshots" / snapshot_name(NOW) / "events.json").unlink()
    with pytest.raises(VenueChanged, match=r"events\.json is missing"):
        archive.events(NOW)
    with pytest.raises(VenueChanged, match=r"resolutions\.json"):
        archive.resolutions([ref_of(1)], as_of=NOW)


NAMED = event_payload(1, named_payload(outcomePrices='["0.5", "0.2", "0.25"]', volumeNum=7.5e6))


def test_markets_of_more_than_two_outcomes_are_read_with_a_price_and_a_history_each(make_archive: MakeArchive) -> None:
    prices = {"101": history_of((at(NOW + 2 * DAY), 0.6)), "103": history_of((at(NOW + 3 * DAY), 0.1))}
    archive = make_archive({NOW: [NAMED]}, prices=prices)
    event = archive.event("1", NOW)
    assert (event.markets[0].volume_usd, archive.quotes(event)["102"].displayed) == (7.5e6, 0.2)
    (later,) = archive.event("1", NOW + 2 * DAY).markets
    assert later.outcome_quotes == (Quote(at=NOW + 2 * DAY, history=0.6), None, None)


def test_recorded_payouts_are_one_an_outcome_with_their_revisions(make_archive: MakeArchive) -> None:
    revisions = [
        {"resolved_at": at(NOW), "payouts": [0, 1, 0]},
        {"resolved_at": at(NOW), "payouts": [0, 0.5, 0.5], "effective_at": at(NOW + DAY)},
        {"resolved_at": at(NOW), "payouts": "refund", "effective_at": at(NOW + 2 * DAY)},
    ]
    archive = make_archive({NOW: [NAMED]}, resolutions={condition_of(1): revisions})
    ref = MarketRef("1", condition_of(1))
    assert [each.payouts for each in archive.resolutions([ref], as_of=NOW + HOUR).found["1"]] == [(0.0, 1.0, 0.0)]
    found = archive.resolutions([ref], as_of=NOW + 2 * DAY).found["1"]
    assert [each.payouts for each in found] == [(0.0, 1.0, 0.0), (0.0, 0.5, 0.5), ()]
    assert found[-1].payout_yes is None and archive.event("1", NOW + HOUR).markets[0].closed


@pytest.mark.parametrize(
    "row",
    [
        *(7, "x", {}, paid(NOW, resolved_at="x")),
        *(
            paid(NOW, payouts=each)
            for each in ([0.0, 0.0], [0.5, 0.5, 0.5], [1.0], [], None, [1, 0, "x"], [0.01] * 101)
        ),
    ],
)
def test_a_resolution_that_cannot_be_read_is_a_skip(make_archive: MakeArchive, row: object) -> None:
    archive = make_archive(resolutions={condition_of(1): row, condition_of(2): paid(NOW)})
    page = archive.resolutions([ref_of(1), ref_of(2)], as_of=NOW)
    assert set(page.found) == {"2"}
    assert [(skip.kind, skip.id) for skip in page.skipped] == [("resolution", "1")]


def test_what_took_no_orders_when_it_was_recorded_has_no_quote(make_archive: MakeArchive) -> None:
    markets = [market_payload(1, acceptingOrders=True), market_payload(2, acceptingOrders=False), market_payload(3)]
    archive = make_archive({NOW: [event_payload(1, *markets)]})
    (event,) = archive.events(NOW).events
    assert set(archive.quotes(event)) == {"1", "3"}
