"""Running recipes by their schedules, with nobody watching."""
