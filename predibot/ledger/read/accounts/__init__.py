"""Readers of accounts, also of cohort members': holdings, scores, and what is due."""
