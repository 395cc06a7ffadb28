"""Talking to models: clients, budgets, the tool loop, prompts and answers."""
