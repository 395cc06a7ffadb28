"""A seeded, simulated prediction market behind a loopback server that speaks the protocols of a real one."""
