"""The simulated stock market: correlated paths, moved by news that is published before, and what happens to shares."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from predibot.sandbox.stocks.companies import DEFAULT_TICKERS, INDICES, check_ticker
from predibot.sandbox.stocks.market import StockMarket
from predibot.sandbox.stocks.news import outlook_of, stories_of
from predibot.sandbox.stocks.trading_days import is_half_day
from predibot.sandbox.world.calendar import MINUTES_A_DAY, minute_of
from predibot.sandbox.world.draws import Draws

START = date(2024, 1, 1)
EVERY = (*DEFAULT_TICKERS, *INDICES)


@pytest.fixture(scope="module")
def market() -> StockMarket:
    return StockMarket.from_seed(3, start=START, days=520)


def test_the_order_of_questions_changes_nothing_and_another_seed_everything(market: StockMarket) -> None:
    other = StockMarket.from_seed(3, start=START, days=520)
    for ticker in reversed(EVERY):
        again, history = other.history(ticker), market.history(ticker)
        assert np.array_equal(again.close, history.close)
        assert again.actions == history.actions
    another = StockMarket.from_seed(4, start=START, days=520)
    assert not np.array_equal(another.history("AAPL").close, market.history("AAPL").close)


def test_a_longer_market_begins_with_the_shorter_one(market: StockMarket) -> None:
    shorter = StockMarket.from_seed(3, start=START, days=300)
    for ticker in EVERY:
        whole, part = market.history(ticker), shorter.history(ticker)
        for name in ("days", "open", "high", "low", "close", "volume", "company_value", "is_traded"):
            assert np.array_equal(getattr(whole, name)[:300], getattr(part, name)), (ticker, name)
        assert tuple(each for each in whole.actions if each.on <= part.days[-1]) == part.actions


def test_nothing_that_becomes_known_later_is_in_a_price(market: StockMarket) -> None:
    after = market.days[200]
    minute = minute_of(market_close(after))
    other = StockMarket(Draws(3, minute), market.days)
    for ticker in EVERY:
        altered, history = other.history(ticker), market.history(ticker)
        for name in ("open", "high", "low", "close", "volume", "company_value"):
            assert np.array_equal(getattr(altered, name)[:201], getattr(history, name)[:201]), (ticker, name)
        assert not np.array_equal(altered.close[201:], history.close[201:])


def market_close(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 21, tzinfo=UTC)


def test_companies_of_a_sector_move_together_and_all_with_the_index(market: StockMarket) -> None:
    path = {ticker: np.diff(np.log(market.history(ticker).company_value)) for ticker in EVERY}
    same, other = np.corrcoef(path["AAPL"], path["MSFT"])[0, 1], np.corrcoef(path["AAPL"], path["KO"])[0, 1]
    assert same > other > 0.1
    assert all(np.corrcoef(path[ticker], path["SPY"])[0, 1] > 0.25 for ticker in DEFAULT_TICKERS)
    assert np.std(path["SPY"]) < min(np.std(path[ticker]) for ticker in DEFAULT_TICKERS)


def test_every_price_lies_between_low_and_high_and_an_index_is_neither_split_halted_nor_delisted(
    market: StockMarket,
) -> None:
    for ticker in EVERY:
        history = market.history(ticker)
        assert np.all(history.low > 0.0)
        assert np.all(history.low <= np.minimum(history.open, history.close))
        assert np.all(history.high >= np.maximum(history.open, history.close))
        if ticker in INDICES:
            assert history.is_traded.all()
            assert {each.kind for each in history.actions} == {"dividend"}


def test_raw_closes_with_their_actions_and_adjusted_ones_grow_as_the_company_does(market: StockMarket) -> None:
    for ticker in EVERY:
        history = market.history(ticker)
        growth = np.ones(len(history.days))
        growth[1:] = history.close[1:] / history.close[:-1]
        for action in history.actions:
            place = history.days.index(action.on)
            if action.kind == "split":
                growth[place] *= action.value or 0.0
            elif action.kind == "dividend":
                growth[place] = history.close[place] / (history.close[place - 1] - (action.value or 0.0))
        held = np.cumprod(growth) * history.company_value[0]
        # Closes are rounded to 1/100 of a cent.
        assert np.allclose(held, history.company_value, rtol=1e-3), ticker
        adjusted = history.adjusted_close()
        last = np.flatnonzero(history.is_traded)[-1]
        assert adjusted[last] == history.close[last]
        assert np.allclose(adjusted / adjusted[0], history.company_value / history.company_value[0], rtol=1e-3)


def test_there_are_splits_dividends_halts_and_delistings() -> None:
    markets = [StockMarket.from_seed(seed, start=START, days=520) for seed in range(6)]
    histories = [market.history(name) for market in markets for name in DEFAULT_TICKERS]
    kinds = [action.kind for history in histories for action in history.actions]
    assert {"split", "dividend", "delisting"} == set(kinds)
    ends = [each for history in histories for each in history.actions if each.kind == "delisting"]
    assert any(each.value is None for each in ends)
    assert any(each.value is not None for each in ends)
    halts = 0
    for history in histories:
        ended = next((history.days.index(each.on) for each in history.actions if each.kind == "delisting"), 520)
        assert not history.is_traded[ended:].any()
        assert all(
            history.is_traded[history.days.index(each.on)] for each in history.actions if each.kind != "delisting"
        )
        halts += int((~history.is_traded[:ended]).sum())
    assert halts > 0


def test_an_index_grows_as_its_members_together_do() -> None:
    market = StockMarket.from_seed(5, start=START, days=520)
    for ticker, sizes in INDICES.items():
        held, total = dict(sizes), 1.0
        histories = {name: market.history(name) for name in held}
        ends = {name: each.on for name in held for each in histories[name].actions if each.kind == "delisting"}
        for place, on in enumerate(market.days):
            listed = [name for name in held if name not in ends or on < ends[name]]
            before = sum(held[name] for name in listed)
            for name in held:
                value = histories[name].company_value
                held[name] *= value[place] / (value[place - 1] if place else 1.0)
            total *= sum(held[name] for name in listed) / before
            assert market.history(ticker).company_value[place] == pytest.approx(total, rel=1e-9)
        assert ticker == "QQQ" or ends


def test_an_index_outlives_its_members() -> None:
    market = StockMarket.from_seed(1, start=date(1900, 1, 1), days=20_000)
    gone = [any(each.kind == "delisting" for each in market.history(name).actions) for name in INDICES["QQQ"]]
    assert all(gone)
    assert np.all(np.isfinite(market.history("QQQ").company_value))
    assert np.all(market.history("QQQ").close > 0.0)


def test_some_days_open_with_a_gap(market: StockMarket) -> None:
    gaps = 0
    for ticker in DEFAULT_TICKERS:
        history = market.history(ticker)
        changed = {history.days.index(each.on) for each in history.actions}
        jumps = np.abs(np.log(history.open[1:] / history.close[:-1])) > 0.05
        gaps += sum(place + 1 not in changed for place in np.flatnonzero(jumps).tolist())
    assert 10 < gaps < 0.02 * 15 * 520


def test_half_days_are_quiet(market: StockMarket) -> None:
    short = [place for place, day in enumerate(market.days) if is_half_day(day)]
    assert [str(market.days[place]) for place in short] == ["2024-11-29", "2024-12-24", "2025-11-28", "2025-12-24"]
    volumes = np.array([market.history(ticker).volume for ticker in EVERY], dtype=float)
    assert volumes[:, short].mean() < 0.75 * volumes.mean()


def test_a_story_is_felt_only_on_days_after_its_own(market: StockMarket) -> None:
    story = next(each for each in stories_of(market.draws, "KO", date(2024, 5, 1), date(2024, 8, 1)) if each.effect)
    first = next(
        place
        for place, day in enumerate(market.days)
        if minute_of(market_close(day)) // MINUTES_A_DAY > story.minute // MINUTES_A_DAY
    )
    before = market.history("KO").company_value
    other = StockMarket(Draws(3, story.minute // MINUTES_A_DAY * MINUTES_A_DAY - 1), market.days)
    assert np.array_equal(other.history("KO").company_value[: first - 1], before[: first - 1])


def followed(market: StockMarket, *, reads: bool) -> np.ndarray:
    """Return the daily log return in excess of SPY of who holds what the news of the window speaks well of.

    Decided after the close of a day on the news from three days to one day
    before, and filled at the next close; all of SPY where nothing speaks well.
    """
    value = {ticker: market.history(ticker).company_value for ticker in EVERY}
    stories = {ticker: stories_of(market.draws, ticker, market.days[0], market.days[-1]) for ticker in DEFAULT_TICKERS}
    rng = np.random.default_rng(5)
    excess = []
    for place in range(5, len(market.days) - 2):
        now = minute_of(market_close(market.days[place])) + 5
        said = {}
        for ticker in DEFAULT_TICKERS:
            read = [each for each in stories[ticker] if now - 3 * MINUTES_A_DAY <= each.minute <= now - MINUTES_A_DAY]
            said[ticker] = sum(outlook_of(f"{each.headline} {each.summary}") for each in read)
        if not reads:
            said = {ticker: int(rng.integers(-2, 3)) for ticker in said}
        held = [ticker for ticker, words in said.items() if words > 0] or ["SPY"]
        gain = np.mean([value[ticker][place + 2] / value[ticker][place + 1] for ticker in held])
        excess.append(np.log(gain) - np.log(value["SPY"][place + 2] / value["SPY"][place + 1]))
    return np.array(excess)


def test_who_reads_the_news_beats_the_index_and_who_guesses_does_not() -> None:
    for seed in (1, 2, 3):
        market = StockMarket.from_seed(seed, start=START, days=260)
        sharp, noise = (followed(market, reads=reads) for reads in (True, False))
        assert sharp.mean() > 2.5 * sharp.std() / np.sqrt(len(sharp)), seed
        assert abs(noise.mean()) < 2.5 * noise.std() / np.sqrt(len(noise)), seed


def test_every_kind_of_news_is_there_and_most_rumours_are_right(market: StockMarket) -> None:
    stories = [each for name in EVERY for each in stories_of(market.draws, name, START, START + timedelta(days=700))]
    assert {each.kind for each in stories} == {"outlook", "rumour", "filler", "hostile"}
    rumours = [each for each in stories if each.kind == "rumour"]
    assert 0.6 < np.mean([np.sign(each.outlook) == np.sign(each.effect) for each in rumours]) < 0.8
    assert all(outlook_of(each.headline) == outlook_of(each.summary) == each.outlook for each in stories)


@pytest.mark.parametrize("ticker", ["", "aapl", "../X", "A B", "A" * 20, "A/B"])
def test_what_names_no_file_is_no_ticker_and_a_market_has_a_day(ticker: str) -> None:
    with pytest.raises(ValueError, match="a ticker is capital letters"):
        check_ticker(ticker)
    with pytest.raises(ValueError, match="1 trading day or more, got 0"):
        StockMarket.from_seed(1, start=START, days=0)
