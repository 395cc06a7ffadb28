"""A seeded, simulated prediction market behind a loopback server that speaks Polymarket's protocols."""
