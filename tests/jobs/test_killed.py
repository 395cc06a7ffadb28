"""Killing, and two at once: whatever happens to a process, the ledger ends up as if nothing had happened."""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from predibot.jobs.verify import verify
from predibot.ledger.store import Store
from tests.jobs.failpoints import After, Before
from tests.jobs.games import Game, Played, cohorts, events, portfolios, stocks
from tests.jobs.program import SLOW, Program, document_of
from tests.jobs.tiny import canonical, canonical_at
from tests.ledger.statements import found
from tests.soaks import few
from tests.worlds import Worlds

BOTS = ("--bots", "slow,random_bet,market_price,always_half")
DECISIONS = 12

# A kill before a commit leaves what the commit before it left, so that most kills are of the moment after one.
GAMES = {
    "events": (
        events(3),
        (
            Before("alembic_version"),
            *map(After, ("runs", "bots", "attempts")),
            Before("decisions"),
            After("decisions"),
            Before("receipts"),
            After("receipts"),
            After("price_paths"),
        ),
    ),
    "cohorts": (
        cohorts(2),
        (After("cohorts"), Before("decisions"), After("valuations"), Before("turns"), After("turns"), After("marks")),
    ),
    "portfolios": (
        portfolios(2),
        (After("reservations"), Before("reservations", "DELETE FROM"), After("news"), After("turns"), After("marks")),
    ),
    "stocks": (
        stocks(6, start=date(2025, 1, 30)),
        (After("attempts"), After("decisions"), Before("turns"), After("turns"), After("marks")),
    ),
}
"""What is replayed, and where it is killed, in the order in which that comes; each kill is of a start of its own."""
ON_A_SERVER = {*map(After, ("attempts", "decisions")), *map(Before, ("decisions", "receipts", "turns"))}
"""What is not the same there: who had a row locked, or had a commit answered."""
PLAYED = few(
    [*((game, "sqlite") for game in GAMES), ("events", "postgresql"), ("cohorts", "postgresql")],
    *(("events", "sqlite"), ("cohorts", "sqlite"), ("events", "postgresql")),
)
"""What is killed, and on which database: a server knows nothing of games."""
TWICE = few([("portfolios", "sqlite"), ("cohorts", "sqlite"), ("cohorts", "postgresql")], ("cohorts", "sqlite"))
"""What is played twice at once, where more is at stake than single decisions."""


@dataclass(frozen=True)
class Alone:
    """A replay that nobody disturbed."""

    game: Game
    kills: tuple[Before, ...]
    canonical: str


@pytest.fixture
def alone(request: pytest.FixtureRequest, worlds: Worlds) -> Alone:
    """Return a replay of a game that nobody disturbed, which has all that a kill could take."""
    game, kills = GAMES[request.param]

    def make() -> None:
        played = Played(game, Path("alone").absolute())
        played.whole()
        Path("canonical.jsonl").write_text(canonical_at(played.ledger), encoding="utf-8")

    make.__name__ = f"alone_{request.param}"
    made = (worlds(make) / "canonical.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in made.splitlines()]
    tables = Counter(table for table, _ in rows)
    assert tables["decisions"] == game.decisions
    assert tables["fills"] > 3 or request.param == "events"
    if request.param == "cohorts":
        assert tables["cohorts"] == 2
        # Shares of YES and NO, and of one of more outcomes.
        assert {row["outcome"] is None for table, row in rows if table == "orders"} == {True, False}
    if request.param == "stocks":
        assert "dividend" in {row["kind"] for table, row in rows if table == "journal"}
    return Alone(game, kills, made)


@pytest.mark.parametrize(("alone", "address"), PLAYED, indirect=True)
def test_a_kill_at_any_boundary_of_a_replay_leaves_the_ledger_of_an_undisturbed_one(
    alone: Alone, tmp_path: Path, address: str
) -> None:
    played = Played(alone.game, tmp_path / "killed", address)
    for where in alone.kills:
        if address.startswith("sqlite") or where in ON_A_SERVER:
            played.kill(where)
    played.whole()
    assert "lost" in outcomes(address)
    require_equal(address, alone)


@pytest.mark.parametrize(("alone", "address"), TWICE, indirect=True)
def test_two_replays_at_once_decide_everything_exactly_once(alone: Alone, tmp_path: Path, address: str) -> None:
    played = Played(alone.game, tmp_path / "twice", address)
    documents = played.whole(played.start(), played.start())
    instants = [instant for each in documents for instant in each["instants"]]
    assert sum(instant["made_here"] for instant in instants) == alone.game.decisions
    assert outcomes(address) == ["recorded"] * alone.game.decisions
    require_equal(address, alone)


def require_equal(address: str, alone: Alone) -> None:
    """Require that a ledger is that of an undisturbed replay, and its receipts hold."""
    with Store.open_to_read(address) as store:
        assert canonical(store) == alone.canonical
        assert verify(store).broken == ()


def a_program(folder: Path) -> Program:
    folder.mkdir()
    made = Program(folder, {"PREDIBOT_WORKERS": "2"})
    made.strategy("slow", SLOW)
    return made


def claimed(program: Program) -> int:
    """Return how many claims are held in a program's ledger, as far as there is one."""
    return program.count("tasks WHERE status = 'claimed'")


def outcomes(address: str) -> list[str]:
    return sorted(found(address, "SELECT outcome FROM attempts"))


def test_processes_at_once_decide_everything_exactly_once(tmp_path: Path, address: str) -> None:
    alone, both = a_program(tmp_path / "alone"), a_program(tmp_path / "both")
    processes = [*(both.decide(*BOTS, ledger=address) for _ in range(2)), alone.decide(*BOTS)]
    documents = [document_of(process) for process in processes][:2]
    totals = [each["totals"] for each in documents]
    assert outcomes(address) == ["recorded"] * DECISIONS
    assert sum(each["recorded"] for each in totals) == DECISIONS
    assert sum(each["skipped"] for each in totals) == DECISIONS
    assert canonical_at(address) == canonical_at(alone.ledger)
    assert {each["receipt"]["root"] for each in documents} == {*found(address, "SELECT root FROM receipts")}
    assert found(address, "SELECT count(*) FROM receipts") == [1]
