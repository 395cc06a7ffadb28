"""The recipe to start from: the packaged one with its comments, filled in with what a user chose."""

import json
import re
from collections.abc import Mapping

from predibot.recipe.text import packaged_recipe_text

_LOCAL = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:|/|$)", re.IGNORECASE)
_VENUE = re.compile(r'^venue = ".*"$', re.MULTILINE)
_KEY = re.compile(r"#\s+(\w+) = ")


def starter_text(model: str = "", *, base_url: str = "", venue: str = "", cron: str = "") -> str:
    """Return a recipe to start from, with a comment on every line.

    Args:
        model: Of an agent with limits of what it may spend; empty for baselines alone.
        base_url: Address of a server that has the model; a server of this machine costs nothing.
        venue: Where events come from; empty for the usual one.
        cron: When it is played, in UTC; empty for no schedule.
    """
    text = packaged_recipe_text("starter")
    if venue:
        usual = _VENUE.search(text)
        text = text if usual is None else text.replace(usual[0], f"venue = {quoted(venue)}", 1)
    if cron:
        text = _filled(text, "[schedule]", {"cron": quoted(cron), "timezone": '"UTC"'})
    if model:
        agent = {"name": '"agent"', "strategy": '"tool_agent"', "model": quoted(model)}
        if base_url:
            agent["base_url"] = quoted(base_url)
        if _LOCAL.match(base_url):
            agent["price_usd_per_million_tokens"] = "0"
        text = _filled(text, '[[bots]]\n#  name = "gpt"', agent)
        text = _filled(text, "[limits.decision]", {"usd": "0.75"})
        text = _filled(text, "[limits.day]", {"usd": "10.0"})
    return text


def quoted(text: str) -> str:
    """Return a text as TOML writes it; its parser refuses lone surrogates, which stand for other bytes than UTF-8."""
    quoted = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    return quoted.encode("utf-8", "backslashreplace").decode()


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
