"""Forecasts of other systems, read from files and scored."""
