"""A portfolio of weights: shares of an account in the outcomes of trending markets and in cash, slot by slot."""

from predibot.games.portfolio_weights.rules import PortfolioWeights
from predibot.games.portfolio_weights.view import MarketView, PortfolioView

__all__ = ["MarketView", "PortfolioView", "PortfolioWeights"]
