"""What models may have known: decisions that could rest on an end already read, from the recipe to the scores."""

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Predibot, said_here, taken_for_real
from tests.worlds import Worlds

CUTOFFS = {"early": "2025-01-01", "soon": "2026-01-06", "late": "2027-01-01", "later": "2028-01-01", "unsaid": None}
POOLS = {"pool_early": ["early"], "pool_late": ["late", "later"], "pool_unsaid": ["early", "unsaid"]}
WORDS = ("clean", "unknown", "ahead", "contaminated")
BOTS = "".join(
    f'[[bots]]\nname = "{name}"\nstrategy = "one_shot"\nmodel = "sandbox/noisy"\n'
    + (f"knowledge_cutoff = {day}\n" if day else "")
    for name, day in CUTOFFS.items()
)
ENSEMBLES = "".join(
    f'[[bots]]\nname = "{name}"\nstrategy = "ensemble"\nmembers = {members}\n' for name, members in POOLS.items()
)
RECIPE = f"""
venue = "sandbox:events=40"
[selection]
ends_within_days = 5
events = 3
[[bots]]
strategy = "market_price"
{BOTS}{ENSEMBLES}"""


def verdicts() -> None:
    """Replay all bots, as if in a world that models can have read of."""
    Path("verdicts.toml").write_text(RECIPE)
    assert said_here("decide", "verdicts.toml", "--as-of", "2026-01-05T12:00Z").code == 0
    assert counts_of(said_here("evaluate", "--json").document)["pool_unsaid"] == (3, 0, 0, 0)
    taken_for_real("runs/out/predibot.db")


@pytest.fixture
def evaluated(predibot: Predibot, worlds: Worlds, tmp_path: Path) -> Predibot:
    """Return the program in a folder whose ledger holds that replay."""
    worlds.copy(verdicts, tmp_path)
    return predibot


def counts_of(document: Any) -> dict[str, tuple[int, ...]]:
    return {card["bot"]: tuple(card[word] for word in WORDS) for card in document["bots"]}


def test_only_clean_decisions_are_scored_and_a_pool_is_as_bad_as_its_worst_member(evaluated: Predibot) -> None:
    document = evaluated("report", "--json").document
    assert counts_of(document) == {
        "market_price": (3, 0, 0, 0), "early": (3, 0, 0, 0), "soon": (0, 0, 3, 0), "late": (0, 0, 0, 3),
        "later": (0, 0, 0, 3), "unsaid": (0, 3, 0, 0), "pool_early": (3, 0, 0, 0), "pool_late": (0, 0, 0, 3),
        "pool_unsaid": (0, 3, 0, 0),
    }  # fmt: skip
    scored = {(card["bot"], card["knowledge"]) for card in document["bots"] if card["n_brier"]}
    clean, unknown = ("market_price", "early", "pool_early"), ("unsaid", "pool_unsaid")
    assert scored == {*((bot, "clean") for bot in clean), *((bot, "unknown") for bot in unknown)}
    ranks = {(pair["first"], pair["second"]): pair["knowledge"] for pair in document["comparisons"]}
    assert {pair for pair, knowledge in ranks.items() if knowledge == "unknown"} == {unknown}
    assert not any({*pair} & {*unknown} for pair, knowledge in ranks.items() if knowledge == "clean")
    (pool,) = evaluated("report", "--json", "--bots", "pool_late").document["bots"]
    assert (pool["contaminated"], pool["n_brier"]) == (3, 0)


def test_the_screen_and_the_table_tell_apart_what_is_not_clean(evaluated: Predibot) -> None:
    brief = evaluated("report").out
    assert "not clean" in brief and "\nCutoff unknown, ranked apart as of " in brief
    said = evaluated("report", "--full").out
    assert "clean unknown ahead contaminated" in " ".join(said.split())
    assert "Cutoff unknown, ranked apart: Forecasts on settled markets" in said
    assert "soon 3; they are in no score." in " ".join(said.split())
    assert "late 3, later 3, pool_late 3; they are in no score." in " ".join(said.split())
    rows = [line.split(",")[:2] for line in evaluated("report", "--csv").out.splitlines()]
    assert [bot for which, bot in rows if which == "unknown"] == ["unsaid", "pool_unsaid"]
    assert len([bot for which, bot in rows if which == "clean"]) == 7


def test_the_models_that_were_opened_are_kept_with_the_decision(evaluated: Predibot) -> None:
    assert evaluated("export", "out", "--table", "decisions", "--format", "csv").code == 0
    kept = Path("out/decisions.csv").read_text()
    assert kept.count("sandbox/noisy") == 15
