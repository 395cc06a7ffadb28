"""Clients of model servers: one module for each protocol, and the code that they share."""
