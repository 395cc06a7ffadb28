"""Baselines of pairs: each number by hand, what they abstain from, and an encoder that is never downloaded."""

import math
import random
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from predibot.contracts import Context
from predibot.domain.clock import parse_instant
from predibot.domain.decision import Abstention
from predibot.domain.event import Event
from predibot.errors import PluginError, UsageError
from predibot.plugins.strategies import load_strategy, spec_of
from predibot.scoring.relatedness.relevance import relevance_class
from predibot.studies.beliefbench.games.beliefbench import Beliefbench
from predibot.studies.beliefbench.pairs import LABELS, LabelledPair, PairedMarket, PairItem

FIRST = PairedMarket("a", "e1", "Will it rain?", "In March.", ("x", "y"), "W", 100.0, "2025-01-01", "2025-01-10")
SECOND = PairedMarket("b", "e2", "Will it snow?", "In March.", ("y", "z"), "W", 300.0, "2025-01-06", "2025-01-15")


def said(by: str, first: PairedMarket = FIRST, second: PairedMarket = SECOND, **more: Any) -> str:
    """Return the label of a pair, or why there is none."""
    truth = LabelledPair(first.id, second.id, "W", 0.0, None, 0.0, 0.0, 0.0, LABELS[0])
    texts = ((first.title, first.description), (second.title, second.description))
    payload = PairItem("a~b", texts, (first, second), truth).as_json()
    game, rng = Beliefbench(), more.pop("rng", random.Random(1))
    references = game.references([Event("a~b", "", (), payload=payload)])
    context = Context(
        now=parse_instant("2025-02-01"),
        view=PairItem.from_json(PairItem.public_json(payload)),
        game=game,
        rng=rng,
        reference=lambda: references.of("a~b"),
    )
    answer = load_strategy(spec_of("pair_baseline", {"by": by, **more})).decide(context)
    return answer.reason if isinstance(answer, Abstention) else answer.labels[0].label


@pytest.mark.parametrize(
    ("by", "score"),
    [
        ("volume_max_to_min", 1 / 3),
        ("volume_similarity", 1 / (1 + math.log(3))),
        # Five of fifteen days, and one of three tags.
        ("time_overlap", 5 / 15),
        ("tag_overlap", 1 / 3),
    ],
)
def test_what_is_counted_is_counted(by: str, score: float) -> None:
    assert said(by) == LABELS[int(relevance_class(score))]
    assert said(by, SECOND, FIRST) == said(by)
    assert said(by, FIRST, replace(FIRST, id="b")) == LABELS[4]


def test_the_ends_of_a_class_belong_to_the_higher_one_and_without_a_common_day_there_is_no_overlap() -> None:
    assert said("volume_max_to_min", replace(FIRST, volume_usd=60.0), replace(SECOND, volume_usd=300.0)) == LABELS[1]
    assert said("volume_max_to_min", replace(FIRST, volume_usd=59.0), replace(SECOND, volume_usd=300.0)) == LABELS[0]
    assert said("time_overlap", FIRST, replace(SECOND, first_on="2025-03-01", last_on="2025-03-09")) == LABELS[0]


def test_words_are_weighed_as_scikit_learn_does() -> None:
    texts = [FIRST.text, SECOND.text]
    table = TfidfVectorizer(token_pattern=r"[^\W_]+").fit_transform(texts)
    assert said("tfidf") == LABELS[int(relevance_class((table @ table.T)[0, 1]))]


@pytest.mark.parametrize("by", ["volume_max_to_min", "volume_similarity"])
def test_where_a_volume_or_every_tag_is_missing_there_is_no_label(by: str) -> None:
    assert said(by, replace(FIRST, volume_usd=None)) == "the venue states no volume of one of the markets"
    assert said(by, replace(FIRST, volume_usd=0.0), replace(SECOND, volume_usd=0.0)) == "neither market was traded"
    assert said("tag_overlap", replace(FIRST, tags=()), replace(SECOND, tags=())) == "neither market has a tag"
    # With nothing on one side nothing is common.
    assert said(by, replace(FIRST, volume_usd=0.0)) == said("tag_overlap", replace(FIRST, tags=())) == LABELS[0]


def test_guesses_are_of_every_label_alike_and_follow_the_seed() -> None:
    rng = random.Random(3)
    counts = Counter(said("random", rng=rng) for _ in range(200))
    assert set(counts) == set(LABELS)
    assert min(counts.values()) > 25
    assert said("random", rng=random.Random(9)) == said("random", rng=random.Random(9))


def test_an_encoder_is_a_folder_and_is_never_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(PluginError, match="reads a model from a folder"):
        said("cross_encoder", encoder="cross-encoder/nli-deberta-v3-base")
    with pytest.raises(PluginError, match="needs sentence-transformers, which is not installed"):
        said("cross_encoder", encoder=str(tmp_path))


LIBRARY = '''"""Stands for the library: gives the numbers that a file has."""

import json
from pathlib import Path

import numpy as np

OPENED = []


class CrossEncoder:
    def __init__(self, folder, *, local_files_only):
        assert local_files_only
        OPENED.append(folder)
        self.raw = json.loads((Path(folder) / "raw.json").read_text())
        self.config = type("Config", (), {"id2label": {0: "contradiction", 1: "entailment", 2: "neutral"}})()

    def predict(self, pairs, *, convert_to_numpy):
        assert len(pairs) == 2 and pairs[0] == pairs[1][::-1]
        return np.array(self.raw)
'''


@pytest.mark.parametrize(
    ("raw", "score"),
    [
        # Of one output it is a share, or a logit; of three, what is not neutral.
        ([0.5, 0.9], 0.7),
        ([2.0, -1.5], (1 / (1 + math.exp(-2.0)) + 1 / (1 + math.exp(1.5))) / 2),
        ([[0.0, 0.0, 0.0], [0.0, math.log(2.0), math.log(3.0)]], (2 / 3 + 3 / 6) / 2),
    ],
)
def test_an_encoder_that_is_there_reads_both_texts_both_ways(
    raw: list[Any], score: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sentence_transformers.py").write_text(LIBRARY)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "raw.json").write_text(str(raw))
    monkeypatch.syspath_prepend(str(tmp_path))
    # Set first, so that what the import puts there is taken away again after the test.
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.delitem(sys.modules, "sentence_transformers")
    assert said("cross_encoder", encoder=str(tmp_path / "model")) == LABELS[int(relevance_class(score))]


def test_a_baseline_knows_no_label_and_no_score_of_the_pair() -> None:
    references = Beliefbench().references([])
    with pytest.raises(UsageError, match="nothing is known of"):
        references.of("a~b")
