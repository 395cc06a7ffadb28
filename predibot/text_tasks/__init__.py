"""Text tasks: what comments, windows of comments and pairs of questions are labelled with; pure."""
