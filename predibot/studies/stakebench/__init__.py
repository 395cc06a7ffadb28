"""StakeBench: what bots read out of comments about what their writers hold and do."""
