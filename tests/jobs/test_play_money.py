"""A venue in play money plays every game; its mana is a currency of its own, which is never added to dollars."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from predibot.errors import UsageError
from predibot.jobs.evaluate import evaluate_stored
from predibot.jobs.open_venue import locate
from predibot.jobs.verify import verify
from predibot.ledger.store import Store
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.scoring.records.part import Part
from tests.acceptance.conftest import done_here, said_here
from tests.jobs.tiny import canonical_at, clock
from tests.ledger.databases import Postgres
from tests.ledger.statements import found
from tests.soaks import SOAK, few

VENUE = "sandbox_mana:events=6"
BOTS = """
[[bots]]
strategy = "{one}"
[[bots]]
strategy = "{other}"
[[bots]]
strategy = "one_shot"
model = "sandbox/sharp"
"""
GAMES = {
    "dollar_per_event": ("3d", "favourite", "random_bet", 6),
    "portfolio_weights": ("3d", "equal_weights", "random_weights", 6),
    "weekly_cohort": ("7d", "all_cash", "random_trade", 7),
}


def recipe(game: str, venue: str = VENUE) -> str:
    """Return a recipe of three bots, one of them a script of the sandbox that knows more than the price."""
    every, one, other, _ = GAMES[game]
    return f'every = "{every}"\nvenue = "{venue}"\n[game]\nname = "{game}"\n' + BOTS.format(one=one, other=other)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREDIBOT_WORKERS", "2")


def replayed(folder: Path, game: str, ledger: str, days: int) -> dict[str, Any]:
    """Replay a game to its end, and return what the program said."""
    (folder / f"{game}.toml").write_text(recipe(game), encoding="utf-8")
    last = SANDBOX_OPENS_AT + timedelta(days=days)
    instants = ("--from", SANDBOX_OPENS_AT.isoformat(), "--to", last.isoformat(), "--every", GAMES[game][0])
    return dict(done_here("replay", f"{game}.toml", *instants, "--ledger", ledger, "--json").document)


@SOAK
def test_both_databases_agree_on_mana(tmp_path: Path, postgres: Postgres) -> None:
    ledgers = [f"sqlite:///{tmp_path / 'mana.db'}", postgres.empty()]
    for ledger in ledgers:
        assert replayed(tmp_path, "dollar_per_event", ledger, days=1)["currency"] == "MANA"
    assert canonical_at(ledgers[0]) == canonical_at(ledgers[1])


@pytest.mark.parametrize("game", few(GAMES, "weekly_cohort"))
def test_every_game_is_played_in_mana(tmp_path: Path, game: str) -> None:
    ledger = f"sqlite:///{tmp_path / 'mana.db'}"
    assert replayed(tmp_path, game, ledger, days=GAMES[game][3])["currency"] == "MANA"
    with Store.open_to_read(ledger) as store:
        assert {*found(store, "SELECT venue, currency FROM instruments")} == {("sandbox_mana", "MANA")}
        assert {0.0, 1.0} <= {*found(store, "SELECT payout_yes FROM resolutions")}
        assert verify(store).broken == ()


def test_mana_and_dollars_of_one_ledger_are_never_in_one_score(tmp_path: Path) -> None:
    ledger = f"sqlite:///{tmp_path / 'both.db'}"
    for name, venue in (("mana", VENUE), ("dollars", "sandbox:events=6")):
        (tmp_path / f"{name}.toml").write_text(recipe("portfolio_weights", venue), encoding="utf-8")
        for days in (0, 3):
            at = (SANDBOX_OPENS_AT + timedelta(days=days)).isoformat()
            done_here("decide", f"{name}.toml", "--ledger", ledger, "--as-of", at)
    tracked = [
        done_here("track", "--ledger", ledger, "--as-of", at, *venue, "--json").document
        for venue in ((), ("--venue", VENUE), ("--venue", "sandbox:events=6"))
    ]
    assert tracked[0]["new_observations"] > 0 == tracked[1]["new_observations"] == tracked[2]["new_observations"]
    assert tracked[0]["markets"] == tracked[1]["markets"] + tracked[2]["markets"]
    with Store.open_to_read(ledger) as store:
        with pytest.raises(UsageError, match=r"must not be mixed. Say which is meant: --venue .* or --venue "):
            locate(store, Part(), clock)
        evaluated = {
            venue: evaluate_stored(store, Part(venue=venue), clock=clock) for venue in (VENUE, "sandbox:events=6")
        }
    assert {venue: each.currency for venue, each in evaluated.items()} == {VENUE: "MANA", "sandbox:events=6": "USD"}
    for each in evaluated.values():
        assert len(each.accounts) == 1
    boards = done_here("report", "--ledger", ledger, "--json").document["boards"]
    assert [(each["venue"], each["currency"]) for each in boards] == [("sandbox_mana", "MANA"), ("sandbox", "USD")]
    screen = said_here("report", "--ledger", ledger).out
    assert "=== sandbox_mana" in screen and "Side by side: portfolio_weights" in screen
    with_another = said_here("report", "--ledger", ledger, "--venue", VENUE, "--with", ledger, "--csv").out
    assert {line.split(",")[2] for line in with_another.splitlines()[1:]} == {"sandbox_mana of both.db"}
    (tmp_path / "arena.csv").write_text("bot,arena\none_shot,1400\nequal_weights,2\nabsent,3\n", encoding="utf-8")
    outside = ("--outside", "arena.csv", "--venue", VENUE, "--ledger", ledger)
    found_here = done_here("report", "--json", *outside).document["agreements"]
    assert {(each["one"], each["n"], each["spearman"]) for each in found_here} <= {
        ("arena", 2, None),
        ("arena", 0, None),
    }
    assert "no board has a figure of: absent" in said_here("report", *outside).err


def test_a_screen_says_mana_where_it_is_and_dollars_of_what_models_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "mana.toml").write_text(recipe("portfolio_weights"), encoding="utf-8")
    ledger = f"sqlite:///{tmp_path / 'mana.db'}"
    done_here("decide", "mana.toml", "--ledger", ledger)
    screens = {
        name: said_here(*arguments).out
        for name, arguments in {
            "report": ("report", "--ledger", ledger),
            "account": ("account", "equal_weights", "--ledger", ledger),
            "select": ("select", "--venue", VENUE),
            "listed": ("select", "--venue", VENUE, "--events", "1", "--json"),
        }.items()
    }
    assert "M$500.00 at the start" in screens["report"]
    assert "$0.000" in screens["report"] and "M$0.000" not in screens["report"]
    assert "on M$500.00 paid in" in screens["account"]
    listed = json.loads(screens["listed"])
    assert listed["currency"] == "MANA" and "M$" in screens["select"]
    reasons = [each["reason"] for each in listed["passed_over"] if "traded in 24 h" in each["reason"]]
    assert reasons and all("M$" in reason for reason in reasons)
