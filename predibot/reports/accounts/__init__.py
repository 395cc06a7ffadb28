"""Accounts for people: the statement of one."""
