"""A weekly cohort: that the accepted examples come out to the digit, and what becomes of batches and positions."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.contracts import Game
from predibot.domain.account import Account, JournalRow
from predibot.domain.decision import Decision, Label, Order, Subject
from predibot.domain.price import Depth, FeeSchedule, Instrument, Level, Price, Quote
from predibot.domain.resolution import Resolution
from predibot.errors import AnswerError, MarketClosed, UsageError
from predibot.games.accounts import Journal, account_of, settle
from predibot.games.fills import FillModel
from predibot.games.positions import list_resolved_bets, positions_of, standing_of
from predibot.games.weekly_cohort import WeeklyCohort
from predibot.games.weekly_cohort.execution import most_usd
from predibot.plugins.games import make_game
from tests.games.weekly_cohort.world import NOW, SUNDAY, V1, V2, Player, a_market, bets, named, sells


def test_it_keeps_the_contract_of_games() -> None:
    game: Game = V2
    assert (game.name, game.stake_usd, V1.terms.version) == ("weekly_cohort", 10_000.0, "v1")
    assert make_game("weekly_cohort", methodology="v1") == V1
    for version, more, said in (
        ("v3", {}, "no methodology"),
        ("v1", {"fees": True}, "take v2 to choose universe or fees"),
        ("v2", {"weeks": 3}, "weeks is of v1"),
        ("v1", {"weeks": 521}, "1 to 520 weeks"),
    ):
        with pytest.raises(UsageError, match=said):
            WeeklyCohort(version, **more)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no cohort with an account"):
        V2.view(Subject("event", "e"), [], venue="toy")


@pytest.mark.parametrize(
    ("game", "key"),
    [
        (WeeklyCohort(), "v1 weeks=12"),
        (WeeklyCohort("v1", weeks=4), "v1 weeks=4"),
        (WeeklyCohort("v1", weeks=0), "v1"),
        (WeeklyCohort("v2"), "v2"),
        (WeeklyCohort("v2", universe="fresh", fees=False), "v2 universe=fresh fees=no"),
    ],
)
def test_rules_that_differ_have_names_that_differ_and_each_is_found_by_its_name(game: WeeklyCohort, key: str) -> None:
    assert game.methodology_key == key
    assert V2.by_methodology(key).terms == game.terms
    for wrong in (f"{key} fees=yes", f"{key}  ", f"{key} weeks=-1"):
        with pytest.raises(UsageError):
            V2.by_methodology(wrong)


def test_v1_has_no_fees_and_bets_at_the_displayed_price() -> None:
    listed = a_market("m").with_quotes({"m": Quote(NOW, bid=0.009, ask=0.013, displayed=0.01)})
    market = replace(listed, fees=FeeSchedule(0.05))
    player, costly = Player(V1), Player(V2)
    player.book(bets(("m", "YES", 1_500.0)), market)
    costly.book(bets(("m", "YES", 1_500.0)), market)
    assert (player.cash_usd, account_of(player.journal).fees_usd) == (8_500.0, 0.0)
    (shown,) = player.view(market).positions
    assert (shown.shares, shown.price and shown.price.source) == (150_000.0, "displayed")
    # At the middle of .011, and each of 136,364 shares costs .05 x .011 x .989 more, which is written.
    fees_usd = 1_500.0 * 0.05 * 0.989
    assert costly.cash_usd == pytest.approx(8_500.0 - fees_usd)
    assert account_of(costly.journal).fees_usd == pytest.approx(fees_usd)
    (against,) = Player(V1).book(bets(("m", "NO", 99.0)), market).journal
    assert against.shares == pytest.approx(100.0)


# The accepted examples.


@pytest.mark.parametrize(("price", "side"), [(0.4, "YES"), (0.6, "NO")])
def test_a_hundred_dollars_at_forty_cents_are_250_shares(price: float, side: str) -> None:
    player = Player()
    booking = player.bet(price, 100, side)
    (fill,) = booking.orders[0].fills
    # NO costs what YES lacks to a dollar.
    assert (fill.price, fill.shares) == (price if side == "YES" else 1 - price, pytest.approx(250.0, abs=1e-9))
    assert (player.cash_usd, booking.unallocated_usd) == (9_900.0, 9_900.0)


def test_forty_per_cent_sold_at_the_price_of_the_purchase_bring_forty_dollars() -> None:
    player = Player()
    player.bet(0.6, 100)
    booking = player.sell(0.6, 40)
    (position,) = player.view(a_market("m", 0.6)).positions
    assert booking.orders[0].fills[0].cash_usd == pytest.approx(40.0, abs=1e-9)
    assert player.cash_usd == pytest.approx(9_940.0, abs=1e-9)
    assert (position.shares, position.value_usd) == (pytest.approx(100.0, abs=1e-9), pytest.approx(60.0, abs=1e-9))


def held(shares: float, cost_usd: float, instrument: Instrument) -> JournalRow:
    return JournalRow("fill", NOW, -cost_usd, instrument, shares)


X = Instrument("toy", "binary_outcome", "m:YES")


def test_a_purchase_averages_and_a_sale_takes_cost_in_proportion() -> None:
    journal = [JournalRow("deposit", NOW, 100.0), held(10, 4.0, X), held(5, 4.0, X)]
    (position,) = positions_of(journal)
    assert (position.shares, position.average_price) == (15.0, 8 / 15)
    (position,) = positions_of([*journal, JournalRow("fill", NOW, 2.0, X, -5.0)])
    assert position.cost_usd == pytest.approx(8 * 10 / 15, abs=1e-12)
    assert position.bought_usd == 8.0


@pytest.mark.parametrize(
    ("payout", "realised_usd", "state"),
    [
        (1.0, 240.0, "WON"),
        (0.0, -360.0, "LOST"),
        (0.5, -60.0, "CANCELLED"),
        (0.25, -210.0, "CANCELLED"),
        (None, 0.0, "CANCELLED"),
    ],
)
def test_what_is_left_of_a_position_is_realised_at_its_payout(
    payout: float | None, realised_usd: float, state: str
) -> None:
    # 1,000 shares cost 600, of which 400 are sold at .75: +60, and 600 shares that cost 360 are left.
    player = Player()
    player.journal += [held(1_000, 600.0, X), JournalRow("fill", NOW, 400 * 0.75, X, -400.0)]
    (position,) = positions_of(player.journal)
    assert (position.realised_usd, position.shares, position.cost_usd) == (60.0, 600.0, 360.0)
    before_usd = player.cash_usd
    player.resolve(payout)
    (position,) = positions_of(player.journal)
    assert (position.realised_usd, position.state) == (pytest.approx(60.0 + realised_usd), state)
    account = account_of(player.journal)
    assert account.realised_usd == pytest.approx(60.0 + realised_usd)
    assert account.cash_usd == pytest.approx(before_usd + 360.0 + realised_usd)
    assert not account.positions


def test_two_bets_of_1500_are_refused_by_v2_and_booked_by_v1() -> None:
    markets = (a_market("a"), a_market("b"))
    answer = bets(("a", "YES", 1_500.0), ("b", "NO", 1_500.0))
    with pytest.raises(AnswerError, match=r"the bets come to \$3,000.00; together they are at most .* \$2,500.00"):
        Player(V2).book(answer, *markets)
    player = Player(V1)
    assert [order.status for order in player.book(answer, *markets).orders] == ["filled", "filled"]
    assert player.cash_usd == 7_000.0


def test_a_batch_with_a_closed_market_leaves_no_row_and_says_why() -> None:
    player = Player(V2)
    shown = (a_market("a"), a_market("b"))
    with pytest.raises(MarketClosed, match=r"market 'b' YES: it has no price now: its market is closed") as told:
        player.book(
            bets(("a", "YES", 500.0), ("b", "YES", 500.0)), *shown, later=[a_market("a"), a_market("b", closed=True)]
        )
    assert "all of them or none" in str(told.value)
    assert player.journal == [JournalRow("deposit", NOW, 10_000.0)]


def test_a_bet_on_a_market_that_is_shown_as_closed_is_refused_before_it_is_booked() -> None:
    with pytest.raises(AnswerError, match="market 'b' YES: the market is closed"):
        Player().book(bets(("b", "YES", 500.0)), a_market("b", closed=True))


# Legs and batches.


def test_v1_reads_the_cash_again_before_each_leg_and_books_the_others() -> None:
    markets = [a_market(name) for name in "abcd"]
    player = Player(V1)
    booking = player.book(bets(*((name, "YES", 2_400.0) for name in "abc"), ("d", "YES", 1_000.0)), *markets)
    # 10,000 -> 7,600, of which 25 % is 1,900: too little for the second and the third, enough for the last.
    assert [order.status for order in booking.orders] == ["filled", "expired", "expired", "filled"]
    assert booking.orders[1].note == "at most $1,900.00, 25 % of the cash there was, could be bet"
    assert player.cash_usd == 6_600.0


def test_v1_books_what_has_a_price() -> None:
    markets = [a_market("a"), a_market("b")]
    player = Player(V1)
    answer = bets(("a", "YES", 100.0), ("b", "YES", 100.0))
    booking = player.book(answer, *markets, later=[a_market("a"), a_market("b", None)])
    assert [(order.status, len(order.fills)) for order in booking.orders] == [("filled", 1), ("expired", 0)]
    assert player.cash_usd == 9_900.0


@pytest.mark.parametrize("game", [V1, V2])
def test_a_batch_of_which_nothing_could_be_filled_is_a_failure_and_no_decision(game: WeeklyCohort) -> None:
    player = Player(game)
    with pytest.raises(MarketClosed):
        player.book(bets(("a", "YES", 100.0)), a_market("a"), later=[a_market("a", None)])
    with pytest.raises(MarketClosed):
        player.book(bets(("a", "YES", 100.0)), a_market("a"), fills=FillModel("quote"))
    player.bet(0.5, 100.0, market_id="a")
    with pytest.raises(MarketClosed, match="nothing of it could be filled"):
        player.book(sells(("p1", 50)), a_market("a"), later=[a_market("a", closed=True)])


def test_a_book_that_holds_less_than_a_bet_breaks_a_batch_of_v2_and_fills_a_part_with_v1() -> None:
    depth = Depth((Level(0.375, 10.0),), (Level(0.5, 120.0),))
    thin = replace(a_market("a"), quote=Quote(NOW, bid=0.375, ask=0.5, displayed=0.4, depth=depth))
    answer = bets(("a", "YES", 100.0))
    with pytest.raises(MarketClosed, match=r"all of them or none: market 'a' YES: \$60.00 of \$100.00 were filled"):
        Player(V2).book(answer, thin, fills=FillModel("book"))
    player = Player(V1)
    (order,) = player.book(answer, thin, fills=FillModel("book")).orders
    assert (order.status, order.fills[0].shares, order.note) == (
        "filled",
        120.0,
        "$60.00 of $100.00 were filled; nobody offered more",
    )
    assert player.cash_usd == 9_940.0
    assert Player(V2).book(answer, thin, fills=FillModel("quote")).orders[0].fills[0].price == 0.5


def test_sales_are_booked_singly_with_v2_too() -> None:
    player = Player(V2)
    for name in "ab":
        player.bet(0.5, 100.0, market_id=name)
    booking = player.book(
        sells(("p1", 100), ("p2", 100)), a_market("a"), a_market("b"), later=[a_market("a"), a_market("b", None)]
    )
    assert [order.status for order in booking.orders] == ["filled", "expired"]
    assert [position.state for position in positions_of(player.journal)] == ["EXITED", "open"]


def test_a_second_sale_of_a_position_is_of_what_the_first_one_leaves() -> None:
    player = Player()
    player.bet(0.5, 100.0)
    booking = player.book(sells(("p1", 40), ("p1", 50)), a_market("m"))
    assert [order.fills[0].shares for order in booking.orders] == [-80.0, -60.0]


def test_the_cash_before_a_leg_is_less_by_the_fees_of_those_before() -> None:
    market, other = (replace(a_market(name), fees=FeeSchedule(0.04)) for name in "ab")
    answer = bets(("a", "YES", 2_000.0), ("b", "YES", 2_000.0))
    # 4,000 shares at a cent each: 25 % of 7,960 are 1,990.
    old = WeeklyCohort("v1", weeks=0)
    assert [order.status for order in Player(old).book(answer, market, other).orders] == ["filled", "expired"]
    free = (a_market("a"), a_market("b"))
    assert [order.status for order in Player(V1).book(answer, *free).orders] == ["filled", "filled"]


def test_what_a_decision_that_was_not_parsed_may_not_say() -> None:
    player = Player()
    player.bet(0.5, 100.0)
    yes = a_market("m").ref.instrument("toy", "YES")
    wrong = [
        (Decision(orders=(Order(yes, 0.5, "weight"),)), "buy for dollars or sell shares"),
        (Decision(orders=(Order(yes, 100.0), Order(yes, 1.0, "shares", "sell"))), "buys and sells at once"),
        (Decision(orders=(Order(X, math.nan),)), "give a number above 0"),
        (Decision(orders=(Order(Instrument("toy", "binary_outcome", "z"), 100.0),)), "no outcome that is shown"),
        (Decision(orders=(Order(yes, 201.0, "shares", "sell"),)), "200 are held"),
        (Decision(orders=(Order(yes, 1.9, "shares", "sell"),)), "less than 1 %"),
        (Decision(labels=(Label("m", "up"),)), "labels"),
    ]
    for decision, said in wrong:
        with pytest.raises(AnswerError, match=said):
            player.book(decision, a_market("m"))


def test_a_hold_writes_nothing() -> None:
    player = Player()
    booking = player.book({"action": "HOLD", "reasoning": "none is cheap"}, a_market("m"))
    assert (booking.orders, booking.journal, booking.unallocated_usd) == ((), (), 10_000.0)


# Positions.


def test_buying_again_adds_to_a_position_and_after_a_full_sale_opens_another() -> None:
    player = Player()
    player.bet(0.5, 100.0)
    player.bet(0.4, 100.0)
    assert [position.id for position in positions_of(player.journal)] == ["p1"]
    player.sell(0.5, 100)
    player.bet(0.5, 50.0)
    assert [(position.id, position.state) for position in positions_of(player.journal)] == [
        ("p1", "EXITED"),
        ("p2", "open"),
    ]


def test_both_sides_of_a_market_may_be_held() -> None:
    player = Player()
    player.bet(0.4, 100.0, "YES")
    player.bet(0.4, 120.0, "NO")
    yes, no = player.view(a_market("m", 0.3)).positions
    assert (yes.outcome.side, yes.value_usd) == ("YES", pytest.approx(75.0))
    assert (no.outcome.side, no.value_usd, no.unrealised_usd) == ("NO", pytest.approx(140.0), pytest.approx(20.0))


def test_a_closed_market_that_never_settles_stays_pending_at_its_last_price() -> None:
    player = Player()
    player.bet(0.4, 100.0)
    yes = a_market("m").ref.instrument("toy", "YES")
    (position,) = player.view(a_market("m", 0.9, closed=True), last={yes: Price(SUNDAY, 0.7)}).positions
    assert (position.is_closed, position.is_stale, position.value_usd) == (True, True, pytest.approx(175.0))
    assert positions_of(player.journal, {yes})[0].state == "PENDING"
    with pytest.raises(AnswerError, match="the market is closed"):
        player.book(sells(("p1", 100)), a_market("m", 0.9, closed=True))


def test_a_reversal_opens_a_position_again_and_the_new_payout_ends_it() -> None:
    player = Player()
    player.bet(0.5, 100.0)
    player.resolve(1.0)
    assert player.cash_usd == 10_100.0
    player.resolve(0.0, revision=2)
    (position,) = positions_of(player.journal)
    assert (position.state, position.realised_usd, player.cash_usd) == ("LOST", -100.0, 9_900.0)


def test_a_reversal_after_reinvestment_leaves_an_account_that_owes_and_may_only_sell() -> None:
    player = Player(V1, stake_usd=400.0)
    player.bet(0.1, 100.0)
    player.resolve(1.0)
    for number in range(6):
        player.bet(0.5, player.cash_usd / 4, market_id=f"n{number}")
    player.resolve(0.0, revision=2)
    assert account_of(player.journal).owing
    shown = a_market("n0")
    with pytest.raises(AnswerError, match=r"25 % of your cash, \$0.00"):
        player.book(bets(("n9", "YES", 50.0)), a_market("n9"), *(a_market(f"n{number}") for number in range(6)))
    others = [a_market(f"n{number}") for number in range(1, 6)]
    assert player.book(sells(("p2", 100)), shown, *others).orders[0].status == "filled"


def test_shares_that_a_reversal_brings_back_join_the_position_that_was_opened_since() -> None:
    player = Player()
    player.bet(0.5, 100.0)
    player.resolve(1.0)
    player.bet(0.5, 60.0)
    settled = next(row for row in player.journal if row.kind == "settlement")
    player.journal.append(JournalRow("reversal", NOW, -settled.cash_usd, settled.instrument, -settled.shares))
    old, new = positions_of(player.journal)
    assert (old.state, old.joined, old.realised_usd, old.bought_usd) == ("CANCELLED", "p2", 0.0, 0.0)
    assert (len(old.legs), [leg.amount_usd for leg in new.legs]) == (0, [100.0, 60.0])
    assert (new.state, new.shares, new.cost_usd, new.bought_usd) == ("open", 320.0, 160.0, 160.0)


def test_who_is_bankrupt_and_who_cannot_bet() -> None:
    position = {X: replace(account_of([held(1, 1.0, X)]).positions[X])}
    assert standing_of(Account(cash_usd=200.0), 200.0) == "playing"
    assert standing_of(Account(cash_usd=199.99), 200.0) == "cannot bet"
    assert standing_of(Account(cash_usd=0.0, positions=position), 200.0) == "cannot bet"
    assert standing_of(Account(cash_usd=0.0), 200.0) == "bankrupt"


# Markets.


def test_an_outcome_named_no_in_a_market_of_three_has_a_price_of_its_own() -> None:
    market = named("w", {"Ann": 0.5, "No": 0.2, "Bob": 0.25})
    player = Player()
    booking = player.book(bets(("w", "No", 100.0)), market)
    assert booking.orders[0].fills[0].shares == 500.0
    with pytest.raises(AnswerError, match="give one of its outcomes by name, 'Ann', 'No', 'Bob'"):
        player.book(bets(("w", "YES", 100.0)), market)
    player.resolve(0.0, market_id="other")
    assert player.view(market).positions[0].outcome.label == "No"


def test_each_outcome_of_a_market_of_three_is_settled_by_what_it_paid() -> None:
    market = named("w", {"Ann": 0.5, "No": 0.2, "Bob": 0.25})
    player = Player()
    player.book(bets(("w", "No", 100.0), ("w", "Bob", 100.0)), market)
    paid = {"No": 1.0, "Bob": 0.0}
    revisions = {
        outcome.instrument: [(1, Resolution(paid[outcome.side], NOW, "venue", NOW))]
        for outcome in player.view(market).markets[0].outcomes
        if outcome.side in paid
    }
    player.journal += settle(Journal().with_rows(player.journal), revisions, as_of=NOW)
    assert [(each.instrument.id, each.state) for each in positions_of(player.journal)] == [
        ("w-1", "WON"),
        ("w-2", "LOST"),
    ]
    assert player.cash_usd == 10_300.0


def test_the_cash_before_each_bet_is_kept_with_it() -> None:
    player = Player(V1)
    player.book(bets(("a", "YES", 2_500.0), ("b", "YES", 1_000.0)), a_market("a"), a_market("b"))
    player.book(bets(("c", "YES", 500.0)), *(a_market(name) for name in "abc"))
    player.book(sells(("p3", 100)), *(a_market(name) for name in "abc"))
    player.resolve(1.0, market_id="a")
    player.resolve(0.5, market_id="b")
    found = list_resolved_bets(positions_of(player.journal))
    assert [(each.amount_usd, each.cash_before_usd, each.won) for each in found] == [
        (2_500.0, 10_000.0, True),
        (1_000.0, 7_500.0, None),
    ]


def test_a_market_that_lists_no_first_pays_yes_to_the_outcome_that_is_named_yes() -> None:
    market = replace(a_market("m", 0.2), outcomes=("No", "Yes"))
    player = Player()
    booking = player.book({**bets(("m", "YES", 80.0)), "probabilities": {"m": 0.9}}, market)
    fill = booking.orders[0].fills[0]
    # Its first outcome, No, costs .2.
    assert (fill.instrument.id, fill.price, fill.shares) == ("m:NO", 0.8, pytest.approx(100.0))
    decision = V2.form(player.view(market)).parse({"action": "HOLD", "probabilities": {"m": 0.9}})
    assert decision.forecasts[0].probability == pytest.approx(0.1)


@pytest.mark.parametrize("price", [0.0, 1.0])
def test_at_a_price_of_exactly_0_or_1_nothing_is_bought(price: float) -> None:
    for side in ("YES", "NO"):
        with pytest.raises(AnswerError, match="its price is exactly 0 or 1"):
            Player().bet(price, 100.0, side)


def test_a_position_at_1_is_sold_for_all_it_can_pay_and_one_at_0_is_kept() -> None:
    player = Player()
    player.bet(0.5, 100.0)
    with pytest.raises(AnswerError, match="brings nothing now"):
        player.sell(0.0, 100)
    player.sell(1.0, 100)
    assert player.cash_usd == 10_100.0


def test_a_market_outside_the_universe_may_be_sold_and_not_bought() -> None:
    player = Player()
    player.bet(0.5, 100.0)
    view = player.view(a_market("m"))
    outside = replace(view, markets=tuple(replace(market, in_universe=False) for market in view.markets))
    with pytest.raises(AnswerError, match="not among this week's"):
        V2.form(outside).parse(bets(("m", "YES", 100.0)))
    assert V2.form(outside).parse(sells(("p1", 100))).orders[0].amount == 200.0


def test_what_is_held_is_always_shown() -> None:
    player = Player()
    player.bet(0.5, 100.0)
    with pytest.raises(UsageError, match="no market of it is shown"):
        player.view(a_market("other"))


# Laws.

legs = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["YES", "NO"]), st.floats(1.0, 3_000.0)), min_size=1, max_size=5
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("BET"), legs),
        st.tuples(st.just("SELL"), st.lists(st.tuples(st.integers(0, 9), st.floats(1.0, 100.0)), max_size=3)),
        st.tuples(st.just("RESOLVE"), st.tuples(st.sampled_from("abcd"), st.sampled_from([0.0, 0.5, 1.0, None]))),
    ),
    max_size=10,
)


@given(steps, st.sampled_from([V1, V2]), st.lists(st.floats(0.01, 0.99), min_size=4, max_size=4), st.booleans())
def test_whatever_is_answered_money_is_kept_never_borrowed_and_positions_are_what_the_account_holds(
    said: list[tuple[str, object]], game: WeeklyCohort, prices: list[float], fee: bool
) -> None:
    player = Player(game)
    fees = FeeSchedule(0.05) if fee else None
    ended = set[str]()
    for number, (action, what) in enumerate(said):
        markets = [replace(a_market(n, p, closed=n in ended), fees=fees) for n, p in zip("abcd", prices, strict=True)]
        before, cash_usd = list(player.journal), player.cash_usd
        if action == "RESOLVE":
            name, payout = what  # type: ignore[misc]
            if name not in ended:
                ended.add(name)
                player.resolve(payout, market_id=name, revision=number + 1)
                player.resolve(None if payout is None else 1 - payout, market_id=name, side="NO", revision=number + 1)
            continue
        positions = player.view(*markets).positions
        if action == "BET":
            answer = bets(*what)  # type: ignore[misc]
        else:
            answer = sells(*((positions[i % len(positions)].id, part) for i, part in what if positions))  # type: ignore[attr-defined]
        try:
            booking = player.book(answer, *markets, fills=FillModel("mid"))
        except (AnswerError, MarketClosed):
            assert player.journal == before
            continue
        spent_usd = -math.fsum(fill.cash_usd for order in booking.orders for fill in order.fills)
        if game is V2:
            assert spent_usd <= 0.25 * cash_usd + 1e-6
        assert all(most_usd(Account(cash_usd=cash_usd), 0.0, game.terms) >= 0.0 for _ in booking.orders)
    account = account_of(player.journal)
    assert account.cash_usd >= -1e-9
    cost_usd = math.fsum(position.cost_usd for position in account.positions.values())
    assert account.cash_usd + cost_usd == pytest.approx(10_000.0 + account.realised_usd - account.fees_usd, abs=1e-6)
    opened = {each.instrument: each for each in positions_of(player.journal) if each.is_open}
    assert {key: (each.shares, each.cost_usd) for key, each in opened.items()} == {
        key: (each.shares, each.cost_usd) for key, each in account.positions.items()
    }
    realised_usd = math.fsum(each.realised_usd for each in positions_of(player.journal))
    assert realised_usd == pytest.approx(account.realised_usd, abs=1e-6)
