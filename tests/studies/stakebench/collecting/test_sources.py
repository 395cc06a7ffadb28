"""Sources: what is made of answers that are cut, twisted, refused or of another form."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from predibot.errors import VenueChanged
from predibot.studies.stakebench.collecting.raw_store import RawStore
from predibot.studies.stakebench.collecting.sources import (
    ACTIVITY_PAGE,
    LARGEST_ACTIVITY_OFFSET,
    LARGEST_COMMENT_OFFSET,
    MANIFOLD_PAGE,
    ManifoldComments,
    PolymarketComments,
)
from predibot.studies.stakebench.crowd import BEGINS, DAY, crowd
from predibot.studies.stakebench.crowd_host import CrowdHost
from predibot.studies.stakebench.positions import Change
from predibot.venues.http import RequestRefusal
from tests.studies.stakebench.collecting.test_collect import Asked, collected_from, rows_of

Query = Mapping[str, str]
Twist = Callable[[str, Query, Any], Any]


class Twisted(Asked):
    """Asks a crowd, and lets a test put something else in the place of an answer."""

    def __init__(self, host: CrowdHost, twist: Twist) -> None:
        super().__init__(host)
        self.twist = twist

    def __call__(self, url: str, params: Sequence[tuple[str, str]]) -> object:
        return self.twist(url, dict(params), super().__call__(url, params))


def polymarket(get: Callable[[str, Sequence[tuple[str, str]]], object], folder: Path) -> PolymarketComments:
    return PolymarketComments(get, RawStore(folder), gamma_url="gamma", data_url="data", clob_url="clob")


USER = "0x" + 40 * "1"


def a_source(folder: Path, twist: Twist) -> tuple[PolymarketComments, Any]:
    """Return a source of one market whose answers are twisted, and that market."""
    source = polymarket(Twisted(CrowdHost(crowd(1, manifold=False, markets=1, comments=30)), twist), folder)
    (_, market), *_ = source.markets()
    assert market is not None
    return source, market


def trade(query: Query, at: object) -> dict[str, object]:
    """Return a row of activity in the market that was asked about."""
    bought = {"type": "TRADE", "side": "BUY", "outcomeIndex": 0, "size": 1, "usdcSize": 1}
    return bought | {"conditionId": query.get("market"), "timestamp": at}


HALF, WHOLE = "\ud83d half", "\ufffd half"


def test_a_text_with_half_a_character_is_written_and_what_is_no_comment_is_counted(tmp_path: Path) -> None:
    markets = crowd(1, manifold=False, markets=2, comments=80)

    def twist(url: str, query: Query, answer: Any) -> Any:
        if url == "gamma/comments" and answer:
            first, *others = answer
            for key, wrong in (("createdAt", "0001-01-01T00:00:00+14:00"), ("id", None), ("body", {"text": "x" * 99})):
                others.append(first | {"id": f"wrong {key}", key: wrong})
            others += [first | {"id": f"no wallet {n}", "profile": each} for n, each in enumerate((None, {}))]
            others.append(first | {"id": "twisted", "profile": {"proxyWallet": "a&market=1"}})
            half = first | {"body": f"{HALF} of what the market would have to be worth"}
            # A comment that a thread has twice is one.
            return [half, *others, half]
        return answer

    funnel, _ = collected_from(Twisted(CrowdHost(markets), twist), tmp_path, manifold=False)
    rows = rows_of(tmp_path, "comments.jsonl")
    # Both markets show one thread, which comes in one order; the page after it is empty.
    assert funnel["- comments unreadable"] == 2 * 6
    assert sum(row["text"].startswith(WHOLE) for row in rows) == 2


@pytest.mark.parametrize("most", [100, 40, 1])
def test_a_thread_is_whole_only_if_an_order_ended_or_both_met(tmp_path: Path, most: int) -> None:
    (_, _, _, market, *_) = markets = crowd(1, manifold=False, markets=6, comments=1_600)

    def twist(url: str, query: Query, answer: Any) -> Any:
        return answer[:most] if url == "gamma/comments" else answer

    source = polymarket(Twisted(CrowdHost(markets), twist), tmp_path)
    listed = [each for _, each in source.markets() if each is not None]
    threads = {each.question: source.thread(each) for each in listed}
    reach = 2 * (LARGEST_COMMENT_OFFSET // most + 1) * most
    for each in markets:
        thread = threads[each.question]
        assert thread.truncated == (len(each.comments) >= reach)
        assert thread.truncated or len(thread.comments) == len(each.comments)
    assert threads[market.question].truncated


def test_replies_to_a_comment_that_was_taken_down_are_none(tmp_path: Path) -> None:
    markets = crowd(1, manifold=False, markets=6, comments=1_600)

    def twist(url: str, query: Query, answer: Any) -> Any:
        if url.startswith("gamma/comments/"):
            raise RequestRefusal("not found", 404)
        return answer

    source = polymarket(Twisted(CrowdHost(markets), twist), tmp_path)
    long = [each for _, each in source.markets() if each is not None][3]
    assert source.thread(long).truncated
    assert len(source.thread(long).comments) == 2 * (LARGEST_COMMENT_OFFSET + 100)


def test_an_answer_of_another_form_is_not_kept(tmp_path: Path) -> None:
    host = CrowdHost(crowd(1, manifold=False, markets=2, comments=80))
    wrong = True

    def twist(url: str, query: Query, answer: Any) -> Any:
        return {"error": "busy"} if wrong else answer

    source = polymarket(Twisted(host, twist), tmp_path)
    with pytest.raises(VenueChanged, match="markets are NoneType"):
        list(source.markets())
    wrong = False
    (_, market), *_ = source.markets()
    assert market is not None
    wrong = True
    for ask in (source.thread, source.prices, lambda each: source.read_activity(each, ["0x" + 40 * "1"])):
        with pytest.raises(VenueChanged):
            ask(market)
    wrong = False
    assert source.thread(market).comments
    assert source.prices(market).yes


def test_prices_that_are_none_are_left_out(tmp_path: Path) -> None:
    host = CrowdHost(crowd(1, manifold=False, markets=2, comments=80))

    def twist(url: str, query: Query, answer: Any) -> Any:
        wrong: list[Any] = [float("nan"), float("inf"), 7, -0.1, None, "x"]
        rows = [{"t": BEGINS + 60, "p": price} for price in wrong] + [{"t": "x", "p": 0.5}, {"t": 1e20, "p": 0.5}, {}]
        return {"history": rows + answer["history"]} if url == "clob/prices-history" else answer

    twisted, plain = (
        polymarket(each, tmp_path / name) for name, each in (("twisted", Twisted(host, twist)), ("plain", Asked(host)))
    )
    (_, market), *_ = plain.markets()
    assert market is not None
    assert twisted.prices(market) == plain.prices(market)


def test_a_market_without_a_finite_volume_or_a_question_is_unreadable(tmp_path: Path) -> None:
    host = CrowdHost(crowd(1, manifold=False, markets=4, comments=80))

    def twist(url: str, query: Query, answer: Any) -> Any:
        for market, change in zip(
            answer["markets"],
            ({"volumeNum": "Infinity"}, {"volumeNum": 1e300}, {"question": None}, {"volumeNum": None, "volume": "1e6"}),
            strict=False,
        ):
            market.update(change)
        return answer

    found = list(polymarket(Twisted(host, twist), tmp_path).markets())
    assert [why for why, _ in found] == ["unreadable"] * 3 + [""]


def test_activity_beyond_the_largest_offset_goes_on_by_time(tmp_path: Path) -> None:
    # Three to a second, so that what an offset reaches ends within one.
    seconds = [BEGINS + n // 3 for n in range(2 * LARGEST_ACTIVITY_OFFSET + 5_000)]
    asked: list[Query] = []

    def twist(url: str, query: Query, answer: Any) -> Any:
        if url != "data/activity":
            return answer
        asked.append(query)
        offset, start = int(query["offset"]), int(query.get("start", 0))
        if offset > LARGEST_ACTIVITY_OFFSET:
            raise RequestRefusal("offset", 400)
        after = [second for second in seconds if second >= start]
        return [trade(query, second) for second in after[offset : offset + ACTIVITY_PAGE]]

    source, market = a_source(tmp_path, twist)
    changes: Sequence[Change] = source.read_activity(market, [USER]).changes[USER]
    assert [int(change.at.timestamp()) for change in changes] == seconds
    assert len({query.get("start") for query in asked}) == 3


def test_rows_without_an_instant_end_no_activity_that_is_asked_for_by_time(tmp_path: Path) -> None:
    seconds = [BEGINS + n // 3 for n in range(LARGEST_ACTIVITY_OFFSET + 5_000)]

    def twist(url: str, query: Query, answer: Any) -> Any:
        if url != "data/activity":
            return answer
        offset, start = int(query["offset"]), int(query.get("start", 0))
        after = [each for each in seconds if each >= start]
        page = [trade(query, each) for each in after[offset : offset + ACTIVITY_PAGE]]
        # Also as the last row of a page, from which the next question goes on.
        wrong: list[Any] = [None, trade(query, "late"), trade(query, None)]
        return [*page[: ACTIVITY_PAGE - 3], *wrong] if len(page) >= ACTIVITY_PAGE else page

    source, market = a_source(tmp_path, twist)
    traded = source.read_activity(market, [USER])
    assert len(traded.changes[USER]) > LARGEST_ACTIVITY_OFFSET
    # When what cannot be read was, nobody knows: so nothing of the user is.
    assert traded.unreadable[USER].year == 1


def test_a_page_that_holds_nothing_but_a_null_is_no_end_of_the_collection(tmp_path: Path) -> None:
    def twist(url: str, query: Query, answer: Any) -> Any:
        return [None] if url == "data/activity" else answer

    source, market = a_source(tmp_path, twist)
    assert [*source.read_activity(market, [USER]).unreadable] == [USER]


def test_of_activity_that_no_instant_divides_nothing_is_known(tmp_path: Path) -> None:
    asked = []

    def twist(url: str, query: Query, answer: Any) -> Any:
        if url != "data/activity":
            return answer
        asked.append(query)
        return [trade(query, BEGINS)] * ACTIVITY_PAGE

    source, market = a_source(tmp_path, twist)
    # The second time what was found is kept.
    for _ in range(2):
        assert set(source.read_activity(market, [USER]).unreadable) == {USER}
        assert len(asked) == 2 * (LARGEST_ACTIVITY_OFFSET // ACTIVITY_PAGE + 1)


@pytest.mark.parametrize(
    ("wrong", "known_until"),
    [({"outcomeIndex": 999, "timestamp": BEGINS + 5}, BEGINS + 5), ({"timestamp": "late"}, None), (None, None)],
)
def test_a_row_that_cannot_be_read_leaves_the_others_and_what_was_known_before_it(
    tmp_path: Path, wrong: dict[str, object] | None, known_until: int | None
) -> None:
    def twist(url: str, query: Query, answer: Any) -> Any:
        row = trade(query, BEGINS)
        rows = [row, None if wrong is None else row | wrong, trade(query, BEGINS + 9)]
        return rows if url == "data/activity" else answer

    source, market = a_source(tmp_path, twist)
    traded = source.read_activity(market, [USER])
    (changes,), (since,) = traded.changes.values(), traded.unreadable.values()
    assert [int(change.at.timestamp()) for change in changes] == [BEGINS, BEGINS + 9]
    assert (since.timestamp() if since.year > 1 else None) == known_until


def test_markets_of_the_instant_at_which_a_page_ends_are_all_listed(tmp_path: Path) -> None:
    def row(number: int) -> dict[str, Any]:
        # Four made at each instant, so that a page ends in the middle of one where it begins after another.
        return {
            "id": f"c{number}",
            "question": "Will it?",
            "outcomeType": "BINARY",
            "isResolved": True,
            "resolution": "YES",
            "resolutionTime": (BEGINS + DAY) * 1_000,
            "createdTime": BEGINS * 1_000 - (number + 1) // 4,
            "volume": 20_000,
            "uniqueBettorCount": 60,
        }

    rows = [row(number) for number in range(2 * MANIFOLD_PAGE + 7)]

    def get(url: str, params: Sequence[tuple[str, str]]) -> object:
        query = dict(params)
        before = int(query.get("beforeTime", BEGINS * 10_000))
        return json.loads(json.dumps([each for each in rows if each["createdTime"] < before][: int(query["limit"])]))

    source = ManifoldComments(get, RawStore(tmp_path), manifold_url="manifold")
    assert [market.id for _, market in source.markets() if market is not None] == [each["id"] for each in rows]


def test_of_two_bets_at_one_instant_the_price_of_the_newer_lasts(tmp_path: Path) -> None:
    (said,) = crowd(1, manifold=True, markets=1, comments=1)
    host = CrowdHost((said,))
    bet = {"userId": "u", "outcome": "YES", "amount": 1, "shares": 2, "createdTime": BEGINS * 1_000}
    newest_first = [bet | {"id": "b", "probAfter": 0.7}, bet | {"id": "a", "probAfter": 0.2}]

    def twist(url: str, query: Query, answer: Any) -> Any:
        return newest_first if url == "manifold/v0/bets" else answer

    source = ManifoldComments(Twisted(host, twist), RawStore(tmp_path), manifold_url="manifold")
    (_, market), *_ = source.markets()
    assert market is not None
    path = source.prices(market)
    assert path.mean(path.instants[0], market.closed_at) == pytest.approx(0.7)
