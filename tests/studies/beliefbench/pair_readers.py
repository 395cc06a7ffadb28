"""A model on loopback that relates questions by a script, a judge of its reasons, and a small data set of pairs."""

import hashlib
from pathlib import Path

from predibot.studies.beliefbench.collect import read_archive_markets, write_pairs
from predibot.studies.beliefbench.pairs import LABELS, REASONINGS
from predibot.venues.archive.reader import Archive
from tests.jobs.tiny import nobody
from tests.studies.beliefbench.recorded import ENDS, write_markets
from tests.studies.stakebench.readers import Reader

MODEL = """
base_url = "{url}"
price_usd_per_million_tokens = 0
temperature = 0
max_tokens = 256
"""
RECIPE = (
    """
game = {{name = "beliefbench", per_class = 3, labels = "strict"}}
venue = "pairs:{folder}"
seed = 7

[[bots]]
name = "direct"
strategy = "one_shot"
model = "openai/reader"
knowledge_cutoff = 2026-01-01
"""
    + MODEL
    + """
[[bots]]
name = "reasons"
strategy = "one_shot"
model = "openai/reader"
chain_of_thought = true
"""
    + MODEL
    + """
[[bots]]
name = "judge"
strategy = "reasoning_judge"
model = "openai/judge"
of = "reasons"
"""
    + MODEL
    + """
[[bots]]
name = "random"
strategy = "pair_baseline"
by = "random"

[[bots]]
name = "tfidf"
strategy = "pair_baseline"

[[bots]]
name = "tags"
strategy = "pair_baseline"
by = "tag_overlap"
"""
)


def pairs_in(folder: Path) -> Path:
    known = read_archive_markets(Archive(write_markets(folder / "archive", each=16)), ENDS, nobody)
    write_pairs(known, folder / "pairs", listener=nobody, seed=42, most=1_000)
    return folder / "pairs"


class PairReader(Reader):
    """Answers each prompt by its words alone: mostly with a label, at times with what is none."""

    @staticmethod
    def answer(prompt: str) -> str:
        return answer_to(prompt)


def answer_to(prompt: str) -> str:
    """Return the answer to a prompt as it asks for one; to one of five, what is none."""
    number = int(hashlib.sha256(prompt.encode()).hexdigest(), 16)
    labels = REASONINGS if "# The reasons" in prompt else LABELS
    label = f'{{"label": "{labels[number % len(labels)]}"}}'
    if "First say in a few sentences" in prompt:
        return f"Both are of {number % 7}.\nSo much for that.\n{label}" + (" indeed" if number % 5 == 0 else "")
    return f"It is {label}" if number % 5 == 0 else label
