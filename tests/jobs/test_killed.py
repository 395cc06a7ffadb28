"""Killing, and two at once: whatever happens to a process, the ledger ends up as if nothing had happened."""

import json
import signal
from collections import Counter
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import text

from predibot.jobs.verify import verify
from predibot.ledger.store import Store
from tests.jobs.failpoints import After, Before
from tests.jobs.games import Game, Played, cohorts, events, portfolios, stocks
from tests.jobs.program import SLOW, Program, document_of, wait_until
from tests.jobs.tiny import canonical, canonical_at
from tests.soaks import few

BOTS = ("--bots", "slow,random_bet,market_price,always_half")
DECISIONS = 12

BEGUN = (Before("alembic_version"), Before("runs"), After("runs"), After("bots"))
ASKED = (After("reservations"), Before("reservations", "DELETE FROM"), After("news"))
CLAIMED = (Before("attempts"), After("attempts"))
DECIDED = (Before("decisions"), After("decisions"))
ENDED = (Before("receipts"), After("receipts"))
VALUED = (Before("turns"), After("turns"), After("marks"))
TRACKED = (Before("price_paths"), After("price_paths"))
GAMES = {
    "events": (events(3), (*BEGUN, *CLAIMED, *DECIDED, *ENDED, *TRACKED)),
    "portfolios": (portfolios(2), (*ASKED, *VALUED)),
    "cohorts": (cohorts(2), (Before("cohorts"), After("cohorts"), *DECIDED, After("valuations"), *VALUED)),
    "stocks": (stocks(6, start=date(2025, 1, 30)), (After("attempts"), *DECIDED, *VALUED)),
}
"""What is replayed, and where it is killed, in the order in which that comes; each kill is of a start of its own."""
ON_A_SERVER = {After("attempts"), *DECIDED, Before("receipts"), Before("turns")}
"""What is not the same there: who had a row locked, or had a commit answered."""
PLAYED = few(
    [*((game, "sqlite") for game in GAMES), ("events", "postgresql"), ("cohorts", "postgresql")],
    *(("events", "sqlite"), ("portfolios", "sqlite"), ("cohorts", "postgresql")),
)
"""What is killed, and on which database: a server knows nothing of games."""
TWICE = few([("portfolios", "sqlite"), ("cohorts", "sqlite"), ("cohorts", "postgresql")], ("portfolios", "sqlite"))
"""What is played twice at once, where more is at stake than single decisions."""


@dataclass(frozen=True)
class Alone:
    """A replay that nobody disturbed."""

    game: Game
    kills: tuple[Before, ...]
    canonical: str


@pytest.fixture(scope="module")
def alone(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """Return a replay of each game that nobody disturbed."""
    game, kills = GAMES[request.param]
    played = Played(game, tmp_path_factory.mktemp("alone") / request.param)
    played.whole()
    return Alone(game, kills, canonical_at(played.ledger))


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


@pytest.mark.parametrize("alone", few(GAMES, "events", "portfolios", "cohorts"), indirect=True)
def test_what_is_replayed_has_all_that_a_kill_could_take(alone: Alone) -> None:
    rows = [json.loads(line) for line in alone.canonical.splitlines()]
    tables = Counter(table for table, _ in rows)
    assert tables["decisions"] == alone.game.decisions
    if alone.game is not GAMES["events"][0]:
        assert tables["fills"] > 3
    if alone.game is GAMES["cohorts"][0]:
        assert tables["cohorts"] == 2
        # Shares of YES and NO, and of one of more outcomes.
        assert {row["outcome"] is None for table, row in rows if table == "orders"} == {True, False}
    if alone.game is GAMES["stocks"][0]:
        assert "dividend" in {row["kind"] for table, row in rows if table == "journal"}


def a_program(folder: Path) -> Program:
    """Return the program in a folder of its own."""
    folder.mkdir()
    made = Program(folder, {"PREDIBOT_WORKERS": "2"})
    made.strategy("slow", SLOW)
    return made


def test_killing_between_claim_and_result_loses_nothing_and_is_on_record(program: Program) -> None:
    program.strategy("slow", SLOW.replace("0.04", "600.0"))
    process = program.decide("--bots", "slow")
    wait_until(lambda: claimed(program) == 2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    program.strategy("slow", SLOW)
    document = document_of(program.decide("--bots", "slow"))
    assert document["totals"]["recorded"] == 3
    assert outcomes(program.ledger) == ["lost", "lost", "recorded", "recorded", "recorded"]


def claimed(program: Program) -> int:
    """Return how many claims are held in a program's ledger, as far as there is one."""
    if not (program.folder / "ledger.db").exists():
        return 0
    with Store.open(program.ledger) as store, store.read() as connection:
        statement = text("SELECT count(*) FROM tasks WHERE status = 'claimed'")
        return int(connection.execute(statement).scalar_one())


def outcomes(address: str) -> list[str]:
    """Return how all attempts in a ledger ended, sorted."""
    with Store.open(address) as store, store.read() as connection:
        return sorted(connection.execute(text("SELECT outcome FROM attempts")).scalars())


def test_processes_at_once_decide_everything_exactly_once(tmp_path: Path, address: str) -> None:
    alone, both = a_program(tmp_path / "alone"), a_program(tmp_path / "both")
    processes = [*(both.decide(*BOTS, ledger=address) for _ in range(3)), alone.decide(*BOTS)]
    totals = [document_of(process)["totals"] for process in processes][:3]
    assert outcomes(address) == ["recorded"] * DECISIONS
    assert sum(each["recorded"] for each in totals) == DECISIONS
    assert sum(each["skipped"] for each in totals) == 2 * DECISIONS
    assert canonical_at(address) == canonical_at(alone.ledger)
