"""`predibot report` of one bot, one event, pictures and a tear sheet."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len
from sqlalchemy import select, update

from predibot.ledger.store import Store
from predibot.ledger.write.decisions import bots, decisions, forecasts
from predibot.ledger.write.events import events, markets
from tests.acceptance.conftest import Predibot, Said, said_here
from tests.benchmarks.cohort_ledgers import Cohorts, fill_cohorts
from tests.cli.alone import predibot_alone
from tests.cli.conftest import WORLD
from tests.cli.terminal import ROOT
from tests.cli.test_account import accounts
from tests.worlds import Worlds

EVIL = "\x1b[2J\x07</title><script>alert(1)</script>\u202e\u0301 $x_1$ _\u4e2d " + "and on " * 300
EVIL_BOT = "_<img src=x onerror=alert(1)>\u202e\"' $2$"


def two_days() -> None:
    """Make two runs of two events, and track what they paid."""
    for day in ("11", "12"):
        at = ("--as-of", f"2026-01-{day}T12:00Z")
        assert said_here("decide", "sandbox", "--venue", WORLD, "--events", "2", *at).code == 0
    assert said_here("track", "--as-of", "2026-02-20T12:00Z").code == 0


def one_bot() -> None:
    """Replay a bot that bets on an event twice into `ledger.db`: the fewest panels that each kind of picture has."""
    span = ("--from", "2026-01-11T12:00Z", "--to", "2026-01-12T12:00Z", "--bots", "random_bet")
    where = ("--ledger", "sqlite:///ledger.db", "--venue", WORLD)
    assert said_here("replay", "sandbox", *span, *where, "--events", "1").code == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, worlds: Worlds) -> Path:
    """Return a folder whose ledger has two runs of two events, and what they paid."""
    return worlds.copy(two_days, tmp_path_factory.mktemp("played"))


@pytest.fixture
def played(folder: Path, predibot: Predibot, monkeypatch: pytest.MonkeyPatch) -> Predibot:
    """Return the program in an empty folder, reading that ledger."""
    monkeypatch.setenv("PREDIBOT_LEDGER", f"sqlite:///{folder}/runs/out/predibot.db")
    return predibot


@pytest.fixture
def hostile(tmp_path: Path, worlds: Worlds) -> str:
    """Return a ledger all of whose texts are hostile."""
    address = f"sqlite:///{worlds.copy(one_bot, tmp_path)}/ledger.db"
    with Store.open(address, create=False) as store, store.write() as connection:
        connection.execute(update(bots).values(name=EVIL_BOT))
        connection.execute(update(events).values(title=EVIL))
        connection.execute(update(markets).values(question=EVIL))
        connection.execute(update(forecasts).values(rationale=EVIL))
        connection.execute(update(decisions).values(rationale=EVIL))
    return address


def _only_text(said: Said) -> str:
    assert said.code == 0, said.err
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", said.out)
    return said.out


def test_a_bot_is_told_with_its_curve_scores_and_best_and_worst(played: Predibot) -> None:
    text = played("report", "--bot", "random_bet", "--worst", "2").out
    titles = (
        "Scores",
        "Curve",
        "Mean return of a decision of one dollar",
        "Forecasts by category",
        "Calibration: forecasts beside what happened",
        "The decisions that brought most",
        "The decisions that cost most",
    )
    places = [text.index(f"\n{title}") for title in titles]
    assert places == sorted(places)
    assert text.startswith("random_bet as of 2026-05-05T12:00Z: strategy random_bet\n")
    assert "\n4 decisions from 2026-01-11T12:00Z to 2026-01-12T12:00Z: 4 recorded\n" in text
    assert "Record needed: at least 30 events" in text or "more events, if the edge stays" in text
    assert text.count("\n2. random_bet") == 2 and "\n3. random_bet" not in text


def test_the_document_of_a_bot_says_what_evaluate_says(played: Predibot) -> None:
    document = played("report", "--bot", "underdog", "--json").document
    (card,) = document["evaluation"]["bots"]
    (scored,) = document["running"]
    last = scored["edge"][-1]
    assert last["total"] == pytest.approx(card["edge"]["edge"] * last["n"])
    assert document["decisions"] == {"recorded": 4}
    assert [each["gain_usd"] < 0.0 for each in document["worst"]] == [True] * len(document["worst"])
    assert [each["gain_usd"] > 0.0 for each in document["best"]] == [True] * len(document["best"])


def test_nothing_later_than_the_instant_is_told(played: Predibot) -> None:
    document = played("report", "--bot", "underdog", "--as-of", "2026-01-11T18:00Z", "--json").document
    assert (document["decisions"], document["last_at"]) == ({"recorded": 2}, "2026-01-11T12:00Z")
    before = played("report", "--bot", "underdog", "--as-of", "2026-01-01T00:00Z")
    assert (before.code, before.out.splitlines()[-1]) == (0, "No decision yet.")


def test_an_event_is_told_with_all_forecasts_side_by_side(played: Predibot, folder: Path) -> None:
    with Store.open(f"sqlite:///{folder}/runs/out/predibot.db", create=False) as store, store.read() as connection:
        event_id, title = connection.execute(select(events.c.event_id, events.c.title)).first() or ("", "")
    text = played("report", "--event", event_id).out
    assert text.startswith(f"{title} ({event_id})\n") and "price of YES" in text
    assert all(bot in text for bot in ("market_price", "random_bet", "underdog"))
    document = played("report", "--event", event_id, "--json").document
    (number,) = {
        str(each["number"])
        for each in played("report", "--event", "--json").document["events"]
        if each["event_id"] == event_id
    }
    assert played("report", "--event", number).out == text
    assert "`predibot report --event " in played("report", "--event").out
    told = {(each["bot"], each["slot_at"]) for each in document["forecasts"]}
    assert len(told) == 10 and {each["market_id"] for each in document["forecasts"]} == {
        each["market_id"] for each in document["markets"]
    }
    early = played("report", "--event", event_id, "--as-of", "2026-01-11T18:00Z", "--json").document
    assert {each["payout_yes"] for each in early["markets"]} == {None}
    assert max(at for each in early["markets"] for at, _ in each["prices"]) <= 1768154400.0
    alone = played("report", "--event", event_id, "--bots", "underdog", "--json").document
    assert {each["bot"] for each in alone["forecasts"]} == {"underdog"}


def test_a_name_that_is_nobodys_is_refused_in_a_sentence(played: Predibot) -> None:
    for option, name in (("--bot", "underdig"), ("--event", "nothing"), ("--tearsheet", "underdig")):
        said = played("report", option, name)
        assert (said.code, said.out) == (1, "") and name in said.err
    assert "Did you mean 'underdog'?" in played("report", "--bot", "underdig").err


def test_two_reports_at_once_are_misuse(played: Predibot) -> None:
    for more in (
        ("--event", "1"),
        ("--csv",),
        ("--full",),
        ("--table", "pairs"),
        ("--figures", "there"),
        ("--bots", "a"),
    ):
        assert played("report", "--bot", "underdog", *more).code == 2
    said = played("report", "--event", "1", "--worst", "3", "--archived")
    assert said.code == 2 and "--worst and --archived would change nothing of --event" in " ".join(said.err.split())
    assert played("report", "--out", "there.html").code == 2
    assert not Path("there").exists()


def test_pictures_are_the_same_bytes_whatever_settings_somebody_has_and_say_no_date(
    predibot: Predibot, tmp_path: Path, worlds: Worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREDIBOT_LEDGER", f"sqlite:///{worlds(one_bot)}/ledger.db")
    first = predibot("report", "--figures", "one", "--json").document["files"]
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nsvg.fonttype: none\naxes.facecolor: red\n")
    monkeypatch.setenv("MATPLOTLIBRC", str(tmp_path / "matplotlibrc"))
    second = predibot_alone(tmp_path, "report", "--figures", "two", "--json").document["files"]
    names = [Path(file).name for file in first]
    assert [Path(file).name for file in second] == names
    kinds = ("edge", "gain", "calibration", "returns", "price-1")
    assert {f"{kind}.{form}" for kind in kinds for form in ("svg", "png")} <= set(names)
    for name in names:
        content = Path("one", name).read_bytes()
        assert content == Path("two", name).read_bytes()
        assert not re.search(rb"dc:date|Matplotlib v|<script", content)


def test_a_tear_sheet_is_one_file_that_asks_nobody_for_anything(played: Predibot) -> None:
    said = played("report", "--tearsheet", "random_bet")
    assert said.out == "runs/out/tearsheet-random_bet.html\n"
    page = Path("runs/out/tearsheet-random_bet.html").read_text(encoding="utf-8")
    assert "<script" not in page and "<link" not in page and "@import" not in page
    # Namespaces are names, and asked for by nobody.
    asked = re.findall(r"""(?:src|href|action|data)\s*=\s*["']?([^"'\s>]*)""", page)
    assert asked and all(address.startswith("#") for address in asked)
    assert set(re.findall(r"url\((.)", page)) <= {"#"}
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids)) and page.count("<svg") >= 5
    for title in ("Best decisions", "Worst decisions", "Scores", "Record needed"):
        assert title in page


