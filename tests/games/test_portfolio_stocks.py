"""Portfolios of stocks: what a bot is shown and asked, what is taken for an answer, and what trades cost."""

from datetime import UTC, datetime, timedelta

import pytest

from predibot.domain.account import Account, Position
from predibot.domain.decision import Order
from predibot.domain.event import Event, Market, MarketRef, Tag
from predibot.domain.price import EQUITY, Instrument, Price, PricePoint, Quote
from predibot.errors import AnswerError, PluginError
from predibot.games.fills import FillModel
from predibot.games.portfolio_weights import PortfolioView, PortfolioWeights
from predibot.games.portfolio_weights.rules import PORTFOLIO

AT = datetime(2026, 1, 5, 21, tzinfo=UTC)
COMPANIES = {"AAPL": ("", ""), "XOM": ("Exxon Mobil", "Energy"), "SPY": ("An index fund", "")}
GAME = PortfolioWeights(tickers=("AAPL", "XOM"), benchmarks=("SPY",), fee_bps=5.0)


def share(ticker: str) -> Instrument:
    return Instrument("stocks", EQUITY, ticker)


def event_of(ticker: str, close: float | None) -> Event:
    quote = None if close is None else Quote(AT, last=close, kind=EQUITY)
    name, sector = COMPANIES[ticker]
    market = Market(MarketRef(ticker, kind=EQUITY), ticker, (ticker,), description=name, quote=quote)
    return Event(ticker, ticker, (market,), tags=(Tag(sector, sector.lower()),) if sector else ())


def view_of(account: Account | None = None, *, xom: float | None = 120.0) -> PortfolioView:
    events = [event_of("AAPL", 0.25), event_of("XOM", xom), event_of("SPY", 600.0)]
    return GAME.view(PORTFOLIO, events, venue="stocks", account=account or Account(cash_usd=1_000.0))


def words_of(view: PortfolioView, *, price_blind: bool = False) -> str:
    history = (PricePoint(AT - timedelta(days=3), 117.0), PricePoint(AT, 118.5, 51_234_000.0))
    words = GAME.form(view, price_blind=price_blind).words(history=lambda _: history, untrusted=lambda text: text)
    return "\n".join([words.task, words.objective, words.view, *words.steps, words.ask])


def test_an_account_of_stocks_begins_with_a_thousand_dollars_and_one_of_questions_with_half() -> None:
    assert (GAME.stake_usd, PortfolioWeights().stake_usd) == (1_000.0, 500.0)


def test_stocks_are_assets_by_their_tickers_and_an_index_is_none() -> None:
    view = view_of()
    assert view.assets == {"AAPL": share("AAPL"), "XOM": share("XOM")}
    assert view.dearer_sides == {"AAPL": 1.0, "XOM": 1.0}
    assert view.weights({"AAPL": 0.5}) == {"AAPL": 0.5}
    assert view.order_benchmark("SPY") == (Order(share("SPY"), 1.0, "weight"),)
    with pytest.raises(PluginError, match="benchmarks are SPY"):
        view.order_benchmark("QQQ")


def test_words_speak_of_stocks_their_closes_and_costs() -> None:
    held = Account(cash_usd=400.0, positions={share("XOM"): Position(5.0, 600.0)}, paid_in_usd=1_000.0)
    said = words_of(view_of(held))
    for part in (
        "began with $1000",
        "what the portfolio gains over many steps, measured against how much it swings",
        "only if you expect it to gain more than the others by more than a trade costs",
        "- XOM: 5 shares, bought at 120 on average, worth $600.00 at 120, weight 0.6000",
        "stock: XOM\ncompany: Exxon Mobil\nsector: Energy\nclose of 2026-01-05: 120\n"
        "closes by day, adjusted for splits and dividends since, with each day's change: "
        "2026-01-02 117; 2026-01-05 118.5 +1.28%, 51,234,000 shares traded",
        '{"stocks": [{"ticker": "AAPL", "close": 0.25}, {"ticker": "XOM", "close": 120.0}]}',
        "Every trade costs 0.05 % of its money as a fee.",
        "first close after your decision",
    ):
        assert part in said
    for part in ("YES", "NO ", "SPY", "probabilit", "question", "market"):
        assert part not in said


def test_prices_are_left_out_where_they_shall_not_be_seen_and_a_halt_is_said() -> None:
    blind = words_of(view_of(), price_blind=True)
    assert "120" not in blind and "118" not in blind and "shares traded" not in blind
    assert "company: Exxon Mobil\nsector: Energy" in blind
    assert "it was not traded on the last trading day, so it has no price now" in words_of(view_of(xom=None))


def test_answers_are_weights_by_ticker_without_probabilities() -> None:
    form = GAME.form(view_of())
    decision = form.parse({"reasoning": "", "allocations": {"AAPL": "25%", "SPY": 0.25, "CASH": 0.5}})
    assert [(each.instrument, each.amount) for each in decision.orders] == [(share("AAPL"), 0.25)]
    assert "SPY" in decision.notes[0]
    assert form.schema.parameters["properties"].keys() == {"reasoning", "allocations", "abstain"}
    with pytest.raises(AnswerError, match="no market of this portfolio"):
        form.parse({"allocations": {"CASH": 1}, "probabilities": {"AAPL": 0.5}})


@pytest.mark.parametrize(
    "wrong",
    [
        {"fee_bps": -1.0},
        {"spread_bps": 1e9},
        {"tickers": ("A",), "benchmarks": ("A",)},
        {"tickers": ("A", "A")},
        {"benchmarks": ("SPY",)},
    ],
)
def test_options_that_mean_nothing_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"hundredths|twice|tickers"):
        PortfolioWeights(**wrong)  # type: ignore[arg-type]


def test_costs_are_half_of_the_spread_and_the_fee_on_both_sides() -> None:
    model = FillModel("mid", fee_bps=10.0, spread_bps=20.0)
    bought = model.fill(Order(share("XOM"), 10.0, "shares"), Price(AT, 100.0))
    sold = model.fill(Order(share("XOM"), 10.0, "shares", "sell"), Price(AT, 100.0))
    assert bought is not None
    assert sold is not None
    assert (bought.price, bought.fee_usd) == pytest.approx((100.1, 1.001))
    assert (sold.price, sold.fee_usd) == pytest.approx((99.9, 0.999))
    assert bought.model == "mid, fee 10 bp, spread 20 bp"
    assert FillModel("mid").name == "mid"
