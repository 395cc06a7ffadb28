"""A model on loopback that reads comments by a script, and a small data set for it."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from predibot.ledger.read.export import export_rows
from predibot.ledger.store import Store
from predibot.studies.stakebench.crowd import crowd
from predibot.studies.stakebench.crowd_host import CrowdHost
from tests.agents.chat_server import Asked, ChatServer, Said, completion, serving
from tests.studies.stakebench.collecting.test_collect import collected

RECIPE = """
game = {{name = "stakebench", per_split = 12, tasks = ["G2", "G4"]}}
venue = "comments:{folder}"
seed = {seed}

[[bots]]
name = "reader"
strategy = "one_shot"
model = "openai/reader"
base_url = "{url}"
price_usd_per_million_tokens = 0
temperature = 0
max_tokens = 64

[[bots]]
name = "majority"
strategy = "text_baseline"
"""


def data_set(folder: Path, *, seed: int = 1, comments: int = 2_500) -> Path:
    collected(CrowdHost(crowd(seed, manifold=False, comments=comments)), folder, manifold=False)
    return folder


class Reader(ChatServer):
    """Answers each prompt by its words alone: mostly with a label, at times with what is none."""

    def next(self, asked: Asked) -> Said:
        with self.lock:
            self.asked.append(asked)
        return completion(self.answer(self.prompt(asked)))

    @staticmethod
    def answer(prompt: str) -> str:
        return answer_to(prompt)

    @staticmethod
    def prompt(asked: Asked) -> str:
        """Return a prompt without the mark of its fence, which is another in each try."""
        return re.sub(r"untrusted \d{24}", "untrusted", str(asked.body["messages"][-1]["content"]))

    @property
    def prompts(self) -> list[str]:
        # A process that was killed while it asked has sent nothing whole.
        return [self.prompt(each) for each in self.asked if each.body]


def answer_to(prompt: str) -> str:
    """Return the answer to a prompt, one of its labels or, to one of nine, what is none."""
    number = int(hashlib.sha256(prompt.encode()).hexdigest(), 16)
    labels = prompt.strip().splitlines()[-1].partition(": ")[2].split(", ")
    label = labels[number % len(labels)]
    if number % 9 == 0:
        return f"I think it is {label}."
    return f"<think>Is it {labels[0]}?</think>\n {label.lower()} " if number % 9 == 1 else label


SETTINGS = {"PREDIBOT_WORKERS": "2", "OPENAI_API_KEY": ""}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be in a folder of this test alone, with settings of its own."""
    monkeypatch.chdir(tmp_path)
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def reader(model: Reader) -> Reader:
    """Return the model of a file of tests, which was asked nothing yet."""
    model.asked.clear()
    return model


def rows(address: str, table: str) -> list[dict[str, Any]]:
    """Return what an export of a ledger has in a table."""
    with Store.open(address, create=False) as store, store.read() as connection:
        return [dict(row) for row in export_rows(connection, table)]


def reading(of: type[Reader] = Reader) -> AbstractContextManager[Reader]:
    """Serve a reader until the block ends."""
    return serving(of([completion()]))


@pytest.fixture(scope="module")
def model() -> Iterator[Reader]:
    """Return a model that reads, at one address for all runs of a file, so that they are equal ones."""
    with reading() as server:
        yield server


WORDINGS = ("**{}**", "Answer: {}", "They are.\n\nFinal answer: {}.", '{{"label": "{}"}}', "```\n{}\n```", "- {}!")
"""Six ways in which models word a label."""


class Silent(Reader):
    """Answers as the other, and refuses one prompt of five, or is cut off."""

    def next(self, asked: Asked) -> Said:
        said = super().next(asked)
        number = int(hashlib.sha256(self.prompt(asked).encode()).hexdigest(), 16) % 10
        ends = {0: "content_filter", 1: "length"}.get(number)
        return said if ends is None else completion("", finish_reason=ends)


class Wording(Reader):
    """Answers as the other, and to a model called `worded` in one of six wordings."""

    def next(self, asked: Asked) -> Said:
        said = super().next(asked)
        text = answer_to(self.prompt(asked))
        if not asked.body["model"].endswith("worded") or text.startswith("I think"):
            return said
        number = int(hashlib.sha256(text.encode() + self.prompt(asked).encode()).hexdigest(), 16)
        return completion(WORDINGS[number % len(WORDINGS)].format(text.rpartition(">")[2].strip()))
