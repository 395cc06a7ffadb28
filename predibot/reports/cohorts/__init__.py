"""Cohorts for people: the list of them, and the statement of one."""
