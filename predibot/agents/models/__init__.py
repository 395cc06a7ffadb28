"""Language models: how each is opened, spoken to, metered."""