def test_hostile_texts_are_shown_as_text_everywhere(hostile: str, predibot: Predibot) -> None:
    assert "\ufffd[2J" in _only_text(predibot("report", "--bot", EVIL_BOT, "--ledger", hostile))
    with Store.open_to_read(hostile) as store, store.read() as connection:
        event_id = connection.execute(select(events.c.event_id)).scalars().first()
    text = _only_text(predibot("report", "--event", event_id or "", "--ledger", hostile))
    # A line is as long as the pipe is wide, but for the two that have the title.
    assert sum(cell_len(line) > 100 for line in text.splitlines()) < 12 and len(text) < 100_000
    assert predibot("report", "--figures", "drawn", "--ledger", hostile).code == 0
    assert predibot("report", "--tearsheet", EVIL_BOT, "--ledger", hostile).code == 0
    (file,) = Path("runs/out").glob("tearsheet-*.html")
    assert re.fullmatch(r"tearsheet-[\w-]+\.html", file.name)
    page = file.read_text(encoding="utf-8")
    assert not re.search("<script|<img|[\x00-\x09\x0b-\x1f\x7f\u202e]", page)
    assert "&lt;script&gt;alert(1)" in page and page.count("and on") < 1_500
    assert page.count("<title>") == page.count("</title>") == 1


