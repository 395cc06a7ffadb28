"""BeliefBench: how related bots find two questions, from their words alone."""
