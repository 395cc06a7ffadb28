"""Games: what is asked of a bot, and what becomes of its answer; one folder each, found by its name; pure."""
