"""The hosts of the sandbox: one module for each service of the internet that it stands in for."""
