"""Labels of pairs of questions: how well they agree with how the pairs' markets moved, and with people."""
