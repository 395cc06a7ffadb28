"""The budget of an agent, and the price of a call."""
