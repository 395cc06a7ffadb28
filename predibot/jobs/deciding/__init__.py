"""How a decision is set up and made."""
