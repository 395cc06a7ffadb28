"""The recipe to start from: the packaged one with its comments, filled in with what a user chose."""

import json
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from predibot.recipe.text import packaged_recipe_text

_LOCAL = ("localhost", "127.0.0.1", "::1")
_KEY = re.compile(r"#\s+(\w+) = ")


def starter_text(model: str = "", *, base_url: str = "", venue: str = "polymarket", cron: str = "") -> str:
    """Return a recipe to start from, with a comment on every line.

    Args:
        model: Of an agent with limits of what it may spend; empty for baselines alone.
        base_url: Address of a server that has the model; a server of this machine costs nothing.
        venue: Where events come from.
        cron: When it is played, in UTC; empty for no schedule.
    """
    text = packaged_recipe_text("starter").replace('venue = "polymarket"', f"venue = {json.dumps(venue)}", 1)
    if cron:
        text = _filled(text, "[schedule]", {"cron": json.dumps(cron), "timezone": '"UTC"'})
    if model:
        agent = {"name": '"agent"', "strategy": '"tool_agent"', "model": json.dumps(model)}
        if base_url:
            agent["base_url"] = json.dumps(base_url)
        if urlsplit(base_url).hostname in _LOCAL:
            agent["price_usd_per_million_tokens"] = "0"
        text = _filled(text, '[[bots]]\n#  name = "gpt"', agent)
        text = _filled(text, "[limits.decision]", {"usd": "0.75"})
        text = _filled(text, "[limits.day]", {"usd": "10.0"})
    return text


def _filled(text: str, head: str, values: Mapping[str, str]) -> str:
    """Return the text with the table that is commented out under this head in it, with these values of its keys."""
    before, mark, after = re.split(rf"^(# +{re.escape(head)})", text, maxsplit=1, flags=re.MULTILINE)
    table, *rest = f"{mark}{after}".split("\n")
    lines = [table.lstrip("# ")]
    while rest and rest[0].startswith("#") and "[" not in rest[0][:4]:
        line = rest.pop(0)
        key = _KEY.match(line)
        lines.append(f"{key[1]} = {values[key[1]]}" if key and key[1] in values else line)
    return before + "\n".join([*lines, *rest])
