"""The walk of an account from slot to slot: settled, valued, its orders filled, and then decided on."""
