"""Games: the question to a bot, and the booking of its answer; one folder each, found by its name; pure."""
