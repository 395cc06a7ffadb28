"""The ways to an operator: a webhook, mail, a command, and the services that Apprise knows."""
