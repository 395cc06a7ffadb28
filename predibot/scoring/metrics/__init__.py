"""Single numbers of arrays: returns, probabilities, risk."""
