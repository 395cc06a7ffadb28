"""The scores and tables of StakeBench."""
