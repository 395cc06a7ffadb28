"""The loops in which a model calls tools until it answers."""
