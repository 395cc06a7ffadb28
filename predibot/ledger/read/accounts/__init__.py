"""What is read of accounts, those of the members of cohorts among them: what they have, how they did, what is due."""
