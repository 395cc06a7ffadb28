"""Details: all that is stored of one bot, one event or one decision, for who looks at it alone."""
