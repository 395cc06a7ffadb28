"""The simulated world: events, prices, news."""
