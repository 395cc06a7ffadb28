"""Figures, grids and screens for a terminal."""
