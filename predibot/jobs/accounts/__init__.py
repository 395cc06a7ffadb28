"""One bot's account as it is shown: what it holds and why, and a model that reads why."""
