"""Executors that make decisions: threads, processes or a cluster, and the dispatch of jobs to them."""
