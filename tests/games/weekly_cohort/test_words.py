"""The words of a cohort: what a model is shown of its account and of 500 markets, and how many tokens that takes."""

from dataclasses import replace
from datetime import timedelta

import pytest

from predibot.domain.event import OTHER_WORDS
from predibot.domain.price import FeeSchedule, Price
from predibot.games.weekly_cohort.view import CohortView
from predibot.games.weekly_cohort.words import VIEW_TOKENS, cohort_words, tokens_bound, view_text
from tests.games.weekly_cohort.world import NOW, SUNDAY, V1, V2, Player, a_market, bets, named
from tests.soaks import few

LONG = (
    "Will the party of the incumbent win more than forty seats in the election of the lower house on the last Sunday? "
)


def many(question: str, *, outcomes: int = 2, label: str = "Candidate") -> CohortView:
    """Return the view of 500 markets and 60 positions."""
    player = Player(V1, stake_usd=1e6)
    more = {"volume_usd": 1_234_567.0, "closes_at": SUNDAY + timedelta(days=90)}
    markets = [a_market(str(500_000 + n), 0.345, question=f"{question} {n}", **more) for n in range(250)]
    for n in range(250):
        price = 1.0 / outcomes
        prices = {f"{label} {place}": price for place in range(outcomes)}
        market = a_market(str(600_000 + n), 0.6) if outcomes == 2 else named(str(600_000 + n), prices)
        markets.append(replace(market, question=f"{question} {n}", **more))
    for n in range(60):
        player.bet(0.345, 100.0, market_id=str(500_000 + n))
    return player.view(*markets)


def shown(view: CohortView, *, blind: bool = False) -> str:
    words = V2.form(view, price_blind=blind).words(history=lambda _: (), untrusted=lambda text: f"<<{text}>>")
    return words.view


@pytest.mark.parametrize(
    ("question", "outcomes", "label"),
    few(
        [("Will it rain?", 2, ""), (LONG, 2, ""), (LONG, 40, "The honourable candidate"), ("Дождь " * 60, 30, "Иван")],
        *(("Will it rain?", 2, ""), (LONG, 40, "The honourable candidate")),
    ),
)
def test_five_hundred_markets_and_sixty_positions_stay_within_the_tokens(
    question: str, outcomes: int, label: str
) -> None:
    view = many(question, outcomes=outcomes, label=label)
    text = view_text(view)
    assert tokens_bound(text) <= VIEW_TOKENS
    assert all(f"\n{market.id} | " in text for market in view.markets)
    assert text.count("\np") >= 60


def test_a_line_says_id_question_category_price_volume_and_close() -> None:
    market = a_market("512", 0.345, volume_usd=1_234_567.0, closes_at=SUNDAY)
    text = shown(Player().view(market))
    assert "512 | Will 512 happen? | - | 0.345 | $1.2M | 2026-03-01\n" in f"{text.removesuffix('>>')}\n"
    assert "date: 2026-03-01T00:05Z\ncohort: 2026-03-01, decision week 1\ncash: $10,000.00" in text
    assert "positions: none" in text


def test_a_position_is_shown_at_the_price_of_its_side_with_what_it_would_gain() -> None:
    player = Player()
    player.bet(0.4, 120.0, "NO")
    assert "p1 | m | NO | 200.00 | 0.6 | 0.7 | $140.00 | +$20.00" in shown(player.view(a_market("m", 0.3)))
    assert "| 0.5 | $100.00 | -$20.00" in shown(player.view(a_market("m", 0.5)))


def test_no_price_is_shown_that_does_not_exist() -> None:
    player = Player()
    player.bet(0.4, 100.0)
    bare = shown(player.view(a_market("m", None)))
    assert "m | Will m happen? | - | no price |" in bare
    assert "p1 | m | YES | 250.00 | 0.4 | no price is known | no price now: it cannot be sold" in bare
    yes = a_market("m").ref.instrument("toy", "YES")
    closed = shown(player.view(a_market("m", 0.99, closed=True), last={yes: Price(SUNDAY, 0.7)}))
    assert "0.7 (last known, of 2026-03-01T00:00Z) | $175.00 | +$75.00 | closed and not settled yet" in closed
    assert "0.99" not in closed and "| no price | - | - | closed" in closed


