"""Agents: eight bots on two events of the sandbox, through the real loop, clients and fetching, over loopback."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Said, said_here

# A call that nobody waits for any more may leave its connection to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

EVENTS = 2
PLANTED = "sk-planted-9f8e7d6c5b4a"
WORLD = "sandbox:events=20"
"""On two of its events each bot comes to what is told of it."""
SCRIPTS = ("sharp", "noisy", "overconfident", "broken", "gullible", "lazy")


def _bot(name: str) -> str:
    return f'[[bots]]\nname = "{name}"\nstrategy = "tool_agent"\nmodel = "sandbox/{name}"\n'


RECIPE = "".join(
    [
        'venue = "sandbox"\n[limits.decision]\nusd = 0.5\n[[bots]]\nstrategy = "market_price"\n',
        *map(_bot, SCRIPTS),
        '[[bots]]\nname = "crowd"\nstrategy = "ensemble"\nmembers = ["sharp", "noisy", "overconfident"]\n',
    ]
)


@dataclass(frozen=True)
class Played:
    """A folder in which the recipe was played, and what was said there."""

    folder: Path
    decided: Said
    exported: Said

    @cached_property
    def evaluated(self) -> Said:
        """Return what `evaluate --json` says."""
        with chdir(self.folder):
            return said_here("evaluate", "--venue", WORLD, "--json", "-v")

    @property
    def decisions(self) -> list[Any]:
        """Return the decisions as `decide --json` gives them."""
        found: list[Any] = self.decided.document["decisions"]
        return found

    def of(self, bot: str) -> Any:
        return next(card for card in self.evaluated.document["bots"] if card["bot"] == bot)

    def rows(self, table: str) -> list[Any]:
        rows = map(json.loads, self.exported.out.splitlines())
        return [row for row in rows if row["table"] == table]

    def steps(self, kind: str) -> list[Any]:
        traces = sorted((self.folder / "runs/out/predibot.db.files/traces").rglob("*.jsonl"))
        steps = [json.loads(line) for trace in traces for line in trace.read_text("utf-8").splitlines()]
        return [step for step in steps if step["kind"] == kind]


def _played(folder: Path, events: int) -> Played:
    (folder / "eight.toml").write_text(RECIPE, encoding="utf-8")
    with chdir(folder):
        asked = ("decide", "eight.toml", "--venue", WORLD, "--events", str(events), "--json", "-v")
        return Played(folder, said_here(*asked), said_here("export", "--canonical"))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", PLANTED)
        yield _played(tmp_path_factory.mktemp("played"), EVENTS)


def test_every_bot_has_a_decision_on_every_event(played: Played) -> None:
    # The broken forecaster's decisions failed: 3 says that, and that the others' are recorded.
    assert (played.decided.code, played.evaluated.code) == (3, 0)
    assert len({(each["bot"], each["event_id"]) for each in played.decisions}) == 8 * EVENTS


def test_who_reads_well_beats_the_market_on_the_same_forecasts(played: Played) -> None:
    sharp, market = played.of("sharp"), played.of("market_price")
    assert (sharp["forecasts"], sharp["n_brier"]) == (market["forecasts"], market["n_brier"])
    assert sharp["brier"] < market["brier"]
    assert sharp["skill_vs_market"] > 0.2


def test_who_is_broken_is_refused_fails_or_abstains_and_is_never_scored(played: Played) -> None:
    broken = [each for each in played.decisions if each["bot"] == "broken"]
    assert {each["status"] for each in broken} <= {"refused", "failed", "abstained"}
    assert all(each["message"] for each in broken)
    assert (played.of("broken")["forecasts"], played.of("broken")["brier"]) == (0, None)


def test_who_does_what_pages_say_reaches_no_private_address_and_stakes_no_more_than_its_dollar(
    played: Played,
) -> None:
    refused = {step["error"] for step in played.steps("page_refused") if "169.254." in step["url"]}
    assert refused == {"AddressRefused"}
    assert not [step for step in played.steps("page") if "169.254." in step["url"]]
    gullible = [each for each in played.decisions if each["bot"] == "gullible"]
    assert any(each["bets"] for each in gullible)
    assert all(sum(abs(bet["bet_usd"]) for bet in each["bets"]) <= 1.0 + 1e-9 for each in gullible)


def test_who_looks_nothing_up_is_marked(played: Played) -> None:
    notes = {row["bot"]: row["notes_json"] for row in played.rows("decisions")}
    assert "under_researched" in notes["lazy"]
    assert "under_researched" not in notes["sharp"]


def test_an_ensemble_pools_its_members_at_no_cost(played: Played) -> None:
    crowd = [row for row in played.rows("decisions") if row["bot"] == "crowd"]
    assert [row["notes_json"] for row in crowd] == ['["3 of 3 members"]'] * EVENTS
    chances = {(row["bot"], row["market_id"]): row["probability"] for row in played.rows("forecasts")}
    for (bot, market), chance in chances.items():
        if bot == "crowd":
            assert chance == sorted(chances[member, market] for member in ("sharp", "noisy", "overconfident"))[1]


def test_the_same_seed_gives_the_same_decisions(played: Played, tmp_path: Path) -> None:
    again = _played(tmp_path, 1)
    (event,) = {each["event_id"] for each in again.decisions}

    def of_event(each: Played) -> list[Any]:
        return [row for row in each.rows("decisions") if row["subject_id"] == event]

    assert len(of_event(again)) == 8
    assert of_event(again) == of_event(played)


def test_what_an_agent_read_is_found_by_the_hash_that_is_stored_with_its_decision(played: Played) -> None:
    read = {row["sha256"] for row in played.rows("sources") if row["kind"] == "page"}
    kept = {path.stem: path for path in (played.folder / "runs/out/predibot.db.files/pages").rglob("*.txt")}
    assert len(read) > 10
    assert set(kept) >= read
    assert all(hashlib.sha256(kept[digest].read_bytes()).hexdigest() == digest for digest in kept)


def test_a_secret_of_the_environment_is_written_and_said_nowhere(played: Played) -> None:
    for said in (played.decided, played.evaluated, played.exported):
        assert PLANTED not in said.out + said.err
    files = [path for path in (played.folder / "runs/out").rglob("*") if path.is_file()]
    assert len(files) > 25
    assert not [path for path in files if PLANTED.encode() in path.read_bytes()]
