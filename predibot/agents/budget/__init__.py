"""What an agent may spend, and what a call costs."""
