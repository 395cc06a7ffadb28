"""Baselines: the strategies that know nothing, by which the others are measured."""

INDEX_FUND = "index_fund"
"""The one that buys an index, by which portfolios of stocks are measured."""
BASELINES = frozenset(
    {
        *("market_price", "random_bet", "favourite", "underdog", "always_half"),
        *("all_cash", "equal_weights", "buy_and_hold", "market_favourite", "random_weights", INDEX_FUND),
        "random_trade",
    }
)
"""Their names as strategies: what a bot is called says nothing."""
