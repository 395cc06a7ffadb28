"""Relatedness: which markets move together, judged by their prices, tags and words; pure."""
