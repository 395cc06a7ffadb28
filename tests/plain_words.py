"""Words that only we know, of which nothing that people read on a terminal or in a notice has any."""

import re

_PRIVATE = re.compile(
    r"(?<![\w./-])((event-)?slots?|said|sees|subjects?|claim(s|ed)?|sure~error|void forecasts?|E below 20)(?!\w)",
    re.IGNORECASE,
)


def private_words(text: str) -> list[str]:
    """Return the private words of a text; options such as `--slot`, and parts of paths, are none."""
    return [found[1] for found in _PRIVATE.finditer(text)]
