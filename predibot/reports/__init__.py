"""What a reader sees: views of what was decided and scored, and how a terminal shows them."""
