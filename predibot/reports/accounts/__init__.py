"""Statements of accounts and of cohorts."""
