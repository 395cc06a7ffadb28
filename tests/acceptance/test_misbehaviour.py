"""Misbehaviour: whatever a venue does wrong, a correct result or a clear error; nothing half-read passes for whole."""

import json
import shutil
from contextlib import chdir
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from predibot.sandbox.server.fault import FAULT_KINDS
from tests.acceptance.conftest import Predibot, Said, said_here
from tests.soaks import few

# A call that nobody waits for any more may leave its connection to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

WORLD = "sandbox:events=8"
PAGED_WORLD = "sandbox:events=30"
"""Two pages of twenty: what is wrong with cursors shows from the second on."""
PLAYED = ("--venue", PAGED_WORLD, "--events", "5", "--bots", "random_bet")
LOOKED_BACK = ("--as-of", "2026-02-10T12:00:00Z")
ADVICE = ("ry again later", "update predibot", "run `predibot")

HEALED_BY_ASKING_AGAIN = ("rate_limit", "server_error", "slow", "truncated_json", "cut_connection")
SKIPS = "could not be read"


@pytest.fixture
def predibot(predibot: Predibot, monkeypatch: pytest.MonkeyPatch) -> Predibot:
    """Return the program, impatient where asking again helps never: others may be slow on a busy machine."""

    def run(*arguments: str) -> Said:
        hopeless = [argument for argument in arguments if "fault=" in argument and ",times=1" not in argument]
        asked_again = any(f"fault={kind}" in argument for argument in hopeless for kind in HEALED_BY_ASKING_AGAIN)
        monkeypatch.setenv("PREDIBOT_CALL_DEADLINE_SECONDS", "0.8" if asked_again else "30")
        return predibot(*arguments)

    return run


def _fault(world: str, kind: str, path: str = "", *, once: bool = False) -> str:
    # The first wait after a 429 is a second, so those who are asked once get no more than none.
    seconds = "0" if kind == "rate_limit" else "0.1"
    return f"{world},fault={kind},seconds={seconds}{f',path={path}' if path else ''}{',times=1' if once else ''}"


def _is_clear_error(said: Said) -> bool:
    error = said.document["error"]
    return (
        (said.code, said.document["exit_code"]) == (1, 1)
        and set(said.document) == {"error", "exit_code"}
        and any(word in error["message"] for word in ADVICE)
    )


def _played(predibot: Predibot, ledger: str) -> list[str]:
    """Return the canonical export without what was passed over: a venue may be read no further than needed."""
    lines = [json.loads(line) for line in predibot("export", "--canonical", "--ledger", ledger).out.splitlines()]
    return [json.dumps({**line, "passed_over_json": None}) for line in lines]


@pytest.mark.parametrize(
    ("kind", "once"),
    few(
        product(sorted(FAULT_KINDS.keys() - {"disorder"}), (True, False)),
        # Every fault is tried at the venues, in `tests/venues/test_contract.py`; here each way it can end.
        *(("server_error", True), ("slow", False), ("wrong_shape", False), ("missing_fields", False)),
        *(("repeated_cursor", False), ("clamped_page", False)),
    ),
)
def test_decide_plays_what_it_would_have_played_or_says_what_is_wrong(
    predibot: Predibot, paged: list[str], kind: str, once: bool
) -> None:
    ledger = "sqlite:///faulty.db"
    said = predibot("decide", *PLAYED, "--venue", _fault(PAGED_WORLD, kind, once=once), "--json", "--ledger", ledger)
    if said.code:
        assert _is_clear_error(said)
        assert not (once and kind in HEALED_BY_ASKING_AGAIN)
        assert predibot("runs", "--json", "--ledger", ledger).document == {"runs": []}
        return
    assert _played(predibot, ledger) == paged or any(SKIPS in note for note in said.document["notes"])


@pytest.mark.parametrize("kind", ["ignored_cursor", "repeated_cursor"])
def test_a_list_that_never_goes_on_is_an_error_where_its_rest_is_needed(predibot: Predibot, kind: str) -> None:
    said = predibot("select", "--venue", _fault("sandbox:events=50", kind), "--events", "50", "--json")
    assert _is_clear_error(said)
    assert said.document["error"]["kind"] == "VenueChanged"


def test_short_pages_are_followed_to_the_end(predibot: Predibot) -> None:
    arguments = ("select", "--events", "30", "--json", "--venue")
    clamped = predibot(*arguments, _fault(PAGED_WORLD, "clamped_page")).document
    whole = predibot(*arguments, PAGED_WORLD).document
    assert {**clamped, "venue": None} == {**whole, "venue": None}


@dataclass(frozen=True)
class _Healthy:
    """A ledger with decisions, and what `evaluate` makes of it where nothing goes wrong."""

    decided: Path
    document: Any
    export: str


