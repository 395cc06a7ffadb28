"""Baselines by volume: each number by hand, normalised within the run, and what they abstain from."""

import random

import pytest

from predibot.contracts import Context
from predibot.domain.clock import parse_instant
from predibot.domain.decision import Abstention
from predibot.domain.event import Event
from predibot.plugins.strategies import load_strategy, spec_of
from predibot.studies.beliefbench.games.beliefbench import Beliefbench
from predibot.studies.beliefbench.pairs import LABELS, LabelledPair, PairedMarket, PairItem

VOLUMES = {"a": 100.0, "b": 350.0, "c": 1_100.0, "d": None}


def payload(first: str, second: str) -> str:
    one, other = (
        PairedMarket(id_, id_, id_, "", (), "W", VOLUMES[id_], "2025-01-01", "2025-01-02") for id_ in (first, second)
    )
    truth = LabelledPair(first, second, "W", 0.0, None, 0.0, 0.0, 0.0, LABELS[0])
    return PairItem(f"{first}~{second}", ((first, ""), (second, "")), (one, other), truth).as_json()


PAYLOADS = {f"{one}~{other}": payload(one, other) for one, other in ("ab", "ba", "bc", "cd", "dc")}


def said(by: str, pair: str) -> str:
    """Return the label of a pair, or why there is none."""
    game = Beliefbench()
    references = game.references([Event(name, "", (), payload=each) for name, each in PAYLOADS.items()])
    context = Context(
        now=parse_instant("2025-02-01"),
        view=PairItem.from_json(PairItem.public_json(PAYLOADS[pair])),
        game=game,
        rng=random.Random(1),
        reference=lambda: references.of(pair),
    )
    answer = load_strategy(spec_of("pair_volume", {"by": by})).decide(context)
    return answer.reason if isinstance(answer, Abstention) else answer.labels[0].label


@pytest.mark.parametrize(
    ("by", "pair", "label"),
    [
        # b is (350 - 100) / (1100 - 100) = .25, a is 0 and c is 1.
        ("candidate", "a~b", "0.2-0.4"),
        ("candidate", "b~a", "0.0-0.2"),
        ("candidate", "b~c", "0.8-1.0"),
        ("candidate", "d~c", "0.8-1.0"),
        ("similarity", "a~b", "0.6-0.8"),
        ("similarity", "b~a", "0.6-0.8"),
        ("similarity", "b~c", "0.2-0.4"),
    ],
)
def test_volumes_are_normalised_within_the_run(by: str, pair: str, label: str) -> None:
    assert said(by, pair) == label


@pytest.mark.parametrize(("by", "pair"), [("candidate", "c~d"), ("similarity", "c~d"), ("similarity", "d~c")])
def test_where_a_volume_is_not_known_there_is_no_label(by: str, pair: str) -> None:
    assert said(by, pair) == "the venue states no volume of one of the markets"
