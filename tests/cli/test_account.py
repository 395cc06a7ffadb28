"""`predibot account`, and the boards of accounts in `evaluate`."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from predibot.ledger.store import Store
from tests.agents.chat_server import chat_server, completion
from tests.benchmarks.account_ledgers import Portfolios, fill_accounts
from tests.cli.conftest import Predibot
from tests.worlds import Worlds

LEDGER = ("--ledger", "sqlite:///accounts.db")


def accounts() -> None:
    """Make `accounts.db`, whose portfolios go back 35 days."""
    with Store.open(f"sqlite:///{Path.cwd() / 'accounts.db'}") as store:
        fill_accounts(store, Portfolios(bots=4, days=35), np.random.default_rng(5))


@pytest.fixture
def played(predibot: Predibot, tmp_path: Path, worlds: Worlds) -> Predibot:
    worlds.copy(accounts, tmp_path)
    return predibot


def test_an_account_shows_what_it_holds_what_waits_what_settled_and_why(played: Predibot) -> None:
    shown = played("account", "bot_2", *LEDGER).out
    titles = (
        "Positions",
        "Pending orders",
        "What settled, and how",
        "Allocations, 10 of 35",
        "Journal",
    )
    places = [shown.index(title) for title in titles]
    assert places == sorted(places)
    assert "Rationales refer to (by rules, 35 of them): position 0%, price history 0%, news 100%." in shown


def test_what_rounding_left_of_cash_is_none(played: Predibot) -> None:
    with Store.open(f"sqlite:///{Path.cwd() / 'accounts.db'}") as store, store.write() as connection:
        weights = {0: 0.7, 1: 0.2, 2: 0.1 - 1e-16}
        newest = (
            "decision_id = (SELECT max(d.id) FROM decisions d JOIN bots b ON b.id = d.bot_id WHERE b.name = 'bot_2')"
        )
        first = f"(SELECT min(number) FROM orders WHERE {newest})"
        for number in range(10):
            change = f"UPDATE orders SET amount = :weight WHERE {newest} AND number = {first} + :number"
            connection.execute(text(change), {"weight": weights.get(number, 0.0), "number": number})
        held_usd = "(SELECT sum(cash_usd) FROM journal WHERE account_id = 3)"
        left = f"UPDATE journal SET cash_usd = cash_usd - {held_usd} - 1e-13 WHERE account_id = 3 AND number = 2"
        connection.execute(text(left))
    shown = played("account", "bot_2", *LEDGER).out
    assert "cash $0.00 ·" in shown and "-$0.00" not in shown and "$-0.00" not in shown
    assert "70% [pending]" in shown and "10% [pending], CASH 0%" in shown


def test_the_document_of_an_account_adds_up(played: Predibot) -> None:
    (account,) = played("account", "bot_2", "--json", *LEDGER).document["accounts"]
    assert sum(row["cash_usd"] for row in account["journal"]) == pytest.approx(account["cash_usd"])
    cost = sum(each["cost_usd"] for each in account["positions"])
    assert account["cash_usd"] + cost == pytest.approx(500.0 + account["realised_usd"])
    assert account["valuations"][0]["value_usd"] == 500.0
    assert len(account["allocations"]) == 35
    assert {order["status"] for order in account["allocations"][-1]["orders"]} == {"pending"}


def test_nobody_s_account_is_told_with_the_nearest_name(played: Predibot) -> None:
    said = played("account", "bot_9", *LEDGER)
    assert said.code == 1 and "no bot 'bot_9' has an account. Did you mean" in said.err


def test_evaluate_opens_with_the_board_and_fits_eighty_columns(played: Predibot) -> None:
    shown = played("evaluate", "--no-track", *LEDGER).out
    world, verdict, head, header, *rows = filter(None, shown.splitlines())
    assert world == "A simulated world: its prices and outcomes are invented."
    assert verdict == "No bot is proven to do better than every baseline."
    assert head.startswith("portfolio_weights of year, replay: $500.00 at the start, 34 returns to")
    assert header.split()[:4] == ["#", "bot", "value", "return"]
    assert max(map(len, [header, *rows[:4]])) <= 80 and "all_cash*" in shown
    assert header.split()[-1] == "curve"


def test_documents_and_tables_have_a_row_an_account(played: Predibot) -> None:
    (board,) = played("evaluate", "--no-track", "--json", *LEDGER).document["accounts"]
    bots = [row["bot"] for row in board["leaderboard"]]
    rows = list(csv.DictReader(io.StringIO(played("evaluate", "--no-track", "--csv", *LEDGER).out)))
    assert [row["bot"] for row in rows] == bots and len(bots) == 4
    assert {row["knowledge"] for row in rows} == {"clean"}
    assert float(rows[0]["start_usd"]) == 500.0


def test_each_table_of_a_board_can_be_asked_for_alone(played: Predibot) -> None:
    titles = {"risk": "Risk", "behaviour": "Behaviour", "delays": "Return with the holdings", "pairs": "Returns beside"}
    for table, title in titles.items():
        shown = played("evaluate", "--no-track", "--table", table, *LEDGER).out
        assert [other for other, its in titles.items() if f"\n{its}" in shown] == [table], title
        assert "bot_2" in shown
    rows = played("evaluate", "--no-track", "--csv", "--table", "pairs", *LEDGER).out
    assert {row["bot"] for row in csv.DictReader(io.StringIO(rows))} >= {"bot_2"}
    rows = played("evaluate", "--no-track", "--csv", "--table", "consistency", *LEDGER).out
    again = [*csv.DictReader(io.StringIO(rows))]
    assert again and all(row["between"] == "days" and 0.0 <= float(row["difference"]) <= 1.0 for row in again)
    assert (
        "how alike a bot divides its money" in played("evaluate", "--no-track", "--table", "consistency", *LEDGER).out
    )
    rows = played("evaluate", "--no-track", "--csv", "--table", "behaviour", *LEDGER).out
    assert all(row["turnover"] for row in csv.DictReader(io.StringIO(rows)))


def test_a_model_reads_the_rationales_within_its_limit(played: Predibot, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("account", "bot_2", *LEDGER, "--judge", "openai/gpt-4o-mini")
    with chat_server(
        completion('{"factors": ["news"]}'), completion("no idea"), completion('{"factors": []}')
    ) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody-0123456789")
        done = played(*asked, "--json")
        (document,) = json.loads(done.out)["accounts"]
        read = [each["judged_to_refer_to"] for each in document["allocations"]]
        assert (read.count(["news"]), read.count(None)) == (
            1,
            1 + sum(not each["rationale"] for each in document["allocations"]),
        )
        assert set(document["kappa"]) == {"position", "price_history", "news"}
        assert f"read {len(server.asked)} rationales" in done.err and "no factors: 1" in done.err
        assert "<<untrusted" in server.asked[0].body["messages"][0]["content"]
        everyone = played("account", *LEDGER, "--judge", "openai/gpt-4o-mini", "--json")
        rows = json.loads(everyone.out)["rationales"]
        assert [(row["bot"], row["rationales"]) for row in rows] == [("bot_2", 35)]
        assert 0 < rows[0]["judged"] <= 35
        assert set(rows[0]["kappa"]) == set(rows[0]["judged_shares"]) == {"position", "price_history", "news"}
        shown = played("account", *LEDGER, "--judge", "openai/gpt-4o-mini").out
        assert "As the model reads them" in shown and "κ news" in shown
        before = len(server.asked)
        assert "not asked for want of room: 35" in played(*asked, "--judge-usd", "0.000001").err
        assert len(server.asked) == before
    assert "what it costs is unknown" in played("account", "bot_2", *LEDGER, "--judge", "nobody/knows-it").err


def test_without_a_bot_the_rationales_of_all_are_read_by_rules(played: Predibot) -> None:
    with Store.open(f"sqlite:///{Path.cwd() / 'accounts.db'}") as store, store.write() as connection:
        connection.execute(text("UPDATE bots SET strategy = 'one_shot' WHERE name = 'bot_1'"))
        other = "SELECT id FROM bots WHERE name = 'bot_1'"
        connection.execute(text(f"UPDATE decisions SET rationale = 'My stake.' WHERE bot_id IN ({other})"))
    document = json.loads(played("account", *LEDGER, "--json").out)
    assert [row["bot"] for row in document["rationales"]] == ["bot_1", "bot_2", "all bots"]
    rows = {row["bot"]: row for row in document["rationales"]}
    assert rows["bot_2"]["factor_shares"] == {"position": 0.0, "price_history": 0.0, "news": 1.0}
    assert rows["bot_1"]["factor_shares"] == {"position": 1.0, "price_history": 0.0, "news": 0.0}
    assert (rows["all bots"]["rationales"], rows["all bots"]["factor_shares"]["news"]) == (70, 0.5)
    assert (rows["bot_2"]["judged"], rows["bot_2"]["kappa"]) == (0, {})
    assert "As the model" not in played("account", *LEDGER).out
    assert "no account of recipe 'none' has a rationale" in played("account", "--recipe", "none", *LEDGER).err
    assert "name its BOT too" in played("account", "--full", *LEDGER).err
