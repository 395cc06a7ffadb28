"""Forecasting bots that bet paper money on prediction markets, and what became of it."""

__version__ = "0.1.0"
