"""What is read of weekly cohorts: their rows, and how they did."""
