"""Details of one bot, one event or one decision."""
