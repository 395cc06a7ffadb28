"""Accounts: what a bot made of one portfolio over months, and what it did to get there."""
