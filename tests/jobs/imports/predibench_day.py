"""A day of PrediBench, made here in the shape of a recorded one: as many files, and the same oddities."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DATE = "2025-09-18"
BEGAN, FED = "45314", "27824"
MODELS = {"Acme/Model-A-235B": 10, "Acme/Model-B-480B": 32, "open/model-c-120b": 28}
"""How often each was asked."""
FIRST_ANSWER = int(datetime(2025, 9, 18, 0, 53, tzinfo=UTC).timestamp())
INDEX = ["2025-09-17T12:00:00+00:00", "2025-09-17T18:00:00+00:00", "2025-09-18T00:00:00+00:00"]
FED_PRICES = {"553810": 0.0735, "553811": 0.785, "553812": 0.145, "553813": 0.0075}
GAME_PRICES = {"600125": 0.0355, "601156": 0.85, "601157": 0.82, "601158": 0.9955}
TOKENS = {market: (str(10_000 + int(market)), str(20_000 + int(market))) for market in {**FED_PRICES, **GAME_PRICES}}


def market(name: str, price: float, names: tuple[str, str] = ("Yes", "No")) -> dict[str, Any]:
    return {
        "id": name,
        "question": f"Will {name} happen?",
        "slug": f"m-{name}",
        "description": "It resolves to what happened.",
        "end_datetime": "2025-10-29T12:00:00",
        "volumeNum": 1000.5,
        "volume1wk": 500.25,
        "outcomes": [
            {"clob_token_id": TOKENS[name][0], "name": names[0], "price": price},
            {"clob_token_id": TOKENS[name][1], "name": names[1], "price": 1 - price},
        ],
        "prices": {"values": [0.5, None, price], "index": INDEX, "name": None},
        "price_outcome_name": names[0],
    }


def events() -> list[dict[str, Any]]:
    """Return a game that began the evening before, and a decision of the next month."""
    return [
        {
            "id": BEGAN,
            "slug": "mlb-a-b-2025-09-17",
            "title": "Angels vs. Brewers",
            "tags": ["Sports", "MLB"],
            "description": "A game.",
            "start_datetime": "2025-09-16T08:06:50.954193",
            "end_datetime": "2025-09-17T23:40:00",
            "volume1wk": 3079849.22,
            "markets": [market(name, price, ("Angels", "Brewers")) for name, price in GAME_PRICES.items()],
        },
        {
            "id": FED,
            "slug": "fed-decision-in-october",
            "title": "Fed decision in October?",
            "tags": ["All", "Politics", "Economy"],
            "description": "Basis points.",
            "end_datetime": "2025-10-29T12:00:00",
            "volume1wk": 2430970.77,
            "markets": [market(name, price) for name, price in FED_PRICES.items()],
        },
    ]


def said(name: str, probability: float, bet: float, rationale: str = "because") -> dict[str, Any]:
    return {
        "market_id": name,
        "decision": {"rationale": rationale, "estimated_probability": probability, "bet": bet, "confidence": 8},
        "market_question": f"Will {name} happen?",
        "net_gains_at_decision_end": None,
    }


def answer(event: str, markets: list[dict[str, Any]], left: float, ended: float) -> dict[str, Any]:
    return {
        "event_id": event,
        "event_title": "As it was called",
        "event_description": None,
        "market_investment_decisions": markets,
        "unallocated_capital": left,
        "token_usage": {"input_tokens": 14012, "output_tokens": 1606},
        "timing": {"start_time": ended - 60.5, "end_time": ended},
        "sources_google": ["https://a.example/1", "https://a.example/2"],
        "sources_visit_webpage": ["https://a.example/1"] if event == FED else None,
        "net_gains_until_next_decision": None,
    }


def answers(model: str, number: int, of_all: int) -> dict[str, Any]:
    """Return a file: of all seventy, the first 18 leave a market out, and the last ten say a wrong rest."""
    ended = FIRST_ANSWER + 100.0 * of_all + 0.25
    # 0.1 dollars on a market would come out as a rest that differs in the seventeenth digit.
    fed = [said("553810", 0.06, -0.1), said("553811", 0.86, 0.6), said("553812", 0.1, -0.1), said("553813", 0.01, 0.0)]
    return {
        "model_id": model,
        "model_info": {"model_id": model, "model_pretty_name": "A model", "agent_type": "code", "open_weights": True},
        "target_date": DATE,
        "decision_datetime": "2025-09-18T02:56:29.109719",
        "event_investment_decisions": [
            answer(BEGAN, [said(name, 0.5, 0.0) for name in GAME_PRICES], 1.0, ended - 70.0),
            answer(FED, fed[:3] if of_all < 18 else fed, 0.2 if of_all < 60 else 0.5, ended),
        ],
    }


def write_json(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def write_day(folder: Path, models: Mapping[str, int] = MODELS, *, of_all: int = 0) -> Path:
    """Write a day, the whole one with 140 decisions and 542 forecasts of three models, and folders of traces."""
    write_json(folder / "events.json", events())
    for model, times in models.items():
        name = model.replace("/", "--")
        write_json(folder / name / f"{FED}_event_decisions.json", answer(FED, [], 1.0, FIRST_ANSWER))
        for number in range(times):
            write_json(
                folder / f"{name}_run_{number}" / "model_investment_decisions.json", answers(model, number, of_all)
            )
            of_all += 1
    return folder
