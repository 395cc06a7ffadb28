"""Commitment: what a bot reads out of comments, against what their writers held, did and moved (StakeBench)."""
