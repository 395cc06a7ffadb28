"""Rationales: what they refer to by rules, and how far two readers agree with that."""

import csv
from pathlib import Path

import pytest

from predibot.scoring.accounts.rationale import FACTORS, factor_shares, factors_named, shares_of_factors
from predibot.scoring.metrics.agreement import cohen_kappa


@pytest.mark.parametrize(
    ("text", "factors"),
    [
        ("We keep our current position in YES.", {"position"}),
        ("Already invested enough, so cash reserves are kept.", {"position"}),
        ("The price has risen over the past three days; momentum is strong.", {"price_history"}),
        ("According to two articles, the deal was announced.", {"news"}),
        (
            "Headlines suggest a deal, the odds have fallen, and my holdings are large.",
            {"news", "price_history", "position"},
        ),
        ("There is no news, and no recent trend.", set()),
        ("It will rain.", set()),
        (
            "Exposure goes up after good earnings and kind analyst ratings; solid positions in utilities stay.",
            {"position", "news"},
        ),
        ("Raising cash to be safe from volatility.", {"position", "price_history"}),
        (
            "Recent diplomatic developments, and a significant price jump to 0.31, confirm the view.",
            {"price_history", "news"},
        ),
        ("My basis is 0.35 and the last trade 0.2, so I cut the loss here.", {"position"}),
        ("The judge rejected the motion this morning.", {"news"}),
        ("It drifted lower for two weeks without a reason.", {"price_history"}),
        ("Fair value is 0.7, the ask is 0.62; buy.", set()),
        ("Without any headlines to go by, I rely on the rules of the market.", set()),
        ("If the ministry announces a recall, this will be worth nothing.", set()),
        ("Charts are noise to me.", set()),
        ("The party's position on taxes is unpopular.", set()),
        ("We are still long from August and see no cause to sell.", {"position"}),
        ("A spike to 0.9 faded within the hour.", {"price_history"}),
        ("Her doctor said she will be fit, and the line moved from 0.4 to 0.55.", {"price_history", "news"}),
        ("I own enough of this.", {"position"}),
        ("Such laws pass in one of ten years.", set()),
        ("Half in bonds, half in gold.", set()),
        ("The union called off the walkout on Friday.", {"news"}),
        ("Two of three surveys put him ahead.", {"news"}),
        ("The weight stays at a tenth, as last week.", {"position"}),
        ("Trading has been flat since June.", {"price_history"}),
        ("No room is left under the limit for one event.", {"position"}),
        ("I do not look at the price history.", set()),
        ("Nothing in the press supports a yes.", set()),
        ("Sold the rest of what we had from spring.", {"position"}),
        ("Inflation came in hotter than expected yesterday.", {"news"}),
        ("The company plans to appeal, its lawyers told the paper.", {"news"}),
        ("New buyers stepped in after each dip.", {"price_history"}),
        ("Volatility is low and our stake is small.", {"price_history", "position"}),
        ("It is too early to tell; stay at 0.5.", set()),
        ("The vote is on the 12th, and 60 are needed.", set()),
        ("The stock lost a fifth since the summer.", {"price_history"}),
        ("The champion withdrew with a knee injury.", {"news"}),
        ("Gains of 12% on this holding are locked in.", {"position"}),
        ("Reports of a deal were denied by both sides.", {"news"}),
        ("", set()),
    ],
)
def test_a_rationale_refers_to_what_it_names(text: str, factors: set[str]) -> None:
    assert factors_named(text) == factors


def test_shares_may_add_up_to_more_than_one() -> None:
    shares = shares_of_factors([{"news", "position"}, {"news"}, set(), {"price_history"}])
    assert shares == {"position": 0.25, "price_history": 0.25, "news": 0.5}


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(
    ("name", "skipped", "reader", "least"), [("read", 0, "_1", 0.6), ("read", 0, "_2", 0.6), ("later", 20, "", 0.7)]
)
def test_rules_agree_with_readers_of_forty_hard_rationales_and_of_twenty_that_they_were_not_mended_on(
    name: str, skipped: int, reader: str, least: float, factor: str
) -> None:
    with (Path(__file__).parent / "rationales" / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 40
    by_reader = [row[f"{factor.partition('_')[0]}{reader}"] == "1" for row in rows[skipped:]]
    kappa = cohen_kappa([factor in factors_named(row["rationale"]) for row in rows[skipped:]], by_reader)
    assert kappa is not None and kappa >= least


def test_a_model_is_compared_with_rules_where_it_read_a_rationale() -> None:
    news, price = frozenset({"news"}), frozenset({"price_history"})
    found = factor_shares([(news, news), (price, news), (news, None), (frozenset(), frozenset())])
    assert (found.n, found.judged) == (4, 3)
    assert (found.by_rules["news"], found.by_judge["news"]) == (0.5, pytest.approx(2 / 3))
    # Of three, rules say yes, no, no and the model yes, yes, no: 2/3 agree, and by chance 4/9 would.
    assert found.kappa["news"] == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    nothing = factor_shares([])
    assert (nothing.by_rules, nothing.by_judge, nothing.kappa) == ({}, {}, {})