def test_accounts_are_told_and_drawn(predibot: Predibot, worlds: Worlds, tmp_path: Path) -> None:
    worlds.copy(accounts, tmp_path)
    at = ("--ledger", "sqlite:///accounts.db")
    text = predibot("report", "--bot", "bot_2", *at).out
    assert "\nAccount: " in text and "\nValue\n" in text and "Record needed of account" in text
    document = predibot("report", "--bot", "bot_2", "--json", *at).document
    (account,) = document["accounts"]
    (board,) = document["evaluation"]["accounts"]
    values = board["leaderboard"][0]["values_usd"]
    assert account["values"][-1]["total"] == values[-1]
    # What it gained from slot to slot is all it gained.
    assert np.prod([1.0 + gain for *_, gain in account["moves"]]) == pytest.approx(values[-1] / values[0])
    best = text.split("\nBest and worst spans\n")[1].splitlines()[1]
    assert best.endswith(f"{100.0 * max(gain for *_, gain in account['moves']):+.2f}%")
    assert "No bet" not in text
    files = predibot("report", "--figures", "drawn", "--bots", "bot_2,all_cash", *at).out.split()
    drawn = {Path(each).stem for each in files}
    assert drawn == {"account-value", "cash", "drawdown", "weights-1", "weights-2", "weights-3"}
    assert predibot("report", "--tearsheet", "bot_2", "--out", "sheet.html", *at).code == 0
    assert "Account value: " in Path("sheet.html").read_text(encoding="utf-8")


def test_cohorts_are_told_and_drawn(predibot: Predibot) -> None:
    with Store.open(f"sqlite:///{Path.cwd() / 'cohorts.db'}") as store:
        fill_cohorts(store, Cohorts(cohorts=12, bots=2, markets=40, forecasts=4), np.random.default_rng(5))
    at = ("--ledger", "sqlite:///cohorts.db")
    text = predibot("report", "--bot", "bot_1", *at).out
    assert "Record needed of cohorts weekly_cohort of weekly" in text
    assert text.count("\n2026-") == 10 and "nothing is proven" in text
    document = predibot("report", "--bot", "bot_1", "--json", *at).document
    (told,) = document["cohorts"]
    (board,) = document["evaluation"]["cohorts"]
    (row,) = board["leaderboard"]
    returns = [each["value_usd"] / each["stake_usd"] - 1.0 for each in told["results"]]
    # The sandbox ends before the last two begin.
    assert len(returns) == 10 and np.mean(returns) == pytest.approx(row["mean_return"])
    assert predibot("report", "--figures", "drawn", *at).out.split() == ["drawn/cohorts.svg", "drawn/cohorts.png"]


def test_a_ledger_without_a_price_draws_nothing_and_says_so(predibot: Predibot) -> None:
    assert predibot("report", "--figures", "drawn").code == 1
    assert predibot("decide", "sandbox", "--venue", WORLD, "--events", "2").code == 0
    at = ("--as-of", "2026-01-01T00:00Z")
    said = predibot("report", "--figures", "drawn", *at)
    assert (said.code, said.out) == (0, "") and "nothing to draw yet" in said.err
    assert predibot("report", "--tearsheet", "underdog", "--out", "sheet.html", *at).code == 0
    assert "Nothing to draw yet" in Path("sheet.html").read_text(encoding="utf-8")


def test_who_does_not_draw_needs_no_matplotlib_and_who_draws_is_told_how_to_install_it(
    played: Predibot, tmp_path: Path
) -> None:
    # Nothing of a process that has it already: it is as if it were not installed, and httpx is loaded by who tracks.
    program = (
        "import json, sys; sys.modules['matplotlib'] = None; from tests.acceptance.conftest import said_here\n"
        "loaded = lambda: sorted({'pandas', 'httpx', 'predibot.jobs.track'} & {*sys.modules})\n"
        "ended = (said_here('report', *each) for each in json.loads(sys.argv[1]))\n"
        "print(json.dumps([(said.code, said.out, said.err, loaded()) for said in ended]))"
    )
    asked = (("--bot", "underdog"), (), ("--figures", "drawn"), ("--tearsheet", "underdog"))
    command = [sys.executable, "-c", program, json.dumps(asked)]
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = json.loads(subprocess.run(command, env=around, check=True, stdout=subprocess.PIPE).stdout)
    assert [(code, loaded) for code, _, _, loaded in found[:2]] == [(0, []), (0, [])]
    for code, out, err, _ in found[2:]:
        assert (code, out) == (1, "")
        told = " ".join(err.split())
        assert told == "error: pictures need matplotlib. Install it with: pip install 'predibot[plots]'."
    assert not (tmp_path / "drawn").exists()
