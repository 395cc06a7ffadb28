"""The simulated stocks: companies, news that move them, prices, actions, and folders of them."""
