"""Making data sets of pairs of questions from recorded markets."""
