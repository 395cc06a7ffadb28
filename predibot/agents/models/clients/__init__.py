"""One client for each way in which servers of models are asked, and what the clients share."""
