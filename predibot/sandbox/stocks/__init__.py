"""The simulated stocks: companies, news that moves them, prices, actions, and folders of them."""