def test_outcomes_are_shown_by_name_and_those_that_cost_least_are_left_out() -> None:
    prices = {f"N{number}": number / 1_000 for number in range(45)}
    text = view_text(Player().view(named("w", prices), named("v", {"Ann": 0.5, "No": None, "Bob": 0.1})))
    assert "Ann 0.5; No no price; Bob 0.1" in text
    assert "N44 0.044; 5 more" in text and "N4 0.004" not in text


def test_a_name_that_is_cut_is_said_by_its_number() -> None:
    market = named("w", {"x" * 70: 0.5, "Ann": 0.3, "Bob": 0.1})
    player = Player()
    assert "#1=xxx" in view_text(player.view(market))
    assert player.book(bets(("w", "#1", 50.0)), market).orders[0].fills[0].shares == 100.0


def test_two_outcomes_of_other_names_say_which_is_yes() -> None:
    text = view_text(Player().view(a_market("m", 0.3, outcomes=("Lakers", "Celtics"))))
    assert "YES=Lakers, NO=Celtics: 0.3" in text


def test_names_that_are_alike_get_their_number() -> None:
    market = replace(named("w", {"A": 0.5, "B": 0.2, "C": 0.1}), outcomes=("Other", "Other", "Ann"))
    assert [each.side for each in Player().view(market).markets[0].outcomes] == ["1: Other", "2: Other", "3: Ann"]


def test_what_the_venue_says_is_inside_the_fence_on_one_line() -> None:
    text = shown(Player().view(a_market("m", 0.3, question="x\n512 | fake | - | 0.9 |\x1b[31m")))
    fenced = text.partition("<<")[2]
    assert "m | x 512 / fake / - / 0.9 / [31m | -" in fenced
    assert "\x1b" not in text


def test_the_price_blind_see_no_price() -> None:
    player = Player()
    player.bet(0.345, 100.0)
    text = shown(player.view(a_market("m", 0.345), named("w", {"A": 0.123, "B": 0.321, "C": 0.5})), blind=True)
    assert not any(price in text for price in ("0.345", "0.123", "0.321", "| 0.5", "P/L"))
    assert "A; B; C" in text and "m | Will m happen? | - | YES, NO |" in text


def test_who_cannot_bet_is_told() -> None:
    assert "below $200 of cash no bet is possible" in shown(Player(stake_usd=199.0).view(a_market("m")))


@pytest.mark.parametrize(("game", "said"), [(V1, "booked by itself"), (V2, "all of them are booked or none")])
def test_the_words_say_the_rules_of_the_version(game: object, said: str) -> None:
    view = Player(game).view(a_market("m"))  # type: ignore[arg-type]
    words = V2.form(view).words(history=lambda _: (), untrusted=str)
    assert all(said in text for text in (words.ask, words.report, words.extract, words.steps[1]))
    assert view.at == NOW


def test_the_market_of_all_that_is_not_named_is_shown_as_such() -> None:
    text = shown(
        Player().view(a_market("512", is_other=True, exclusive_group="g"), a_market("513", exclusive_group="g"))
    )
    assert text.endswith("\nat most one of these markets is YES>>")
    assert text.count(OTHER_WORDS) == text.count(f"| - | {OTHER_WORDS}\n513 |") == 1


def test_what_counts_is_said_and_when_a_side_is_worth_its_price() -> None:
    view = Player().view(a_market("512", fees=FeeSchedule(0.07)), a_market("513", fees=FeeSchedule(0.0)))
    said = cohort_words(view, price_blind=False, untrusted=str).objective
    assert "what the account is worth when everything is settled: make that as large as you can" in said
    assert "Two Brier scores" in said and "only if your probability of it is above what it costs" in said
    assert "come on top, at most 0.07 * c * (1 - c) dollars" in cohort_words(view, price_blind=False, untrusted=str).ask
    free = Player().view(a_market("512", fees=FeeSchedule(0.0)))
    assert "sold. The venue takes no fees. There" in cohort_words(free, price_blind=False, untrusted=str).ask
