"""Close-ups on a screen: one bot, or one event."""