def _evaluated(predibot: Predibot, venue: str) -> tuple[Said, str]:
    """Return what `evaluate` says of `ledger.db` here, and the canonical export after it."""
    url = ("--ledger", "sqlite:///ledger.db")
    said = predibot("evaluate", *LOOKED_BACK, "--venue", venue, "--resamples", "100", "--json", *url)
    return said, predibot("export", "--canonical", *url).out


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> _Healthy:
    """Return a ledger decided in a healthy world, and how it is evaluated there."""
    folder = tmp_path_factory.mktemp("healthy")
    with chdir(folder):
        bots = ("--bots", "market_price,random_bet")
        said_here("decide", "--venue", WORLD, "--events", "2", *bots, "--ledger", "sqlite:///ledger.db")
        shutil.copy("ledger.db", "decided.db")
        said, export = _evaluated(said_here, WORLD)
    return _Healthy(folder / "decided.db", said.document, export)


@pytest.fixture(scope="module")
def paged(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return what is played in a healthy world whose list has two pages."""
    with chdir(tmp_path_factory.mktemp("paged")):
        said_here("decide", *PLAYED, "--ledger", "sqlite:///ledger.db")
        return _played(said_here, "sqlite:///ledger.db")


_PAGES = ("ignored_cursor", "repeated_cursor", "clamped_page", "unordered_page")


@pytest.mark.parametrize(
    ("kind", "path"),
    few(
        [
            *((kind, "/markets") for kind in FAULT_KINDS if kind != "empty_history"),
            *((kind, "/prices-history") for kind in FAULT_KINDS if kind not in _PAGES),
        ],
        *((kind, "/markets") for kind in ("missing_fields", "server_error", "repeated_cursor")),
        *((kind, "/prices-history") for kind in ("cut_connection", "empty_history", "rate_limit", "wrong_shape")),
    ),
)
def test_evaluate_says_what_is_missing_and_the_next_one_brings_it(
    predibot: Predibot, healthy: _Healthy, tmp_path: Path, kind: str, path: str
) -> None:
    shutil.copy(healthy.decided, tmp_path / "ledger.db")
    said, export = _evaluated(predibot, _fault(WORLD, kind, path))
    if said.code:
        assert _is_clear_error(said)
    elif export == healthy.export:
        assert said.document == healthy.document
        return
    else:
        said_words = (SKIPS, "could not be reached", "without a price")
        assert any(word in note for note in said.document["notes"] for word in said_words)
    healed, export = _evaluated(predibot, WORLD)
    assert (healed.document, export) == (healthy.document, healthy.export)


@pytest.mark.parametrize("kind", few(HEALED_BY_ASKING_AGAIN, "server_error", "cut_connection"))
def test_evaluate_does_not_mind_a_venue_that_stumbles_once(
    predibot: Predibot, healthy: _Healthy, tmp_path: Path, kind: str
) -> None:
    shutil.copy(healthy.decided, tmp_path / "ledger.db")
    assert _evaluated(predibot, _fault(WORLD, kind, once=True))[1] == healthy.export


def test_evaluate_with_the_venue_out_of_reach_prints_what_is_stored(
    predibot: Predibot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_data: Path
) -> None:
    monkeypatch.setenv("PREDIBOT_GAMMA_URL", "http://127.0.0.1:1")
    venue = f"archive:{shared_data / 'polymarket-daily'}"
    predibot("decide", "--venue", venue, "--as-of", "2025-11-10T12:00:00Z")
    before = predibot("evaluate", "--as-of", "2026-03-01T00:00:00Z", "--json").document
    said = predibot("evaluate", "--venue", "polymarket", "--as-of", "2026-03-01T00:00:00Z", "--json")
    assert said.code == 0
    assert said.document["bots"] == before["bots"]
    assert any("could not be reached" in note for note in said.document["notes"])


def test_track_stores_what_it_could_read_and_ends_with_an_error(predibot: Predibot) -> None:
    predibot("decide", "--venue", WORLD, "--events", "3")
    said = predibot("track", "--venue", _fault(WORLD, "server_error", "/prices-history"), *LOOKED_BACK, "--json")
    assert _is_clear_error(said)
    assert '"table": "resolutions"' in predibot("export").out


DAY = ("--days", "1", "--json")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the files of a snapshot of a healthy world."""
    with chdir(tmp_path_factory.mktemp("recorded")):
        said_here("record", "healthy", "--venue", WORLD, *DAY)
        return _tree(Path("healthy"))


@pytest.mark.parametrize(
    ("kind", "path"),
    few(
        product(("cut_connection", "wrong_shape"), ("/events", "/markets", "/prices-history")),
        *(("cut_connection", "/events"), ("wrong_shape", "/markets"), ("cut_connection", "/prices-history")),
    ),
)
def test_record_writes_a_whole_snapshot_or_none_and_the_next_one_completes_it(
    predibot: Predibot, recorded: dict[str, str], tmp_path: Path, kind: str, path: str
) -> None:
    said = predibot("record", "faulty", "--venue", _fault(WORLD, kind, path), *DAY)
    assert _is_clear_error(said)
    assert not list((tmp_path / "faulty").rglob(".unfinished*"))
    if path == "/events":
        assert not (tmp_path / "faulty").exists()
    assert predibot("record", "faulty", "--venue", WORLD, *DAY).code == 0
    assert _tree(tmp_path / "faulty") == recorded


def _tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
