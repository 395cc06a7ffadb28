"""Views: what a command shows, as plain data, and the JSON document made of it."""

import json
import math
from typing import Any

from predibot.ledger.write.decisions import StoredBet
from predibot.reports.table import document, number
from predibot.reports.views.decide import OUTCOMES, DecisionView, SelectionView, run_document
from tests.reports.views_of import AS_OF, BET, CHOSEN, PASSED_OVER, RUN, decided, run_row

NAN = math.nan


def written(document: dict[str, object]) -> Any:
    """Return a document as a program reads it; NaN would be no JSON."""
    return json.loads(json.dumps(document, allow_nan=False))


def test_what_is_not_finite_is_null() -> None:
    assert [number(value) for value in (NAN, math.inf, -math.inf, None, 0.0)] == [None, None, None, None, 0.0]


def test_a_call_of_decide_has_the_keys_of_its_contract_in_their_order() -> None:
    document = written(decided(DecisionView("random_bet", "26004", "recorded", (BET,), 0.75)).document())
    assert " ".join(document) == "run selected passed_over decisions totals receipt notes"
    assert document["run"] == {
        "key": "daily/2026-02-13",
        "recipe": "daily",
        "slot": "2026-02-13T00:00Z",
        "as_of": "2026-02-13T19:30Z",
        "venue": "archive",
        "game": "dollar_per_event",
    }
    assert " ".join(document["selected"][0]) == "event_id title markets volume_1wk_usd"
    assert " ".join(document["passed_over"][0]) == "event_id title rule reason"
    assert " ".join(document["decisions"][0]) == (
        "bot event_id status bets unallocated_usd cost_usd message "
        "stored_status reason_kind failed_for_good next_try_at notes subject_kind"
    )
    assert " ".join(document["decisions"][0]["bets"][0]) == "market_id bet_usd probability confidence price_yes"
    assert " ".join(document["totals"]) == (
        "recorded refused failed abstained skipped cost_usd cost_known_usd seconds stored failed_for_good"
    )


def test_totals_count_every_outcome() -> None:
    statuses = (*OUTCOMES, OUTCOMES[0])
    stored = ("recorded", "refused", "failed", "abstained", "failed", "recorded")
    pairs = zip(statuses, stored, strict=True)
    views = (DecisionView("a", str(n), one, stored_status=kept) for n, (one, kept) in enumerate(pairs))
    totals = written(decided(*views).document())["totals"]
    assert totals == {
        "recorded": 2,
        "refused": 1,
        "failed": 1,
        "abstained": 1,
        "skipped": 1,
        "cost_usd": 0.0,
        "cost_known_usd": 0.0,
        "seconds": 1.5,
        "stored": {"recorded": 2, "refused": 1, "failed": 2, "abstained": 1},
        "failed_for_good": 0,
    }


def test_a_total_with_an_unknown_cost_is_null_and_its_known_part_is_kept() -> None:
    known = DecisionView("a", "1", "recorded", cost_usd=0.25, cost_known_usd=0.25)
    unknown = DecisionView("a", "2", "refused", cost_usd=None, cost_known_usd=0.5)
    totals = written(decided(known, unknown).document())["totals"]
    assert (totals["cost_usd"], totals["cost_known_usd"]) == (None, 0.75)


def test_what_was_decided_before_costs_nothing_again() -> None:
    before = DecisionView("a", "1", "skipped", cost_usd=0.25, cost_known_usd=0.25)
    assert (decided(before).cost_usd, decided(before).cost_known_usd) == (0.0, 0.0)


def test_a_market_without_a_forecast_has_null_for_it() -> None:
    assert written(document(StoredBet("m", -0.5, NAN, None, 0.5))) == {
        "market_id": "m",
        "bet_usd": -0.5,
        "probability": None,
        "confidence": None,
        "price_yes": 0.5,
    }


def test_a_selection_and_a_run_are_documents_too() -> None:
    selection = written(SelectionView(AS_OF, "archive", (CHOSEN,), (PASSED_OVER,)).document())
    assert (selection["selected"][0]["event_id"], selection["passed_over"][0]["rule"]) == ("26004", "exclude")
    row = written(run_document(run_row("a wrong recipe", recorded=19)))
    assert (row["key"], row["recorded"], row["failed"], row["void_reason"]) == (RUN.key, 19, 0, "a wrong recipe")
