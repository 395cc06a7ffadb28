"""A portfolio of weights: an account in outcomes of trending markets and in cash, traded slot by slot."""

from predibot.games.portfolio_weights.rules import PortfolioWeights
from predibot.games.portfolio_weights.view import MarketView, PortfolioView

__all__ = ["MarketView", "PortfolioView", "PortfolioWeights"]
