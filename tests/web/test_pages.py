"""The pages and the API over HTTP: what they show, and that they only read."""

import html
import inspect
import re
import shutil
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from predibot import scoring
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import LedgerForecast, select_decisions, select_events, select_forecasts
from predibot.ledger.store import Store
from predibot.ledger.write.slots import SlotResult, add_schedule, begin_slot, end_slot
from predibot.scoring.standing import BASELINES
from tests.acceptance.conftest import done_here, said_here
from tests.ledger.by_hand import a_run, claimant, event_of, take
from tests.web.conftest import NOW as WEB_NOW
from tests.web.conftest import TOKEN, client_of
from tests.worlds import Worlds, one_agent, three_games, two_events


class Links(HTMLParser):
    """The addresses and the tags of a page; those outside of it apart."""

    def __init__(self, text: str) -> None:
        """Read a page."""
        super().__init__()
        self.found: list[str] = []
        self.outside: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.scripts: list[str | None] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what a tag leads to."""
        self.tags.append(tag)
        if tag == "script":
            self.scripts.append(dict(attrs).get("src"))
        self.attributes |= {name for name, _ in attrs}
        if {"nofollow", "noopener", "external"} <= set((dict(attrs).get("rel") or "").split()):
            self.outside.append(dict(attrs)["href"] or "")
            return
        self.found += [value for name, value in attrs if name in ("href", "src", "action") and value]


def test_the_leaderboard_says_what_the_terminal_says(browser: TestClient, played: str) -> None:
    shown = said_here("report", "--ledger", played, "--json").document
    page = browser.get("/").text
    assert all(f">{card['bot']}</a>" in page for card in shown["leaderboard"])
    ranked = browser.get("/api/v1/leaderboard").json()
    assert ranked["rankings"] == {"clean": shown["leaderboard"]}
    assert browser.get("/leaderboard.csv").text == said_here("report", "--ledger", played, "--csv").out
    assert "cohorts, of which" in page or "cohort count" in page
    said = [note for board in (*shown["accounts"], *shown["cohorts"]) for note in board["notes"]]
    assert said and all(f'<p class="note">{html.escape(note)}</p>' in page for note in said)


def test_the_leaderboard_is_narrowed_in_its_address_as_the_terminal_narrows_it(
    browser: TestClient, played: str
) -> None:
    category = "Sports"
    offered = re.search(r'<select id="category".*?</select>', browser.get("/").text)
    assert offered is not None and '<option value="Politics">' in offered[0]
    asked = {"since": "2026-01-07", "until": "2026-01-10", "category": category, "bots": "script_sharp,market_price"}
    page = browser.get("/", params=asked).text
    span = ("--since", "2026-01-07", "--until", "2026-01-11", "--category", category, "--bots", asked["bots"])
    said = done_here("report", "--ledger", played, *span, "--json")
    shown = said.document["leaderboard"]
    assert sorted(re.findall(r'<th scope="row"><a[^>]*>([^<]*)</a>', page)) == sorted(each["bot"] for each in shown)
    table = browser.get("/tables/forecasts.csv", params=asked).text
    whole = browser.get("/tables/forecasts.csv").text
    assert table != whole and len(table.splitlines()) == len(shown) + 1


def test_a_decision_is_told_in_turns_and_each_word_is_a_link_away(browser: TestClient) -> None:
    rows = browser.get("/api/v1/decisions", params={"bot": "script_sharp", "limit": 100}).json()["decisions"]
    # Events are decided at once, so the order of rows differs between runs.
    row = min(rows, key=lambda each: (each["decided_at"][:10], each["subject_id"]))
    here = {"run": row["run"], "bot": row["bot"], "subject": row["subject_id"]}
    page = browser.get("/decision", params=here).text
    steps = browser.get("/api/v1/trace", params={"sha256": row["trace_sha256"]}).json()["steps"]
    asked = [place for place, step in enumerate(steps) if step["kind"] == "model"]
    assert f"{len(asked)} turns in {len(steps)} steps" in page and len(asked) < len(steps)
    lines = re.findall(
        r"<li[^>]*><details><summary><strong>([^<]*)</strong>.*?</summary>(.*?)</details>", page, re.DOTALL
    )
    done = {"search": "Searched", "page_visited": "Read", "tool": "Handed in", "model": "Wrote"}
    assert [action for action, _ in lines] == [done[steps[place + 1]["kind"]] for place in asked]
    assert page.count('class="handed"') == 1 and ">accepted</span>" in page
    # What strangers wrote is shown without the marks of its fence.
    assert "result: " in page and "result: &lt;&lt;untrusted" not in page
    every = browser.get(html.unescape(re.findall(r'href="([^"]*)#step-', lines[-1][1])[0])).text
    assert f'id="step-{asked[-1] + 1}"' in every and every.count("<pre") > 3 * len(steps) / 2
    said = browser.get("/api/v1/forecasts", params={"run": row["run"], "limit": 500}).json()["forecasts"]
    own = [each for each in said if (each["bot"], each["subject_id"]) == (row["bot"], row["subject_id"])]
    assert page.count('<svg class="gauge ') == len(own) >= 1
    event = browser.get("/event", params={"id": row["subject_id"]}).text
    dots = re.findall(
        r"<title>(\w+), (\d{4}-\d\d-\d\d)[^<]*?: (?:&[lg]t;)?[\d.]+%, [^<]*(?:YES|NO|no bet)</title>", event
    )
    assert ("script_sharp", row["decided_at"][:10]) in dots and len(dots) <= len(set(dots)) * len(own)


def test_a_bot_has_its_colour_on_all_pages_and_every_verdict_stands_beside_its_name(browser: TestClient) -> None:
    home = browser.get("/").text
    assert "A simulated world" in home and "<dd>nobody yet</dd>" in home
    rows = re.findall(r'<th scope="row"><span class="dot (c\d)"></span><a [^>]*>(\w+)</a> <span class="chip ', home)
    colours = {bot: colour for colour, bot in rows}
    assert len(rows) == len(colours) == home.count('<th scope="row">')
    assert colours["random_bet"] == "c0" != colours["script_sharp"]
    # Baselines come last, below a heading of their own.
    assert home.index(">script_sharp</a>") < home.index(">Baselines</th>") < home.index(">random_bet</a>")
    chart = home[home.index('<svg class="chart ') : home.index("</section>")]
    assert f'<g class="series line {colours["script_sharp"]}">' in chart and "random_bet" not in chart
    assert re.search(r"<title>script_sharp, 20\d\d-\d\d-\d\d: [+-]\d+", chart)
    for path in ("/decisions", "/tables/pairs", "/accounts"):
        for colour, bot in re.findall(r'<span class="dot (c\d)"></span><a [^>]*>(\w+)</a>', browser.get(path).text):
            assert colours.get(bot, colour) == colour


def test_lists_tell_what_was_forecast_and_bet_and_how_it_ended(browser: TestClient, played: str) -> None:
    whole = browser.get("/events").text
    kinds = re.findall(r'<option value="(\w+)"', whole)
    some = browser.get("/events", params={"category": kinds[0]}).text
    assert f'<option value="{kinds[0]}" selected>{kinds[0]}' in some
    shown = [re.findall(r'<td data-h="category">(\w*)</td>', page) for page in (some, whole)]
    assert set(shown[0]) == {kinds[0]} and len(kinds) > 1 and set(kinds) == set(shown[1])
    ended = re.findall(r'data-h="price now">(\d+)%</td>\s*<td data-h="ended">(\w+)', whole)
    assert {said for _, said in ended} == {"YES", "NO"}
    assert "No event is like this" in browser.get("/events", params={"category": "nothing"}).text
    by_decision: dict[tuple[str, str], list[LedgerForecast]] = {}
    with Store.open_to_read(played) as store, store.read() as connection:
        for each in select_forecasts(connection, RowFilter(bots=("random_bet",))):
            by_decision.setdefault((each.run, each.subject_id), []).append(each)
    paid = [[each.payout_yes for each in own] for own in by_decision.values()]
    gains = [
        sum(
            bet * (each.payout_yes / price - 1) if bet > 0 else -bet * ((1 - each.payout_yes) / (1 - price) - 1)
            for each in own
            if (bet := each.booked_usd) and (price := each.price_yes) and each.payout_yes is not None
        )
        for own in by_decision.values()
    ]
    for outcome, n in (
        ("gained", sum(each > 0 for each in gains)),
        ("lost", sum(each < 0 for each in gains)),
        ("open", sum(None in each for each in paid)),
        ("settled", sum(None not in each for each in paid)),
    ):
        rows = browser.get("/decisions", params={"bot": "random_bet", "outcome": outcome}).text
        assert f"<caption>{n} decision{'' if n == 1 else 's'}<" in rows, outcome
        if outcome in ("gained", "lost"):
            sign = "+" if outcome == "gained" else "-"
            assert re.findall(r'data-h="gain">(.)', rows) == [sign] * min(n, 50) != []
    alone = browser.get("/decisions", params={"category": kinds[0], "status": "recorded"}).text
    assert 'data-h="forecast"' in alone and f'value="{kinds[0]}" selected' in alone


def test_the_diagrams_of_calibration_show_the_bins_of_the_table(browser: TestClient, played: str) -> None:
    page = browser.get("/calibration").text
    shown = said_here("report", "--ledger", played, "--table", "calibration", "--json").document
    bots = [card for card in shown["bots"] if any(each["n"] for each in card["calibration"])]
    assert page.count('<svg class="reliability ') == len(bots) >= 2
    assert page.count("<circle") == sum(each["n"] > 0 for card in bots for each in card["calibration"])
    bots.sort(key=lambda card: card["bot"] in BASELINES)
    counts = [str(each["n"]) for card in bots for each in card["calibration"] if each["n"]]
    assert re.findall(r'y="304" text-anchor="middle">(\w+)<', page) == counts and page.count("<polygon") >= 1


def test_a_list_of_the_api_is_read_page_by_page_and_not_again_while_nothing_changes(browser: TestClient) -> None:
    found, asked = list[Any](), {"limit": 7}
    while asked.get("cursor", 0) is not None:
        answer = browser.get("/api/v1/decisions", params=asked)
        found += answer.json()["decisions"]
        asked["cursor"] = answer.json()["next_cursor"]
    assert len(found) == answer.json()["total"] == len({(row["run"], row["bot"], row["subject_id"]) for row in found})
    same = browser.get("/api/v1/decisions", headers={"If-None-Match": answer.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")


def test_pages_show_what_a_decision_adds_and_never_write(worlds: Worlds, tmp_path: Path) -> None:
    address = f"sqlite:///{worlds.copy(three_games, tmp_path)}/ledger.db"
    with Store.open_to_read(address) as store:
        browser = client_of(store)
        before = browser.get("/api/v1/decisions").json()["total"]
        tag = browser.get("/api/v1/decisions").headers["etag"]
        for path in ("/", "/decisions", "/events", "/cohorts", "/status", "/tables/pairs"):
            assert browser.get(path).status_code == 200
        assert browser.get("/api/v1/decisions").headers["etag"] == tag
        more = ("--as-of", "2026-02-20T12:00Z", "--bots", "random_bet", "--ledger", address)
        venue = ("--venue", "sandbox:events=40,named=1")
        assert said_here("decide", "sandbox_agents", *more, *venue).code == 0
        assert browser.get("/api/v1/decisions").json()["total"] > before
        assert browser.get("/api/v1/decisions").headers["etag"] != tag


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        ("/nothing", 404, "There is no such page."),
        ("/bot?name=nobody", 404, "no bot &#39;nobody&#39; has decided"),
        ("/decision?run=a&bot=b&subject=c", 404, "no decision of"),
        ("/tables/nothing", 404, "no table"),
        ("/tables/nothing.csv", 404, "no table"),
        ("/cohort?week=2026-01-12", 404, "2026-01-12 is no Sunday"),
        ("/api/v1/trace?sha256=../../etc/passwd", 422, "string_pattern_mismatch"),
        ("/api/v1/decisions?limit=1000000", 422, "less_than_equal"),
        ("/api/v1/leaderboard?recipe=nothing", 404, "nothing"),
        ("/decisions?sort=id", 404, "there are: slot"),
        ("/decisions.csv?sort=id", 404, "there are: slot"),
        ("/decisions?since=yesterday", 404, "is no day"),
        ("/?since=soon", 404, "is no day"),
        ("/decisions?mode=dead", 404, "there are: live, replay"),
        ("/?mode=dead", 404, "there are: live, replay"),
        ("/?category=nothing", 404, "no event is of category"),
        ("/decisions?outcome=nothing", 404, ""),
        ("/methods?chapter=x", 404, ""),
        ("/compare", 200, "The first two of the leaderboard"),
        ("/compare", 200, "is ahead of"),
        ("/compare?one=script_sharp", 200, "The other"),
        ("/compare?one=script_sharp&other=script_sharp", 200, "These are the same"),
        ("/compare?one=script_sharp&other=nobody", 404, "no bot &#39;nobody&#39;"),
        ("/compare?one=script_sharp&other=equal_weights", 404, "has decided on an event"),
    ],
)
def test_what_there_is_not_is_said(browser: TestClient, path: str, code: int, said: str) -> None:
    answer = browser.get(path)
    assert (answer.status_code, said in answer.text) == (code, True)


def test_only_who_names_this_machine_and_only_reads_is_answered(browser: TestClient) -> None:
    assert browser.get("/", headers={"Host": "evil.example"}).status_code == 400
    assert browser.get("/", headers={"Host": "localhost:8321"}).status_code == 200
    assert [browser.request(method, "/runs").status_code for method in ("POST", "PUT", "DELETE")] == [405] * 3
    headers = browser.get("/").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'" in policy and "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"


def test_a_token_is_asked_of_pages_and_of_the_api(played: str) -> None:
    with Store.open_to_read(played) as store:
        browser = client_of(store, host="0.0.0.0", token=TOKEN)
        assert browser.get("/").headers["location"] == "/login"
        assert "sqlite" not in browser.get("/login").text
        assert browser.get("/api/v1/runs").status_code == 401
        assert browser.get("/api/v1/runs", headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert browser.get("/api/v1/runs", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert browser.post("/login", data={"token": "wrong"}).headers["location"] == "/login?wrong=1"
        entered = browser.post("/login", data={"token": TOKEN})
        assert "HttpOnly" in entered.headers["set-cookie"] and "SameSite=strict" in entered.headers["set-cookie"]
        assert browser.get("/").status_code == 200
        assert browser.get("/health").text == "ok\n"
        assert browser.get("/metrics").text.startswith("# HELP predibot_")
        # A program is not led to a form.
        assert client_of(store, token=TOKEN).get("/metrics").status_code == 401


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--host", "0.0.0.0"), "lets others read the ledger; give a --token"),
        (("--token", "short"), "the token has 5 characters"),
        (("--token", "a token with an ümlaut"), "the token fits in no header"),
        (("--token", " a token with blanks around "), "the token fits in no header"),
        (("--ledger", "sqlite:///nowhere.db"), "nowhere.db"),
    ],
)
def test_what_cannot_be_served_says_why(arguments: tuple[str, ...], said: str) -> None:
    answer = said_here("serve", *arguments)
    assert answer.code != 0
    assert said in answer.err


def test_a_ledger_of_two_venues_shows_that_of_the_newest_run_and_the_other_when_asked(
    worlds: Worlds, tmp_path: Path
) -> None:
    address, at = f"sqlite:///{worlds.copy(two_events, tmp_path)}/ledger.db", "2026-01-07T12:00Z"
    asked = ("--from", at, "--to", at, "--bots", "market_price", "--events", "2", "--ledger", address)
    assert said_here("replay", "sandbox", *asked).code == 0
    with Store.open(address, create=False) as store, store.write() as connection:
        old = "UPDATE runs SET venue = 'archive:old', venue_name = 'polymarket' WHERE key LIKE '%01-06%'"
        connection.exec_driver_sql(old)
    with Store.open_to_read(address) as store:
        browser = client_of(store)
        page = browser.get("/").text
        assert '<option value="sandbox" selected>' in page and '<option value="archive:old">' in page
        assert [browser.get(path).status_code for path in ("/calibration", "/bot?name=market_price")] == [200] * 2


def test_events_and_fills_are_shown_in_the_currency_of_their_venue_whatever_was_played_since(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/currencies.db"
    for day, venue in (("06", "sandbox_mana"), ("07", "sandbox")):
        at = f"2026-01-{day}T12:00Z"
        asked = ("--from", at, "--to", at, "--bots", "random_bet", "--events", "4", "--ledger", address)
        assert said_here("replay", "sandbox", *asked, "--venue", f"{venue}:events=40").code == 0
    with Store.open_to_read(address) as store:
        listed = store.run_read(select_events)
        browser = client_of(store)
        run = {"run": "sandbox@2026-01-06T00:00Z", "bot": "random_bet", "venue": "sandbox:events=40"}
        pages = [
            browser.get("/decision", params=run | {"subject": each.event_id}).text
            for each in listed
            if each.venue == "sandbox_mana"
        ]
        currencies = ("sandbox", "sandbox_mana")
        ids = [{each.event_id for each in listed if each.venue == name} for name in currencies]
        of_dollars, of_mana = (
            {"M$" in browser.get("/event", params={"id": name}).text for name in own - other}
            for own, other in (ids, ids[::-1])
        )
        beside = browser.get("/side-by-side").text
        bot = {"name": "random_bet"}
        of_bot = [browser.get("/bot", params=bot | {"venue": f"{name}:events=40"}).text for name in currencies]
    assert ["M$" in page for page in of_bot] == [False, True]
    assert ">sandbox_mana</td>" in beside and "events=40" not in beside
    assert all(">M$0.00</td>" in page and ">$0.000</td>" not in page for page in pages if " fill</caption>" in page)
    assert any(" fill</caption>" in page for page in pages)
    assert of_mana == {True} and of_dollars == {False}


def test_home_is_of_events_also_where_a_study_was_played_last_and_a_label_is_shown_first(
    worlds: Worlds, tmp_path: Path
) -> None:
    address = f"sqlite:///{worlds.copy(two_events, tmp_path)}/ledger.db"
    assert said_here("collect", "comments", "sandbox:polymarket", tmp_path / "comments", "--markets", "1").code == 0
    asked = ("--venue", f"comments:{tmp_path}/comments", "--bots", "words", "--ledger", address)
    assert said_here("decide", "stakebench", *asked).code == 0
    with Store.open_to_read(address) as store:
        browser = client_of(store)
        home = browser.get("/").text
        decided = store.run_read(lambda connection: select_decisions(connection, RowFilter()))
        one = next(each for each in decided if each.bot == "words" and each.status == "recorded")
        page = browser.get("/decision", params={"run": one.run, "bot": one.bot, "subject": one.subject_id}).text
    assert "market_price" in home
    assert re.search("<dt>its answer</dt><dd>[a-z ]+</dd>", page, re.IGNORECASE)


def test_a_decision_whose_trace_is_gone_shows_the_rest_and_says_so(worlds: Worlds, tmp_path: Path) -> None:
    address = f"sqlite:///{worlds.copy(one_agent, tmp_path)}/ledger.db"
    shutil.rmtree(tmp_path / "ledger.db.files")
    with Store.open_to_read(address) as store:
        browser = client_of(store)
        (row,) = browser.get("/api/v1/decisions").json()["decisions"]
        answer = browser.get("/decision", params={"run": row["run"], "bot": row["bot"], "subject": row["subject_id"]})
        assert answer.status_code == 200
        assert 'class="gauge ' in answer.text and "The trace cannot be shown" in answer.text
        assert browser.get("/decision?run=a").status_code == 422


def test_two_bots_are_compared_by_one_sentence_that_is_their_pair_by_edge(browser: TestClient, played: str) -> None:
    asked = {"one": "script_sharp", "other": "random_bet"}
    page = browser.get("/compare", params=asked).text
    shown = said_here("report", "--ledger", played, "--table", "pairs", "--json").document
    (edge,) = [
        each
        for each in shown["comparisons"]
        if each["metric"] == "edge" and {each["first"], each["second"]} == set(asked.values())
    ]
    names = (edge["first"], edge["second"]) if edge["difference"] > 0 else (edge["second"], edge["first"])
    (sentence,) = re.findall(r"<h2>(\w+) is ahead of (\w+) <span[^>]*>([\w ]+)</span></h2>\n<p[^>]*>By ([\d.]+) ", page)
    assert sentence[:2] == names and sentence[2] == ("proven" if edge["better"] else "not proven")
    assert float(sentence[3]) == pytest.approx(1000 * abs(edge["difference"]), abs=0.51)
    rows = re.findall(r'data-h="nearer">([^<]*)</td><td class="number" data-h="by">([^<]*)<', page)
    said = re.findall(r'data-h="(?:script_sharp|random_bet)">(?:&[lg]t;)?([\d.]+)%', page)
    apart = [abs(float(one) - float(other)) for one, other in zip(said[::2], said[1::2], strict=True)]
    assert all(near >= far - 2 for near, far in pairwise(apart)) and len(rows) == len(apart) > 10
    assert {name for name, _ in rows} <= {*asked.values(), "neither", "–"}


def test_a_bot_is_shown_with_the_rows_of_its_close_up(browser: TestClient, played: str) -> None:
    page = browser.get("/bot", params={"name": "script_sharp"}).text
    shown = said_here("report", "--ledger", played, "--bot", "script_sharp", "--json").document
    titles = re.findall(r"<caption>([^<]*)</caption>", page)
    assert {
        *("Scores", "Curve", "Profit by month", "Forecasts by category", "Forecasts by stated confidence, of 10"),
        *("Forecasts by days before the settlement", "Forecasts by searches and pages it rests on"),
    } <= set(titles)
    assert len(re.findall(r"<rect[^>]*><title>20", page)) == len(shown["days"])
    for each in (*shown["best"], *shown["worst"]):
        assert html.escape(f"{each['gain_usd']:+,.3f}".replace("+", "+$").replace("-", "-$")) in page
    assert "You are a careful forecaster" in page and "page visited" in page
    account = browser.get("/bot", params={"name": "equal_weights"}).text
    assert "Return by time" in account and "No model was asked" in account


def test_today_tells_what_was_decided_and_settled_last(browser: TestClient) -> None:
    page = browser.get("/today").text
    assert "No decision is under way." in page and "No schedule is stored" in page
    settled = re.findall(r'<tr><td data-h="settled"><time datetime="([^"]*)"', page.partition("Settled lately</h2>")[2])
    assert settled == sorted(settled, reverse=True) and len(settled) == 15
    surprises = page.partition("Surprises</h2>")[2].partition("Settled lately</h2>")[0]
    assert "Paper Lanterns" in surprises and "random_bet" not in surprises


def test_the_methods_are_the_public_functions_of_scoring(browser: TestClient) -> None:
    page = browser.get("/methods").text
    pages = [browser.get(each).text for each in Links(page).found if each.startswith("/methods?")]
    functions = {name for name in scoring.__all__ if inspect.isfunction(getattr(scoring, name))}
    assert len(functions) > 50 and functions <= set(re.findall(r'<details id="(\w+)">', "".join(pages)))
    assert "closer to the outcome than the price" in page


def test_a_decision_shows_its_orders_gains_and_sources_and_the_kept_text_of_a_page(browser: TestClient) -> None:
    rows = browser.get("/api/v1/decisions", params={"bot": "script_sharp", "limit": 100}).json()["decisions"]
    # Not each bets; and which was stored last is nobody's choice.
    asked = [{"run": each["run"], "bot": each["bot"], "subject": each["subject_id"]} for each in rows]
    pages = [browser.get("/decision", params=each).text for each in asked]
    named, page = next((each, page) for each, page in zip(asked, pages, strict=True) if " fill" in page)
    assert "What it gained by each horizon" in page and "searched for <q>" in page
    sources = [each for each in Links(page).found if each.startswith("/source?")]
    text = browser.get(sources[0]).text
    assert "Text as it was kept" in text and re.search(r"[0-9a-f]{64}", text)
    assert browser.get("/source", params={**named, "number": 99}).status_code == 404
    event = browser.get("/event", params={"id": named["subject"]}).text
    assert "What its markets paid" in event and "Events of the same series or tag" in event


def test_an_account_shows_what_it_held_and_a_cohort_who_is_in_it(browser: TestClient) -> None:
    page = browser.get("/account", params={"bot": "equal_weights"}).text
    assert "What it held over time" in page and page.count('class="swatch"') == 7
    cohort = browser.get("/cohort", params={"week": "2026-01-11"}).text
    for name in ("random_trade", "script_gullible"):
        assert f'href="/account?bot={name}&amp;cohort=2026-01-11"' in cohort and f'href="/bot?name={name}"' in cohort


def test_an_empty_ledger_says_what_to_do(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/empty.db"
    Store.open(address).close()
    with Store.open_to_read(address) as store:
        browser = client_of(store)
        for path, said in (
            ("/", "<code>predibot init</code>"),
            ("/today", "predibot decide"),
            ("/compare", "Two bots are needed"),
            ("/events", "No event is like this"),
            ("/methods", "Headers of tables"),
        ):
            answer = browser.get(path)
            assert said in answer.text
            assert answer.status_code == 200


def test_today_tells_what_is_under_way_and_which_slots_come_next(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/now.db"
    recipe = tmp_path / "daily.toml"
    recipe.write_text(
        'name = "daily"\nvenue = "sandbox"\n[schedule]\ncron = "5 12 * * *"\n[[bots]]\nstrategy = "market_price"\n',
        encoding="utf-8",
    )
    with Store.open(address) as store:
        event = replace(event_of(1), title="<b>Who wins?</b>")
        run = a_run(store, event, bots=("a",))
        take(store, run, "a", event, claimant(began_at=WEB_NOW), now=WEB_NOW)
        with store.write() as connection:
            add_schedule(connection, recipe="daily", argument=str(recipe), now=WEB_NOW)
            begin_slot(connection, "daily", WEB_NOW - timedelta(days=1), now=WEB_NOW)
            end_slot(
                connection,
                "daily",
                WEB_NOW - timedelta(days=1),
                SlotResult("failed", "the venue was away"),
                next_try_at=None,
                now=WEB_NOW,
            )
    with Store.open_to_read(address) as store:
        browser = client_of(store)
        page, status = browser.get("/today").text, browser.get("/status").text
    assert "What failed, and what to do" in status and "is failed: the venue was away." in status
    assert all(each in status for each in ("decides about &lt;b&gt;Who wins?", "2026-05-05T12:05Z", "Spent today"))
    assert "decides about &lt;b&gt;Who wins?&lt;/b&gt;" in page and "No decision is under way" not in page
    assert '<time datetime="2026-05-05T12:05:00+00:00">' in page and "which nobody runs at the moment" in page
    assert "failed: the venue was away" in page
    assert "No market that somebody forecast has settled yet." in page


def test_shares_are_called_by_their_tickers_and_have_no_outcome(of_stocks: str) -> None:
    with Store.open_to_read(of_stocks) as store:
        browser = client_of(store)
        page = browser.get("/account", params={"bot": "buy_and_hold"}).text
        listed = browser.get("/decisions", params={"bot": "buy_and_hold"}).text
        decisions = re.findall(r'href="(/decision\?[^"]*)"', listed)
        first = browser.get(decisions[-1].replace("&amp;", "&")).text
        news = browser.get("/news", params={"market": "JPM"}).text
    parts = re.search(r'aria-label="shares of the account over time, of ([^"]*)"', page)
    # Cash lies lowest, though nearly all of it was spent.
    assert parts is not None and re.fullmatch(r"cash(, [A-Z]+){5}, others", parts.group(1))
    assert '<td class="text">AAPL</td><td>–</td><td>buy</td>' in first
    # Closes lie around its news, and are no probabilities.
    assert re.search(r'<text class="tick"[^>]*>\$\d+', news)
    assert re.search(r'<line class="mark"[^>]*><title>\w', news)
    assert min(map(float, re.findall(r'<td class="number" data-h="[^"]*">([\d.]+)</td>', news))) > 1.0
