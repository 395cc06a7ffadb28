"""Comments: collecting them with what their writers did, and labelling them."""
